"""A reply beside the turns that it answers; a long one piece by piece, and the strongest decides."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from empathia.encoders import Encoded
from empathia.models._asks._unit import Unit
from empathia.models._numbers import Floats, rounded, sigmoid, softmax, warmth
from empathia.schema import Answer, Example, LevelAnswer, ScoredSpan
from empathia.segment import sentences
from empathia.task import Task

LONGEST = 256  # tokens of a reply that are read at once
EDGE = 0.01  # by which a gate that decides a level clears the point where both are as likely
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


def answers(
    example: Example, task: Task, settings: Mapping[str, Any], found: Sequence[tuple[Unit, Mapping[str, Floats]]]
) -> dict[str, Answer]:
    """A level per output, that of the strongest piece, with its rationales in all of them."""
    text, said = example.turn.content, dict[str, Answer]()
    for column, name in enumerate(task.outputs):
        scores = max((_scores(outputs, column, name, settings) for _, outputs in found), key=lambda some: some @ np.arange(len(some)))
        level = int(scores.argmax())
        answer = LevelAnswer(level=level, scores=tuple(rounded(scores)))
        if level:
            marks = ((unit.about, sigmoid(outputs["marks"][:, column])) for unit, outputs in found)
            spans = tuple(span for offsets, some in marks for span in marked(text, offsets, some))
            answer = telling(answer.model_copy(update={"rationales": spans}), settings["shares"][name])
        said[name] = answer
    return said


def _scores(outputs: Mapping[str, Floats], column: int, name: str, settings: Mapping[str, Any]) -> Floats:
    scores = softmax(outputs["levels"][column], warmth(settings, name))
    if "fit" in outputs:
        return heeded(scores, (outputs["fit"], settings["fits_from"]), (outputs["need"], settings["needs_from"]))
    return scores


def heeded(scores: Floats, *gates: tuple[Floats, float]) -> Floats:
    """Scores of levels whose part above level 0 counts only as far as every gate is open: its logit, and from which on it is.

    A gate that is rather open than shut makes a level above 0 less sure, but leaves it; one that is rather shut leaves level 0.
    """
    above, share = scores[1:], math.prod(sigmoid(logit - np.float32(opens)) for logit, opens in gates)
    if above.max() > scores[0]:
        even = 1 / (above.sum() + above.max())  # how far open level 0 would be as likely as the strongest other
        rather_open = all(logit >= opens for logit, opens in gates)
        share = max(share, min(1, even + EDGE)) if rather_open else min(share, even - EDGE)
    above = above * share
    return np.concatenate([1 - above.sum(keepdims=True), above]).astype(np.float32)


def marked(text: str, offsets: NDArray[np.int64], marks: Floats) -> Iterator[ScoredSpan]:
    """The sentences of a text with the mean mark of their tokens.

    Single tokens are left alone: people mark sentences, and a gap of one token would cut a rationale in two.
    """
    for span in sentences(text):
        low, high = np.searchsorted(offsets[:, 0], [span.start, span.end])
        if low < high:
            start, end = max(span.start, int(offsets[low, 0])), min(span.end, int(offsets[high - 1, 1]))
            yield ScoredSpan(start=start, end=end, score=rounded(marks[low:high].mean(keepdims=True))[0])


def telling(answer: LevelAnswer, share: float) -> LevelAnswer:
    """The answer with the sentences that are marked at least so near to the strongest one; a level of 0 shows none.

    Measured against the strongest, a level above 0 always has at least one sentence to show for it.
    """
    strongest = max((span.score for span in answer.rationales), default=0)
    kept = tuple(span for span in answer.rationales if span.score >= share * strongest) if answer.level else ()
    return answer.model_copy(update={"rationales": kept})
