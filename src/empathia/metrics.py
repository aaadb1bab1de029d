"""Pure functions (gold, predicted) -> float between 0 and 1 (kappa, correlation: from -1), with named variants.

What cannot be computed is nan, never a guess: the correlation of a constant, the area under the curve of one class, the
kappa of one level, the mean over no text. Lists of unequal length, and empty ones, are an `InputError`.

Averages over classes. `macro_*` needs the task's `labels` and divides by their number: a class that never occurs counts as
0 instead of vanishing silently. `weighted_*` weighs each class by its frequency in gold, so an absent class has no weight.

Rationales are judged by words (maximal runs of characters that are not white space), as `marks` gives them: a word is marked
when any of its characters lies in a span. F1 is computed per text and averaged over texts. What a text *without* a gold
rationale asks for differs in the literature, hence the variants:

- `epitome`: such a text counts as marked throughout (the data step of the EPITOME paper does so);
- `micromodels`: such a text counts as not marked at all, and marking nothing there scores 1;
- `positives-only`: only texts with a gold rationale count.
"""

import math
import re
import warnings
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import stats  # type: ignore[import-untyped]
from sklearn import metrics as sklearn  # type: ignore[import-untyped]

from empathia.errors import InputError
from empathia.schema import Span

Labels = Sequence[Hashable]
Sets = Sequence[Collection[str]]
Marks = tuple[bool, ...]
Variant = Literal["epitome", "micromodels", "positives-only"]
Gold = TypeVar("Gold")
Predicted = TypeVar("Predicted")
VARIANTS: tuple[Variant, ...] = ("epitome", "micromodels", "positives-only")


def accuracy(gold: Labels, predicted: Labels) -> float:
    """The share of items with the right label."""
    _check(gold, predicted)
    return float(sklearn.accuracy_score(gold, predicted))


def weighted_precision(gold: Labels, predicted: Labels) -> float:
    """Precision per class, weighted by the class's frequency in gold."""
    return _average(gold, predicted, "weighted")[0]


def weighted_recall(gold: Labels, predicted: Labels) -> float:
    """Recall per class, weighted by the class's frequency in gold: the same as accuracy."""
    return _average(gold, predicted, "weighted")[1]


def weighted_f1(gold: Labels, predicted: Labels) -> float:
    """F1 per class, weighted by the class's frequency in gold."""
    return _average(gold, predicted, "weighted")[2]


def macro_precision(gold: Labels, predicted: Labels, *, labels: Labels) -> float:
    """The plain mean of the precision of every class of `labels`, absent ones included."""
    return _average(gold, predicted, "macro", labels)[0]


def macro_recall(gold: Labels, predicted: Labels, *, labels: Labels) -> float:
    """The plain mean of the recall of every class of `labels`, absent ones included."""
    return _average(gold, predicted, "macro", labels)[1]


def macro_f1(gold: Labels, predicted: Labels, *, labels: Labels) -> float:
    """The plain mean of the F1 of every class of `labels`, absent ones included."""
    return _average(gold, predicted, "macro", labels)[2]


def positive_f1(gold: Labels, predicted: Labels, *, positive: Hashable = True) -> float:
    """F1 of one class: the positive one."""
    return _average(gold, predicted, None, [positive])[2]


def positive_precision(gold: Labels, predicted: Labels, *, positive: Hashable = True) -> float:
    """Precision of one class: the positive one."""
    return _average(gold, predicted, None, [positive])[0]


def positive_recall(gold: Labels, predicted: Labels, *, positive: Hashable = True) -> float:
    """Recall of one class: the positive one."""
    return _average(gold, predicted, None, [positive])[1]


def mean_macro_f1(gold: Sets, predicted: Sets, *, labels: Sequence[str]) -> float:
    """The mean over labels of the macro-F1 of showing the label or not: gold and predicted are the labels that each item shows."""
    return float(_over_labels(gold, predicted, labels)[2])


def mean_macro_precision(gold: Sets, predicted: Sets, *, labels: Sequence[str]) -> float:
    """The mean over labels of the macro-precision of showing the label or not."""
    return float(_over_labels(gold, predicted, labels)[0])


