"""CLSN, the cascaded label signal network: direction and intent learn from each other (Jiang et al. 2023).

Two views of the token states attend to each other and back again (cascaded interactive attention); learnable label
embeddings then query the result (label signal enhancement). The label query has more rows than the text has tokens:
the residual is added on the token rows, and the maximum is taken over all rows.
"""

import random
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from empathia.encoders.huggingface import HuggingFaceEncoder
from empathia.models._layers import Attention, focal, masked_max
from empathia.schema import Example
from empathia.task import Choice, Task


class CLSN(nn.Module):
    """Token states of a sentence -> logits per label, for the two outputs of a task."""

    inputs = ("states", "mask")

    def __init__(self, task: Task, width: int, *, inner: int = 128, dropout: float = 0.2) -> None:
        super().__init__()
        self.labels = {name: list(output.labels) for name, output in task.outputs.items() if isinstance(output, Choice)}
        sizes = {name: len(labels) for name, labels in self.labels.items()}
        first, second = self.labels
        self.other = {first: second, second: first}
        self.view = nn.ModuleDict({name: nn.Linear(width, inner) for name in self.labels})
        self.there = nn.ModuleDict({name: Attention(inner) for name in self.labels})
        self.back = nn.ModuleDict({name: Attention(inner) for name in self.labels})
        self.signal = nn.Parameter(torch.randn(sum(sizes.values()), inner) * 0.02)  # (labels, inner)
        self.enhance = nn.ModuleDict({name: Attention(inner) for name in self.labels})
        self.residual = nn.Linear(width, inner)
        self.decode = nn.ModuleDict({name: nn.Linear(inner, size) for name, size in sizes.items()})
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, mask: Tensor) -> dict[str, Tensor]:
        """states (batch, tokens, width), mask (batch, tokens) -> {output: (batch, labels)}."""
        states = self.dropout(states)
        view = {name: layer(states) for name, layer in self.view.items()}
        signal = self.signal.expand(states.shape[0], -1, -1)
        logits = {}
        for name, other in self.other.items():
            across = self.there[name](view[other], view[name], mask)  # what the other task sees of this one
            cascaded = self.back[name](view[name], across, mask)
            enhanced = self.enhance[name](torch.cat([signal, cascaded], dim=1), cascaded, mask)
            rows = signal.shape[1]
            tokens = enhanced[:, rows:] + self.residual(states)
            everything = torch.cat([enhanced[:, :rows], tokens], dim=1)  # (batch, labels + tokens, inner)
            shown = torch.cat([torch.ones_like(mask[:, :1]).expand(-1, rows), mask], dim=1)
            logits[name] = self.decode[name](self.dropout(masked_max(everything, shown)))
        return logits

    def step(self, encoder: HuggingFaceEncoder, examples: Sequence[Example], dice: random.Random) -> Tensor:
        """The loss on some rows. Some are joined to longer turns, so that a sentence is also known among others."""
        texts, places = _join([example.turn.content for example in examples], dice)
        read = encoder.read(texts)
        tokens = [_between(read.offsets[text], start, end) for text, start, end in places]
        rows = torch.tensor([text for text, _, _ in places])
        columns = nn.utils.rnn.pad_sequence([torch.tensor(found) for found in tokens], batch_first=True)
        mask = nn.utils.rnn.pad_sequence([torch.ones(len(found)) for found in tokens], batch_first=True)
        logits = self(read.states[rows[:, None], columns], mask)
        return self.loss(logits, {name: self._gold(name, examples) for name in self.labels})

    def _gold(self, name: str, examples: Sequence[Example]) -> Tensor:
        known = self.labels[name]
        return torch.tensor([known.index(str(e.turn.labels[name])) if name in e.turn.labels else -1 for e in examples])

    def loss(self, logits: Mapping[str, Tensor], gold: Mapping[str, Tensor]) -> Tensor:
        """The focal losses of all outputs; a row without a label for an output (-1) does not count there."""
        return torch.stack([focal(logits[name], gold[name]) for name in self.labels]).sum()


def _join(contents: Sequence[str], dice: random.Random, *, share: float = 0.3) -> tuple[list[str], list[tuple[int, int, int]]]:
    """Texts of one to three contents, and for each content its text and offsets there."""
    texts: list[str] = []
    places: list[tuple[int, int, int]] = []
    left = 0  # contents that the last text still takes
    for content in contents:
        if left:
            texts[-1] += " "
        else:
            texts.append("")
            left = dice.choice((2, 3)) if dice.random() < share else 1
        places.append((len(texts) - 1, len(texts[-1]), len(texts[-1]) + len(content)))
        texts[-1] += content
        left -= 1
    return texts, places


def _between(offsets: Sequence[tuple[int, int]], start: int, end: int) -> list[int]:
    """The tokens that begin between two offsets; the last token where a window cut them all off."""
    return [i for i, (at, _) in enumerate(offsets) if start <= at < end] or [len(offsets) - 1]


HEAD = CLSN
