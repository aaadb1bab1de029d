"""Two groups of numbers: means and their errors, a test, an effect size; Holm's correction over many tests.

What cannot be computed is nan: the mean of nothing, the error of one value, a test of groups that are too small.
"""

import math
import warnings
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats  # type: ignore[import-untyped]

from empathia.findings import Side

Test = Literal["mann-whitney", "welch"]
Floats = NDArray[np.floating[Any]]
EFFECTS: dict[Test, str] = {"mann-whitney": "Cliff's delta", "welch": "Hedges' g"}


def side(values: Floats) -> Side:
    """How many, the mean, and its standard error."""
    rows = len(values)
    error = float(values.std(ddof=1)) / math.sqrt(rows) if rows > 1 else None
    return Side(rows=rows, mean=float(values.mean()) if rows else None, error=error)


def compared(one: Floats, other: Floats, test: Test) -> tuple[float, float]:
    """The effect size, above 0 where `one` is higher, and the two-sided p."""
    return mann_whitney(one, other) if test == "mann-whitney" else welch(one, other)


def mann_whitney(one: Floats, other: Floats) -> tuple[float, float]:
    """Cliff's delta (the rank-biserial correlation), and the p of the Mann-Whitney test."""
    if not len(one) or not len(other):
        return math.nan, math.nan
    if len({*one.tolist(), *other.tolist()}) == 1:
        return 0.0, 1.0
    found = stats.mannwhitneyu(one, other, alternative="two-sided")
    return float(2 * found.statistic / (len(one) * len(other)) - 1), float(found.pvalue)


def welch(one: Floats, other: Floats) -> tuple[float, float]:
    """Hedges' g (the difference in pooled standard deviations, corrected for small groups), and the p of Welch's t test."""
    free = len(one) + len(other) - 2
    if min(len(one), len(other)) < 2:
        return math.nan, math.nan
    pooled = ((len(one) - 1) * one.var(ddof=1) + (len(other) - 1) * other.var(ddof=1)) / free
    if not pooled:
        return math.nan, math.nan
    small = 1 - 3 / (4 * free - 1)
    effect = small * (one.mean() - other.mean()) / math.sqrt(pooled)
    with warnings.catch_warnings():  # that one of the groups does not vary is no reason to worry a user
        warnings.simplefilter("ignore")
        return float(effect), float(stats.ttest_ind(one, other, equal_var=False).pvalue)


def holm(values: Sequence[float]) -> list[float]:
    """The p values after Holm's correction, in their order; nan is no test and stays."""
    tests = sorted((p, index) for index, p in enumerate(values) if not math.isnan(p))
    corrected, highest = list(values), 0.0
    for rank, (p, index) in enumerate(tests):
        highest = max(highest, min(1.0, (len(tests) - rank) * p))
        corrected[index] = highest
    return corrected


def rank_interval(correlation: float, rows: int) -> tuple[float, float]:
    """The approximate 95 % interval of Spearman's correlation (Fisher's z with the variance of Bonett and Wright)."""
    if rows < 4 or math.isnan(correlation) or abs(correlation) >= 1:
        return math.nan, math.nan
    half = 1.96 * math.sqrt((1 + correlation**2 / 2) / (rows - 3))
    return math.tanh(math.atanh(correlation) - half), math.tanh(math.atanh(correlation) + half)
