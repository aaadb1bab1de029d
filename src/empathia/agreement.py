"""How far annotators agree, or a model and people: per cent, Cohen's kappa, Krippendorff's alpha, token F1 of marked words.

Items are turns (and dialogues, for labels of the whole), matched by the dialogue's id and the turn's index; texts that
differ are not compared. Several labels are taken as a yes-or-no question each, and the output's figure is their mean. Levels
and ratings count by distance: kappa with quadratic weights, alpha as ordinal. With more than two annotators, per cent, kappa
and token F1 are means over pairs; alpha takes all at once. Token F1 is over texts in which either marked something.
"""

import itertools
import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import krippendorff
import numpy as np
from numpy.typing import NDArray

from empathia import metrics
from empathia.errors import InputError
from empathia.findings import Agreed, Agreement, Estimate
from empathia.labelled import names, number, outputs
from empathia.schema import Cause, Dialogue, Graded, Label
from empathia.task import Choice, Choices, Level, Output, Rating

Scale = Literal["nominal", "ordinal"]
Table = NDArray[np.float64]  # (annotators, items), nan where an annotator gave no label
FIGURES = ("agreement", "kappa", "alpha")
TOKEN_F1 = "token_f1"
ALONE, TWICE, OTHER_TEXT = "labelled by nobody else", "id and turn came before", "another text"


@dataclass(frozen=True)
class Item:
    """One turn, or one whole dialogue, with what each annotator said of it."""

    group: str
    texts: tuple[str, ...]  # of all turns of the dialogue
    turn: int | None
    labels: Mapping[str, Mapping[str, Label]]  # annotator -> output -> label


def agree(sources: Mapping[str, Sequence[Dialogue]], *, rounds: int = 500, seed: int = 0) -> Agreed:
    """The agreement of two or more annotators on every output and label; bootstrap over dialogues gives the intervals."""
    if len(sources) < 2:
        raise InputError(f"Agreement needs two annotators or more: {', '.join(sources)} is one. Name another file.")
    items, unmatched = matched(sources)
    if not items:
        raise InputError(f"Nothing matches between {', '.join(sources)}: ids of dialogues and order of turns must be the same.")
    values: dict[str, list[Label]] = {}
    for item in items:
        for given in item.labels.values():
            for name, label in given.items():
                values.setdefault(name, []).append(label)
    found = (_output(name, output, items, tuple(sources), rounds, seed) for name, output in outputs(values).items())
    return Agreed(
        annotators=tuple(sources), matched=len(items), unmatched=unmatched, agreements=tuple(itertools.chain.from_iterable(found))
    )


def matched(sources: Mapping[str, Sequence[Dialogue]]) -> tuple[list[Item], dict[str, dict[str, int]]]:
    """The items that two or more annotators labelled, and how many of each annotator match nothing, by reason."""
    found: dict[tuple[str, int | None], Item] = {}
    aside: dict[str, Counter[str]] = {who: Counter() for who in sources}
    for who, dialogues in sources.items():
        for dialogue in dialogues:
            texts = tuple(turn.content for turn in dialogue.turns)
            for turn, labels in ((None, dialogue.labels), *((index, turn.labels) for index, turn in enumerate(dialogue.turns))):
                key = (dialogue.id, turn)
                before = found.get(key)
                if not labels:
                    continue
                if before and who in before.labels:
                    aside[who][TWICE] += 1
                elif before and before.texts != texts:
                    aside[who][OTHER_TEXT] += 1
                else:
                    found[key] = Item(dialogue.group or dialogue.id, texts, turn, {**(before.labels if before else {}), who: labels})
    for item in found.values():
        if len(item.labels) == 1:
            aside[next(iter(item.labels))][ALONE] += 1
    return [item for item in found.values() if len(item.labels) > 1], {who: dict(reasons) for who, reasons in aside.items()}


def _output(name: str, output: Output, items: Sequence[Item], who: Sequence[str], rounds: int, seed: int) -> Iterator[Agreement]:
    asked = [item for item in items if sum(name in given for given in item.labels.values()) > 1]
    if not asked:
        return
    rows = list(metrics.draws([item.group for item in asked], seed=seed, rounds=rounds))
    tables = dict(_tables(name, output, asked, who))
    drawn = {label: _drawn(table, scale, rows) for label, (table, scale) in tables.items()}
    if isinstance(output, Choices) and drawn:
        drawn = {None: _mean(list(drawn.values()), axis=0), **drawn}
    marked = _marked(name, asked, who)
    for label, found in drawn.items() if drawn else ((None, None),):
        figures = {} if found is None else {figure: _estimate(found[:, at]) for at, figure in enumerate(FIGURES)}
        if label is None and not np.isnan(marked).all():
            figures[TOKEN_F1] = _estimate(np.array([_mean(marked), *(_mean(marked[some]) for some in rows)]))
        if figures:
            yield Agreement(output=name, label=label, rows=len(asked), figures=figures)


