"""A reply beside the turns that it answers; a long one piece by piece, and the strongest decides."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from empathia.encoders import Encoded
from empathia.models._asks._unit import Scores, Unit, tokens
from empathia.models._numbers import DIGITS, Floats, rounded, sigmoid, softmax, warmth
from empathia.schema import Answer, Example, LevelAnswer, ScoredSpan
from empathia.segment import sentences
from empathia.task import Task

ROOM = 512
LONGEST = 256  # tokens of a reply that are read at once
EDGE = 0.01  # by which a gate that decides a level clears the point where both are as likely
GATES = {"fit": "fits_from", "need": "needs_from"}  # and the settings that say from which logit on they are open
OPEN = -99.0  # what a gate opens from so that it always is


def shape(task: Task, settings: Mapping[str, Any]) -> None:
    """Always the same."""


def reads(example: Example, task: Task, settings: Mapping[str, Any]) -> Iterator[str]:
    """The reply and what it answers."""
    yield from (turn.content for turn in (example.turn, *example.context))


def units(example: Example, task: Task, settings: Mapping[str, Any], known: Mapping[str, Encoded]) -> Iterator[Unit]:
    """The pieces of a reply, each with the states of all that it answers."""
    reply, context = known[example.turn.content], np.concatenate([known[turn.content].states for turn in example.context])
    for at in range(0, len(reply.states), LONGEST):
        yield Unit({"reply": reply.states[at : at + LONGEST], "context": context}, reply.offsets[at : at + LONGEST])


def scored(outputs: Mapping[str, Floats], task: Task, settings: Mapping[str, Any]) -> Scores:
    """How likely each level is, what the gates say, and how strongly each token is marked."""
    warm = np.array([[warmth(settings, name)] for name in task.outputs])
    gates = {gate: outputs[gate].tolist() for gate in GATES if gate in outputs}
    return {"levels": softmax(outputs["levels"], warm).tolist(), "marks": sigmoid(outputs["marks"]), **gates}


def answers(example: Example, task: Task, settings: Mapping[str, Any], found: Sequence[tuple[Unit, Scores]]) -> dict[str, Answer]:
    """A level per output, that of the strongest piece, with its rationales in all of them."""
    levels = [_levels(scores, settings) for _, scores in found]
    strongest = [max((some[column] for some in levels), key=_expected) for column in range(len(task.outputs))]
    decided = [scores.index(max(scores)) for scores in strongest]
    shown = [one for unit, scores in found for one in marked(example.turn.content, unit.about, scores["marks"])] if any(decided) else []
    said: dict[str, Answer] = {}
    for column, (name, level, scores) in enumerate(zip(task.outputs, decided, strongest, strict=True)):
        spans = tuple(ScoredSpan(start=start, end=end, score=marks[column]) for start, end, marks in shown if level)
        told = tuple(round(score, DIGITS) for score in scores)
        said[name] = LevelAnswer(level=level, scores=told, rationales=near(spans, settings["shares"][name]))
    return said


def _levels(scores: Scores, settings: Mapping[str, Any]) -> list[list[float]]:
    gates = [(scores[gate], settings[opens]) for gate, opens in GATES.items() if gate in scores]
    return [heeded(some, *gates) if gates else some for some in scores["levels"]]


def _expected(scores: Sequence[float]) -> float:
    return sum(level * score for level, score in enumerate(scores))


def heeded(scores: Sequence[float], *gates: tuple[float, float]) -> list[float]:
    """Scores of levels whose part above level 0 counts only as far as every gate is open: its logit, and from which on it is.

    A gate that is rather open than shut makes a level above 0 less sure, but leaves it; one that is rather shut leaves level 0.
    """
    none, *above = scores
    share = math.prod((1 + math.tanh((logit - opens) / 2)) / 2 for logit, opens in gates)
    if max(above) > none:
        even = 1 / (sum(above) + max(above))  # how far open level 0 would be as likely as the strongest other
        rather_open = all(logit >= opens for logit, opens in gates)
        share = max(share, min(1, even + EDGE)) if rather_open else min(share, even - EDGE)
    above = [score * share for score in above]
    return [1 - sum(above), *above]


def marked(text: str, offsets: NDArray[np.int64], marks: Floats) -> Iterator[tuple[int, int, list[float]]]:
    """The sentences of a text, each with the mean marks of its tokens by output; `marks` are (tokens, outputs).

    Single tokens are left alone: people mark sentences, and a gap of one token would cut a rationale in two.
    """
    for span, low, high in tokens(offsets, sentences(text)):
        if low < high:
            start, end = max(span.start, int(offsets[low, 0])), min(span.end, int(offsets[high - 1, 1]))
            yield start, end, rounded(marks[low:high].mean(axis=0))


def near(spans: tuple[ScoredSpan, ...], share: float) -> tuple[ScoredSpan, ...]:
    """The sentences that are marked at least so near to the strongest one; of any, at least one."""
    strongest = max((span.score for span in spans), default=0)
    return tuple(span for span in spans if span.score >= share * strongest)


def telling(answer: LevelAnswer, share: float) -> LevelAnswer:
    """The answer with the sentences that are marked nearly as strongly as the strongest one."""
    return answer.model_copy(update={"rationales": near(answer.rationales, share)})
