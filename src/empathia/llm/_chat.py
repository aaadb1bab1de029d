"""The chat protocol that most back ends speak: what a request holds, and what its reply says."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from empathia.llm import _shares
from empathia.llm._protocol import Completion, Message, Schema

SAME = {"temperature": 0}  # the same messages give the same reply


def completing(messages: Sequence[Message], *, schema: Schema | None, limit: int) -> dict[str, Any]:
    """A request for a reply."""
    body = {"messages": [asdict(message) for message in messages], "max_tokens": limit, **SAME}
    if schema is not None:
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": dict(schema)}}
    return body


def weighing(messages: Sequence[Message], *, top: int) -> dict[str, Any]:
    """A request for the `top` likeliest first tokens of a reply."""
    return {"messages": [asdict(message) for message in messages], "max_tokens": 1, "logprobs": True, "top_logprobs": top, **SAME}


def completion(reply: Mapping[str, Any]) -> Completion:
    """The text of a reply, and its tokens where they were counted."""
    usage = reply.get("usage") or {}
    text = reply["choices"][0]["message"].get("content") or ""
    return Completion(text, usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0)


def first_tokens(reply: Mapping[str, Any]) -> list[tuple[str, float]] | None:
    """The likely first tokens of a reply and the logarithms of their probabilities; None where they are not told."""
    told = (reply["choices"][0].get("logprobs") or {}).get("content")
    if not told or not told[0].get("top_logprobs"):
        return None
    return [(one["token"], one["logprob"]) for one in told[0]["top_logprobs"]]


def shares(options: Sequence[str], tokens: Sequence[tuple[str, float]]) -> tuple[float, ...] | None:
    """The probabilities of the options among themselves; one that is not among the tokens has none. None where none is."""
    return _shares.normalised(_shares.found(options, tokens))
