"""The plain classifier: the mean of the token states and a linear layer per output, without interaction between outputs.

With one output it is the fine-tuned encoder alone; with two, joint training without interaction.
"""

from torch import Tensor, nn

from empathia.models._layers import masked_mean
from empathia.models._sentences import SentenceHead
from empathia.task import Task


class Plain(SentenceHead):
    """Token states of a sentence -> logits per label for each output."""

    def __init__(self, task: Task, width: int, *, eta: float = 0.0) -> None:
        super().__init__(task, eta=eta)
        self.decode = nn.ModuleDict({name: nn.Linear(width, len(labels)) for name, labels in self.labels.items()})
        self.dropout = nn.Dropout(0.2)

    def forward(self, states: Tensor, mask: Tensor) -> dict[str, Tensor]:
        """states (batch, tokens, width), mask (batch, tokens) -> {output: (batch, labels)}."""
        pooled = self.dropout(masked_mean(states, mask))
        return {name: layer(pooled) for name, layer in self.decode.items()}


HEAD = Plain