def mean_macro_recall(gold: Sets, predicted: Sets, *, labels: Sequence[str]) -> float:
    """The mean over labels of the macro-recall of showing the label or not."""
    return float(_over_labels(gold, predicted, labels)[1])


def mean_accuracy(gold: Sets, predicted: Sets, *, labels: Sequence[str]) -> float:
    """The mean over labels of the share of items that rightly show it or not."""
    return float(_over_labels(gold, predicted, labels)[3])


def quadratic_kappa(gold: Sequence[int], predicted: Sequence[int], *, levels: int) -> float:
    """Cohen's kappa with quadratic weights over the levels 0 to `levels` - 1, so that a level nobody used keeps its distance."""
    _check(gold, predicted)
    return _quiet(sklearn.cohen_kappa_score, gold, predicted, weights="quadratic", labels=range(levels))


def spearman(gold: Sequence[float], predicted: Sequence[float]) -> float:
    """Spearman's rank correlation."""
    _check(gold, predicted)
    return _quiet(lambda: stats.spearmanr(gold, predicted).statistic)


def roc_auc(gold: Sequence[bool], scores: Sequence[float]) -> float:
    """The area under the ROC curve: how often a positive item scores above a negative one."""
    _check(gold, scores)
    return _quiet(sklearn.roc_auc_score, gold, scores) if len(set(gold)) > 1 else math.nan


def expected_calibration_error(gold: Sequence[int], probabilities: Sequence[Sequence[float]]) -> float:
    """How far confidence is from accuracy: ten bins of equal width on the top probability; `gold` are indices of classes."""
    _check(gold, probabilities)
    table = np.asarray(probabilities, dtype=float)  # (items, classes)
    sure = table.max(axis=1)
    right = table.argmax(axis=1) == np.asarray(gold)
    bins = np.minimum((sure * 10).astype(int), 9)
    counts = np.bincount(bins, minlength=10)
    gaps = np.abs(np.bincount(bins, weights=right - sure, minlength=10))
    return float(gaps.sum() / counts.sum())


def marks(text: str, spans: Iterable[Span]) -> Marks:
    """For each word of the text, whether any of its characters lies in a span."""
    wanted = [(span.start, span.end) for span in spans]
    return tuple(any(start < word.end() and word.start() < end for start, end in wanted) for word in re.finditer(r"\S+", text))


def mark_nothing(gold: Sequence[Marks]) -> list[Marks]:
    """The trivial prediction that no word is a rationale."""
    return [(False,) * len(one) for one in gold]


def mark_everything(gold: Sequence[Marks]) -> list[Marks]:
    """The trivial prediction that every word is a rationale."""
    return [(True,) * len(one) for one in gold]


def token_f1(gold: Sequence[Marks], predicted: Sequence[Marks], *, variant: Variant) -> float:
    """The mean over texts of the F1 of the marked words."""
    return _mean(_words, gold, predicted, variant)


def iou_f1(gold: Sequence[Marks], predicted: Sequence[Marks], *, variant: Variant) -> float:
    """The mean over texts of the F1 of spans (runs of marked words); two spans match from an overlap of half their union."""
    return _mean(_runs, gold, predicted, variant)


def interval(
    metric: Callable[[Sequence[Gold], Sequence[Predicted]], float],
    gold: Sequence[Gold],
    predicted: Sequence[Predicted],
    groups: Sequence[Hashable],
    *,
    seed: int = 0,
    rounds: int = 500,
) -> tuple[float, float]:
    """The bootstrap interval (95 %) of a metric, drawing whole groups: rows of one group are not independent.

    Draws on which the metric is nan are left out.
    """
    _check(gold, predicted)
    _check(gold, groups)
    drawn = draws(groups, seed=seed, rounds=rounds)
    values = [metric([gold[row] for row in rows], [predicted[row] for row in rows]) for rows in drawn]
    return _quiet(np.nanquantile, values, 0.025), _quiet(np.nanquantile, values, 0.975)


