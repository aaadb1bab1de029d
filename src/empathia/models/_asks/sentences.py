"""Sentence by sentence: the most telling sentence decides for the turn."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from empathia.encoders import Encoded
from empathia.models._asks._unit import Unit
from empathia.models._numbers import Floats, rounded, softmax, warmth
from empathia.schema import Answer, ChoiceAnswer, Example, FlagAnswer, Span
from empathia.segment import sentences
from empathia.task import Choice, Flag, Output, Task

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
    starts = encoded.offsets[:, 0]
    spans = [span for span in sentences(text) if np.searchsorted(starts, span.start) < np.searchsorted(starts, span.end)]
    for span in spans or [Span(start=0, end=len(text))]:
        low, high = np.searchsorted(starts, [span.start, span.end])
        for at in range(low, high, LONGEST):
            end = min(at + LONGEST, high)
            piece = span if high - low <= LONGEST else Span(start=int(starts[at]), end=int(encoded.offsets[end - 1, 1]))
            yield Unit({"states": encoded.states[at:end]}, piece)


def answers(
    example: Example, task: Task, settings: Mapping[str, Any], found: Sequence[tuple[Unit, Mapping[str, Floats]]]
) -> dict[str, Answer]:
    """A label or flag per output, with the sentence that decided."""
    first, output = next(iter(task.outputs.items()))
    scored = [(unit.about, {name: softmax(outputs[name], warmth(settings, name)) for name in task.outputs}) for unit, outputs in found]
    span, scores = max(scored, key=lambda one: 1 - _neutral(output, one[1][first]))  # of equals the first
    return {name: _answer(output, scores[name], span, settings) for name, output in task.outputs.items()}


def _answer(output: Output, scores: Floats, span: Span, settings: Mapping[str, Any]) -> ChoiceAnswer | FlagAnswer:
    if isinstance(output, Flag):
        score = rounded(scores)[1]
        return FlagAnswer(flag=score >= settings["threshold"], score=score, evidence=span)
    assert isinstance(output, Choice)
    named = dict(zip(output.labels, rounded(scores), strict=True))
    return ChoiceAnswer(label=max(named, key=named.__getitem__), scores=named, evidence=span)


def _neutral(output: Output, scores: Floats) -> float:
    return float(scores[list(output.labels).index(output.neutral) if isinstance(output, Choice) else 0])
