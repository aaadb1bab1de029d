"""DCR-Net: two views of a sentence exchange what they know, layer by layer, by co-attention (Qin et al. 2020)."""

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
        self.mix = nn.ModuleList(nn.ModuleDict({name: nn.Linear(2 * inner, inner) for name in self.labels}) for _ in range(layers))
        self.norm = nn.ModuleList(nn.ModuleDict({name: nn.LayerNorm(inner) for name in self.labels}) for _ in range(layers))
        self.decode = nn.ModuleDict({name: nn.Linear(inner, len(labels)) for name, labels in self.labels.items()})
        self.dropout = nn.Dropout(0.2)

    def forward(self, states: Tensor, mask: Tensor) -> dict[str, Tensor]:
        """states (batch, tokens, width), mask (batch, tokens) -> {output: (batch, labels)}."""
        states = self.dropout(states)
        view = {name: torch.relu(layer(states)) for name, layer in self.view.items()}  # (batch, tokens, inner)
        first, second = self.labels
        for mix, norm in zip(self.mix, self.norm, strict=True):
            alike = view[first] @ view[second].transpose(1, 2) / view[first].shape[-1] ** 0.5  # (batch, tokens, tokens)
            heard = {first: _attend(alike, view[second], mask), second: _attend(alike.transpose(1, 2), view[first], mask)}
            view = {name: norm[name](view[name] + torch.relu(mix[name](torch.cat([view[name], heard[name]], -1)))) for name in view}
        return {name: layer(self.dropout(masked_max(view[name], mask))) for name, layer in self.decode.items()}


def _attend(scores: Tensor, states: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores + (1 - mask)[:, None, :] * FAR, dim=-1) @ states


HEAD = DCRNet
