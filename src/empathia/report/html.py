"""The report as one self-contained page: no script, no network, light and dark, for the screen and for paper."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from empathia.findings import Attribution
from empathia.report import palette
from empathia.report.answers import DIRECTION, answers, marked_names
from empathia.report.attribution import shades
from empathia.report.excerpt import excerpt
from empathia.report.highlight import links, marks, pieces, visible
from empathia.report.plots import OUTCOMES, Plot, percent, plots, sought
from empathia.report.tally import Tally
from empathia.schema import NOT_PARTICIPANTS, Analysis

TURNS = 60  # of one conversation; a browser shows many thousands badly
LINES = 4  # styles of underlining in the style sheet


@dataclass(frozen=True)
class Figure:
    """A headline number and what it counts."""

    label: str
    count: int
    meaning: str
    hue: str


Words = Mapping[tuple[str, int], Sequence[Attribution]]


def page(tally: Tally, *, title: str = "Empathy report", words: Words | None = None) -> str:
    """The whole page; `title` names what was analysed, the file say. Everything that comes from a message is escaped.

    `words` tells for some turns, by conversation and index, which words speak for which label.
    """
    return (
        environment()
        .get_template("page.html.jinja")
        .render(
            tally=tally,
            heading=title,
            figures=tuple(_figures(tally)),
            plots=tuple(plots(tally)),
            silver=tuple(palette.title(name) for task in tally.tasks for name, output in task.outputs.items() if output.silver),
            look=Look(tally),
            words=words or {},
        )
    )


def explanation(found: Sequence[Attribution], *, labels: int = 3) -> str:
    """Words that speak for labels as one self-contained page; red words speak against a label."""
    return environment().get_template("explanation.html.jinja").render(found=found, labels=labels)


class Look:
    """Which style class each highlighted output has: a colour, and a style of line so that colour is not the only sign."""

    def __init__(self, tally: Tally) -> None:
        self.names = tuple(name for name in marked_names(tally.tasks) if name in tally.counts)
        self.hues = palette.hues(marked_names(tally.tasks))

    def mark(self, name: str) -> str:
        """The classes of a highlighted stretch."""
        if name not in self.names:
            return "deciding"
        return f"mark c-{self.hues[name]} line-{self.names.index(name) % LINES}"


def _figures(tally: Tally) -> Iterator[Figure]:
    if DIRECTION in tally.counts:
        yield Figure("sought", sought(tally), "turns in which somebody seeks empathy", palette.hues(("seek",))["seek"])
    if tally.replies:
        hues = palette.hues(tuple(OUTCOMES))
        for name, meaning in OUTCOMES.items():
            yield Figure(palette.title(name), tally.outcomes[name], meaning, hues[name])


def sides(analysis: Analysis) -> dict[str, str]:
    """On which side each role speaks: whoever opens the conversation on the left; who is no participant, in between."""
    roles = list(dict.fromkeys(turn.role for turn in analysis.turns))
    people = [role for role in roles if role not in NOT_PARTICIPANTS]
    return {role: "aside" if role not in people else "left" if role == people[0] else "right" for role in roles}


def offsets(plot: Plot) -> list[list[float]]:
    """Where each segment of each bar begins, in percent of the width."""
    return [
        [100 * sum(segment.count for segment in bar.segments[:i]) / max(1, bar.whole) for i in range(len(bar.segments))]
        for bar in plot.bars
    ]


@cache
def environment() -> Environment:
    """The templates, with what they use."""
    environment = Environment(
        loader=PackageLoader("empathia.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"visible": visible, "title": palette.title}
    environment.globals |= {
        "DIRECTION": DIRECTION,
        "TURNS": TURNS,
        "answers": answers,
        "counted": palette.counted,
        "excerpt": excerpt,
        "hues": palette.hues,
        "links": links,
        "marks": marks,
        "offsets": offsets,
        "percent": percent,
        "pieces": pieces,
        "shades": shades,
        "sides": sides,
    }
    return environment
