"""What all heads that judge a reply share: how they are taught levels and rationales."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from empathia.encoders.huggingface import HuggingFaceEncoder, States
from empathia.schema import Example, Graded
from empathia.task import Level, Task

RARE = 0.75  # 0: all rows count alike; 1: all levels do


class ReplyHead(nn.Module):
    """Token states of a reply and of what it answers -> levels and rationales per mechanism; a subclass says how, in `forward`.

    `forward(reply, reply_mask, context, context_mask)` gives `levels` (batch, names, levels) and `marks` (batch, tokens, names).
    """

    inputs: tuple[str, ...] = ("reply", "reply_mask", "context", "context_mask")

    def __init__(self, task: Task) -> None:
        super().__init__()
        self.names = [name for name, output in task.outputs.items() if isinstance(output, Level)]
        self.levels = max(len(output.levels) for output in task.outputs.values() if isinstance(output, Level))
        self.weights: Tensor
        self.register_buffer("weights", torch.ones(len(self.names), self.levels))

    def prepare(self, examples: Sequence[Example], data: Path, seed: int) -> None:
        """Weigh each level by its share in the training rows to the power of minus RARE, so that rare ones are learnt too."""
        for i, name in enumerate(self.names):
            counts = torch.bincount(torch.tensor([_grade(e, name).level for e in examples]), minlength=self.levels).clamp(min=1).float()
            weights = (counts.sum() / counts) ** RARE
            self.weights[i] = weights * counts.sum() / (weights * counts).sum()

    def step(self, encoder: HuggingFaceEncoder, examples: Sequence[Example], dice: random.Random) -> Tensor:
        """The loss on some rows; what a reply answers is read without being taught, to save time."""
        reply = encoder.read([example.turn.content for example in examples])
        with torch.no_grad():
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
