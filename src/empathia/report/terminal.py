"""The summary that a person sees first, for the terminal; without colour it says the same in characters."""

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from empathia.report.answers import DIRECTION, answers, marked_names
from empathia.report.excerpt import Gap, excerpt
from empathia.report.highlight import Piece, marks, pieces, visible
from empathia.report.palette import TERMINAL, codes, counted, hues, title
from empathia.report.plots import Bar, Plot, Segment, percent, plots
from empathia.report.tally import Tally
from empathia.schema import Analysis, ChoiceAnswer, FlagAnswer, LevelAnswer, SpansAnswer, TurnAnalysis

TURNS = 6  # of one example
CHARACTERS = 480  # of one turn of an example
REASONS = 5
WIDEST_BAR = 40
ASCII, BLOCKS, LINES = ".=#", "░▒█", "╌─━"  # what bars are made of, from weak to strong; lines go with colours
PLAIN = {"slate": 1 / 3, "orange": 2 / 3, "ochre": 2 / 3}  # shades that stand for hues where there is no colour


def summary(tally: Tally, *, examples: int = 3) -> "Overview":
    """The counts, at most so many example conversations and what was set aside, for a rich console to print."""
    return Overview(tally, examples)


def show(what: RenderableType) -> None:
    """Print a table, a summary or text on standard output: what the command line ends with."""
    console = Console(soft_wrap=isinstance(what, str))
    console.print(what, markup=False, highlight=False)


@dataclass(frozen=True)
class Overview:
    """A summary that fits itself to the console: its width, whether it has colours, whether it has only ASCII."""

    tally: Tally
    examples: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """What rich calls to draw it."""
        look = Look(console.color_system is not None and not console.no_color, options.ascii_only, options.max_width)
        yield from _figures(self.tally)
        for plot in plots(self.tally):
            yield from _plot(plot, look)
        yield from _examples(self.tally, self.examples, look)
        yield from _problems(self.tally)


@dataclass(frozen=True)
class Look:
    """What the console can show."""

    colour: bool
    ascii_only: bool
    width: int

    def bar(self, bar: Bar, width: int, *, thick: bool = False) -> Text:
        """A bar of characters."""
        text = Text(no_wrap=True)
        for segment, length in zip(bar.segments, cells(bar, width), strict=True):
            text.append(self.shade(segment, thick=thick) * length, TERMINAL[segment.hue])
        return text

    def shade(self, segment: Segment, *, thick: bool = False) -> str:
        """The character that a segment is made of."""
        strength = segment.strength if self.colour else segment.strength * PLAIN.get(segment.hue, 1)
        shades = ASCII if self.ascii_only else LINES if self.colour and not thick else BLOCKS
        return shades[math.ceil(strength * len(shades) - 1e-9) - 1]


def _figures(tally: Tally) -> Iterator[Text]:
    figures = [counted(tally.conversations, "conversation"), counted(tally.turns, "turn")]
    yield Text(" · ".join([*figures, counted(tally.replies, "reply", "replies")] if tally.replies else figures), "bold")
    if tally.foreign:
        yield Text(f"{counted(tally.foreign, 'turn')} not in English: what is said of them is a guess.", "bold")


def _plot(plot: Plot, look: Look) -> RenderResult:
    yield Text()
    silver = (" (learnt from silver labels)", "dim") if plot.silver else ""
    yield Text.assemble((plot.title, "bold"), ("  ", ""), (plot.question, "dim"), silver)
    if not plot.bars[0].label:
        yield from _wide(plot.bars[0], look)
    else:
        yield _table(plot, look)
    if plot.note:
        yield Text(plot.note, "dim")


def _wide(bar: Bar, look: Look) -> Iterator[Text]:
    yield look.bar(bar, min(look.width, 2 * WIDEST_BAR), thick=True)
    legend = Text()
    for segment in bar.segments:
        legend.append(f"{look.shade(segment, thick=True)} ", TERMINAL[segment.hue])
        legend.append(f"{segment.label} {segment.count:,} ({percent(segment.count, bar.whole)})   ")
    yield legend


