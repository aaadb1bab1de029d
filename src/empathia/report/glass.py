"""The reasons of a glass box: which sentence is like which seed, and what that adds to each level; and words, for other models."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from empathia.findings import Attribution, Reasons
from empathia.report import attribution, html
from empathia.report.highlight import visible
from empathia.report.palette import TERMINAL, hues, title
from empathia.schema import GlassAnswer

CELLS = 8  # the longest bar, on each side
NEVER = -1e6  # what adds less is the intercept of a level that the model never saw
FEW = 3  # sentences that are shown of those that show nothing

Found = Sequence[Attribution] | Sequence[Reasons]


@dataclass(frozen=True)
class Added:
    """What one feature adds to one level, and that beside the largest of its mechanism (-1 to 1)."""

    value: float
    share: float

    @property
    def told(self) -> str:
        """The value in words."""
        return f"{self.value:+.1f}" if self.value > NEVER else "never seen"


def drawn(found: Found) -> Group:
    """For the terminal: the reasons of each output, or the words that speak for it."""
    words = [one for one in found if isinstance(one, Attribution)]
    reasons = [line for one in found if isinstance(one, Reasons) for line in _one(one)]
    return Group(*reasons, *([attribution.drawn(words)] if words else []))


def page(found: Found) -> str:
    """The same as one self-contained page."""
    words = [one for one in found if isinstance(one, Attribution)]
    reasons = [one for one in found if isinstance(one, Reasons)]
    if not reasons:
        return html.explanation(words)
    hue = hues([one.output for one in reasons])
    return html.environment().get_template("glass.html.jinja").render(found=reasons, hue=hue, added=added, feature=feature)


def added(answer: GlassAnswer) -> Mapping[str, tuple[Added, ...]]:
    """What each feature, and the intercept, adds to each level."""
    largest = max((abs(value) for values in answer.terms.values() for value in values if value > NEVER), default=0) or 1.0
    return {name: tuple(Added(value, max(-1, value / largest)) for value in values) for name, values in answer.terms.items()}


def feature(name: str) -> str:
    """A feature in words."""
    return "to begin with" if name == "intercept" else title(name)


def _one(found: Reasons) -> Iterator[RenderableType]:
    answer, style = found.answer, TERMINAL[hues([found.output])[found.output]]
    scores = " · ".join(f"level {i} {score:.2f}" for i, score in enumerate(answer.scores))
    yield Text.assemble(
        (f"{title(found.output)}: level {answer.level}", f"bold {style}"), f" ({found.levels[answer.level]})  ", (scores, "dim")
    )
    yield Padding(_matches(found, style), (0, 0, 0, 2))
    yield Padding(_terms(answer), (0, 0, 1, 2))


def _matches(found: Reasons, style: str) -> Table:
    shown = {(span.start, span.end) for span in found.answer.rationales}
    table = Table("", "sentence", "most like the seed", box=None, header_style="dim", pad_edge=False)
    ranked = sorted(found.answer.matches, key=lambda match: -match.score)
    told = [match for i, match in enumerate(ranked) if i < FEW or (match.start, match.end) in shown]
    for match in told:
        sentence = Text(visible(found.text[match.start : match.end]), style if (match.start, match.end) in shown else "")
        table.add_row(f"{match.score:.2f}", sentence, Text(visible(match.seed), "italic"))
    if len(told) < len(ranked):
        table.add_row("", Text(f"… and {len(ranked) - len(told)} more that show nothing", "dim"), "")
    return table


def _terms(answer: GlassAnswer) -> Table:
    table = Table(
        "likeness to seeds adds", *(f"level {i}" for i in range(len(answer.scores))), box=None, header_style="dim", pad_edge=False
    )
    for name, values in added(answer).items():
        table.add_row(feature(name), *(_bar(one) for one in values))
    return table


def _bar(one: Added) -> Text:
    """A bar that grows from the middle: to the right what speaks for a level, to the left what speaks against it."""
    cells = round(abs(one.share) * CELLS / 2)
    left = ("░" * cells if one.value < 0 else "").rjust(CELLS // 2)
    right = ("█" * cells if one.value > 0 else "").ljust(CELLS // 2)
    return Text(f"{left}│{right} {one.told}", no_wrap=True)
