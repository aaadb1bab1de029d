"""From the likely first tokens of an answer to a probability per option."""

import math
from collections.abc import Iterable, Sequence


def found(options: Sequence[str], tokens: Iterable[tuple[str, float]]) -> list[float]:
    """The probability of each option: the sum over tokens, given with their logarithms, that spell it.

    White space around a token does not matter, nor does case where the options differ by more than case.
    """
    fold = str.casefold if len({option.casefold() for option in options}) == len(options) else str
    sums = dict.fromkeys((fold(option) for option in options), 0.0)
    for token, logarithm in tokens:
        if (key := fold(token.strip())) in sums:
            sums[key] += math.exp(logarithm)
    return list(sums.values())


def normalised(values: Sequence[float]) -> tuple[float, ...] | None:
    """The values as shares of their sum; nothing where all are 0."""
    total = sum(values)
    return tuple(value / total for value in values) if total > 0 else None
