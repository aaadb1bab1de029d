"""Metrics: cases worked out by hand, and the properties every metric must keep."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from empathia import metrics
from empathia.errors import InputError
from empathia.metrics import VARIANTS, Marks, Variant
from empathia.schema import Span

LABELS = ("a", "b", "c")
Metric = Callable[[Sequence[Any], Sequence[Any]], float]
CLASSES: dict[str, Metric] = {
    "accuracy": metrics.accuracy,
    "weighted_precision": metrics.weighted_precision,
    "weighted_recall": metrics.weighted_recall,
    "weighted_f1": metrics.weighted_f1,
    "macro_precision": partial(metrics.macro_precision, labels=LABELS),
    "macro_recall": partial(metrics.macro_recall, labels=LABELS),
    "macro_f1": partial(metrics.macro_f1, labels=LABELS),
    "positive_f1": partial(metrics.positive_f1, positive="a"),
}
SYMMETRIC = ("accuracy", "macro_f1", "positive_f1")
RATIONALES: dict[str, Metric] = {
    f"{function.__name__} {variant}": partial(function, variant=variant)
    for function in (metrics.token_f1, metrics.iou_f1)
    for variant in VARIANTS
}
pairs = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=30)
mark = st.booleans()
texts = st.lists(st.lists(st.tuples(mark, mark), min_size=1, max_size=12), min_size=1, max_size=8)
few = settings(max_examples=50, deadline=None)


def m(pattern: str) -> Marks:
    return tuple(char == "x" for char in pattern)


def columns(rows: Sequence[tuple[Any, Any]]) -> tuple[list[Any], list[Any]]:
    return [row[0] for row in rows], [row[1] for row in rows]


def marked(rows: Sequence[Sequence[tuple[bool, bool]]]) -> tuple[list[Marks], list[Marks]]:
    return [tuple(a for a, _ in row) for row in rows], [tuple(b for _, b in row) for row in rows]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [  # a: P 1/2 R 1/2; b: P 1/2 R 1; c: never found
        ("accuracy", 2 / 4),
        ("weighted_precision", (2 * 1 / 2 + 1 * 1 / 2 + 0) / 4),
        ("weighted_recall", 2 / 4),
        ("weighted_f1", (2 * 1 / 2 + 1 * 2 / 3 + 0) / 4),
        ("macro_precision", (1 / 2 + 1 / 2 + 0) / 3),
        ("macro_recall", (1 / 2 + 1 + 0) / 3),
        ("macro_f1", (1 / 2 + 2 / 3 + 0) / 3),
        ("positive_f1", 1 / 2),
    ],
)
def test_classes_by_hand(name: str, wanted: float) -> None:
    assert CLASSES[name](["a", "a", "b", "c"], ["a", "b", "b", "a"]) == pytest.approx(wanted)


def test_a_class_that_never_occurs_counts_in_macro_and_not_in_weighted() -> None:
    assert metrics.macro_f1(["a", "b"], ["a", "b"], labels=LABELS) == pytest.approx(2 / 3)
    assert metrics.weighted_f1(["a", "b"], ["a", "b"]) == 1


@pytest.mark.parametrize("name", CLASSES)
@few
@given(rows=pairs)
def test_classes_keep_bounds_and_order_does_not_matter(name: str, rows: list[tuple[str, str]]) -> None:
    value = CLASSES[name](*columns(rows))
    assert 0 <= value <= 1
    assert CLASSES[name](*columns(rows[::-1])) == pytest.approx(value)
    assert CLASSES[name]([*LABELS, *columns(rows)[0]], [*LABELS, *columns(rows)[0]]) == pytest.approx(1)


@pytest.mark.parametrize("name", SYMMETRIC)
@few
@given(rows=pairs)
def test_symmetric_where_it_should_be(name: str, rows: list[tuple[str, str]]) -> None:
    gold, predicted = columns(rows)
    assert CLASSES[name](gold, predicted) == pytest.approx(CLASSES[name](predicted, gold))


@few
@given(rows=pairs)
def test_weighted_recall_is_accuracy(rows: list[tuple[str, str]]) -> None:
    assert metrics.weighted_recall(*columns(rows)) == pytest.approx(metrics.accuracy(*columns(rows)))


def test_quadratic_kappa_by_hand() -> None:
    # Disagreement seen: (0 + 0 + 1) / 3; expected by chance, over the nine pairs of (0, 2, 2) and (0, 2, 1): 15 / 9.
    assert metrics.quadratic_kappa([0, 2, 2], [0, 2, 1], levels=3) == pytest.approx(1 - (1 / 3) / (15 / 9))
    assert metrics.quadratic_kappa([0, 2], [2, 0], levels=3) == pytest.approx(-1)


def test_a_level_nobody_used_keeps_its_distance() -> None:
    near = metrics.quadratic_kappa([0, 1, 3], [0, 3, 3], levels=4)
    assert near < metrics.quadratic_kappa([0, 1, 2], [0, 2, 2], levels=4)


def test_spearman_and_auc_by_hand() -> None:
    assert metrics.spearman([1, 2, 3, 4], [10, 20, 40, 30]) == pytest.approx(0.8)
    assert metrics.spearman([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert metrics.roc_auc([True, False, True, False], [0.9, 0.8, 0.7, 0.1]) == pytest.approx(3 / 4)


def test_calibration_by_hand() -> None:
    # Bin 0.9-1: two items, sure 0.95 each, one right: |1 - 1.9| = 0.9. Bin 0.6-0.7: one item, right: |1 - 0.6| = 0.4.
    table = [(0.95, 0.05), (0.95, 0.05), (0.4, 0.6)]
    assert metrics.expected_calibration_error([0, 1, 1], table) == pytest.approx((0.9 + 0.4) / 3)
    assert metrics.expected_calibration_error([0, 1], [(1, 0), (0, 1)]) == 0


@pytest.mark.parametrize(
    "value",
    [
        metrics.spearman([1, 1, 1], [1, 2, 3]),
        metrics.roc_auc([True, True], [0.1, 0.2]),
        metrics.quadratic_kappa([1, 1], [1, 1], levels=3),
        metrics.token_f1([m("..")], [m("..")], variant="positives-only"),
    ],
)
def test_what_is_undefined_is_nan(value: float) -> None:
    assert math.isnan(value)


@pytest.mark.parametrize(("gold", "predicted"), [([], []), (["a"], []), (["a"], ["a", "b"])])
def test_lists_that_do_not_match_are_refused(gold: list[str], predicted: list[str]) -> None:
    with pytest.raises(InputError, match="Cannot compare"):
        metrics.accuracy(gold, predicted)


def test_a_word_is_marked_when_any_character_is() -> None:
    assert metrics.marks("I am so  sorry.", [Span(start=3, end=6), Span(start=14, end=15)]) == m(".xxx")
    assert metrics.marks("one two", [Span(start=3, end=4)]) == m("..")
    assert metrics.marks(" one", []) == m(".")


@pytest.mark.parametrize(
    ("gold", "predicted", "token", "iou"),
    [
        ("xx..", "xx..", 1, 1),
        ("..xx", "..xx", 1, 1),  # the last word of a span at the end of the text counts
        ("...x", "...x", 1, 1),
        ("xxxx", "xx..", 2 / 3, 1),  # half the union: a match
        ("xxxx", "x...", 2 / 5, 0),
        ("xx.xx", "xx...", 2 / 3, 2 / 3),
        ("xx.xx", "xxxxx", 8 / 9, 0),
        ("xxx...", ".xxx..", 2 / 3, 1),
        ("xx....", "....xx", 0, 0),
        ("xx", "..", 0, 0),
    ],
)
@pytest.mark.parametrize("variant", VARIANTS)
def test_rationales_by_hand(gold: str, predicted: str, token: float, iou: float, variant: Variant) -> None:
    assert metrics.token_f1([m(gold)], [m(predicted)], variant=variant) == pytest.approx(token)
    assert metrics.iou_f1([m(gold)], [m(predicted)], variant=variant) == pytest.approx(iou)


@pytest.mark.parametrize(
    ("variant", "nothing", "everything"),
    [("epitome", 0, (1 + 2 / 3) / 2), ("micromodels", 1 / 2, (0 + 2 / 3) / 2), ("positives-only", 0, 2 / 3)],
)
def test_texts_without_a_rationale_and_the_trivial_baselines(variant: Variant, nothing: float, everything: float) -> None:
    gold = [m("...."), m("xx..")]
    assert metrics.token_f1(gold, metrics.mark_nothing(gold), variant=variant) == pytest.approx(nothing)
    assert metrics.token_f1(gold, metrics.mark_everything(gold), variant=variant) == pytest.approx(everything)
    assert metrics.iou_f1(gold, metrics.mark_nothing(gold), variant=variant) == pytest.approx(nothing)


@pytest.mark.parametrize("name", RATIONALES)
@few
@given(rows=texts)
def test_rationales_keep_bounds_and_order_does_not_matter(name: str, rows: list[list[tuple[bool, bool]]]) -> None:
    value = RATIONALES[name](*marked(rows))
    assert math.isnan(value) or 0 <= value <= 1
    assert RATIONALES[name](*marked(rows[::-1])) == pytest.approx(value, nan_ok=True)


@pytest.mark.parametrize("function", [metrics.token_f1, metrics.iou_f1])
@few
@given(rows=texts)
def test_variants_agree_when_every_text_has_gold(function: Callable[..., float], rows: list[list[tuple[bool, bool]]]) -> None:
    gold, predicted = marked([[(True, True), *row] for row in rows])
    values = [function(gold, predicted, variant=variant) for variant in VARIANTS]
    assert values == [pytest.approx(values[0])] * len(VARIANTS)
    assert function(gold, gold, variant="epitome") == 1
    assert function(predicted, gold, variant="epitome") == pytest.approx(values[0])  # the same from either side


def test_perfect_prediction_of_nothing_counts_in_one_variant_only() -> None:
    gold = [m("....")]
    assert metrics.iou_f1(gold, gold, variant="micromodels") == 1
    assert metrics.iou_f1(gold, gold, variant="epitome") == 0


def test_interval_holds_the_estimate_and_depends_on_the_seed_alone() -> None:
    gold = [i % 2 for i in range(200)]
    predicted = [label if i % 5 else 1 - label for i, label in enumerate(gold)]
    groups = [i // 4 for i in range(200)]
    low, high = metrics.interval(metrics.accuracy, gold, predicted, groups)
    assert low < metrics.accuracy(gold, predicted) == 0.8 < high
    assert (low, high) == metrics.interval(metrics.accuracy, gold, predicted, groups)
    assert (low, high) != metrics.interval(metrics.accuracy, gold, predicted, groups, seed=1)


def test_interval_draws_whole_groups() -> None:
    gold, predicted = [1] * 100, [1] * 50 + [0] * 50
    single = metrics.interval(metrics.accuracy, gold, predicted, range(100))
    halves = metrics.interval(metrics.accuracy, gold, predicted, [0] * 50 + [1] * 50)
    assert halves == (0, 1)
    assert 0.35 < single[0] < 0.5 < single[1] < 0.65


def test_interval_leaves_out_draws_without_a_value() -> None:
    low, high = metrics.interval(metrics.roc_auc, [True, False], [0.9, 0.1], ["a", "b"])
    assert (low, high) == (1, 1)
