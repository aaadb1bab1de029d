"""The few errors that a user can act on: each says what came, what is allowed and what to do."""

import difflib
from collections.abc import Iterable


class EmpathiaError(Exception):
    """Something the user can put right; the command line prints the message without a traceback."""


class InputError(EmpathiaError):
    """A file, line or message that cannot be used as it is."""


class ModelError(EmpathiaError):
    """A model folder that is missing, incomplete or damaged."""


class LLMError(EmpathiaError):
    """A language model that cannot be reached, loaded or used."""


class Refused(LLMError):
    """One prompt that a language model does not answer, because it is too long, say; others may do."""


class MissingExtra(EmpathiaError):
    """A part of the software whose libraries are not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs more libraries than the core install. Install them with: pip install 'empathia[{extra}]'")

    @classmethod
    def of(cls, error: ModuleNotFoundError) -> "MissingExtra":
        """The extra that a missing library belongs to; a library that is none of ours is raised again."""
        library = (error.name or "").split(".")[0]
        if library not in EXTRAS:
            raise error
        return cls(f"This command uses {library}, which is not installed: it", EXTRAS[library])


EXTRAS = dict.fromkeys(("torch", "transformers", "safetensors", "sklearn", "scipy", "onnx", "krippendorff"), "train") | {
    "pyarrow": "parquet",
    "captum": "explain",
    "interpret": "explain",
    "gguf": "gguf",
    "accelerate": "gguf",
    "openai": "llm",
    "xllamacpp": "llm",
}


class UnknownName(EmpathiaError):
    """A name that no part answers to; suggests the nearest one."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        super().__init__(f"Unknown {kind} '{name}'.{hint} Known: {', '.join(names)}.")
