"""What could have moved a turn beside the sentences of the turn, a vector each."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from empathia.encoders import Encoded
from empathia.models._asks._unit import Unit
from empathia.models._candidates import candidates, output_of, place, readings
from empathia.models._numbers import Floats, rounded, sigmoid
from empathia.schema import Answer, Example, FoundCause, Span
from empathia.segment import sentences
from empathia.task import Task


def shape(task: Task, settings: Mapping[str, Any]) -> Hashable:
    """What comes into question, and how it is read."""
    return output_of(task).unit, settings["reading"], settings["pool"]


def reads(example: Example, task: Task, settings: Mapping[str, Any]) -> Iterator[str]:
    """The turn and those that its candidates stand in, each by itself or all in one text."""
    places = readings(example, candidates(example, output_of(task)), settings["reading"])
    yield from (text for text, _ in places.values())


def units(example: Example, task: Task, settings: Mapping[str, Any], known: Mapping[str, Encoded]) -> Iterator[Unit]:
    """The candidates, each with its place beside it, and the turn's sentences; nothing where nothing comes into question."""
    if not (some := candidates(example, output_of(task))):
        return
    places = readings(example, some, settings["reading"])
    post = [np.hstack([_pooled(one, places[one.turn], known, settings["pool"]), place(example, one)]) for one in some]
    reply = [_pooled(span, places[example.index], known, settings["pool"]) for span in sentences(example.turn.content)]
    yield Unit({"post": np.stack(post), "reply": np.stack(reply)}, some)


def answers(
    example: Example, task: Task, settings: Mapping[str, Any], found: Sequence[tuple[Unit, Mapping[str, Floats]]]
) -> dict[str, Answer]:
    """The candidates that pass the threshold, each with the sentence of the turn that looks at it most; none if nothing moved it."""
    ((unit, outputs),) = found
    if sigmoid(outputs["any"]) < settings["moved_from"]:
        return {next(iter(task.outputs)): ()}
    parts = sentences(example.turn.content)
    scored = zip(unit.about, rounded(sigmoid(outputs["causes"])), outputs["pairs"], strict=True)
    causes = tuple(
        FoundCause(turn=one.turn, start=one.start, end=one.end, score=score, reaction=parts[int(pairs[: len(parts)].argmax())])
        for one, score, pairs in scored
        if score >= settings["threshold"]
    )
    return {next(iter(task.outputs)): causes}


def _pooled(span: Span, where: tuple[str, int], known: Mapping[str, Encoded], pool: str) -> Floats:
    text, start = where
    encoded = known[text]
    inside = np.flatnonzero((encoded.offsets[:, 0] < start + span.end) & (start + span.start < encoded.offsets[:, 1]))
    if not len(inside):
        return np.zeros(encoded.states.shape[1], np.float32)
    vector: Floats = encoded.states[inside[0]] if pool == "first" else encoded.states[inside].mean(axis=0)
    return vector
