"""What stands around a turn: the messages before and after it, each with its place, as heads over a window read them."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from empathia.schema import NOT_PARTICIPANTS, Example, Turn

BEFORE = AFTER = 3
NEAR = 64  # tokens that are read of each message around
PLACES = BEFORE + AFTER + 1  # one for each place, and one for messages by the same participant


def around(example: Example, *, after: int = AFTER) -> Iterator[tuple[int, Turn]]:
    """The messages around a turn with their distance from it, the earlier ones first; `after` 0 is the live setting."""
    turns = example.dialogue.turns
    said = [i for i, turn in enumerate(turns) if turn.role not in NOT_PARTICIPANTS and turn.content.strip()]
    earlier = [i for i in said if i < example.index][-BEFORE:]
    later = [i for i in said if i > example.index][:after]
    yield from ((at - len(earlier), turns[i]) for at, i in enumerate(earlier))
    yield from ((at + 1, turns[i]) for at, i in enumerate(later))


def place(distance: int, *, same: bool) -> NDArray[np.float32]:
    """A distance, and whether the same participant speaks, as numbers: (PLACES,)."""
    numbers = np.zeros(PLACES, np.float32)
    numbers[distance + BEFORE if distance < 0 else distance + BEFORE - 1] = 1
    numbers[-1] = same
    return numbers
