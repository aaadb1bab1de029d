"""empathia measures, explains and helps to write empathy in text conversations, offline, on an ordinary computer."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Analysis", "Dialogue", "EmpathiaError", "Turn", "analyse", "analyse_all", "evaluate", "load_model", "read"]

if TYPE_CHECKING:
    from empathia.api import analyse, analyse_all, evaluate, load_model, read
    from empathia.errors import EmpathiaError
    from empathia.schema import Analysis, Dialogue, Turn

HOMES = {"Analysis": "schema", "Dialogue": "schema", "Turn": "schema", "EmpathiaError": "errors"}


def __getattr__(name: str) -> Any:  # public names load on first use, so that `import empathia` stays quick
    if name not in __all__:
        raise AttributeError(f"module 'empathia' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f"empathia.{HOMES.get(name, 'api')}"), name)
