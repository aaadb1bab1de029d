"""A reply, or any turn, among the messages around it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from empathia.encoders import Encoded
from empathia.models._around import NEAR, PLACES, around, place
from empathia.models._asks._unit import Unit
from empathia.models._numbers import DIGITS, Floats, rounded, sigmoid, softmax, warmth
from empathia.schema import Answer, ChoiceAnswer, ChoicesAnswer, Example, LevelAnswer
from empathia.task import Choice, Choices, Rating, Task


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
    yield Unit({"target": target, "around": near})


def answers(
    example: Example, task: Task, settings: Mapping[str, Any], found: Sequence[tuple[Unit, Mapping[str, Floats]]]
) -> dict[str, Answer]:
    """The labels that pass their threshold, the likeliest label or level, or the expected rating."""
    ((_, outputs),) = found
    said: dict[str, Answer] = {}
    for name, output in task.outputs.items():
        warm = warmth(settings, name)
        if isinstance(output, Choices):
            scores = dict(zip(output.labels, rounded(sigmoid(outputs[name], warm)), strict=True))
            labels = tuple(label for label, score in scores.items() if score >= settings["thresholds"][name][label])
            said[name] = ChoicesAnswer(labels=labels, scores=scores)
        elif isinstance(output, Rating):
            said[name] = round(float(softmax(outputs[name], warm) @ np.arange(output.low, output.high + 1)), DIGITS)
        elif isinstance(output, Choice):
            shown = dict(zip(output.labels, rounded(softmax(outputs[name], warm)), strict=True))
            said[name] = ChoiceAnswer(label=max(shown, key=shown.__getitem__), scores=shown)
        else:
            shares = softmax(outputs[name], warm)
            said[name] = LevelAnswer(level=int(shares.argmax()), scores=tuple(rounded(shares)))
    return said
