"""What the sentences of a corpus are like, causes beside the others: tables for the terminal, or JSON."""

from collections.abc import Iterator
from itertools import zip_longest

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from empathia.findings import Described, Measure, Side, Term, Terms
from empathia.report.palette import counted
from empathia.report.plots import percent
from empathia.report.relations import MARKS, ORIGINS

MEASURES = {
    "words": ("Length", "words in a sentence"),
    "place": ("Place", "where in its turn a sentence stands, from 0 (first) to 1 (last)"),
    "sentiment": ("Sentiment", "from -1 (negative) to 1 (positive), by VADER"),
}
NO_CAUSES = (
    "No turn carries causes, so all sentences stand together. To compare, label replies with their `causes` (docs/formats.md), "
    "or give results that hold them."
)
STARS = ", ".join(f"{mark} < {p}" for p, mark in MARKS)
STAND_OUT = f"× is the ratio of odds, causes to others, pulled towards 1 where words are rare; p after Bonferroni's correction: {STARS}"  # noqa: RUF001
TOPICS = "Topics are learnt from the conversations themselves (LDA, fixed seed): another number of topics gives other ones."
LEXICON = "Emotions are those of the NRC lexicon, which is free for research; commercial use needs a licence of its makers."


def table(found: Described) -> Group:
    """The whole description for the terminal."""
    parts: list[RenderableType] = [Text(line) for line in heading(found)]
    parts += [Text(), _measures(found)]
    if found.emotions:
        parts += [Text(), _emotions(found)]
    for title, terms in (("Words", found.words), ("Pairs of words", found.bigrams)):
        parts += [Text(), *_terms(title, terms)]
    if found.topics:
        parts += [Text(), _topics(found)]
    return Group(*parts, Text(), *(Text(note, "dim") for note in notes(found)))


def as_json(found: Described) -> str:
    """All as one JSON object."""
    return found.model_dump_json(indent=1)


def heading(found: Described) -> list[str]:
    """What was described: how many sentences of how many turns, how many of them causes, and who says so."""
    size = f"{found.source}: {counted(found.cause + found.other, 'sentence')} of {counted(found.turns, 'turn')}"
    whole = f"{size} in {counted(found.dialogues, 'conversation')}"
    if found.origin is None:
        return [whole, NO_CAUSES]
    share = percent(found.cause, found.cause + found.other)
    causes = f"{found.cause:,} of them ({share}) are causes of {counted(found.labelled, 'labelled turn')}; {ORIGINS[found.origin]}"
    return [whole, causes]


def notes(found: Described) -> Iterator[str]:
    """How to read it, and what was left out, and why."""
    if found.origin is not None:
        yield STAND_OUT
    if found.topics:
        yield TOPICS
    if found.emotions:
        yield LEXICON
    for part, reason in found.left_out.items():
        yield f"No {part}: {reason}"


def rate(count: int, of: int, per: int = 1000) -> float:
    """How often something comes in so many words."""
    return per * count / of if of else 0.0


def stars(term: Term) -> str:
    """Stars for a difference that chance hardly makes, after correction."""
    return next((mark for limit, mark in MARKS if term.p is not None and term.p < limit), "")


def times(term: Term) -> str:
    """How many times as likely it is among causes."""
    return "" if term.times is None else f"×{term.times:.1f}" if term.times < 10 else f"×{term.times:.0f}"  # noqa: RUF001


def difference(measure: Measure) -> str:
    """How far the means are apart, with the 95 % interval; nothing where one is not known."""
    one, other = measure.cause, measure.other
    if one.mean is None or other.mean is None:
        return ""
    apart, half = one.mean - other.mean, 1.96 * ((one.error or 0) ** 2 + (other.error or 0) ** 2) ** 0.5
    return f"{apart:+.2f} ({apart - half:+.2f} to {apart + half:+.2f})"


def _grid(*columns: str) -> Table:
    grid = Table(*columns, box=None, pad_edge=False)
    for column in grid.columns[1:]:
        column.justify = "right"
    return grid


def _measures(found: Described) -> Table:
    two = found.origin is not None
    grid = _grid("", *(("causes", "others", "difference (95 %)") if two else ("mean",)))
    for one in found.measures:
        name = MEASURES[one.name][0].lower() + (" in words" if one.name == "words" else "")
        grid.add_row(name, *((_mean(one.cause), _mean(one.other), difference(one)) if two else (_mean(one.other),)))
        for bin_ in one.bins:
            shares = [percent(bin_.cause, one.cause.rows), percent(bin_.other, one.other.rows)]
            grid.add_row(Text(f"  {bin_.label}", "dim"), *(shares if two else shares[1:]))
    return grid


def _mean(side: Side) -> str:
    if side.mean is None:
        return "-"
    return f"{side.mean:.2f}" if side.error is None else f"{side.mean:.2f} ±{side.error:.2f}"


def _emotions(found: Described) -> Table:
    two = found.origin is not None
    grid = _grid("Emotions, in 100 words", *(("causes", "others", "", "") if two else ("all",)))
    for one in sorted(found.emotions, key=lambda one: -(one.cause + one.other)):
        rates = [f"{rate(count, of, 100):.1f}" for count, of in ((one.cause, found.words.cause), (one.other, found.words.other))]
        grid.add_row(one.text, *((*rates, times(one), stars(one)) if two else rates[1:]))
    return grid


def _terms(title: str, terms: Terms) -> Iterator[RenderableType]:
    if terms.among_causes or terms.among_others:
        yield Text(f"{title} that stand out, and how often they come in 1,000", "bold")
        grid = Table("among causes", "causes", "others", "", "among others", "causes", "others", "", box=None, pad_edge=False)
        for at, column in enumerate(grid.columns):
            column.justify, column.no_wrap = "right" if at % 4 in (1, 2) else "left", True
        for one, other in zip_longest(terms.among_causes, terms.among_others):
            grid.add_row(*_term(one, terms), *_term(other, terms))
        yield grid
    where = "among causes" if terms.among_causes or terms.among_others else "in all"
    listed = ", ".join(f"{one.text} {one.cause if where == 'among causes' else one.other:,}" for one in terms.frequent)
    yield Text.assemble((f"{title}, the most frequent {where}: ", "bold"), listed or "none")


def _term(one: Term | None, terms: Terms) -> tuple[str, ...]:
    if one is None:
        return ("",) * 4
    return one.text, f"{rate(one.cause, terms.cause):.1f}", f"{rate(one.other, terms.other):.1f}", times(one) + stars(one)


def _topics(found: Described) -> Table:
    two = found.origin is not None
    grid = Table("Topics, by share of words", *(("causes", "others") if two else ("all",)), box=None, pad_edge=False)
    for column in grid.columns[1:]:
        column.justify = "right"
    for one in found.topics:
        shares = ["-" if share is None else f"{100 * share:.0f} %" for share in (one.cause, one.other)]
        grid.add_row(", ".join(one.words), *(shares if two else shares[1:]))
    return grid
