"""Ways to answer tasks. `load` opens a model folder; every model answers examples through the same call."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, cast

from empathia import parts
from empathia.errors import ModelError
from empathia.findings import Score
from empathia.models._folder import FORMAT, read_card, sha256, write_card
from empathia.schema import Answer, Example, ModelId
from empathia.task import Task

__all__ = ["DEFAULT", "FORMAT", "Model", "ask", "load", "read_card", "recipe", "scores", "sha256", "write_card"]
DEFAULT = Path(__file__).parent.parent / "weights"
BATCH = 256


class Model(Protocol):
    """What analysis, evaluation and all that follows ask of a model."""

    @property
    def id(self) -> ModelId:
        """Which model this is, for the results."""
        ...

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that it answers."""
        ...

    def answer(self, examples: Sequence[Example], tasks: Sequence[Task]) -> list[dict[str, Answer]]:
        """For each example its answers by output name; an output that does not apply is left out."""
        ...


def ask(model: Model, task: Task, examples: Sequence[Example]) -> list[dict[str, Answer]]:
    """The answers of a model to any number of examples."""
    batches = (examples[at : at + BATCH] for at in range(0, len(examples), BATCH))
    return [answer for batch in batches for answer in model.answer(batch, [task])]


@lru_cache(maxsize=4)
def load(folder: Path | None = None) -> Model:
    """The model of a folder, checked against its sha256 sums; without a folder, the default model.

    The card's `kind` names the file here whose `MODEL` reads the folder.
    """
    folder = folder or DEFAULT
    card = read_card(folder)
    kind = card.get("kind", "shared")
    if not hasattr(part := parts.load("models", kind), "MODEL"):
        raise ModelError(f"The model in '{folder}' is of the kind '{kind}', which is not read from a folder.")
    return cast(Model, part.MODEL.load(folder, card))


def scores(folder: Path | None = None) -> list[Score]:
    """The scores on test rows that a model's card tells, after quantisation."""
    told = read_card(folder or DEFAULT)["scores"]["after_quantisation"]
    return [Score(**score) for found in told.values() for score in found]


def recipe(folder: Path | None = None) -> dict[str, Any]:
    """How a model was trained, as its card tells; its `seed` is also that of the split, so its test rows can be found again."""
    return dict(read_card(folder or DEFAULT)["recipe"])
