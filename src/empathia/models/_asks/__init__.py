"""How the heads of the shared model are asked: which texts a head reads, as which units, and what its outputs say.

One way per file; the name of a head's first input says which.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from empathia.encoders import Encoded
from empathia.models._asks import causes, replies, sentences, windows
from empathia.models._asks._unit import Scores, Unit
from empathia.models._numbers import Floats
from empathia.schema import Answer, Example
from empathia.task import Task

Settings = Mapping[str, Any]


class Ask(Protocol):
    """One way to ask."""

    ROOM: int  # rows of the units in one padded batch: as many as are fastest

    def shape(self, task: Task, settings: Settings) -> Hashable:
        """What the units depend on: tasks for which it is the same are given the same units."""
        ...

    def reads(self, example: Example, task: Task, settings: Settings) -> Iterator[str]:
        """The texts that the head reads to answer an example."""
        ...

    def units(self, example: Example, task: Task, settings: Settings, known: Mapping[str, Encoded]) -> Iterator[Unit]:
        """What the head is given for an example, in one piece or several."""
        ...

    def scored(self, outputs: Mapping[str, Floats], task: Task, settings: Settings) -> Scores:
        """What the outputs of a head say of a batch of units, a row each."""
        ...

    def answers(self, example: Example, task: Task, settings: Settings, found: Sequence[tuple[Unit, Scores]]) -> dict[str, Answer]:
        """The answers to an example from the scores of its units, of which there is at least one."""
        ...


ASKS: Mapping[str, Ask] = {"states": sentences, "reply": replies, "target": windows, "post": causes}
