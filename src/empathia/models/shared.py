"""The shared model: each turn is encoded once, and a light head per task reads the same token states (how: `_asks/`)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort

from empathia.encoders import Encoder, alike
from empathia.encoders.onnx import OnnxEncoder, R, T, session, spread
from empathia.models._asks import ASKS, Ask
from empathia.models._asks._unit import Scores, Unit
from empathia.models._folder import sha256
from empathia.models._numbers import Floats
from empathia.schema import Answer, Example, ModelId
from empathia.task import Task

PIECE = 128  # turns that a processor core encodes and answers at once
PER_ROW = ("marks", "causes", "pairs")  # scores that have a row for each row of a unit


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
    spreads: bool = True  # its work over processor cores; torch does so by itself, and is slowed down by threads beside its own

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
        return list(self.each(examples, tasks))

    def each(self, examples: Sequence[Example], tasks: Sequence[Task]) -> Iterator[dict[str, Answer]]:
        """The same, as they come."""
        return chain.from_iterable(self._over(lambda some: self._answer(some, tasks), list(_pieces(examples))))

    def _answer(self, examples: Sequence[Example], tasks: Sequence[Task]) -> list[dict[str, Answer]]:
        answers: list[dict[str, Answer]] = [{} for _ in examples]
        replies = [bool(example.context) for example in examples]
        asked = [(group, [i for i, reply in enumerate(replies) if _applies(group, reply)]) for group in self._alike(tasks)]
        texts = {text: None for group, some in asked for i in some for text in self._ask(group[0]).reads(examples[i], *self._how(group[0]))}
        known = dict(zip(texts, self.encoder.encode(list(texts)), strict=True))
        for group, some in asked:
            ask, how = self._ask(group[0]), self._how(group[0])
            units = [(i, unit) for i in some for unit in ask.units(examples[i], *how, known)]
            scores = self._run(group, [unit for _, unit in units])
            for task in group:
                found: dict[int, list[tuple[Unit, Scores]]] = {}
                for (i, unit), told in zip(units, scores[task.name], strict=True):
                    found.setdefault(i, []).append((unit, told))
                for i, mine in found.items():
                    if _applies([task], replies[i]):
                        answers[i].update(ask.answers(examples[i], *self._how(task), mine))
        return answers

    def _over(self, do: Callable[[T], R], given: Sequence[T]) -> Iterator[R]:
        return spread(do, given) if self.spreads else map(do, given)

    def _ask(self, task: Task) -> Ask:
        return ASKS[self.heads[task.name].inputs[0]]

    def _how(self, task: Task) -> tuple[Task, Mapping[str, Any]]:
        return task, self.settings[task.name]

    def _alike(self, tasks: Sequence[Task]) -> list[list[Task]]:
        """The tasks, those together whose heads are given the same units."""
        groups: dict[Any, list[Task]] = {}
        for task in tasks:
            groups.setdefault((self.heads[task.name].inputs[0], self._ask(task).shape(*self._how(task))), []).append(task)
        return list(groups.values())

    def _run(self, tasks: Sequence[Task], units: Sequence[Unit]) -> dict[str, list[Scores]]:
        """Each unit's scores by task; units of like length are padded to one batch, and the padding is masked and cut away."""
        results: dict[str, list[Scores]] = {task.name: [{}] * len(units) for task in tasks}

        def run(batch: Sequence[int]) -> None:
            feed = _feed(units, batch)
            for task in tasks:
                scores = self._ask(task).scored(self.heads[task.name].run(feed), *self._how(task))
                for row, i in enumerate(batch):
                    rows = {name: values[row] for name, values in scores.items()}
                    results[task.name][i] = rows | {name: rows[name][: len(units[i])] for name in PER_ROW if name in rows}

        for _ in self._over(run, list(alike([len(unit) for unit in units], self._ask(tasks[0]).ROOM))):
            pass
        return results


def _pieces(examples: Sequence[Example]) -> Iterator[list[Example]]:
    """The examples in pieces, those of a dialogue that stand together in one piece, since they read the same turns."""
    piece: list[Example] = []
    for _, some in groupby(examples, key=lambda example: id(example.dialogue)):
        piece += some
        if len(piece) >= PIECE:
            yield piece
            piece = []
    if piece:
        yield piece


def _applies(tasks: Sequence[Task], reply: bool) -> bool:
    return reply or any(task.on == "turn" for task in tasks)


def _head(graph: ort.InferenceSession) -> Head:
    names = [output.name for output in graph.get_outputs()]
    inputs = tuple(found.name for found in graph.get_inputs())
    return Head(inputs, lambda feed: dict(zip(names, graph.run(names, feed), strict=True)))


def _feed(units: Sequence[Unit], batch: Sequence[int]) -> dict[str, Floats]:
    """The arrays of some units, padded, each with its mask: `NAME_mask`, and plain `mask` for `states`."""
    feed: dict[str, Floats] = {}
    for key in units[0].arrays:
        feed[key], feed["mask" if key == "states" else f"{key}_mask"] = _pad([units[i].arrays[key] for i in batch])
    return feed


def _pad(rows: Sequence[Floats]) -> tuple[Floats, Floats]:
    longest = max(len(row) for row in rows)
    padded = np.zeros((len(rows), longest, rows[0].shape[1]), np.float32)
    mask = np.zeros((len(rows), longest), np.float32)
    for i, row in enumerate(rows):
        padded[i, : len(row)], mask[i, : len(row)] = row, 1
    return padded, mask


MODEL = Shared
