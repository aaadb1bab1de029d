"""The counts of a tally as bars, before anybody draws them; what is drawn follows from what the tasks declare."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import get_args

from empathia.report.answers import DIRECTION, FOUND, NOT_FOUND, marked_names
from empathia.report.palette import hues, title
from empathia.report.tally import OTHER_ROLES, Tally
from empathia.schema import Outcome
from empathia.task import Causes, Choice, Choices, Flag, Level, Spans, Task

OUTCOMES: Mapping[str, str] = {
    "given": "replies that provide empathy where it was sought",
    "missed": "replies that do not provide it where it was sought",
    "not_needed": "replies to turns that did not seek it",
}
NO_ROLE = "(no role)"
MOST_ROLES = 8
MOST_LABELS = 12


@dataclass(frozen=True)
class Segment:
    """A part of a bar: `strength` (0 to 1) tells apart segments of one hue."""

    label: str
    count: int
    hue: str
    strength: float = 1.0


@dataclass(frozen=True)
class Bar:
    """A row of segments; the whole width stands for `whole`. The one bar that is the whole plot has no label."""

    label: str
    segments: tuple[Segment, ...]
    whole: int
    note: str = ""

    @property
    def total(self) -> int:
        """The sum of the segments."""
        return sum(segment.count for segment in self.segments)


@dataclass(frozen=True)
class Plot:
    """Bars, and the question that they answer. In a `stacked` plot a bar has several segments, alike in all bars."""

    title: str
    question: str
    bars: tuple[Bar, ...]
    definitions: Mapping[str, str] = field(default_factory=dict)
    stacked: bool = True
    silver: bool = False
    note: str = ""


def plots(tally: Tally) -> Iterator[Plot]:
    """One plot per thing that was counted: outcomes, the direction by role, choices, levels."""
    if tally.replies:
        yield _outcomes(tally)
    if tally.roles:
        yield _by_role(tally)
    for task in tally.tasks:
        for name, output in task.outputs.items():
            if isinstance(output, Choice | Choices) and name in tally.counts and name != DIRECTION:
                yield _choice(name, output, tally.counts[name])
            if isinstance(output, Spans | Causes | Flag) and name in tally.counts:
                yield _spans(name, output, tally)
        levels = {name: output for name, output in task.outputs.items() if isinstance(output, Level) and name in tally.counts}
        if levels:
            yield _levels(task, levels, tally)


def sought(tally: Tally) -> int:
    """The turns that seek empathy."""
    return tally.counts.get(DIRECTION, Counter())["seek"]


def percent(count: int, whole: int) -> str:
    """A share in words: small ones do not vanish, large ones are not rounded to all."""
    share = 100 * count / whole if whole else 0.0
    if 0 < share < 1:
        return "<1 %"
    return ">99 %" if 99 < share < 100 else f"{share:.0f} %"


def _outcomes(tally: Tally) -> Plot:
    names = get_args(Outcome)
    hue = hues(names)
    segments = tuple(Segment(title(name), tally.outcomes[name], hue[name]) for name in names)
    definitions = {title(name): OUTCOMES.get(name, "") for name in names}
    return Plot("Outcomes", "Was empathy given where it was sought?", (Bar("", segments, tally.replies),), definitions)


def _by_role(tally: Tally) -> Plot:
    declared = next((task.outputs[DIRECTION] for task in tally.tasks if DIRECTION in task.outputs), None)
    definitions = dict(declared.labels) if isinstance(declared, Choice) else {}
    silver = declared is not None and declared.silver
    labels = list(dict.fromkeys([*definitions, *map(str, tally.counts[DIRECTION])]))
    hue = hues(labels)
    ranked = sorted(tally.roles, key=lambda role: (role == OTHER_ROLES, -tally.roles[role].total()))
    shown = MOST_ROLES if len(ranked) > MOST_ROLES + 1 else len(ranked)  # never fold a single one
    counts = {role: tally.roles[role] for role in ranked[:shown]}
    if rest := ranked[shown:]:
        counts[OTHER_ROLES] = sum((tally.roles[role] for role in rest), Counter())
    bars = tuple(
        Bar(role or NO_ROLE, tuple(Segment(label, found[label], hue[label]) for label in labels), found.total())
        for role, found in counts.items()
    )
    return Plot("Direction by role", "Who sought, who provided?", bars, definitions, silver=silver)


def _choice(name: str, output: Choice | Choices, counts: Counter[str | int]) -> Plot:
    labels = list(dict.fromkeys([*output.labels, *map(str, counts)]))
    if len(labels) > MOST_LABELS:
        labels = [label for label in labels if counts[label]]
    ranked = sorted(labels, key=lambda label: -counts[label])
    shown = ranked[:MOST_LABELS]
    whole = max(counts.values(), default=1)
    bars = tuple(Bar(label, (Segment(label, counts[label], "indigo"),), whole, output.labels.get(label, "")) for label in shown)
    left = len(ranked) - len(shown)
    note = f"{left} rarer labels are not drawn" if left else ""
    return Plot(title(name).capitalize(), output.question, bars, output.labels, stacked=False, silver=output.silver, note=note)


def _spans(name: str, output: Spans | Causes | Flag, tally: Tally) -> Plot:
    counts, hue = tally.counts[name], hues(marked_names(tally.tasks))[name]
    segments = tuple(Segment(label, counts[label], hue, strength) for label, strength in ((FOUND, 1.0), (NOT_FOUND, 0.25)))
    return Plot(title(name).capitalize(), output.question, (Bar("", segments, counts.total()),), silver=output.silver)


def _levels(task: Task, levels: Mapping[str, Level], tally: Tally) -> Plot:
    hue = hues(marked_names(tally.tasks))
    bars = []
    for name, output in levels.items():
        counts = tally.counts[name]
        top = max(len(output.levels), *(int(level) + 1 for level in counts))
        segments = tuple(Segment(f"level {i}", counts[i], hue[name], (i + 1) / top) for i in range(top))
        bars.append(Bar(title(name), segments, counts.total(), output.question))
    definitions = {f"{title(name)} {level}": meaning for name, output in levels.items() for level, meaning in enumerate(output.levels)}
    return Plot(
        title(task.name).capitalize(), task.question, tuple(bars), definitions, silver=any(output.silver for output in levels.values())
    )
