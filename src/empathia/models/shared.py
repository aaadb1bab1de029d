"""The shared model: each turn is encoded once, and a light head per task reads the same token states.

What a head reads says how it is asked. Heads over `states` are asked sentence by sentence, and the most telling sentence
decides for the turn. Heads over a `reply` read it beside the turns it answers; a long reply is read piece by piece, and the
strongest decides. Heads over a `target` read a reply beside the messages around it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from empathia.encoders import Encoded, Encoder
from empathia.encoders.onnx import OnnxEncoder, pool, session
from empathia.models._around import AFTER, NEAR, around, place
from empathia.models._folder import sha256
from empathia.schema import Answer, ChoiceAnswer, ChoicesAnswer, Example, LevelAnswer, ModelId, ScoredSpan, Span, Turn
from empathia.segment import sentences
from empathia.task import Choices, Level, Rating, Task

Floats = NDArray[np.float32]
LONGEST = 256  # tokens that a head reads at once
DIGITS = 6
ROOM = 1024  # tokens in one padded batch of a head


@dataclass(frozen=True)
class Head:
    """What a head reads, by name, and how to run it."""

    inputs: tuple[str, ...]
    run: Callable[[Mapping[str, Floats]], Mapping[str, Floats]]


@dataclass(frozen=True)
class Shared:
    """One encoder and a head per task, as ONNX graphs."""

    id: ModelId
    encoder: Encoder
    heads: Mapping[str, Head]
    settings: Mapping[str, Mapping[str, Any]]

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that this model answers."""
        return tuple(self.heads)

    @classmethod
    def load(cls, folder: Path, card: Mapping[str, Any]) -> "Shared":
        """The model of a checked folder."""
        return cls(
            id=ModelId(name=card["name"], version=card["version"], sha256=sha256(folder / "model.json")),
            encoder=OnnxEncoder.load(folder / "encoder.onnx", folder / "tokenizer.json", window=card["encoder"]["window"]),
            heads={name: _head(session(folder / f"{name}.onnx")) for name in card["tasks"]},
            settings=card["tasks"],
        )

    def answer(self, examples: Sequence[Example], tasks: Sequence[Task]) -> list[dict[str, Answer]]:
        """For each example its answers by output name; tasks on replies leave out turns that answer nobody."""
        asked = {turn.content: None for example in examples for task in tasks for turn in self._reads(task, example)}
        known = dict(zip(asked, self.encoder.encode(list(asked)), strict=True))
        answers: list[dict[str, Answer]] = [{} for _ in examples]
        asks = {"states": self._ask_sentences, "reply": self._ask_replies, "target": self._ask_windows}
        for task in tasks:
            ask = asks[self.heads[task.name].inputs[0]]
            for example, found in zip(answers, ask(task, examples, known), strict=True):
                example.update(found)
        return answers

    def _reads(self, task: Task, example: Example) -> Iterator[Turn]:
        """The turns that a task's head reads to answer an example."""
        match self.heads[task.name].inputs[0]:
            case "states":
                yield example.turn
            case "reply":
                yield from (example.turn, *example.context)
            case _ if example.context:
                yield example.turn
                yield from (turn for _, turn in around(example, after=self._after(task)))

    def _after(self, task: Task) -> int:
        return int(self.settings[task.name].get("after", AFTER))

    def _ask_sentences(self, task: Task, examples: Sequence[Example], known: Mapping[str, Encoded]) -> list[dict[str, Answer]]:
        units = [(i, *unit) for i, example in enumerate(examples) for unit in _sentences(example.turn.content, known)]
        outputs = self._run(task.name, [{"states": states} for _, _, states in units])
        best: dict[int, tuple[float, dict[str, Answer]]] = {}
        for (i, span, _), found in zip(units, outputs, strict=True):
            scores = {name: softmax(found[name]) for name in task.outputs}
            answers: dict[str, Answer] = {name: _choice(task.outputs[name], scores[name], span) for name in task.outputs}
            telling = 1 - _neutral(next(iter(task.outputs.values())), next(iter(scores.values())))
            if i not in best or telling > best[i][0]:
                best[i] = telling, answers
        return [best[i][1] for i in range(len(examples))]

    def _ask_replies(self, task: Task, examples: Sequence[Example], known: Mapping[str, Encoded]) -> list[dict[str, Answer]]:
        units = [(i, *unit) for i, example in enumerate(examples) for unit in _replies(example, known)]
        outputs = self._run(task.name, [{"reply": reply, "context": context} for _, _, reply, context in units])
        answers: list[dict[str, LevelAnswer]] = [{} for _ in examples]
        for (i, offsets, _, _), found in zip(units, outputs, strict=True):
            marks = marked(examples[i].turn.content, offsets, sigmoid(found["marks"]))
            for column, name in enumerate(task.outputs):
                scores = softmax(found["levels"][column])
                answer = LevelAnswer(level=int(scores.argmax()), scores=tuple(rounded(scores)), rationales=marks[column])
                answers[i][name] = _stronger(answers[i].get(name), answer)
        shares = self.settings[task.name]["shares"]
        return [{name: telling(answer, shares[name]) for name, answer in found.items()} for found in answers]

    def _ask_windows(self, task: Task, examples: Sequence[Example], known: Mapping[str, Encoded]) -> list[dict[str, Answer]]:
        asked = [i for i, example in enumerate(examples) if example.context]
        units = [_window(examples[i], known, self._after(task)) for i in asked]
        answers: list[dict[str, Answer]] = [{} for _ in examples]
        for i, found in zip(asked, self._run(task.name, units), strict=True):
            for name, output in task.outputs.items():
                if isinstance(output, Choices):
                    answers[i][name] = _choices(output, sigmoid(found[name]), self.settings[task.name]["thresholds"][name])
                elif isinstance(output, Rating):
                    answers[i][name] = round(float(softmax(found[name]) @ np.arange(output.low, output.high + 1)), DIGITS)
                elif isinstance(output, Level):
                    scores = softmax(found[name])
                    answers[i][name] = LevelAnswer(level=int(scores.argmax()), scores=tuple(rounded(scores)))
        return answers

    def _run(self, task: str, units: Sequence[Mapping[str, Floats]]) -> list[dict[str, Floats]]:
        """Each unit's outputs; units of like length are padded to one batch, and the padding is masked and cut away."""
        results = [dict[str, Floats]() for _ in units]
        batches = list(_batches(units))
        for batch, outputs in zip(batches, pool().map(lambda batch: self.heads[task].run(_feed(units, batch)), batches), strict=True):
            for name, values in outputs.items():
                for row, i in enumerate(batch):
                    length = len(next(iter(units[i].values())))
                    results[i][name] = values[row, :length] if name == "marks" else values[row]
        return results


