"""Which words of a turn to highlight: rationales, and the sentence that decided the direction; overlaps are cut into pieces."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count, pairwise

from empathia.report.answers import DIRECTION, answers
from empathia.report.palette import title
from empathia.schema import Analysis, ChoiceAnswer, FlagAnswer, LevelAnswer, SpansAnswer, TurnAnalysis
from empathia.task import Choice, Level, Task


@dataclass(frozen=True)
class Mark:
    """A stretch of a turn, the output that it speaks for, and a note that says what it shows."""

    start: int
    end: int
    name: str
    note: str
    pair: int = 0  # the number that it shares with the other side of a link
    key: str = ""  # its own name, to which the other side leads
    link: str = ""  # where it leads


@dataclass(frozen=True)
class Piece:
    """A stretch of a turn that carries the same marks from its first character to its last; `begins` are those that begin here."""

    text: str
    marks: tuple[Mark, ...]
    begins: tuple[Mark, ...] = ()


def marks(turn: TurnAnalysis, tasks: Iterable[Task]) -> tuple[Mark, ...]:
    """All that is to be highlighted in a turn."""
    found: list[Mark] = []
    for given in answers(turn, tasks):
        answer, output = given.answer, given.output
        if isinstance(answer, LevelAnswer) and isinstance(output, Level):
            meaning = f"{title(given.name)}: level {answer.level}{_definition(output, answer.level)}"
            found += (Mark(span.start, span.end, given.name, f"{meaning}, score {span.score:.2f}") for span in answer.rationales)
        elif isinstance(answer, SpansAnswer):
            found += (Mark(span.start, span.end, given.name, f'like "{span.seed}": {span.score:.2f}') for span in answer.spans)
        elif isinstance(answer, FlagAnswer) and answer.flag and answer.evidence:
            found.append(Mark(answer.evidence.start, answer.evidence.end, given.name, f"{title(given.name)}: {answer.score:.2f}"))
        elif isinstance(answer, ChoiceAnswer) and isinstance(output, Choice) and given.name == DIRECTION:
            if answer.evidence is None or answer.label == output.neutral:
                continue
            note = f"the sentence that decided the direction: {answer.label}"
            found.append(Mark(answer.evidence.start, answer.evidence.end, given.name, note))
    return tuple(found)


def links(analysis: Analysis, tasks: Iterable[Task]) -> dict[int, tuple[Mark, ...]]:
    """For each turn what moved a later one, and what in it reacts to an earlier one: each leads to the other."""
    found: dict[int, list[Mark]] = {}
    asked, numbers = tuple(tasks), count(1)
    for turn in analysis.turns:
        for given in answers(turn, asked):
            if not isinstance(given.answer, tuple):
                continue
            for cause, pair in zip(given.answer, numbers, strict=False):
                there, here = f"cause-{pair}", f"reaction-{pair}"
                note = f"moved turn {turn.index} ({turn.role}): {cause.score:.2f}"
                found.setdefault(cause.turn, []).append(Mark(cause.start, cause.end, given.name, note, pair, there, here))
                if cause.reaction:
                    note = f"reacts to turn {cause.turn} ({analysis.turns[cause.turn].role})"
                    mark = Mark(cause.reaction.start, cause.reaction.end, given.name, note, pair, here, there)
                    found.setdefault(turn.index, []).append(mark)
    return {index: tuple(marks) for index, marks in found.items()}


def pieces(text: str, marks: Sequence[Mark]) -> tuple[Piece, ...]:
    """The text cut wherever a mark begins or ends; joined together the pieces are the text."""
    inside = {offset for mark in marks for offset in (mark.start, mark.end) if 0 < offset < len(text)}
    cuts = sorted({0, len(text), *inside})
    return tuple(
        Piece(
            text[start:end],
            tuple(mark for mark in marks if mark.start <= start and end <= mark.end),
            tuple(mark for mark in marks if mark.start == start),
        )
        for start, end in pairwise(cuts)
    )


def visible(text: str) -> str:
    """The text with the characters that would command a terminal or turn its direction made visible; offsets stay."""
    return text.translate(COMMANDS)


def _definition(output: Level, level: int) -> str:
    return f" ({output.levels[level]})" if level < len(output.levels) else ""


COMMANDS = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n\r"},
    **dict.fromkeys((0x7F, *range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\N{REPLACEMENT CHARACTER}"),
    0x0D: " ",
}