def _tables(name: str, output: Output, items: Sequence[Item], who: Sequence[str]) -> Iterator[tuple[str | None, tuple[Table, Scale]]]:
    """What is compared: the output as a whole (None), and each of its labels against the rest."""
    if isinstance(output, Level | Rating):
        yield None, (_table(name, items, who, number), "ordinal")
    if isinstance(output, Choice):
        codes = {label: code for code, label in enumerate(output.labels)}
        yield None, (_table(name, items, who, lambda label: codes[names(label)[0]]), "nominal")
    if isinstance(output, Choice | Choices):
        for one in output.labels:
            yield one, (_table(name, items, who, partial(_says, one)), "nominal")


def _says(one: str, label: Label) -> bool:
    return one in names(label)


def _table(name: str, items: Sequence[Item], who: Sequence[str], value: Callable[[Label], float | None]) -> Table:
    return np.array([[_value(item.labels.get(one, {}).get(name), value) for item in items] for one in who], dtype=float)


def _value(label: Label | None, value: Callable[[Label], float | None]) -> float:
    found = None if label is None else value(label)
    return math.nan if found is None else found


def _drawn(table: Table, scale: Scale, rows: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """The figures of all items, and after that those of each round of the bootstrap: (1 + rounds, figures)."""
    return np.array([_figures(table, scale), *(_figures(table[:, some], scale) for some in rows)])


def _figures(table: Table, scale: Scale) -> tuple[float, float, float]:
    pairs = []
    for one, other in itertools.combinations(table, 2):
        both = ~np.isnan(one) & ~np.isnan(other)
        if both.any():
            pairs.append((float((one[both] == other[both]).mean()), kappa(one[both], other[both], scale)))
    agreement, kappas = _mean([pair for pair, _ in pairs]), _mean([pair for _, pair in pairs])
    return float(agreement), float(kappas), alpha(table, scale)


def kappa(one: NDArray[Any], other: NDArray[Any], scale: Scale) -> float:
    """Cohen's kappa, with quadratic weights on an ordinal scale; nan where chance alone would agree throughout."""
    if scale == "ordinal":
        observed = ((one - other) ** 2).mean()
        expected = one.var() + other.var() + (one.mean() - other.mean()) ** 2  # of all pairs of one with other
    else:
        observed = (one != other).mean()
        expected = 1 - sum((one == value).mean() * (other == value).mean() for value in np.unique(one))
    return float(1 - observed / expected) if expected > 1e-12 else math.nan


def alpha(table: Table, scale: Scale) -> float:
    """Krippendorff's alpha; nan where all said the same or nothing can be compared."""
    known = table[:, (~np.isnan(table)).sum(axis=0) > 1]
    if len(np.unique(known[~np.isnan(known)])) < 2:
        return math.nan
    return float(krippendorff.alpha(reliability_data=known, level_of_measurement=scale))


def _marked(name: str, items: Sequence[Item], who: Sequence[str]) -> NDArray[np.float64]:
    """For each item the token F1 of the words that two annotators marked, as the mean over pairs; nan where none marked any."""
    found = []
    for item in items:
        given = [marks for one in who if (marks := _marks(item, item.labels.get(one, {}).get(name))) is not None]
        pairs = [pair for pair in itertools.combinations(given, 2) if any(pair[0]) or any(pair[1])]
        found.append(_mean([metrics.token_f1([one], [other], variant="micromodels") for one, other in pairs]))
    return np.array(found, dtype=float)


def _marks(item: Item, label: Label | None) -> metrics.Marks | None:
    """Which words an annotator marked: in the turn itself, or as causes anywhere in the dialogue."""
    if isinstance(label, Graded) and item.turn is not None:
        return metrics.marks(item.texts[item.turn], label.rationales)
    if not isinstance(label, tuple) or any(isinstance(one, str) for one in label):
        return None
    causes = [one for one in label if isinstance(one, Cause)]
    inside = (metrics.marks(text, [one for one in causes if one.turn == turn]) for turn, text in enumerate(item.texts))
    return tuple(itertools.chain.from_iterable(inside))


def _estimate(values: NDArray[np.float64]) -> Estimate:
    """The first value, with the interval of the others."""
    drawn = values[1:][~np.isnan(values[1:])]
    low, high = (float(end) for end in np.quantile(drawn, (0.025, 0.975))) if len(drawn) else (None, None)
    return Estimate(value=None if math.isnan(values[0]) else float(values[0]), low=low, high=high)


def _mean(values: Any, axis: int | None = None) -> Any:
    """The mean of what is known; nan of nothing, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.nanmean(np.asarray(values, dtype=float), axis=axis) if len(values) else math.nan
