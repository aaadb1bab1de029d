"""Causes by co-attention: each candidate looks for what in the turn reacts to it, and each part of the turn for what moved it.

A candidate (a sentence, or a whole turn) and a sentence of the turn are each the mean of their token states, read in their
turn. With `attention="none"` every candidate sees the mean of the turn instead; with `pool="first"` the state of the first
token stands for a sentence. The loss is focal; with `positive` above 1, causes weigh so many times more.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from empathia.encoders.huggingface import HuggingFaceEncoder
from empathia.models._candidates import PLACES, candidates, moved, output_of, place
from empathia.models._layers import FAR, masked_mean
from empathia.schema import Cause, Example, Span
from empathia.segment import sentences
from empathia.task import Task

Pool = Literal["mean", "first"]
ETA = 2.0
Read = Mapping[str, tuple[Tensor, Sequence[tuple[int, int]]]]  # text: token states and offsets


class Coattention(nn.Module):
    """Vectors of candidates and of the sentences of a turn -> a logit per candidate, and which sentence goes with which."""

    inputs = ("post", "post_mask", "reply", "reply_mask")
    together = True  # turns of one dialogue share their messages

    def __init__(
        self,
        task: Task,
        width: int,
        *,
        attention: Literal["both", "none"] = "both",
        pool: Pool = "mean",
        positive: float = 1.0,
        eta: float = ETA,
        dropout: float = 0.3,
    ) -> None:
        super().__init__()
        self.name, self.output = next(iter(task.outputs)), output_of(task)
        self.attention, self.pool, self.positive, self.eta = attention, pool, positive, eta
        self.widths = (width + PLACES, width)
        self.settings = {"pool": pool}
        self.where = nn.Linear(PLACES, width)
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)
        self.decode = nn.Sequential(nn.Linear(5 * width, width), nn.GELU(), nn.Dropout(dropout), nn.Linear(width, 1))

    def forward(self, post: Tensor, post_mask: Tensor, reply: Tensor, reply_mask: Tensor) -> dict[str, Tensor]:
        """post (batch, candidates, width + places), reply (batch, sentences, width) -> causes (batch, candidates), pairs."""
        given = self.dropout(post[..., :-PLACES]) + self.where(post[..., -PLACES:])
        reply = self.dropout(reply)
        scores = self.query(given) @ self.key(reply).transpose(1, 2) / given.shape[-1] ** 0.5  # (batch, candidates, sentences)
        pairs = torch.softmax(scores + (1 - reply_mask)[:, None, :] * FAR, dim=-1)
        back = torch.softmax(scores.transpose(1, 2) + (1 - post_mask)[:, None, :] * FAR, dim=-1)  # (batch, sentences, candidates)
        if self.attention == "none":
            reacts = masked_mean(reply, reply_mask)[:, None, :].expand_as(given)
            moved_by = masked_mean(given, post_mask)[:, None, :].expand_as(given)
        else:
            reacts, moved_by = pairs @ reply, pairs @ (back @ given)
        joined = torch.cat([given, reacts, given * reacts, (given - reacts).abs(), moved_by], dim=-1)
        return {"causes": self.decode(joined)[..., 0], "pairs": pairs}

    def step(self, encoder: HuggingFaceEncoder, examples: Sequence[Example], dice: random.Random) -> Tensor:
        """The loss on some rows."""
        found = [candidates(example, self.output) for example in examples]
        texts = dict.fromkeys(t for e, some in zip(examples, found, strict=True) for t in _texts(e, some))
        read = encoder.read(list(texts))
        known = {t: (states, offsets) for t, states, offsets in zip(texts, read.states, read.offsets, strict=True)}
        posts = [self._post(example, some, known) for example, some in zip(examples, found, strict=True)]
        replies = [_parts(example.turn.content, known, self.pool) for example in examples]
        gold = [torch.tensor([float(moved(one, _causes(e, self.name))) for one in some]) for e, some in zip(examples, found, strict=True)]
        pad = nn.utils.rnn.pad_sequence
        mask, reply_mask = (pad([torch.ones(len(row)) for row in rows], batch_first=True) for rows in (posts, replies))
        logits = self(pad(posts, batch_first=True), mask, pad(replies, batch_first=True), reply_mask)["causes"]
        return self.loss(logits[mask > 0], pad(gold, batch_first=True)[mask > 0])

    def _post(self, example: Example, some: Sequence[Cause], known: Read) -> Tensor:
        turns = example.dialogue.turns
        rows = [torch.cat([_pooled(*known[turns[c.turn].content], c, self.pool), torch.from_numpy(place(example, c))]) for c in some]
        return torch.stack(rows)

    def loss(self, logits: Tensor, gold: Tensor) -> Tensor:
        """Focal, over all candidates."""
        losses = F.binary_cross_entropy_with_logits(logits, gold, reduction="none")
        return (losses * (1 - torch.exp(-losses)) ** self.eta * (1 + gold * (self.positive - 1))).mean()


def _texts(example: Example, some: Sequence[Cause]) -> list[str]:
    return [example.turn.content, *(example.dialogue.turns[one.turn].content for one in some)]


def _causes(example: Example, name: str) -> list[Cause]:
    found = example.turn.labels[name]
    return [one for one in found if isinstance(one, Cause)] if isinstance(found, tuple) else []


def _parts(text: str, known: Read, pool: Pool) -> Tensor:
    return torch.stack([_pooled(*known[text], span, pool) for span in sentences(text)])


def _pooled(states: Tensor, offsets: Sequence[tuple[int, int]], span: Span, pool: Pool) -> Tensor:
    """A stretch of a text as one vector; nothing but zeros where training's window cut it off."""
    inside = [i for i, (start, end) in enumerate(offsets) if start < span.end and span.start < end]
    if not inside:
        return torch.zeros(states.shape[-1])
    return states[inside[0]] if pool == "first" else states[inside].mean(dim=0)


HEAD = Coattention
