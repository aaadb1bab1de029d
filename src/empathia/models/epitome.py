"""EPITOME's model: the tokens of a reply attend over those of the post, then give a level and mark rationales (Sharma et al. 2020).

Here one encoder serves both sides and all three mechanisms; each mechanism pools the reply by an attention of its own.
"""

import random
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from empathia.encoders.huggingface import HuggingFaceEncoder, States
from empathia.models._layers import FAR, Attention, masked_max, masked_mean
from empathia.schema import Example, Graded
from empathia.task import Level, Task


class Epitome(nn.Module):
    """Token states of a reply and of what it answers -> levels and rationales per mechanism."""

    inputs = ("reply", "reply_mask", "context", "context_mask")

    def __init__(self, task: Task, width: int, *, dropout: float = 0.2) -> None:
        super().__init__()
        self.names = [name for name, output in task.outputs.items() if isinstance(output, Level)]
        levels = {len(output.levels) for output in task.outputs.values() if isinstance(output, Level)}
        self.levels = levels.pop()
        self.across = Attention(width)
        self.norm = nn.LayerNorm(width)
        self.mark = nn.Linear(width, len(self.names))  # is this token part of a rationale?
        self.look = nn.Linear(width, len(self.names))  # how much does this token count for the level?
        self.decode = nn.ModuleList(
            nn.Sequential(nn.Linear(3 * width, width), nn.GELU(), nn.Dropout(dropout), nn.Linear(width, self.levels)) for _ in self.names
        )
        self.dropout = nn.Dropout(dropout)
        self.weights: Tensor
        self.register_buffer("weights", torch.ones(len(self.names), self.levels))

    def forward(self, reply: Tensor, reply_mask: Tensor, context: Tensor, context_mask: Tensor) -> dict[str, Tensor]:
        """reply (batch, tokens, width), context (batch, others, width) -> levels (batch, names, levels), marks (batch, tokens, names)."""
        reply, context = self.dropout(reply), self.dropout(context)
        states = self.norm(reply + self.across(reply, context, context_mask))
        weights = torch.softmax(self.look(states) + (1 - reply_mask)[..., None] * FAR, dim=1)  # (batch, tokens, names)
        looked = torch.einsum("btn,btw->bnw", weights, states)
        whole = torch.cat([masked_max(states, reply_mask), masked_mean(states, reply_mask)], dim=-1)
        levels = [layer(torch.cat([looked[:, i], whole], dim=-1)) for i, layer in enumerate(self.decode)]
        return {"levels": torch.stack(levels, dim=1), "marks": self.mark(states)}

    def balance(self, examples: Sequence[Example]) -> None:
        """Weigh each level by the inverse root of its share in the training rows, so that rare ones are learnt too."""
        for i, name in enumerate(self.names):
            counts = torch.bincount(torch.tensor([_grade(e, name).level for e in examples]), minlength=self.levels).clamp(min=1).float()
            weights = (counts.sum() / counts).sqrt()
            self.weights[i] = weights * counts.sum() / (weights * counts).sum()

    def step(self, encoder: HuggingFaceEncoder, examples: Sequence[Example], dice: random.Random) -> Tensor:
        """The loss on some rows."""
        reply = encoder.read([example.turn.content for example in examples])
        context = encoder.read(["\n".join(turn.content for turn in example.context) for example in examples])
        outputs = self(reply.states, reply.mask, context.states, context.mask)
        levels = torch.tensor([[_grade(example, name).level for name in self.names] for example in examples])
        return self.loss(outputs, levels, self._marks(reply, examples), reply.mask)

    def _marks(self, reply: States, examples: Sequence[Example]) -> Tensor:
        marks = torch.zeros(*reply.mask.shape, len(self.names))
        for row, (example, offsets) in enumerate(zip(examples, reply.offsets, strict=True)):
            for column, name in enumerate(self.names):
                for span in _grade(example, name).rationales:
                    for token, (start, end) in enumerate(offsets):
                        if start < span.end and end > span.start:
                            marks[row, token, column] = 1
        return marks

    def loss(self, outputs: Mapping[str, Tensor], levels: Tensor, marks: Tensor, mask: Tensor) -> Tensor:
        """Balanced cross-entropy over the levels plus binary cross-entropy over the tokens."""
        graded = [F.cross_entropy(outputs["levels"][:, i], levels[:, i], weight=self.weights[i]) for i in range(len(self.names))]
        shown = mask[..., None].expand_as(marks)
        marked = F.binary_cross_entropy_with_logits(outputs["marks"], marks, weight=shown, reduction="sum") / shown.sum()
        return torch.stack(graded).mean() + marked


def _grade(example: Example, name: str) -> Graded:
    grade = example.turn.labels[name]
    assert isinstance(grade, Graded)
    return grade


HEAD = Epitome
