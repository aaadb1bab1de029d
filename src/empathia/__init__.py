"""empathia measures, explains and helps to write empathy in text conversations, offline, on an ordinary computer."""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Public names and where they live; their types are in __init__.pyi. They load on first use: `import empathia` stays quick.
_HOMES = {
    "Analysis": "schema:Analysis",
    "Dialogue": "schema:Dialogue",
    "EmpathiaError": "errors:EmpathiaError",
    "Problem": "schema:Problem",
    "Turn": "schema:Turn",
    "analyse": "analysis:analyse",
    "analyse_all": "analysis:analyse_all",
    "evaluate": "evaluation:evaluate",
    "load_model": "models:load",
    "read": "corpora:open_dialogues",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    """A public name, on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'empathia' has no attribute '{name}'")
    module, original = _HOMES[name].split(":")
    return getattr(import_module(f"empathia.{module}"), original)
