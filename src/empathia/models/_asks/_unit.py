"""What a head is given at once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from empathia.models._numbers import Floats
from empathia.schema import Span

Scores = Mapping[str, Any]  # by the name of an output or of what leads to it


def tokens(offsets: NDArray[np.int64], spans: Sequence[Span]) -> Iterator[tuple[Span, int, int]]:
    """Each stretch of a text with the tokens that begin in it: from the first to behind the last."""
    cuts = np.searchsorted(offsets[:, 0], [(span.start, span.end) for span in spans]).reshape(-1, 2).tolist()
    return ((span, low, high) for span, (low, high) in zip(spans, cuts, strict=True))


@dataclass(frozen=True)
class Unit:
    """The arrays that a head reads at once, each (rows, width), the one that costs it most first; and what they are about."""

    arrays: Mapping[str, Floats]
    about: Any = None

    def __len__(self) -> int:
        """The rows of the first array."""
        return len(next(iter(self.arrays.values())))
