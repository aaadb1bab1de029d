"""What all heads that judge a sentence share: how they are taught, and what they are asked."""

import random
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from empathia.encoders.huggingface import HuggingFaceEncoder
from empathia.models._layers import focal
from empathia.schema import Example
from empathia.task import Choice, Flag, Task

JOINED = 0.3  # of the turns made for training have two or three sentences


class SentenceHead(nn.Module):
    """Token states of a sentence -> logits per label for each output; a subclass says how, in `forward(states, mask)`."""

    inputs = ("states", "mask")

    def __init__(self, task: Task, *, eta: float) -> None:
        super().__init__()
        self.labels = {name: _labels(output) for name, output in task.outputs.items() if isinstance(output, Choice | Flag)}
        self.eta = eta

    def step(self, encoder: HuggingFaceEncoder, examples: Sequence[Example], dice: random.Random) -> Tensor:
        """The loss on some rows. Some are joined to longer turns, so that a sentence is also known among others."""
        texts, places = _join([example.turn.content for example in examples], dice)
        read = encoder.read(texts)
        tokens = [_between(read.offsets[text], start, end) for text, start, end in places]
        rows = torch.tensor([text for text, _, _ in places])
        columns = nn.utils.rnn.pad_sequence([torch.tensor(found) for found in tokens], batch_first=True)
        mask = nn.utils.rnn.pad_sequence([torch.ones(len(found)) for found in tokens], batch_first=True)
        logits = self(read.states[rows[:, None], columns], mask)
        return self.loss(logits, {name: self._gold(name, examples) for name in self.labels})

    def _gold(self, name: str, examples: Sequence[Example]) -> Tensor:
        known = self.labels[name]
        return torch.tensor([known.index(str(e.turn.labels[name])) if name in e.turn.labels else -1 for e in examples])

    def loss(self, logits: Mapping[str, Tensor], gold: Mapping[str, Tensor]) -> Tensor:
        """The focal losses of all outputs; a row without a label for an output (-1) does not count there."""
        return torch.stack([focal(logits[name], gold[name], eta=self.eta) for name in self.labels]).sum()


def _labels(output: Choice | Flag) -> list[str]:
    return list(output.labels) if isinstance(output, Choice) else [str(False), str(True)]


def _join(contents: Sequence[str], dice: random.Random) -> tuple[list[str], list[tuple[int, int, int]]]:
    """Texts of one to three contents, and for each content its text and offsets there."""
    texts: list[str] = []
    places: list[tuple[int, int, int]] = []
    left = 0  # contents that the last text still takes
    for content in contents:
        if left:
            texts[-1] += " "
        else:
            texts.append("")
            left = dice.choice((2, 3)) if dice.random() < JOINED else 1
        places.append((len(texts) - 1, len(texts[-1]), len(texts[-1]) + len(content)))
        texts[-1] += content
        left -= 1
    return texts, places


def _between(offsets: Sequence[tuple[int, int]], start: int, end: int) -> list[int]:
    """The tokens that begin between two offsets; the last token where a window cut them all off."""
    return [i for i, (at, _) in enumerate(offsets) if start <= at < end] or [len(offsets) - 1]
