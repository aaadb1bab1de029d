"""Any endpoint that speaks the OpenAI protocol: OpenAI itself, vLLM, llama.cpp, Ollama and others.

`openai:MODEL` takes the key and the address from OPENAI_API_KEY and OPENAI_BASE_URL; `openai:MODEL@URL` names the address.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import openai

from empathia.errors import LLMError, Refused, UnknownName
from empathia.llm import _chat
from empathia.llm._protocol import Completion, Message, Schema

RETRIES = 5  # for 408, 409, 429, 5xx and time-outs; the client waits longer each time, or as long as the server says
PATIENCE = 120.0  # seconds for one call
TOP = 20  # first tokens that endpoints tell at most
REPLACED = {"max_tokens": "max_completion_tokens"}  # what newer models want in its place


@dataclass(frozen=True)
class OpenAI:
    """One model of one endpoint; `spared` are settings that it has refused, which are not sent again."""

    model: str
    client: openai.OpenAI
    spared: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """Model and address."""
        return f"openai:{self.model}@{self.client.base_url}"

    def complete(self, messages: Sequence[Message], *, schema: Schema | None = None, limit: int = 256) -> Completion:
        """The likeliest reply; with a JSON schema, a reply in that form as far as the endpoint sees to it."""
        return _chat.completion(self._send(_chat.completing(messages, schema=schema, limit=limit)))

    def likelihoods(self, messages: Sequence[Message], options: Sequence[str]) -> tuple[float, ...] | None:
        """How likely each option is as the first token; None where the endpoint does not tell, which is asked only once."""
        if "logprobs" in self.spared:
            return None
        tokens = _chat.first_tokens(self._send(_chat.weighing(messages, top=TOP)))
        if tokens is None:
            self.spared.add("logprobs")
            return None
        return _chat.shares(options, tokens)

    def _send(self, body: Mapping[str, Any]) -> dict[str, Any]:
        self._check()
        sent = {key: value for name, value in body.items() if (key := self._spelled(name))}
        try:
            reply: dict[str, Any] = self.client.chat.completions.create(model=self.model, **sent).model_dump()
        except openai.BadRequestError as error:
            setting = (error.param or "").partition(".")[0]
            if setting not in sent or setting == "messages":
                raise Refused(f"{self.name} refuses this prompt ({error.type or error.code}).") from error
            self.spared.update({"logprobs", "top_logprobs"} if setting.endswith("logprobs") else {setting})
            return self._send(body)
        except openai.OpenAIError as error:
            raise self._explained(error) from error
        return reply

    def _spelled(self, name: str) -> str | None:
        """The name under which the endpoint takes a setting; None where it takes it under no name."""
        return next((key for key in (name, REPLACED.get(name)) if key and key not in self.spared), None)

    def _check(self) -> None:
        """Refuse a model that a server of one other model would answer for, as llama.cpp does, under the wrong name."""
        if len(self._served) == 1 and self.model not in self._served:
            raise UnknownName(f"model at {self.client.base_url}", self.model, self._served)

    @cached_property
    def _served(self) -> tuple[str, ...]:
        """The models of the endpoint as far as it tells them; asked once, so that a wrong address is known before a long run."""
        try:
            return tuple(model.id for model in self.client.with_options(max_retries=0).models.list())
        except (openai.APIConnectionError, openai.AuthenticationError) as error:
            raise self._explained(error) from error
        except openai.OpenAIError:
            return ()

    def _explained(self, error: openai.OpenAIError) -> LLMError | UnknownName:
        if isinstance(error, openai.NotFoundError) and self._served:
            return UnknownName(f"model at {self.client.base_url}", self.model, self._served)
        remedy = next((words for kind, words in REMEDIES.items() if isinstance(error, kind)), f"The call failed ({type(error).__name__}).")
        return LLMError(f"{self.client.base_url}: {remedy}")


REMEDIES: dict[type[openai.OpenAIError], str] = {
    openai.AuthenticationError: "The key is not accepted. Put one that is into OPENAI_API_KEY.",
    openai.PermissionDeniedError: "This key may not use this model. Name another model, or put another key into OPENAI_API_KEY.",
    openai.NotFoundError: "There is no such model, or this is no address of the OpenAI protocol (most end in /v1).",
    openai.RateLimitError: "No more calls are allowed for now. Wait, or look at the account; with a cache, what was answered is kept.",
    openai.InternalServerError: "The server fails. Try again later; with a cache, what was answered is kept.",
    openai.APITimeoutError: f"No answer in {PATIENCE:.0f} seconds, {RETRIES + 1} times. Is it overloaded? Ask less at once.",
    openai.APIConnectionError: "Nothing answers there. Start the server, or name another: openai:MODEL@URL, or OPENAI_BASE_URL.",
}


def load(rest: str) -> OpenAI:
    """The model of `MODEL` or `MODEL@URL`; nothing is sent yet."""
    named = re.fullmatch(r"(.+?)(?:@(https?://.+))?", rest)
    if not named:
        raise LLMError("Which model? Name it: openai:MODEL, or openai:MODEL@URL, such as openai:qwen@http://localhost:8080/v1.")
    url, key = named[2] or os.environ.get("OPENAI_BASE_URL", ""), os.environ.get("OPENAI_API_KEY", "")
    if not url and not key:
        raise LLMError("OpenAI needs a key: set OPENAI_API_KEY. For another endpoint, name it: openai:MODEL@URL, or set OPENAI_BASE_URL.")
    return OpenAI(named[1], openai.OpenAI(api_key=key or "none", base_url=url or None, max_retries=RETRIES, timeout=PATIENCE))
