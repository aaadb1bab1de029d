"""EPITOME's model: the tokens of a reply attend over those of the post, then give a level and mark rationales (Sharma et al. 2020).

Here one encoder serves both sides and all three mechanisms; each mechanism pools the reply by an attention of its own.
With `heed`, two gates ask beside whether the context leaves anything to react to, and whether the reply answers it at all;
empathy counts only as far as both are open. They are taught by replies after contexts that they answer and after ones that
they do not (`_clashes.py`). With `alone`, the levels see the reply only: the fine-tuned
encoder as a baseline.
"""

import random
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from empathia.encoders.huggingface import HuggingFaceEncoder
from empathia.models._asks.replies import OPEN
from empathia.models._clashes import Clash, clashes
from empathia.models._layers import FAR, Attention, masked_max, masked_mean
from empathia.models._replies import ReplyHead
from empathia.schema import Example
from empathia.task import Task


class Epitome(ReplyHead):
    """Contextual token states of a reply and of what it answers -> levels and rationales per mechanism."""

    def __init__(self, task: Task, width: int, *, dropout: float = 0.2, heed: bool = False, alone: bool = False) -> None:
        super().__init__(task)
        self.heed, self.alone = heed, alone
        self.clashes: list[Clash] = []
        if heed:
            self.fits = nn.Sequential(nn.Linear(4 * width, width), nn.GELU(), nn.Dropout(dropout), nn.Linear(width, 1))
            self.needs = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Dropout(dropout), nn.Linear(width, 1))
        self.across = Attention(width)
        self.norm = nn.LayerNorm(width)
        self.mark = nn.Linear(width, len(self.names))  # is this token part of a rationale?
        self.look = nn.Linear(width, len(self.names))  # how much does this token count for the level?
        self.decode = nn.ModuleList(
            nn.Sequential(nn.Linear(3 * width, width), nn.GELU(), nn.Dropout(dropout), nn.Linear(width, self.levels)) for _ in self.names
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, reply: Tensor, reply_mask: Tensor, context: Tensor, context_mask: Tensor) -> dict[str, Tensor]:
        """reply (batch, tokens, width), context (batch, others, width) -> levels (batch, names, levels), marks (batch, tokens, names)."""
        reply, context = self.dropout(reply), self.dropout(context)
        states = self.norm(reply if self.alone else reply + self.across(reply, context, context_mask))
        weights = torch.softmax(self.look(states) + (1 - reply_mask)[..., None] * FAR, dim=1)  # (batch, tokens, names)
        looked = torch.einsum("btn,btw->bnw", weights, states)
        whole = torch.cat([masked_max(states, reply_mask), masked_mean(states, reply_mask)], dim=-1)
        levels = [layer(torch.cat([looked[:, i], whole], dim=-1)) for i, layer in enumerate(self.decode)]
        outputs = {"levels": torch.stack(levels, dim=1), "marks": self.mark(states)}
        if not self.heed:
            return outputs
        one, other = masked_mean(reply, reply_mask), masked_mean(context, context_mask)
        return outputs | {"fit": self.fit(one, other), "need": self.need(other)}

    def fit(self, reply: Tensor, context: Tensor) -> Tensor:
        """How far replies answer contexts, by the means of their states: (…, width) twice -> (…)."""
        fit: Tensor = self.fits(torch.cat([reply, context, reply * context, (reply - context).abs()], dim=-1))[..., 0]
        return fit

    def need(self, context: Tensor) -> Tensor:
        """How far contexts leave anything to react to, by the mean of their states: (…, width) -> (…)."""
        need: Tensor = self.needs(context)[..., 0]
        return need

    @property
    def settings(self) -> dict[str, float]:
        """What the model card holds beside what every head has: from which fit and need on empathy rather counts than not."""
        return {"fits_from": OPEN, "needs_from": OPEN} if self.heed else {}

    def prepare(self, examples: Sequence[Example], data: Path, seed: int) -> None:
        """Balance the levels and, to heed the context, find the clashes."""
        super().prepare(examples, data, seed)
        self.clashes = clashes(examples, data, seed=seed) if self.heed else []

    def step(self, encoder: HuggingFaceEncoder, examples: Sequence[Example], dice: random.Random) -> Tensor:
        """The loss on some rows, and on as many clashes."""
        loss = super().step(encoder, examples, dice)
        return loss + self._clash(encoder, dice.sample(self.clashes, len(examples))) if self.clashes else loss

    def _clash(self, encoder: HuggingFaceEncoder, some: Sequence[Clash]) -> Tensor:
        """How far the gates are from open before the fitting contexts, and from shut before the clashing ones and those of the others."""
        fitting = [i for i, clash in enumerate(some) if clash.fitting is not None]
        told = [str(some[i].fitting) for i in fitting]
        replies = _means(encoder, [clash.reply for clash in some])
        contexts = _means(encoder, [clash.clashing for clash in some] + told)
        clashing, own = contexts[: len(some)], contexts[len(some) :]
        around = own[None].expand(len(own), *own.shape)  # (fitting, fitting, width): each reply before each context
        table = self.fit(replies[fitting][:, None].expand_as(around), around)
        same = torch.tensor([[one == other for other in told] for one in told], dtype=torch.bool).view(len(told), len(told))
        felt = torch.tensor([some[i].calm is not None for i in fitting], dtype=torch.bool)
        calm = torch.tensor([bool(clash.calm) for clash in some])
        right = [2 * F.logsigmoid(table.diagonal()), F.logsigmoid(-table[~same]), F.logsigmoid(-self.fit(replies, clashing))]
        right += [F.logsigmoid(self.need(own[felt])), F.logsigmoid(-self.need(clashing[calm]))]
        return -torch.stack([kind.mean() for kind in right if kind.numel()]).mean()


def _means(encoder: HuggingFaceEncoder, texts: Sequence[str]) -> Tensor:
    """The mean state of each text: (texts, width)."""
    read = encoder.read(texts)
    return masked_mean(read.states, read.mask)


HEAD = Epitome
