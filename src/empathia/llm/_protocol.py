"""What every back end promises, and the records that go in and out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Schema = Mapping[str, Any]


@dataclass(frozen=True)
class Message:
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Completion:
    """What an LLM wrote, and how many tokens were read and written for it."""

    text: str
    prompt_tokens: int
    completion_tokens: int


class LLM(Protocol):
    """A language model; the same prompt gives the same answer, and calls may come from several threads at once.

    A prompt that it will not answer (too long, say) raises `Refused`; what stops every call raises `LLMError`.
    """

    @property
    def name(self) -> str:
        """Back end and model: what tells its answers from those of another."""
        ...

    def complete(self, messages: Sequence[Message], *, schema: Schema | None = None, limit: int = 256) -> Completion:
        """The answer to the messages, at most `limit` tokens; with a schema, JSON that fits it as far as the back end can see to it."""
        ...

    def likelihoods(self, messages: Sequence[Message], options: Sequence[str]) -> tuple[float, ...] | None:
        """How likely each option is as the answer, the sum being 1; nothing where the back end cannot tell."""
        ...
