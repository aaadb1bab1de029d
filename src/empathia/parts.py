"""The folder is the registry: a file in `tasks/`, `corpora/`, `encoders/` or `models/` is a part of that name."""

import importlib
import pkgutil
from collections.abc import Sequence
from types import ModuleType

from empathia.errors import UnknownName


def names(folder: str) -> tuple[str, ...]:
    """The parts in a folder of the package, by file name; names that begin with `_` are private."""
    package = importlib.import_module(f"empathia.{folder}")
    return tuple(sorted(m.name for m in pkgutil.iter_modules(package.__path__) if not m.name.startswith("_")))


def load(folder: str, name: str, *, known: Sequence[str] | None = None) -> ModuleType:
    """The module of one part; an unknown name is an error that suggests the nearest."""
    known = names(folder) if known is None else known
    if name not in known:
        raise UnknownName(SINGULAR[folder], name, known)
    return importlib.import_module(f"empathia.{folder}.{name}")


SINGULAR = {"tasks": "task", "corpora": "corpus", "encoders": "encoder", "models": "model", "llm": "LLM back end"}
