"""Causes by co-attention: each candidate looks for what in the turn reacts to it, and each part of the turn for what moved it.

A candidate (a sentence, or a whole turn) and a sentence of the turn are each the mean of their token states, read in their
turn, or with `reading="together"` in one text with the turn that reacts, which is then no longer one pass per turn. Whether
anything moved the turn at all is learnt apart from what did, so that replies without empathy teach only that. With
`attention="none"` every candidate sees the mean of the turn instead; with `pool="first"` the state of the first token stands
for a sentence. The loss is focal; with `positive` above 1, causes weigh so many times more.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from empathia.encoders._stack import pad
from empathia.encoders.huggingface import HuggingFaceEncoder
from empathia.models._candidates import PLACES, Reading, Readings, candidates, moved, output_of, place, readings
from empathia.models._layers import FAR, masked_mean
from empathia.schema import Cause, Example, Span
from empathia.segment import sentences
from empathia.task import Task

ETA = 2.0
DROPOUT = 0.3
KEPT = 0.95  # of the turns that something moved
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
        pool: Literal["mean", "first"] = "mean",
        reading: Reading = "apart",
        positive: float = 1.0,
        eta: float = ETA,
    ) -> None:
        super().__init__()
        self.name, self.output = next(iter(task.outputs)), output_of(task)
        self.attention, self.pool, self.reading, self.positive, self.eta = attention, pool, reading, positive, eta
        self.widths = (width + PLACES, width)
        self.settings = {"pool": pool, "reading": reading, "moved_from": 0.0}
        self.where = nn.Linear(PLACES, width)
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.dropout = nn.Dropout(DROPOUT)
        self.decode = nn.Sequential(nn.Linear(5 * width, width), nn.GELU(), nn.Dropout(DROPOUT), nn.Linear(width, 1))
        self.any = nn.Linear(width, 1)

    def forward(self, post: Tensor, post_mask: Tensor, reply: Tensor, reply_mask: Tensor) -> dict[str, Tensor]:
        """post (batch, candidates, width + places), reply (batch, sentences, width) -> causes (batch, candidates), any (batch), pairs."""
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
        return {"causes": self.decode(joined)[..., 0], "any": self.any(masked_mean(reply, reply_mask))[:, 0], "pairs": pairs}

    def step(self, encoder: HuggingFaceEncoder, examples: Sequence[Example], dice: random.Random) -> Tensor:
        """The loss on some rows; which candidate it was is asked only where there was one."""
        found = [candidates(example, self.output) for example in examples]
        causes = [_causes(example, self.name) for example in examples]
        gold, _ = pad([torch.tensor([float(moved(one, known)) for one in some]) for some, known in zip(found, causes, strict=True)])
        outputs, mask = self._read(encoder, examples, found)
        told = gold.amax(dim=1)
        asked = (mask * told[:, None]) > 0
        return self.loss(outputs["causes"][asked], gold[asked], self.positive) + self.loss(outputs["any"], told)

    @torch.no_grad()
    def narrowed(self, encoder: HuggingFaceEncoder, valid: Sequence[Example], train: Sequence[Example]) -> dict[str, float]:
        """From which score on anything moved a turn: as high as nearly all validation rows with a cause let it be."""
        if all(_causes(example, self.name) for example in train):
            return {}  # it was never taught what else there is
        known, scores = [example for example in valid if _causes(example, self.name)], [torch.zeros(0)]
        for at in range(0, len(known), 32):
            some = known[at : at + 32]
            scores.append(torch.sigmoid(self._read(encoder, some, [candidates(one, self.output) for one in some])[0]["any"]))
        return {"moved_from": round(float(torch.cat(scores).quantile(1 - KEPT)), 3)} if known else {}

    def _read(
        self, encoder: HuggingFaceEncoder, examples: Sequence[Example], found: Sequence[Sequence[Cause]]
    ) -> tuple[Mapping[str, Tensor], Tensor]:
        """The outputs for some rows, and which of their candidates are no padding."""
        where = [readings(e, some, self.reading) for e, some in zip(examples, found, strict=True)]
        texts = list(dict.fromkeys(text for places in where for text, _ in places.values()))
        read = encoder.read(texts)
        known = {t: (states, offsets) for t, states, offsets in zip(texts, read.states, read.offsets, strict=True)}
        posts = [self._post(*one, known) for one in zip(examples, found, where, strict=True)]
        replies = [self._reply(*one, known) for one in zip(examples, where, strict=True)]
        post, mask = pad(posts)
        return self(post, mask, *pad(replies)), mask

    def _post(self, example: Example, some: Sequence[Cause], where: Readings, known: Read) -> Tensor:
        rows = [torch.cat([self._pooled(one, where[one.turn], known), torch.from_numpy(place(example, one))]) for one in some]
        return torch.stack(rows)

    def _reply(self, example: Example, where: Readings, known: Read) -> Tensor:
        return torch.stack([self._pooled(span, where[example.index], known) for span in sentences(example.turn.content)])

    def _pooled(self, span: Span, where: tuple[str, int], known: Read) -> Tensor:
        """A stretch of a turn as one vector; nothing but zeros where training's window cut it off."""
        text, start = where
        states, offsets = known[text]
        inside = [i for i, (low, high) in enumerate(offsets) if low < start + span.end and start + span.start < high]
        if not inside:
            return torch.zeros(states.shape[-1])
        return states[inside[0]] if self.pool == "first" else states[inside].mean(dim=0)

    def loss(self, logits: Tensor, gold: Tensor, positive: float = 1.0) -> Tensor:
        """Focal; nothing where nothing is asked."""
        losses = F.binary_cross_entropy_with_logits(logits, gold, reduction="none")
        return (losses * (1 - torch.exp(-losses)) ** self.eta * (1 + gold * (positive - 1))).sum() / max(1, gold.numel())


def _causes(example: Example, name: str) -> list[Cause]:
    found = example.turn.labels[name]
    return [one for one in found if isinstance(one, Cause)] if isinstance(found, tuple) else []


HEAD = Coattention
