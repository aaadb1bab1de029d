"""Results: what `empathia analyse -o results.jsonl` wrote, with the model's answers as labels.

Layout: JSON Lines in the schema `empathia/1`, one conversation each. A choice becomes the label of its name, several
choices a tuple, a level a grade with its rationales, found sentences a grade of 0 or 1; `outcome` is a label too.
Licence and citation: those of the analysed data.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from pydantic import ValidationError

from empathia.corpora import Card
from empathia.corpora._json import json_lines
from empathia.schema import (
    Analysis,
    Answer,
    Cause,
    ChoiceAnswer,
    ChoicesAnswer,
    Dialogue,
    FlagAnswer,
    Graded,
    Label,
    LevelAnswer,
    Outcome,
    Problem,
    Span,
    SpansAnswer,
    Turn,
    TurnAnalysis,
)

CARD = Card(title="Results of `empathia analyse -o`, as JSON Lines", tasks=(), licence="the user's", source="a file", kind="format")
BROKEN = "not a result in the schema empathia/1: write it again with `empathia analyse -o`"


def read(path: Path) -> Iterator[Dialogue | Problem]:
    """One dialogue per result; what the model answered are its labels."""
    return (dialogue(found) if isinstance(found, Analysis) else found for found in analyses(path))


def analyses(path: Path) -> Iterator[Analysis | Problem]:
    """The results as they were written, scores included."""
    for item in json_lines(path):
        if isinstance(item, Problem):
            yield item
            continue
        try:
            yield Analysis.model_validate(item.value)
        except ValidationError:  # its message would quote the text
            yield Problem(place=item.place, reason=BROKEN)


def dialogue(analysis: Analysis) -> Dialogue:
    """The conversation, with the answers as labels."""
    turns = tuple(Turn(role=turn.role, content=turn.content, labels=_labels(turn), metadata=turn.metadata) for turn in analysis.turns)
    whole = {name: found for name, found in analysis.summary.model_dump().items() if name not in get_args(Outcome) and found is not None}
    return Dialogue(id=analysis.id, group=analysis.id, turns=turns, labels=whole, metadata=analysis.metadata)


def answers(turn: TurnAnalysis) -> Iterator[tuple[str, Answer]]:
    """The answers on a turn by the name of their output, those of nested tasks too."""
    for key, found in turn.answers.items():
        if isinstance(found, dict):
            yield from found.items()
        elif found is not None:
            yield key, found


def _labels(turn: TurnAnalysis) -> dict[str, Label]:
    found = {name: _label(answer) for name, answer in answers(turn)}
    return found | {"outcome": turn.outcome} if turn.outcome else found


def _label(answer: Answer) -> Label:
    match answer:
        case ChoiceAnswer():
            return answer.label
        case ChoicesAnswer():
            return answer.labels
        case LevelAnswer():
            return Graded(level=answer.level, rationales=tuple(Span(start=one.start, end=one.end) for one in answer.rationales))
        case SpansAnswer():
            return Graded(level=int(bool(answer.spans)), rationales=tuple(Span(start=one.start, end=one.end) for one in answer.spans))
        case FlagAnswer():
            return answer.flag
        case tuple():
            return tuple(Cause(turn=one.turn, start=one.start, end=one.end) for one in answer)
    return answer
