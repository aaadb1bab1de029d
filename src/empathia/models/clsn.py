"""CLSN, the cascaded label signal network: direction and intent learn from each other (Jiang et al. 2023).

Two views of the token states attend to each other and back again (cascaded interactive attention, `cascade`); learnable
label embeddings then query the result (label signal enhancement, `signal`). The label query has more rows than the text
has tokens: the residual is added on the token rows, and the maximum is taken over all rows. The decoders also see the mean
of the plain token states. Either part can be left out; `eta` 0 turns the focal loss into cross-entropy.
"""

import torch
from torch import Tensor, nn

from empathia.models._layers import Attention, masked_max, masked_mean
from empathia.models._sentences import SentenceHead
from empathia.task import Task


class CLSN(SentenceHead):
    """Token states of a sentence -> logits per label, for the two outputs of a task."""

    def __init__(self, task: Task, width: int, *, cascade: bool = True, signal: bool = True, eta: float = 2.0) -> None:
        super().__init__(task, eta=eta)
        inner = 128
        first, second = self.labels
        self.other = {first: second, second: first}
        self.view = nn.ModuleDict({name: nn.Linear(width, inner) for name in self.labels})
        self.there = nn.ModuleDict({name: Attention(inner) for name in self.labels if cascade})
        self.back = nn.ModuleDict({name: Attention(inner) for name in self.labels if cascade})
        rows = sum(len(labels) for labels in self.labels.values()) if signal else 0
        self.signal = nn.Parameter(torch.randn(rows, inner) * 0.02)  # (labels, inner)
        self.enhance = nn.ModuleDict({name: Attention(inner) for name in self.labels if signal})
        self.residual = nn.Linear(width, inner)
        self.decode = nn.ModuleDict({name: nn.Linear(inner + width, len(labels)) for name, labels in self.labels.items()})
        self.dropout = nn.Dropout(0.2)

    def forward(self, states: Tensor, mask: Tensor) -> dict[str, Tensor]:
        """states (batch, tokens, width), mask (batch, tokens) -> {output: (batch, labels)}."""
        states = self.dropout(states)
        view = {name: layer(states) for name, layer in self.view.items()}
        return {name: self.decode[name](self.dropout(self._pooled(name, view, states, mask))) for name in self.labels}

    def _pooled(self, name: str, view: dict[str, Tensor], states: Tensor, mask: Tensor) -> Tensor:
        """What a task sees of a sentence: (batch, inner + width)."""
        seen, shown = view[name], mask
        if self.there:
            across = self.there[name](view[self.other[name]], seen, mask)  # what the other task sees of this one
            seen = self.back[name](seen, across, mask)
        if self.enhance:
            signal = self.signal.expand(states.shape[0], -1, -1)
            seen = self.enhance[name](torch.cat([signal, seen], dim=1), seen, mask)  # (batch, labels + tokens, inner)
            shown = torch.cat([torch.ones_like(signal[..., 0]), mask], dim=1)
        labels, tokens = seen[:, : self.signal.shape[0]], seen[:, self.signal.shape[0] :]
        strongest = masked_max(torch.cat([labels, tokens + self.residual(states)], dim=1), shown)
        return torch.cat([strongest, masked_mean(states, mask)], dim=-1)


HEAD = CLSN
