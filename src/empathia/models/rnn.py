"""RNN: a recurrent layer over the words of the reply, which never sees what it answers. A baseline of the EPITOME paper."""

import torch
from torch import Tensor, nn

from empathia.models._layers import both_ways, masked_max
from empathia.models._replies import ReplyHead
from empathia.task import Task


class Rnn(ReplyHead):
    """Word vectors of a reply -> levels and rationales per mechanism."""

    words = True  # reads the encoder's input word vectors, not its states

    def __init__(self, task: Task, width: int, *, hidden: int = 128, dropout: float = 0.2) -> None:
        super().__init__(task)
        self.recurrent = nn.GRU(width, hidden, batch_first=True, bidirectional=True)
        self.mark = nn.Linear(2 * hidden, len(self.names))
        self.decode = nn.ModuleList(nn.Linear(2 * hidden, self.levels) for _ in self.names)
        self.dropout = nn.Dropout(dropout)

    def forward(self, reply: Tensor, reply_mask: Tensor, context: Tensor, context_mask: Tensor) -> dict[str, Tensor]:
        """reply (batch, tokens, width) -> levels (batch, names, levels), marks (batch, tokens, names); the context is not read."""
        states = self.dropout(both_ways(self.recurrent, self.dropout(reply), reply_mask))  # (batch, tokens, 2 x hidden)
        pooled = masked_max(states, reply_mask)
        return {"levels": torch.stack([layer(pooled) for layer in self.decode], dim=1), "marks": self.mark(states)}


HEAD = Rnn
