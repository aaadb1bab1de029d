"""What could have moved a turn beside the sentences of the turn, a vector each."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from empathia.encoders import Encoded
from empathia.models._asks._unit import Scores, Unit
from empathia.models._candidates import PLACES, candidates, output_of, place, readings
from empathia.models._numbers import Floats, rounded, sigmoid
from empathia.schema import Answer, Example, FoundCause, Span
from empathia.segment import sentences
from empathia.task import Task

ROOM = 512


def shape(task: Task, settings: Mapping[str, Any]) -> Hashable:
    """What comes into question, and how it is read."""
    return output_of(task).unit, settings["reading"], settings["pool"]


def reads(example: Example, task: Task, settings: Mapping[str, Any]) -> Iterator[str]:
    """The turn and those that its candidates stand in, each by itself or all in one text."""
    if settings["reading"] == "apart" and output_of(task).unit == "sentence":
        yield from (turn.content for turn in (example.turn, *example.context))
        return
    places = readings(example, candidates(example, output_of(task)), settings["reading"])
    yield from (text for text, _ in places.values())


def units(example: Example, task: Task, settings: Mapping[str, Any], known: Mapping[str, Encoded]) -> Iterator[Unit]:
    """The candidates, each with its place beside it, and the turn's sentences; nothing where nothing comes into question."""
    if not (some := candidates(example, output_of(task))):
        return
    places = readings(example, some, settings["reading"])
    reply = np.stack([_pooled(span, places[example.index], known, settings["pool"]) for span in sentences(example.turn.content)])
    post = np.empty((len(some), reply.shape[1] + PLACES), np.float32)
    for row, one in zip(post, some, strict=True):
        row[:-PLACES], row[-PLACES:] = _pooled(one, places[one.turn], known, settings["pool"]), place(example, one)
    yield Unit({"post": post, "reply": reply}, some)


def scored(outputs: Mapping[str, Floats], task: Task, settings: Mapping[str, Any]) -> Scores:
    """Whether anything moved a turn, how likely each candidate did, and at which sentence it looks."""
    return {"any": sigmoid(outputs["any"]).tolist(), "causes": rounded(sigmoid(outputs["causes"])), "pairs": outputs["pairs"]}


def answers(example: Example, task: Task, settings: Mapping[str, Any], found: Sequence[tuple[Unit, Scores]]) -> dict[str, Answer]:
    """The candidates that pass the threshold, each with the sentence of the turn that looks at it most; none if nothing moved it."""
    ((unit, scores),) = found
    if scores["any"] < settings["moved_from"]:
        return {next(iter(task.outputs)): ()}
    parts = sentences(example.turn.content)
    causes = tuple(
        FoundCause(turn=one.turn, start=one.start, end=one.end, score=score, reaction=parts[int(pairs[: len(parts)].argmax())])
        for one, score, pairs in zip(unit.about, scores["causes"], scores["pairs"], strict=True)
        if score >= settings["threshold"]
    )
    return {next(iter(task.outputs)): causes}


def _pooled(span: Span, where: tuple[str, int], known: Mapping[str, Encoded], pool: str) -> Floats:
    text, start = where
    encoded = known[text]
    low = int(np.searchsorted(encoded.offsets[:, 1], start + span.start, side="right"))  # the first token that ends within
    high = int(np.searchsorted(encoded.offsets[:, 0], start + span.end))  # the first one that starts behind
    if low >= high:
        return np.zeros(encoded.states.shape[1], np.float32)
    vector: Floats = encoded.states[low] if pool == "first" else encoded.states[low:high].mean(axis=0)
    return vector