def _head(graph: ort.InferenceSession) -> Head:
    names = [output.name for output in graph.get_outputs()]
    inputs = tuple(found.name for found in graph.get_inputs())
    return Head(inputs, lambda feed: dict(zip(names, graph.run(names, feed), strict=True)))


MASKS = {"states": "mask", "reply": "reply_mask", "context": "context_mask", "target": "target_mask", "around": "around_mask"}


def _sentences(text: str, known: Mapping[str, Encoded]) -> Iterator[tuple[Span, Floats]]:
    """The sentences of a text that have tokens, with their states; an overlong one in pieces."""
    encoded = known[text]
    starts = encoded.offsets[:, 0]
    spans = [span for span in sentences(text) if np.searchsorted(starts, span.start) < np.searchsorted(starts, span.end)]
    for span in spans or [Span(start=0, end=len(text))]:
        low, high = np.searchsorted(starts, [span.start, span.end])
        for at in range(low, high, LONGEST):
            end = min(at + LONGEST, high)
            piece = span if high - low <= LONGEST else Span(start=int(starts[at]), end=int(encoded.offsets[end - 1, 1]))
            yield piece, encoded.states[at:end]


def _replies(example: Example, known: Mapping[str, Encoded]) -> Iterator[tuple[NDArray[np.int64], Floats, Floats]]:
    """The pieces of a reply, each with the states of all that it answers; nothing where it answers nobody."""
    answered = [known[turn.content].states for turn in example.context]
    if not answered:
        return
    reply, context = known[example.turn.content], np.concatenate(answered)
    for at in range(0, len(reply.states), LONGEST):
        yield reply.offsets[at : at + LONGEST], reply.states[at : at + LONGEST], context


