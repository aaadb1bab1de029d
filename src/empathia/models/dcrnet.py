"""DCR-Net: two views of a sentence exchange what they know, layer by layer, by co-attention (Qin et al. 2020)."""

from typing import cast

import torch
from torch import Tensor, nn

from empathia.models._layers import FAR, masked_max
from empathia.models._sentences import SentenceHead
from empathia.task import Task


class DCRNet(SentenceHead):
    """Token states of a sentence -> logits per label, for the two outputs of a task."""

    def __init__(self, task: Task, width: int, *, layers: int = 2, eta: float = 0.0) -> None:
        super().__init__(task, eta=eta)
        inner = 128
        self.view = nn.ModuleDict({name: nn.Linear(width, inner) for name in self.labels})
        self.mix = nn.ModuleDict({name: nn.ModuleList(nn.Linear(2 * inner, inner) for _ in range(layers)) for name in self.labels})
        self.norm = nn.ModuleDict({name: nn.ModuleList(nn.LayerNorm(inner) for _ in range(layers)) for name in self.labels})
        self.layers = layers
        self.decode = nn.ModuleDict({name: nn.Linear(inner, len(labels)) for name, labels in self.labels.items()})
        self.dropout = nn.Dropout(0.2)

    def forward(self, states: Tensor, mask: Tensor) -> dict[str, Tensor]:
        """states (batch, tokens, width), mask (batch, tokens) -> {output: (batch, labels)}."""
        states = self.dropout(states)
        view = {name: torch.relu(layer(states)) for name, layer in self.view.items()}  # (batch, tokens, inner)
        first, second = self.labels
        for depth in range(self.layers):
            alike = view[first] @ view[second].transpose(1, 2) / view[first].shape[-1] ** 0.5  # (batch, tokens, tokens)
            heard = {first: _attend(alike, view[second], mask), second: _attend(alike.transpose(1, 2), view[first], mask)}
            view = {name: self._mixed(name, depth, view[name], heard[name]) for name in view}
        return {name: layer(self.dropout(masked_max(view[name], mask))) for name, layer in self.decode.items()}

    def _mixed(self, name: str, depth: int, mine: Tensor, heard: Tensor) -> Tensor:
        """A view after it has heard the other: (batch, tokens, inner)."""
        mix, norm = cast(nn.ModuleList, self.mix[name]), cast(nn.ModuleList, self.norm[name])
        mixed: Tensor = norm[depth](mine + torch.relu(mix[depth](torch.cat([mine, heard], dim=-1))))
        return mixed


def _attend(scores: Tensor, states: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores + (1 - mask)[:, None, :] * FAR, dim=-1) @ states


HEAD = DCRNet
