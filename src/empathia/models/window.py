"""A reply in its window: it asks two questions of up to three messages before and three after it (`_around.py`), by attention.

Each message is encoded once, however many windows it stands in; rows of one dialogue are therefore taught together, and
messages that only stand around a reply are read without being taught. A classifier per label, level or rating reads the mean
and the maximum of the reply's tokens, and what its questions brought. The loss is plain cross-entropy, focal, or LDAM, whose
margins are wider for rarer labels.
"""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from empathia.encoders._stack import pad
from empathia.encoders.huggingface import HuggingFaceEncoder
from empathia.models._around import AFTER, NEAR, PLACES, around, place
from empathia.models._labels import labels_of, level_of, rating_of
from empathia.models._layers import FAR, masked_max, masked_mean
from empathia.schema import Example
from empathia.task import Choice, Choices, Level, Rating, Task

Loss = Literal["cross-entropy", "focal", "ldam"]
MARGIN = 0.5  # of the rarest label
ETA = 2.0  # of the focal loss
QUESTIONS = 2  # that a reply asks the messages around it


class Window(nn.Module):
    """Token states of a reply and of the messages around it -> logits per label, per level, or per step of a rating."""

    inputs = ("target", "target_mask", "around", "around_mask")
    together = True  # rows of one dialogue share their messages

    def __init__(self, task: Task, width: int, *, dropout: float = 0.2, loss: Loss = "cross-entropy", after: int = AFTER) -> None:
        super().__init__()
        self.outputs = {name: output for name, output in task.outputs.items() if isinstance(output, Choice | Choices | Level | Rating)}
        self.settings = {"after": after}
        self.loss: Loss = loss
        self.widths = (width, width + PLACES)  # of the two inputs
        self.asks = nn.Linear(width, QUESTIONS * (width + PLACES))
        self.hears = nn.Linear(QUESTIONS * (width + PLACES), width)
        self.norm = nn.LayerNorm(3 * width)
        self.dropout = nn.Dropout(dropout)
        self.hidden = nn.Sequential(nn.Linear(3 * width, width), nn.GELU(), nn.Dropout(dropout))
        self.decode = nn.ModuleDict({name: nn.Linear(width, _size(output)) for name, output in self.outputs.items()})
        for name, output in self.outputs.items():
            if isinstance(output, Choices):
                self.register_buffer(f"margins_{name}", torch.zeros(2, len(output.labels)))

    def forward(self, target: Tensor, target_mask: Tensor, around: Tensor, around_mask: Tensor) -> dict[str, Tensor]:
        """target (batch, tokens, width), around (batch, others, width + places) -> {output: (batch, labels or steps)}."""
        target = self.dropout(target)
        mean = masked_mean(target, target_mask)
        asks = self.asks(mean).view(-1, QUESTIONS, around.shape[-1])
        scores = asks @ around.transpose(1, 2) / target.shape[-1] ** 0.5 + (1 - around_mask)[:, None, :] * FAR  # (batch, questions, others)
        heard = self.hears(self.dropout((torch.softmax(scores, dim=-1) @ around).flatten(1)))
        whole = [mean, masked_max(target, target_mask), heard]
        pooled = self.hidden(self.norm(torch.cat(whole, dim=-1)))
        return {name: layer(pooled) for name, layer in self.decode.items()}

    def prepare(self, examples: Sequence[Example], data: Path, seed: int) -> None:
        """The margins of LDAM: the fewer rows say yes (or no) to a label, the wider."""
        for name, output in self.outputs.items():
            if isinstance(output, Choices):
                gold = _shown(examples, name, output)
                counts = torch.stack([(gold == answer).sum(dim=0) for answer in (0, 1)]).clamp(min=1)  # (no and yes, labels)
                self.get_buffer(f"margins_{name}").copy_(MARGIN * (counts / counts.min()) ** -0.25)

    def step(self, encoder: HuggingFaceEncoder, examples: Sequence[Example], dice: random.Random) -> Tensor:
        """The loss on some rows."""
        logits = self(*self.read(encoder, examples))
        losses = [self._loss(name, logits[name], examples) for name in self.outputs]
        return torch.stack(losses).sum()

    def read(self, encoder: HuggingFaceEncoder, examples: Sequence[Example]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The inputs for some rows: states of replies and of what stands around them, padded, with masks."""
        windows = [list(around(example, after=self.settings["after"])) for example in examples]
        taught = list(dict.fromkeys(example.turn.content for example in examples))
        others = list(dict.fromkeys(turn.content for window in windows for _, turn in window if turn.content not in set(taught)))
        known = encoder.states(taught)
        with torch.no_grad():
            known |= encoder.states(others)
        targets = [known[example.turn.content] for example in examples]
        near = []
        for example, window in zip(examples, windows, strict=True):
            rows = [_placed(known[turn.content][:NEAR], distance, same=turn.role == example.turn.role) for distance, turn in window]
            near.append(torch.cat(rows) if rows else torch.zeros(1, self.widths[1]))
        return *pad(targets), *pad(near)

    def _loss(self, name: str, logits: Tensor, examples: Sequence[Example]) -> Tensor:
        """Of one output; rows without a label for it do not count."""
        rows = [i for i, example in enumerate(examples) if name in example.turn.labels]
        if not rows:
            return logits.sum() * 0
        output, given, logits = self.outputs[name], [examples[i] for i in rows], logits[rows]
        if isinstance(output, Rating):
            return F.cross_entropy(logits, torch.tensor([rating_of(example, name) - output.low for example in given]))
        if isinstance(output, Level):
            return F.cross_entropy(logits, torch.tensor([level_of(example, name) for example in given]))
        if isinstance(output, Choice):
            labels = list(output.labels)
            return F.cross_entropy(logits, torch.tensor([labels.index(str(example.turn.labels[name])) for example in given]))
        gold = _shown(given, name, output)
        if self.loss == "ldam":
            no, yes = self.get_buffer(f"margins_{name}")
            logits = logits + (1 - gold) * no - gold * yes
        losses = F.binary_cross_entropy_with_logits(logits, gold, reduction="none")
        if self.loss == "focal":
            losses = losses * (1 - torch.exp(-losses)) ** ETA
        return losses.mean()


def _size(output: Choice | Choices | Level | Rating) -> int:
    match output:
        case Choice() | Choices():
            return len(output.labels)
        case Level():
            return len(output.levels)
    return output.high - output.low + 1


def _shown(examples: Sequence[Example], name: str, output: Choices) -> Tensor:
    """Which labels each row shows, (rows, labels)."""
    shown = [labels_of(example, name) for example in examples if name in example.turn.labels]
    return torch.tensor([[float(label in labels) for label in output.labels] for labels in shown])


def _placed(states: Tensor, distance: int, *, same: bool) -> Tensor:
    """States with their place beside them."""
    return torch.cat([states, torch.from_numpy(place(distance, same=same)).expand(len(states), -1)], dim=-1)


HEAD = Window
