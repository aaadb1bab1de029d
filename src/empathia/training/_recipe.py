"""How to train, from what and where to; and where a training stands."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True)
class Recipe:
    """How to train; the same recipe, rows and machine give the same model."""

    seed: int = 0
    epochs: int = 5
    patience: int = 2
    rows: int = 32  # per step, of the task with most rows; the others in proportion
    most: int | None = None  # rows of a task in an epoch, drawn anew for each, so that a large corpus does not drown the others
    least: int = 0  # rows of a task in an epoch; those of a small corpus come more than once
    rate: float = 1e-4
    head_rate: float = 5e-4
    schedule: Literal["linear", "restarts"] = "linear"  # of the rates: up and straight down, or half a cosine every 5 epochs
    decay: float = 0.01
    polish: int = 0  # epochs in which, once the encoder stays as it is, each head by itself is taught by all its rows
    frozen: int = 0  # lowest layers of the encoder that stay as they are: faster, and little is lost
    half: bool = False  # the encoder multiplies in 16 bits: faster on processors that can
    options: Mapping[str, Any] = field(default_factory=dict)  # of the heads
    window: int = 192  # tokens that the encoder reads at once; training reads the first window of a text


JOINT = Recipe(epochs=4, rows=40, most=6000, least=1200, frozen=3, polish=8)  # of the default model: its tasks at once


@dataclass(frozen=True)
class Progress:
    """Where a training stands."""

    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float
    scores: Mapping[str, float]

    @property
    def done(self) -> tuple[int, int]:
        """Steps done, and in all."""
        return self.epoch * self.steps + self.step, self.epochs * self.steps

    @property
    def told(self) -> str:
        """Epoch, loss and the last validation scores."""
        valid = "".join(f" · {name} {score:.3f}" for name, score in self.scores.items())
        return f"epoch {self.epoch + 1}/{self.epochs} · loss {self.loss:.3f}{valid}"


@dataclass(frozen=True)
class Plan:
    """From what to train, how, and where to: corpora, starting encoder, recipe, model folder."""

    data: Path
    encoder: str
    out: Path
    recipe: Recipe = field(default_factory=Recipe)
    resume: bool = False
    head: str | None = None  # instead of the heads that the tasks name


Watch = Callable[[Progress], None]
