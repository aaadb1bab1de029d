"""A reply, or any turn, among the messages around it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from empathia.encoders import Encoded
from empathia.models._around import NEAR, PLACES, around, place
from empathia.models._asks._unit import Scores, Unit
from empathia.models._numbers import Floats, rounded, sigmoid, softmax, warmth
from empathia.schema import Answer, ChoiceAnswer, ChoicesAnswer, Example, LevelAnswer
from empathia.task import Choice, Choices, Output, Rating, Task

ROOM = 2048


def shape(task: Task, settings: Mapping[str, Any]) -> int:
    """How many messages after it a reply sees."""
    after: int = settings["after"]
    return after


def reads(example: Example, task: Task, settings: Mapping[str, Any]) -> Iterator[str]:
    """The reply and the messages around it."""
    yield example.turn.content
    yield from (turn.content for _, turn in around(example, after=settings["after"]))


def units(example: Example, task: Task, settings: Mapping[str, Any], known: Mapping[str, Encoded]) -> Iterator[Unit]:
    """A reply's states, and those of the messages around it, each with its place beside it."""
    target, turns = known[example.turn.content].states, list(around(example, after=settings["after"]))
    states = [known[turn.content].states[:NEAR] for _, turn in turns]
    near, at = np.zeros((sum(map(len, states)) or 1, target.shape[1] + PLACES), np.float32), 0
    for (distance, turn), some in zip(turns, states, strict=True):
        near[at : at + len(some), :-PLACES] = some
        near[at : at + len(some), -PLACES:] = place(distance, same=turn.role == example.turn.role)
        at += len(some)
    yield Unit({"around": near, "target": target})


def scored(outputs: Mapping[str, Floats], task: Task, settings: Mapping[str, Any]) -> Scores:
    """How likely each label or level is, or the expected rating."""
    return {name: rounded(_scored(output, outputs[name], warmth(settings, name))) for name, output in task.outputs.items()}


def _scored(output: Output, logits: Floats, warm: float) -> Floats:
    if isinstance(output, Choices):
        return sigmoid(logits, warm)
    shares = softmax(logits, warm)
    return (shares * np.arange(output.low, output.high + 1)).sum(axis=-1) if isinstance(output, Rating) else shares


def answers(example: Example, task: Task, settings: Mapping[str, Any], found: Sequence[tuple[Unit, Scores]]) -> dict[str, Answer]:
    """The labels that pass their threshold, the likeliest label or level, or the expected rating."""
    ((_, scores),) = found
    said: dict[str, Answer] = {}
    for name, output in task.outputs.items():
        if isinstance(output, Choices):
            named = dict(zip(output.labels, scores[name], strict=True))
            labels = tuple(label for label, score in named.items() if score >= settings["thresholds"][name][label])
            said[name] = ChoicesAnswer(labels=labels, scores=named)
        elif isinstance(output, Rating):
            said[name] = scores[name]
        elif isinstance(output, Choice):
            named = dict(zip(output.labels, scores[name], strict=True))
            said[name] = ChoiceAnswer(label=max(named, key=named.__getitem__), scores=named)
        else:
            said[name] = LevelAnswer(level=scores[name].index(max(scores[name])), scores=scores[name])
    return said