def _window(example: Example, known: Mapping[str, Encoded], after: int) -> dict[str, Floats]:
    """A reply's states, and those of the messages around it, each with its place beside it."""
    near = []
    for distance, turn in around(example, after=after):
        states = known[turn.content].states[:NEAR]
        where = place(distance, same=turn.role == example.turn.role)
        near.append(np.hstack([states, np.broadcast_to(where, (len(states), len(where)))]))
    return {"target": known[example.turn.content].states, "around": np.concatenate(near)}


def _batches(units: Sequence[Mapping[str, Floats]]) -> Iterator[list[int]]:
    """Indices of units of like length, at most `ROOM` padded tokens a batch."""
    size = [max(len(value) for value in unit.values()) for unit in units]
    batch: list[int] = []
    for i in sorted(range(len(units)), key=size.__getitem__):
        if batch and size[i] * (len(batch) + 1) > ROOM:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _feed(units: Sequence[Mapping[str, Floats]], batch: Sequence[int]) -> dict[str, Floats]:
    feed: dict[str, Floats] = {}
    for key in units[0]:
        feed[key], feed[MASKS[key]] = _pad([units[i][key] for i in batch])
    return feed


def _pad(rows: Sequence[Floats]) -> tuple[Floats, Floats]:
    longest = max(len(row) for row in rows)
    padded = np.zeros((len(rows), longest, rows[0].shape[1]), np.float32)
    mask = np.zeros((len(rows), longest), np.float32)
    for i, row in enumerate(rows):
        padded[i, : len(row)], mask[i, : len(row)] = row, 1
    return padded, mask


def _choice(output: Any, scores: Floats, span: Span) -> ChoiceAnswer:
    named = dict(zip(output.labels, rounded(scores), strict=True))
    return ChoiceAnswer(label=max(named, key=named.__getitem__), scores=named, evidence=span)


def _choices(output: Choices, scores: Floats, thresholds: Mapping[str, float]) -> ChoicesAnswer:
    named = dict(zip(output.labels, rounded(scores), strict=True))
    return ChoicesAnswer(labels=tuple(label for label, score in named.items() if score >= thresholds[label]), scores=named)


def _neutral(output: Any, scores: Floats) -> float:
    return float(scores[list(output.labels).index(output.neutral)])


def _stronger(one: LevelAnswer | None, other: LevelAnswer) -> LevelAnswer:
    """The answer of the piece with the higher expected level, with the rationales of both."""
    if one is None:
        return other
    strong = max(one, other, key=lambda answer: answer.expected)
    return strong.model_copy(update={"rationales": one.rationales + other.rationales})


def marked(text: str, offsets: NDArray[np.int64], marks: Floats) -> list[tuple[ScoredSpan, ...]]:
    """For each column of marks, (tokens, columns), the sentences of the text with the mean mark of their tokens.

    Single tokens are left alone: people mark sentences, and a gap of one token would cut a rationale in two.
    """
    found: list[list[ScoredSpan]] = [[] for _ in range(marks.shape[1])]
    for span in sentences(text):
        low, high = np.searchsorted(offsets[:, 0], [span.start, span.end])
        if low < high:
            start, end = max(span.start, int(offsets[low, 0])), min(span.end, int(offsets[high - 1, 1]))
            for spans, score in zip(found, rounded(marks[low:high].mean(axis=0)), strict=True):
                spans.append(ScoredSpan(start=start, end=end, score=score))
    return [tuple(spans) for spans in found]


def telling(answer: LevelAnswer, share: float) -> LevelAnswer:
    """The answer with the sentences that are marked at least so near to the strongest one; a level of 0 shows none.

    Measured against the strongest, a level above 0 always has at least one sentence to show for it.
    """
    strongest = max((span.score for span in answer.rationales), default=0)
    kept = tuple(span for span in answer.rationales if span.score >= share * strongest) if answer.level else ()
    return answer.model_copy(update={"rationales": kept})


def rounded(scores: Floats) -> list[float]:
    """Scores as they are told: six digits are more than they are worth, and keep the files small."""
    return [round(score, DIGITS) for score in scores.tolist()]


def softmax(logits: Floats) -> Floats:
    """Logits as scores that sum to 1."""
    powers = np.exp(logits - logits.max())
    scores: Floats = powers / powers.sum()
    return scores


def sigmoid(logits: Floats) -> Floats:
    """Logits as scores between 0 and 1."""
    scores: Floats = (1 / (1 + np.exp(-logits))).astype(np.float32)
    return scores


MODEL = Shared
