"""What stands around a turn: the messages before and after it, each with its place, as heads over a window read them."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from empathia.schema import NOT_PARTICIPANTS, Example, Turn

BEFORE = AFTER = 3
NEAR = 64  # tokens that are read of each message around
PLACES = BEFORE + AFTER + 1  # one for each place, and one for messages by the same participant


def around(example: Example, *, after: int = AFTER) -> Iterator[tuple[int, Turn]]:
    """The messages around a turn with their distance from it, the earlier ones first; `after` 0 is the live setting."""
    turns, at = example.dialogue.turns, example.index
    earlier = list(islice(_said(turns, range(at - 1, -1, -1)), BEFORE))  # the nearest first
    yield from ((-distance, turn) for distance, turn in reversed(list(enumerate(earlier, 1))))
    yield from enumerate(islice(_said(turns, range(at + 1, len(turns))), after), 1)


def _said(turns: Sequence[Turn], places: Iterable[int]) -> Iterator[Turn]:
    """The turns at these places in which a participant says something, as they come: a long conversation is not read through."""
    return (turns[i] for i in places if turns[i].role not in NOT_PARTICIPANTS and turns[i].content.strip())


@cache
def place(distance: int, *, same: bool) -> NDArray[np.float32]:
    """A distance, and whether the same participant speaks, as numbers: (PLACES,)."""
    numbers = np.zeros(PLACES, np.float32)
    numbers[distance + BEFORE if distance < 0 else distance + BEFORE - 1] = 1
    numbers[-1] = same
    return numbers
