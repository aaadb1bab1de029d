"""What could have moved a turn: sentences of the turns that it answers, or whole turns up to and with itself."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from empathia.schema import NOT_PARTICIPANTS, Cause, Example, Turn
from empathia.segment import sentences_of
from empathia.task import Causes, Task

FURTHEST = 5  # distances beyond are told as this one
PLACES = FURTHEST + 3  # one per distance, one for the same participant, one for how far into its turn
EARLIER = 30  # turns that are looked back on


def candidates(example: Example, output: Causes) -> list[Cause]:
    """All stretches of text that could be a cause, in their order."""
    turns = example.dialogue.turns
    if output.unit == "turn":
        near = range(max(0, example.index - EARLIER), example.index + 1)
        return [Cause(turn=i, start=0, end=len(turns[i].content)) for i in near if _said(turns[i])]
    answered = example.dialogue.answered(example.index)
    return [Cause(turn=i, start=span.start, end=span.end) for i in answered for span in sentences_of(turns[i])]


def output_of(task: Task) -> Causes:
    """The output of a task that asks for causes alone."""
    (output,) = task.outputs.values()
    assert isinstance(output, Causes)
    return output


def moved(candidate: Cause, causes: Iterable[Cause]) -> bool:
    """Whether a candidate is one of the causes: it overlaps it."""
    return any(one.turn == candidate.turn and one.start < candidate.end and candidate.start < one.end for one in causes)


def place(example: Example, candidate: Cause) -> NDArray[np.float32]:
    """Where a candidate stands, as numbers: (PLACES,)."""
    numbers, turn = np.zeros(PLACES, np.float32), example.dialogue.turns[candidate.turn]
    numbers[min(example.index - candidate.turn, FURTHEST)] = 1
    numbers[-2] = turn.role == example.turn.role
    numbers[-1] = candidate.start / max(1, len(turn.content))
    return numbers


def _said(turn: Turn) -> bool:
    return turn.role not in NOT_PARTICIPANTS and bool(turn.content.strip())
