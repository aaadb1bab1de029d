"""What the sentences of a corpus are like, as one self-contained page of small plots: no script, no network."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from empathia.findings import Described, Measure, Term, Terms
from empathia.report import html
from empathia.report.described import MEASURES, NO_CAUSES, difference, notes, rate, stars, times
from empathia.report.html import Figure
from empathia.report.relations import ORIGINS

CAUSE, OTHER = "rose", "indigo"
WIDEST = 16  # the ends of the widest axis of ratios: a sixteenth, sixteen times


@dataclass(frozen=True)
class Row:
    """Two bars, in per cent of the width; nothing for a side that does not exist."""

    label: str
    cause: float | None
    other: float
    told: str
    note: str


@dataclass(frozen=True)
class Bars:
    """Rows of bars, causes above the others."""

    title: str
    question: str
    rows: tuple[Row, ...]
    wide: bool = False


@dataclass(frozen=True)
class Dot:
    """A ratio and its interval, in per cent of the width; `sure` where chance hardly makes it."""

    label: str
    at: float
    low: float
    high: float
    hue: str
    sure: bool
    told: str
    note: str


@dataclass(frozen=True)
class Ratios:
    """Dots on an axis of ratios: right of the middle is likelier among causes."""

    title: str
    question: str
    dots: tuple[Dot, ...]
    ticks: tuple[tuple[float, str], ...]


def page(found: Described) -> str:
    """The whole page."""
    return (
        html.environment()
        .get_template("corpus.html.jinja")
        .render(
            found=found,
            figures=tuple(_figures(found)),
            ratios=tuple(_ratios(found)),
            bars=tuple(_bars(found)),
            notes=tuple(notes(found)),
            no_causes=NO_CAUSES,
            origin=ORIGINS[found.origin] if found.origin else "",
            hue={"cause": CAUSE, "other": OTHER},
        )
    )


def _figures(found: Described) -> Iterator[Figure]:
    if found.origin:
        yield Figure("causes", found.cause, "sentences that a labelled turn reacts to", CAUSE)
        yield Figure("others", found.other, "sentences of the same turns, or of turns that were answered", OTHER)
        yield Figure("labelled", found.labelled, "turns for which causes were looked for", "teal")
    else:
        yield Figure("sentences", found.other, "of all participants", OTHER)
    yield Figure("turns", found.turns, "that hold the sentences", "ochre")


def _ratios(found: Described) -> Iterator[Ratios]:
    for title, terms in (("Words that stand out", found.words), ("Pairs of words that stand out", found.bigrams)):
        shown = [*terms.among_causes, *reversed(terms.among_others)]
        if shown:
            yield _ratio(title, "How many times as likely among causes as among the others?", shown, terms)


def _ratio(title: str, question: str, shown: Sequence[Term], terms: Terms) -> Ratios:
    ends = [abs(math.log2(end)) for one in shown for end in (one.times, one.low, one.high) if end]
    most = max(1, min(int(math.log2(WIDEST)), math.ceil(max(ends, default=1))))
    step = 1 if most < 4 else 2
    ticks = tuple((50 + 50 * power / most, _times(power)) for power in range(-most + most % step, most + 1, step))
    return Ratios(title, question, tuple(_dot(one, most, terms) for one in shown), ticks)


def _times(power: int) -> str:
    return f"{2**power}" if power >= 0 else f"1/{2**-power}"


def _dot(one: Term, most: int, terms: Terms) -> Dot:
    at, low, high = (50 + 50 * max(-1.0, min(1.0, math.log2(end or 1) / most)) for end in (one.times, one.low, one.high))
    rates = f"{rate(one.cause, terms.cause):.2f} and {rate(one.other, terms.other):.2f} in 1,000"
    note = f"{one.cause:,} times among causes, {one.other:,} among others ({rates})"
    return Dot(one.text, at, low, high, CAUSE if at > 50 else OTHER, bool(stars(one)), f"{times(one)[1:]}{stars(one)}", note)


def _bars(found: Described) -> Iterator[Bars]:
    measures = {one.name: _spread(one, found) for one in found.measures}
    yield from (measures[name] for name in ("sentiment",) if name in measures)
    if found.emotions:
        ordered = sorted(found.emotions, key=lambda one: -(one.cause + one.other))
        yield _rates("Emotions", "How many of 100 words go with each, by the NRC lexicon?", ordered, found.words, 100)
    asked = "How often do they come in 1,000?"
    yield from (bars for name, bars in measures.items() if name != "sentiment")
    where = "among causes" if found.origin else "in all"
    yield _rates(f"The most frequent words {where}", asked, found.words.frequent, found.words, 1000)
    yield _rates(
        f"The most frequent pairs {where}", f"{asked} Stop words between them are left out.", found.bigrams.frequent, found.bigrams, 1000
    )
    if found.topics:
        yield _topics(found)


def _spread(measure: Measure, found: Described) -> Bars:
    title, unit = MEASURES[measure.name]
    sides = ((measure.cause, "causes "), (measure.other, "others " if found.origin else ""))
    told = [f"{name}{side.mean:.2f}" for side, name in sides if side.mean is not None]
    apart = f"; difference and 95 % interval {difference(measure)}" if difference(measure) else ""
    question = f"{unit[0].upper()}{unit[1:]}. Mean: {', '.join(told)}{apart}."
    values = [(one.label, _share(one.cause, measure.cause.rows), _share(one.other, measure.other.rows)) for one in measure.bins]
    return Bars(title, question, tuple(_row(one, values, found, "{:.0f} %") for one in values))


def _rates(title: str, question: str, terms: Sequence[Term], of: Terms, per: int) -> Bars:
    values = [(one.text, rate(one.cause, of.cause, per) if of.cause else None, rate(one.other, of.other, per)) for one in terms]
    marks = [stars(one) for one in terms]
    found = tuple(_row(one, values, None, "{:.1f}", mark) for one, mark in zip(values, marks, strict=True))
    return Bars(title, question, found)


def _topics(found: Described) -> Bars:
    values = [(", ".join(one.words), None if one.cause is None else 100 * one.cause, 100 * (one.other or 0)) for one in found.topics]
    asked = "What share of the words belongs to each topic? A topic is called by the words that are most its own."
    return Bars("Topics", asked, tuple(_row(one, values, found, "{:.0f} %") for one in values), wide=True)


Value = tuple[str, float | None, float]


def _row(one: Value, among: Sequence[Value], found: Described | None, form: str, mark: str = "") -> Row:
    label, cause, other = one
    if found is not None and found.origin is None:
        cause = None
    most = max((value for _, *pair in among for value in pair if value is not None), default=1) or 1
    both = [form.format(value) for value in (cause, other) if value is not None]
    note = f"{label}: causes {both[0]}, others {both[1]}" if cause is not None else f"{label}: {both[0]}"
    return Row(label, None if cause is None else 100 * cause / most, 100 * other / most, " · ".join(both) + mark, note)


def _share(count: int, of: int) -> float:
    return 100 * count / of if of else 0.0
