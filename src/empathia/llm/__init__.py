"""Large language models: messages in, text or the likelihoods of options out. One back end per file, one string names it."""

from pathlib import Path

from empathia import parts
from empathia.errors import MissingExtra
from empathia.llm._cache import Cached
from empathia.llm._prompts import DOMAIN, Question, conversation, messages, pick
from empathia.llm._protocol import LLM, Completion, Message, Schema

__all__ = ["DOMAIN", "LLM", "Completion", "Message", "Question", "Schema", "conversation", "load", "messages", "names", "pick", "uncached"]


def names() -> tuple[str, ...]:
    """All back ends."""
    return parts.names("llm")


def load(spec: str, *, cache: Path | None = None) -> LLM:
    """The LLM that a string names: `llamacpp:FILE.gguf`, `openai:MODEL`, `openai:MODEL@URL` or `echo`; with a file, cached in it."""
    back_end, _, rest = spec.partition(":")
    try:
        found: LLM = parts.load("llm", back_end).load(rest)
    except ModuleNotFoundError as error:
        raise MissingExtra.of(error) from error
    return found if cache is None else Cached.open(found, cache)


def uncached(llm: LLM) -> LLM:
    """The LLM behind its cache."""
    return llm.llm if isinstance(llm, Cached) else llm
