"""Sentence by sentence: the most telling sentence decides for the turn."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from empathia.encoders import Encoded
from empathia.models._asks._unit import Scores, Unit, tokens
from empathia.models._numbers import Floats, rounded, softmax, warmth
from empathia.schema import Answer, ChoiceAnswer, Example, FlagAnswer, Span
from empathia.segment import sentences
from empathia.task import Choice, Flag, Output, Task

ROOM = 512
LONGEST = 256  # tokens of a sentence that are read at once


def shape(task: Task, settings: Mapping[str, Any]) -> None:
    """Always the same."""


def reads(example: Example, task: Task, settings: Mapping[str, Any]) -> Iterator[str]:
    """The turn itself."""
    yield example.turn.content


def units(example: Example, task: Task, settings: Mapping[str, Any], known: Mapping[str, Encoded]) -> Iterator[Unit]:
    """The sentences that have tokens, with their states; an overlong one in pieces."""
    text = example.turn.content
    encoded = known[text]
    found = [one for one in tokens(encoded.offsets, sentences(text)) if one[1] < one[2]]
    for span, low, high in found or [(Span(start=0, end=len(text)), 0, len(encoded.states))]:
        for at in range(low, high, LONGEST):
            end = min(at + LONGEST, high)
            piece = span if high - low <= LONGEST else Span(start=int(encoded.offsets[at, 0]), end=int(encoded.offsets[end - 1, 1]))
            yield Unit({"states": encoded.states[at:end]}, piece)


def scored(outputs: Mapping[str, Floats], task: Task, settings: Mapping[str, Any]) -> Scores:
    """How likely each label is."""
    return {name: rounded(softmax(outputs[name], warmth(settings, name))) for name in task.outputs}


def answers(example: Example, task: Task, settings: Mapping[str, Any], found: Sequence[tuple[Unit, Scores]]) -> dict[str, Answer]:
    """A label or flag per output, with the sentence that decided: the least neutral one, of equals the first."""
    first, output = next(iter(task.outputs.items()))
    neutral = list(output.labels).index(output.neutral) if isinstance(output, Choice) else 0
    unit, scores = min(found, key=lambda one: one[1][first][neutral])
    return {name: _answer(output, scores[name], unit.about, settings) for name, output in task.outputs.items()}


def _answer(output: Output, scores: Sequence[float], span: Span, settings: Mapping[str, Any]) -> ChoiceAnswer | FlagAnswer:
    if isinstance(output, Flag):
        return FlagAnswer(flag=scores[1] >= settings["threshold"], score=scores[1], evidence=span)
    assert isinstance(output, Choice)
    named = dict(zip(output.labels, scores, strict=True))
    return ChoiceAnswer(label=max(named, key=named.__getitem__), scores=named, evidence=span)
