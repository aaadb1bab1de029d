"""Which intents and strategies go with which ratings: every label against every rating, tested, with effect sizes.

A rating of a turn is compared between turns, one of a whole dialogue between dialogues that show the label in some turn and
those that do not; long dialogues show more labels. The tests take turns as independent, which turns of one dialogue are not
quite. What goes together need not cause each other.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from empathia import metrics
from empathia.comparison import EFFECTS, Floats, Test, compared, holm, rank_interval, side
from empathia.errors import InputError, UnknownName
from empathia.findings import Correlation, Related, Relation
from empathia.labelled import Labelled, declared
from empathia.observation import OUTCOME, Observations, Observed, observe
from empathia.task import Level

SATISFACTION = "satisfaction"
Unit = Literal["turn", "dialogue"]


def relate(
    source: Labelled, *, test: Test = "mann-whitney", ratings: Sequence[str] = (), target: str | None = None, role: str | None = None
) -> Related:
    """How each label goes with each rating, and how labels and ratings go with the target, by default satisfaction.

    Without `ratings` all are taken; for results of ours that have none, whether the empathy that was sought is given. With
    a role, only turns of that participant count.
    """
    if test not in EFFECTS:
        raise UnknownName("test", test, EFFECTS)
    found = observe(source, [*ratings, *([target] if target else [])], role=role)
    chosen = _chosen(found, ratings)
    if target:
        _chosen(found, [target])  # an unknown one is an error
    tested = [*_relations(found.turns, "turn", chosen, test), *_relations(found.dialogues, "dialogue", chosen, test)]
    correlations = tuple(_correlations(found, chosen, target or SATISFACTION))
    if not tested and not correlations:
        other = f" Name another of {', '.join(sorted(found.known))} with --rating." if found.known else ""
        raise InputError(f"No turn or dialogue of {source.name} carries both a label and a rating.{other}")
    used = {name for one in tested for name in (one.output, one.rating)} | {one.output for one in correlations}
    return Related(
        source=source.name,
        test=test,
        effect=EFFECTS[test],
        turns=sum(bool(one.labels) for one in found.turns),
        dialogues=len({one.group for one in found.turns if one.labels}),
        origins={name: origin for name, origin in found.origins.items() if name in used},
        relations=tuple(sorted(_corrected(tested), key=lambda one: (chosen.index(one.rating), -(one.effect or 0)))),
        correlations=correlations,
    )


def _chosen(found: Observations, ratings: Sequence[str]) -> tuple[str, ...]:
    """The ratings that were asked for, or all; of our own answers without any, the outcome."""
    for name in ratings:
        if name not in found.known:
            raise UnknownName("rating", name, found.known)
    return tuple(ratings) or tuple(found.ratings) or tuple(name for name in (OUTCOME,) if name in found.known)


def _relations(cases: Sequence[Observed], unit: Unit, ratings: Sequence[str], test: Test) -> Iterator[Relation]:
    shown = _shown(cases)
    for rating in ratings:
        values = np.array([case.numbers.get(rating, math.nan) for case in cases])
        for (output, label), there in shown.items():
            known = ~np.isnan(values) & ~np.isnan(there)
            if not known.any() or _circular(rating, output):
                continue
            one, other = values[known & (there == 1)], values[known & (there == 0)]
            effect, p = compared(one, other, test)
            yield Relation(
                output=output,
                label=label,
                rating=rating,
                unit=unit,
                shown=side(one),
                absent=side(other),
                effect=_known(effect),
                p=_known(p),
            )


def _shown(cases: Sequence[Observed]) -> dict[tuple[str, str], Floats]:
    """For each label whether each case shows it: 1, 0, or nan where it was not asked."""
    labels = dict.fromkeys((output, label) for case in cases for output, some in case.labels.items() for label in sorted(some))
    return {
        (output, label): np.array([label in case.labels[output] if output in case.labels else math.nan for case in cases], dtype=float)
        for output, label in labels
    }


def _circular(rating: str, output: str) -> bool:
    """Whether one is made of the other: a score of its output, or the outcome, which follows from direction and mechanisms."""
    own = rating.partition(":")[0]
    other = {own: output, output: own}.get(OUTCOME, "")
    return own == output or other == "direction" or isinstance(declared().get(other), Level)


def _corrected(relations: Sequence[Relation]) -> list[Relation]:
    corrected = holm([math.nan if one.p is None else one.p for one in relations])
    return [one.model_copy(update={"corrected": _known(p)}) for one, p in zip(relations, corrected, strict=True)]


def _correlations(found: Observations, ratings: Sequence[str], target: str) -> Iterator[Correlation]:
    whole = any(target in case.numbers for case in found.dialogues)
    cases = [case for case in (found.dialogues if whole else found.turns) if target in case.numbers]
    wanted = np.array([case.numbers[target] for case in cases])
    measures: dict[tuple[str, str | None], Floats] = dict(_shown(cases).items())
    for rating in ratings:
        measures[rating, None] = np.array([case.numbers.get(rating, case.means.get(rating, math.nan)) for case in cases])
    for (output, label), values in measures.items():
        known = ~np.isnan(values)
        if _circular(target, output.partition(":")[0]) or not known.any():
            continue
        value = metrics.spearman(values[known].tolist(), wanted[known].tolist())
        low, high = rank_interval(value, int(known.sum()))
        yield Correlation(
            output=output,
            label=label,
            rating=target,
            unit="dialogue" if whole else "turn",
            rows=int(known.sum()),
            value=_known(value),
            low=_known(low),
            high=_known(high),
        )


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
