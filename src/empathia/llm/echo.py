"""No model at all: replies that depend on the messages alone, for tests and demonstrations.

`echo` gives likelihoods; `echo:json` does not, as some endpoints do not, and so is asked for JSON.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from empathia.errors import LLMError
from empathia.llm._protocol import Completion, Message, Schema


@dataclass(frozen=True)
class Echo:
    """Says the last message again, or something that the JSON schema allows."""

    name: str = "echo"

    def complete(self, messages: Sequence[Message], *, schema: Schema | None = None, limit: int = 256) -> Completion:
        """The last message, cut to `limit` words; with a JSON schema, a value that it allows."""
        words = [word for message in messages for word in message.content.split()]
        text = " ".join(messages[-1].content.split()[:limit]) if schema is None else json.dumps(_allowed(schema, _chance(messages)))
        return Completion(text, len(words), len(text.split()))

    def likelihoods(self, messages: Sequence[Message], options: Sequence[str]) -> tuple[float, ...] | None:
        """Shares by chance that the messages decide; none for `echo:json`."""
        if self.name != "echo":
            return None
        chance = _chance(messages)
        weights = [chance.random() + 1e-3 for _ in options]
        return tuple(weight / sum(weights) for weight in weights)


def _chance(messages: Sequence[Message]) -> Random:
    told = "\n".join(f"{message.role}: {message.content}" for message in messages)
    return Random(hashlib.sha256(told.encode("utf-8", "surrogatepass")).digest())


def _allowed(schema: Mapping[str, Any], chance: Random) -> Any:
    """A value that a JSON schema allows: of objects, arrays, choices, numbers, texts and truth values."""
    if "enum" in schema:
        return chance.choice(schema["enum"])
    match schema.get("type"):
        case "object":
            return {key: _allowed(inner, chance) for key, inner in schema.get("properties", {}).items()}
        case "array":
            found = [_allowed(schema["items"], chance) for _ in range(max(schema.get("minItems", 0), chance.randrange(3)))]
            return list(dict.fromkeys(found)) if schema.get("uniqueItems") else found
        case "integer" | "number":
            return chance.randint(schema.get("minimum", 0), schema.get("maximum", 10))
        case "boolean":
            return chance.random() < 0.5
        case _:
            return "echo"


def load(rest: str) -> Echo:
    """The echo with likelihoods, or without: `json`."""
    if rest not in ("", "json"):
        raise LLMError(f"There is no echo '{rest}'. Write echo, or echo:json for one without likelihoods.")
    return Echo(f"echo:{rest}" if rest else "echo")
