"""What could have moved a turn: sentences of the turns that it answers, or whole turns up to and with itself."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from empathia.schema import NOT_PARTICIPANTS, Cause, Example, Turn
from empathia.segment import sentences_of
from empathia.task import Causes, Task

FURTHEST = 5  # distances beyond are told as this one
PLACES = FURTHEST + 4  # one per distance, the same participant, how far into its turn, how many words
EARLIER = 30  # turns that are looked back on
EVERYTHING = {"threshold": 0.0, "moved_from": 0.0}  # settings that call every candidate a cause
REACTS = "\nReply: "  # where turns are read together, before the one that reacts
Reading = Literal["apart", "together"]
Readings = Mapping[int, tuple[str, int]]  # by the number of a turn: the text in which it is read, and where in it the turn starts


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
    numbers[-3] = turn.role == example.turn.role
    numbers[-2] = candidate.start / max(1, len(turn.content))
    numbers[-1] = math.log1p(len(turn.content[candidate.start : candidate.end].split())) - 2  # about 0 for a usual sentence
    return numbers


def readings(example: Example, some: Sequence[Cause], reading: Reading) -> Readings:
    """Where the turn and those with candidates are read: each by itself, or all in one text, the turn that reacts last."""
    turns, earlier = example.dialogue.turns, sorted({one.turn for one in some} - {example.index})
    if reading == "apart":
        return {i: (turns[i].content, 0) for i in (*earlier, example.index)}
    text, starts = "", dict[int, int]()
    for i in earlier:
        starts[i] = len(text)
        text += f"{turns[i].content}\n"
    starts[example.index] = len(text) + len(REACTS)
    text += REACTS + example.turn.content
    return {i: (text, start) for i, start in starts.items()}


def _said(turn: Turn) -> bool:
    return turn.role not in NOT_PARTICIPANTS and bool(turn.content.strip())
