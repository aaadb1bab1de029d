"""The shared model: each turn is encoded once, and a light head per task reads the same token states (how: `_asks/`)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort

from empathia.encoders import Encoder
from empathia.encoders.onnx import OnnxEncoder, pool, session
from empathia.models._asks import ASKS, Ask
from empathia.models._asks._unit import Unit
from empathia.models._folder import sha256
from empathia.models._numbers import Floats, alike
from empathia.schema import Answer, Example, ModelId
from empathia.task import Task

ROOM = 1024  # tokens in one padded batch of a head
PER_ROW = ("marks", "causes", "pairs")  # outputs that have a row for each row of the first input


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
        asked = {
            text: None for task in tasks for example in examples for text in self._ask(task).reads(example, task, self.settings[task.name])
        }
        known = dict(zip(asked, self.encoder.encode(list(asked)), strict=True))
        answers: list[dict[str, Answer]] = [{} for _ in examples]
        for task in tasks:
            ask, settings = self._ask(task), self.settings[task.name]
            units = [(i, unit) for i, example in enumerate(examples) for unit in ask.units(example, task, settings, known)]
            found: dict[int, list[tuple[Unit, Mapping[str, Floats]]]] = {}
            for (i, unit), outputs in zip(units, self._run(task.name, [unit for _, unit in units]), strict=True):
                found.setdefault(i, []).append((unit, outputs))
            for i, some in found.items():
                answers[i].update(ask.answers(examples[i], task, settings, some))
        return answers

    def _ask(self, task: Task) -> Ask:
        return ASKS[self.heads[task.name].inputs[0]]

    def _run(self, task: str, units: Sequence[Unit]) -> list[dict[str, Floats]]:
        """Each unit's outputs; units of like length are padded to one batch, and the padding is masked and cut away."""
        results = [dict[str, Floats]() for _ in units]
        batches = list(alike([max(map(len, unit.arrays.values())) for unit in units], ROOM))
        for batch, outputs in zip(batches, pool().map(lambda batch: self.heads[task].run(_feed(units, batch)), batches), strict=True):
            for name, values in outputs.items():
                for row, i in enumerate(batch):
                    length = len(next(iter(units[i].arrays.values())))
                    results[i][name] = values[row, :length] if name in PER_ROW else values[row]
        return results


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
