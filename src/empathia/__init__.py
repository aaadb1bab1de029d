"""empathia measures, explains and helps to write empathy in text conversations, offline, on an ordinary computer."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Analysis", "Dialogue", "EmpathiaError", "Problem", "Turn", "analyse", "analyse_all", "evaluate", "load_model", "read"]

if TYPE_CHECKING:
    from empathia.analysis import analyse, analyse_all
    from empathia.corpora import open_dialogues as read
    from empathia.errors import EmpathiaError
    from empathia.evaluation import evaluate
    from empathia.models import load as load_model
    from empathia.schema import Analysis, Dialogue, Problem, Turn

HOMES = {
    "EmpathiaError": "errors",
    "analyse": "analysis",
    "analyse_all": "analysis",
    "evaluate": "evaluation",
    "load_model": "models:load",
    "read": "corpora:open_dialogues",
}


def __getattr__(name: str) -> Any:
    """A public name, loaded on first use so that `import empathia` stays quick."""
    if name not in __all__:
        raise AttributeError(f"module 'empathia' has no attribute '{name}'")
    module, _, original = HOMES.get(name, "schema").partition(":")
    return getattr(import_module(f"empathia.{module}"), original or name)
