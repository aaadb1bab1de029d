"""HRED: a recurrent layer over the words of each utterance, and one over the utterances (Sordoni et al. 2015, without its decoder)."""

import torch
from torch import Tensor, nn

from empathia.models._layers import both_ways, masked_max
from empathia.models._replies import ReplyHead
from empathia.task import Task


class Hred(ReplyHead):
    """Word vectors of a reply and of what it answers -> levels and rationales per mechanism."""

    words = True  # reads the encoder's input word vectors, not its states

    def __init__(self, task: Task, width: int, *, hidden: int = 128, dropout: float = 0.2) -> None:
        super().__init__(task)
        self.utterance = nn.GRU(width, hidden, batch_first=True, bidirectional=True)
        self.dialogue = nn.GRU(2 * hidden, hidden, batch_first=True)
        self.mark = nn.Linear(3 * hidden, len(self.names))
        self.decode = nn.ModuleList(nn.Linear(3 * hidden, self.levels) for _ in self.names)
        self.dropout = nn.Dropout(dropout)

    def forward(self, reply: Tensor, reply_mask: Tensor, context: Tensor, context_mask: Tensor) -> dict[str, Tensor]:
        """reply (batch, tokens, width), context (batch, others, width) -> levels (batch, names, levels), marks (batch, tokens, names)."""
        read = self.dropout(both_ways(self.utterance, self.dropout(reply), reply_mask))  # (batch, tokens, 2 x hidden)
        before = self.dropout(both_ways(self.utterance, self.dropout(context), context_mask))
        utterances = torch.stack([masked_max(before, context_mask), masked_max(read, reply_mask)], dim=1)  # (batch, 2, 2 x hidden)
        _, last = self.dialogue(utterances)  # (1, batch, hidden)
        whole = torch.cat([utterances[:, 1], last[0]], dim=-1)
        states = torch.cat([read, last[0][:, None].expand(-1, read.shape[1], -1)], dim=-1)
        return {"levels": torch.stack([layer(whole) for layer in self.decode], dim=1), "marks": self.mark(states)}


HEAD = Hred
