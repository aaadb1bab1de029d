"""Co-GAT over words: a graph of the words of both views, joined within and across tasks, by graph attention (Qin et al. 2021).

A single sentence has no other utterances: the connections between utterances become connections between words.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from empathia.models._layers import FAR, masked_max
from empathia.models._sentences import SentenceHead
from empathia.task import Task


class CoGAT(SentenceHead):
    """Token states of a sentence -> logits per label, for the two outputs of a task."""

    def __init__(self, task: Task, width: int, *, layers: int = 2, eta: float = 0.0) -> None:
        super().__init__(task, eta=eta)
        inner = 128
        self.view = nn.ModuleDict({name: nn.Linear(width, inner) for name in self.labels})
        self.graph = nn.ModuleList(GraphAttention(inner) for _ in range(layers))
        self.decode = nn.ModuleDict({name: nn.Linear(inner, len(labels)) for name, labels in self.labels.items()})
        self.dropout = nn.Dropout(0.2)

    def forward(self, states: Tensor, mask: Tensor) -> dict[str, Tensor]:
        """states (batch, tokens, width), mask (batch, tokens) -> {output: (batch, labels)}."""
        states = self.dropout(states)
        nodes = torch.cat([torch.relu(layer(states)) for layer in self.view.values()], dim=1)  # (batch, 2 tokens, inner)
        shown = torch.cat([mask, mask], dim=1)
        for layer in self.graph:
            nodes = nodes + layer(nodes, shown)
        views = dict(zip(self.labels, nodes.chunk(2, dim=1), strict=True))
        return {name: layer(self.dropout(masked_max(views[name], mask))) for name, layer in self.decode.items()}


class GraphAttention(nn.Module):
    """One layer of graph attention over all pairs of nodes, with additive scores."""

    def __init__(self, width: int, *, heads: int = 4) -> None:
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.value = nn.Linear(width, width, bias=False)
        self.asks = nn.Parameter(torch.randn(heads, self.size) * 0.1)
        self.gives = nn.Parameter(torch.randn(heads, self.size) * 0.1)

    def forward(self, nodes: Tensor, mask: Tensor) -> Tensor:
        """nodes (batch, nodes, width), mask (batch, nodes) -> (batch, nodes, width)."""
        batch, count, width = nodes.shape
        values = self.value(nodes).view(batch, count, self.heads, self.size)
        scores = (values * self.asks).sum(-1)[:, :, None] + (values * self.gives).sum(-1)[:, None]  # (batch, nodes, nodes, heads)
        scores = F.leaky_relu(scores, 0.2) + (1 - mask)[:, None, :, None] * FAR
        heard = torch.einsum("bijh,bjhs->bihs", torch.softmax(scores, dim=2), values)
        return F.elu(heard.reshape(batch, count, width))


HEAD = CoGAT
