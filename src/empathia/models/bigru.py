"""Joint BiGRU: one recurrent layer over the token states serves both outputs (after Zhang and Wang 2016)."""

from torch import Tensor, nn

from empathia.models._layers import both_ways, masked_max
from empathia.models._sentences import SentenceHead
from empathia.task import Task


class BiGRU(SentenceHead):
    """Token states of a sentence -> logits per label for each output."""

    def __init__(self, task: Task, width: int, *, eta: float = 0.0) -> None:
        super().__init__(task, eta=eta)
        self.recurrent = nn.GRU(width, 128, batch_first=True, bidirectional=True)
        self.decode = nn.ModuleDict({name: nn.Linear(256, len(labels)) for name, labels in self.labels.items()})
        self.dropout = nn.Dropout(0.2)

    def forward(self, states: Tensor, mask: Tensor) -> dict[str, Tensor]:
        """states (batch, tokens, width), mask (batch, tokens) -> {output: (batch, labels)}."""
        read = both_ways(self.recurrent, self.dropout(states), mask)  # (batch, tokens, 256)
        pooled = self.dropout(masked_max(read, mask))
        return {name: layer(pooled) for name, layer in self.decode.items()}


HEAD = BiGRU