def draws(groups: Sequence[Hashable], *, seed: int = 0, rounds: int = 500) -> Iterator[list[int]]:
    """The rows of each round of a bootstrap that draws whole groups."""
    members: dict[Hashable, list[int]] = {}
    for index, group in enumerate(groups):
        members.setdefault(group, []).append(index)
    parts, draw = list(members.values()), np.random.default_rng(seed)
    for _ in range(rounds):
        yield [row for part in draw.integers(len(parts), size=len(parts)) for row in parts[part]]


def _check(gold: Sequence[Any], predicted: Sequence[Any]) -> None:
    if not len(gold) == len(predicted) > 0:
        raise InputError(f"Cannot compare {len(gold)} gold items with {len(predicted)} others: give one for each, and at least one.")


def _average(gold: Labels, predicted: Labels, how: str | None, labels: Labels | None = None) -> tuple[float, float, float]:
    _check(gold, predicted)
    found = sklearn.precision_recall_fscore_support(gold, predicted, labels=labels, average=how, zero_division=0)
    precision, recall, f1 = (float(np.mean(value)) for value in found[:3])  # without an average: arrays of one class
    return precision, recall, f1


def _over_labels(gold: Sets, predicted: Sets, labels: Sequence[str]) -> NDArray[np.float64]:
    """Macro-precision, macro-recall, macro-F1 and accuracy of showing each label or not, as means over the labels."""
    _check(gold, predicted)
    wanted, found = (np.array([[label in shown for label in labels] for shown in some]) for some in (gold, predicted))  # (items, labels)
    right = np.stack([~wanted & ~found, wanted & found]).sum(axis=1)  # (no and yes, labels)
    said, true = (np.stack([~some, some]).sum(axis=1) for some in (found, wanted))
    accuracies = np.broadcast_to(right.sum(axis=0) / len(gold), right.shape)
    measures = [right / np.maximum(said, 1), right / np.maximum(true, 1), 2 * right / np.maximum(said + true, 1), accuracies]
    means: NDArray[np.float64] = np.mean(measures, axis=(1, 2))
    return means


def _quiet(function: Callable[..., Any], *args: Any, **options: Any) -> float:
    """The function's answer, with nan for what is undefined and no warning about it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(function(*args, **options))


def _mean(score: Callable[[Marks, Marks], float], gold: Sequence[Marks], predicted: Sequence[Marks], variant: Variant) -> float:
    _check(gold, predicted)
    pairs = [pair for pair in zip(gold, predicted, strict=True) if any(pair[0]) or variant != "positives-only"]
    if variant == "epitome":
        pairs = [(wanted if any(wanted) else (True,) * len(wanted), found) for wanted, found in pairs]
    return sum(score(wanted, found) for wanted, found in pairs) / len(pairs) if pairs else math.nan


@lru_cache(maxsize=2**15)  # a bootstrap asks for the same texts hundreds of times
def _words(gold: Marks, predicted: Marks) -> float:
    both = sum(a and b for a, b in zip(gold, predicted, strict=True))
    return _f1(both, sum(predicted), sum(gold))


@lru_cache(maxsize=2**15)
def _runs(gold: Marks, predicted: Marks) -> float:
    wanted, found = list(_spans(gold)), list(_spans(predicted))
    # Runs of one text never touch, so from half the union on each span has one partner at most.
    matched = sum(any(_iou(one, other) >= 0.5 for other in wanted) for one in found)
    return _f1(matched, len(found), len(wanted))


def _f1(matched: int, predicted: int, gold: int) -> float:
    return 2 * matched / (predicted + gold) if predicted + gold else 1.0


def _spans(marked: Marks) -> Iterator[tuple[int, int]]:
    """The runs of marked words as (first, one past the last); one that reaches the end of the text keeps its last word."""
    start = None
    for index, mark in enumerate((*marked, False)):
        if mark and start is None:
            start = index
        elif not mark and start is not None:
            yield start, index
            start = None


def _iou(one: tuple[int, int], other: tuple[int, int]) -> float:
    shared = max(0, min(one[1], other[1]) - max(one[0], other[0]))
    return shared / (one[1] - one[0] + other[1] - other[0] - shared)
