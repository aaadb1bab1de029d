"""What could have moved a turn beside the sentences of the turn, a vector each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from empathia.encoders import Encoded
from empathia.models._asks._unit import Unit
from empathia.models._candidates import candidates, output_of, place
from empathia.models._numbers import Floats, rounded, sigmoid
from empathia.schema import Answer, Example, FoundCause, Span, Turn
from empathia.segment import sentences
from empathia.task import Task


def reads(example: Example, task: Task, settings: Mapping[str, Any]) -> Iterator[Turn]:
    """The turn and those that its candidates stand in."""
    yield example.turn
    yield from (example.dialogue.turns[one.turn] for one in candidates(example, output_of(task)))


def units(example: Example, task: Task, settings: Mapping[str, Any], known: Mapping[str, Encoded]) -> Iterator[Unit]:
    """The candidates, each with its place beside it, and the turn's sentences; nothing where nothing comes into question."""
    if not (some := candidates(example, output_of(task))):
        return
    turns, pool = example.dialogue.turns, settings["pool"]
    post = [np.hstack([_pooled(known[turns[one.turn].content], one, pool), place(example, one)]) for one in some]
    reply = [_pooled(known[example.turn.content], span, pool) for span in sentences(example.turn.content)]
    yield Unit({"post": np.stack(post), "reply": np.stack(reply)}, some)


def answers(
    example: Example, task: Task, settings: Mapping[str, Any], found: Sequence[tuple[Unit, Mapping[str, Floats]]]
) -> dict[str, Answer]:
    """The candidates that pass the threshold, each with the sentence of the turn that looks at it most."""
    ((unit, outputs),) = found
    parts = sentences(example.turn.content)
    scored = zip(unit.about, rounded(sigmoid(outputs["causes"])), outputs["pairs"], strict=True)
    causes = tuple(
        FoundCause(turn=one.turn, start=one.start, end=one.end, score=score, reaction=parts[int(pairs[: len(parts)].argmax())])
        for one, score, pairs in scored
        if score >= settings["threshold"]
    )
    return {next(iter(task.outputs)): causes}


def _pooled(encoded: Encoded, span: Span, pool: str) -> Floats:
    inside = np.flatnonzero((encoded.offsets[:, 0] < span.end) & (span.start < encoded.offsets[:, 1]))
    if not len(inside):
        return np.zeros(encoded.states.shape[1], np.float32)
    vector: Floats = encoded.states[inside[0]] if pool == "first" else encoded.states[inside].mean(axis=0)
    return vector