def _table(plot: Plot, look: Look) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=plot.stacked, header_style="")
    table.add_column(max_width=28, overflow="ellipsis", no_wrap=True)
    segments = plot.bars[0].segments
    alike = len({bar.segments[-1].hue for bar in plot.bars}) == 1
    for segment in segments:
        shade = Text.assemble((f"{look.shade(segment)} ", TERMINAL[segment.hue] if alike else ""), segment.label)
        table.add_column(shade, justify="right", no_wrap=True)
    labels = min(28, max(len(bar.label) for bar in plot.bars))
    counts = max(len(f"{segment.count:,}") for bar in plot.bars for segment in bar.segments)
    taken = labels + 4 + sum(max(counts, len(segment.label) + 2 if plot.stacked else 0) + 2 for segment in segments)
    table.add_column(no_wrap=True)
    width = max(10, min(WIDEST_BAR, look.width - taken))
    for bar in plot.bars:
        table.add_row(Text(visible(bar.label)), *(f"{segment.count:,}" for segment in bar.segments), look.bar(bar, width))
    return table


def cells(bar: Bar, width: int) -> list[int]:
    """The characters per segment: in proportion, none of what was counted left out, the sum exact."""
    if not bar.total:
        return [0] * len(bar.segments)
    room = max(1, round(width * bar.total / bar.whole))
    exact = [segment.count * room / bar.total for segment in bar.segments]
    found = [max(1, math.floor(share)) if share else 0 for share in exact]
    while sum(found) != room and room >= sum(share > 0 for share in exact):
        step = 1 if sum(found) < room else -1
        errors = [step * (share - have) if have + step > 0 and share else -math.inf for share, have in zip(exact, found, strict=True)]
        found[errors.index(max(errors))] += step
    return found


def _examples(tally: Tally, most: int, look: Look) -> RenderResult:
    shown = tally.examples[:most]
    if not shown:
        return
    yield Text()
    yield Text.assemble(("Examples", "bold"), (f"  {len(shown)} of {tally.conversations:,}, those with a missed reply first", "dim"))
    if legend := _legend(tally, look):
        yield legend
    for analysis in shown:
        yield Text()
        yield from _conversation(analysis, tally, look)


def _legend(tally: Tally, look: Look) -> Text:
    names = marked_names(tally.tasks)
    text = Text()
    for name, code in codes(names).items():
        if name not in tally.counts:
            continue
        text.append(f"{code} {title(name)}   " if look.colour else f"[{code}: {title(name)}]   ", _style(name, names, look))
    if look.colour and DIRECTION in tally.counts:
        text.append("underlined", "underline")
        text.append(" the sentence that decided the direction", "dim")
    return text


