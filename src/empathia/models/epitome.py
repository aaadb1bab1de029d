"""EPITOME's model: the tokens of a reply attend over those of the post, then give a level and mark rationales (Sharma et al. 2020).

Here one encoder serves both sides and all three mechanisms; each mechanism pools the reply by an attention of its own.
Unless `heed` is off, two gates ask beside whether the context leaves anything to react to, and whether the reply answers it at all;
empathy counts only as far as both are open. They are taught by replies after contexts that they answer and after ones that
they do not (`_clashes.py`). With `alone`, the levels see the reply only: the fine-tuned encoder as a baseline.
"""

import random
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from empathia.encoders.huggingface import HuggingFaceEncoder
from empathia.models._asks.replies import OPEN
from empathia.models._clashes import FEELINGS, FELT, Clash, clashes, held
from empathia.models._labels import level_of
from empathia.models._layers import FAR, Attention, masked_max, masked_mean
from empathia.models._replies import ReplyHead
from empathia.schema import Example
from empathia.task import Task

KEPT = 0.97  # of the held rows that show empathy, past each gate


class Epitome(ReplyHead):
    """Contextual token states of a reply and of what it answers -> levels and rationales per mechanism."""

    def __init__(self, task: Task, width: int, *, dropout: float = 0.2, heed: bool = True, alone: bool = False) -> None:
        super().__init__(task)
        self.heed, self.alone = heed, alone
        self.clashes: list[Clash] = []
        if heed:
            self.fits = nn.Sequential(nn.Linear(4 * width, width), nn.GELU(), nn.Dropout(dropout), nn.Linear(width, 1))
            self.feels = nn.Linear(width, len(FEELINGS))
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
        feelings: Tensor = self.feels(context)
        return feelings[..., 1:].logsumexp(dim=-1) - feelings[..., 0]

    @property
    def settings(self) -> dict[str, float]:
        """What the model card holds beside what every head has: from which fit and need on empathy rather counts than not."""
        return {"fits_from": OPEN, "needs_from": OPEN} if self.heed else {}

    @torch.no_grad()
    def narrowed(self, encoder: HuggingFaceEncoder, valid: Sequence[Example], train: Sequence[Example]) -> dict[str, float]:
        """The gates as narrow as nearly all held rows that show empathy let them be."""
        if not self.heed:
            return {}
        shown = [example for example in (*valid, *train) if held(example) and any(level_of(example, name) for name in self.names)]
        fits, needs = [torch.zeros(0)], [torch.zeros(0)]
        for at in range(0, len(shown), 32):
            some = shown[at : at + 32]
            context = _means(encoder, ["\n".join(turn.content for turn in example.context) for example in some])
            fits.append(self.fit(_means(encoder, [example.turn.content for example in some]), context))
            needs.append(self.need(context))
        gates = {"fits_from": torch.cat(fits), "needs_from": torch.cat(needs)}
        return {gate: round(float(found.quantile(1 - KEPT)), 3) for gate, found in gates.items() if len(found)}

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
        shut = [F.logsigmoid(-table[~same]), F.logsigmoid(-self.fit(replies, clashing))]
        fit = _mean([F.logsigmoid(table.diagonal())]) + _mean(shut)
        return self._feeling(contexts, [clash.other for clash in some] + [some[i].feeling for i in fitting]) - fit

    def _feeling(self, contexts: Tensor, told: Sequence[str | None]) -> Tensor:
        """How far contexts are from the feelings that they are told to hold."""
        named = [i for i, one in enumerate(told) if one in FEELINGS]
        felt = [i for i, one in enumerate(told) if one == FELT]
        right = F.log_softmax(self.feels(contexts[named]), dim=-1)[range(len(named)), [FEELINGS.index(str(told[i])) for i in named]]
        return -_mean([right, F.logsigmoid(self.need(contexts[felt]))]) / 2


def _mean(kinds: Sequence[Tensor]) -> Tensor:
    """The mean over the kinds, of which some may be empty, of their means."""
    means = [kind.mean() for kind in kinds if kind.numel()]
    return torch.stack(means).mean() if means else torch.zeros(())


def _means(encoder: HuggingFaceEncoder, texts: Sequence[str]) -> Tensor:
    """The mean state of each text: (texts, width)."""
    read = encoder.read(texts)
    return masked_mean(read.states, read.mask)


HEAD = Epitome