def _conversation(analysis: Analysis, tally: Tally, look: Look) -> RenderResult:
    name = Text(visible(analysis.id).replace("\n", " "), "bold")
    name.truncate(look.width // 2, overflow="ellipsis")
    yield Rule(name, align="left", characters="-" if look.ascii_only else "─", style="dim")
    for turn in excerpt(analysis, TURNS):
        if isinstance(turn, Gap):
            yield Text(f"  … {counted(turn.turns, 'turn')} not shown", "dim")
        else:
            yield _heading(turn, tally, look)
            yield Padding(_message(turn, tally, look), (0, 0, 0, 2))


def _heading(turn: TurnAnalysis, tally: Tally, look: Look) -> Text:
    parts = [Text(visible(turn.role).replace("\n", " "), "bold")]
    parts[0].truncate(24, overflow="ellipsis")
    if not turn.english:
        parts.append(Text("not English", "bold"))
    if turn.outcome:
        parts.append(Text(title(turn.outcome), f"bold {TERMINAL[hues((turn.outcome,))[turn.outcome]]}"))
    names = marked_names(tally.tasks)
    short = codes(names)
    for given in answers(turn, tally.tasks):
        answer = given.answer
        if isinstance(answer, ChoiceAnswer):
            parts.append(Text(f"{answer.label} {answer.scores.get(answer.label, 0):.2f}{_unsure(answer)}", "dim"))
        elif isinstance(answer, LevelAnswer):
            parts.append(
                Text(f"{short[given.name]} {answer.level}{_unsure(answer)}", _style(given.name, names, look) if answer.level else "dim")
            )
        elif isinstance(answer, SpansAnswer):
            parts += [Text(title(given.name), _style(given.name, names, look))] if answer.spans else []
        elif isinstance(answer, FlagAnswer):
            parts += [Text(f"{title(given.name).upper()} {answer.score:.2f}", "bold reverse")] if answer.flag else []
        elif isinstance(answer, tuple):
            parts += [Text(counted(len(answer), "cause"), _style(given.name, names, look))] if answer else []
        elif isinstance(answer, float):
            parts.append(Text(f"{title(given.name)} {answer:.1f}", "dim"))
        else:
            parts += [Text(label, "dim") for label in answer.labels]
    return Text.assemble((" · ", "dim")).join(parts)


def _unsure(answer: ChoiceAnswer | LevelAnswer) -> str:
    return " unsure" if answer.unsure else ""


def _message(turn: TurnAnalysis, tally: Tally, look: Look) -> Text:
    names = marked_names(tally.tasks)
    start, end = _window(turn, tally)
    text = Text("… " if start else "")
    at = 0
    for piece in pieces(visible(turn.content), marks(turn, tally.tasks)):
        inside = slice(max(0, start - at), max(0, end - at))
        at += len(piece.text)
        if shown := piece.text[inside]:
            text.append_text(_highlighted(Piece(shown, piece.marks), names, look))
    return text.append(" …" if end < len(turn.content) else "")


def _window(turn: TurnAnalysis, tally: Tally) -> tuple[int, int]:
    """Which part of a long message is shown: its beginning, or where its first highlight is."""
    first = min((mark.start for mark in marks(turn, tally.tasks)), default=0)
    start = 0 if first < CHARACTERS // 2 else first - CHARACTERS // 4
    return start, start + CHARACTERS


def _highlighted(piece: Piece, names: Sequence[str], look: Look) -> Text:
    found = list(dict.fromkeys(mark.name for mark in piece.marks if mark.name in names))
    line = "underline" if look.colour and any(mark.name == DIRECTION for mark in piece.marks) else ""
    if not found:
        return Text(piece.text, line)
    if not look.colour:
        short = codes(names)
        words = piece.text.strip()
        return Text(piece.text.replace(words, f"[{'+'.join(short[name] for name in found)}: {words}]") if words else piece.text)
    # where mechanisms overlap, the words take their colours in turn
    styles = itertools.cycle(f"{_style(name, names, look)} {line}" for name in found)
    return Text.assemble(*((word, next(styles)) for word in re.findall(r"\s*\S+\s*|\s+", piece.text)))


def _style(name: str, names: Sequence[str], look: Look) -> str:
    return TERMINAL[hues(names)[name]] if look.colour else ""


def _problems(tally: Tally) -> RenderResult:
    for kind, what in (("skipped", "set aside"), ("note", "read with a note")):
        if count := tally.problem_kinds[kind]:
            yield Text()
            yield Text(f"{counted(count, 'line')} {what}", "bold")
            shown = [problem for problem in tally.problems if problem.kind == kind][:REASONS]
            for problem in shown:
                yield Padding(Text(visible(f"{problem.place}: {problem.reason}")), (0, 0, 0, 2))
            if count > len(shown):
                yield Text(f"  … and {count - len(shown):,} more", "dim")
