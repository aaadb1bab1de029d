"""Text -> token states. One encoder per file; `Tokens` cuts any text into windows that an encoder can read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from empathia.errors import ModelError
from empathia.segment import sentences

if TYPE_CHECKING:
    from tokenizers import Tokenizer


@dataclass(frozen=True)
class Encoded:
    """A text as its encoder sees it: a state per token, (tokens, width), and each token's offsets, (tokens, 2)."""

    states: NDArray[np.float32]
    offsets: NDArray[np.int64]


class Encoder(Protocol):
    """What the models ask of an encoder."""

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """The token states of each text, whole, whatever its length; the same alone as among others."""
        ...


@dataclass(frozen=True)
class Window:
    """A stretch of a text that fits the encoder: token ids with the special ones, and the offsets of the others."""

    ids: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]


class Tokens:
    """A tokenizer that cuts texts into windows, at the ends of sentences where it can."""

    def __init__(self, tokenizer: "Tokenizer", size: int) -> None:
        self.tokenizer, self.size = tokenizer, size
        special = tokenizer.encode("").ids
        if len(special) != 2:
            raise ModelError(f"The tokenizer puts {len(special)} special tokens around a text, not 2: take an encoder like BERT or MPNet.")
        self.first, self.last = special

    @classmethod
    def load(cls, file: Path, size: int) -> "Tokens":
        """The tokenizer of a `tokenizer.json`; `size` tokens a window, the two special ones included."""
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(file))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return cls(tokenizer, size)

    def windows(self, texts: Sequence[str]) -> list[list[Window]]:
        """The windows of each text, at least one; together they hold all its tokens."""
        coded = self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [self._cut(text, code.ids, code.offsets) for text, code in zip(texts, coded, strict=True)]

    def _cut(self, text: str, ids: list[int], offsets: list[tuple[int, int]]) -> list[Window]:
        if not ids:  # nothing that the tokenizer knows, such as a lone zero-width space
            ids, offsets = [self.last], [(0, len(text))]
        room, start, found = self.size - 2, 0, []
        starts = {span.start for span in sentences(text)} if len(ids) > room else set()
        while start < len(ids):
            end = min(start + room, len(ids))
            if end < len(ids):
                end = next((i for i in range(end, start + room // 2, -1) if offsets[i][0] in starts), end)
            found.append(Window(ids=(self.first, *ids[start:end], self.last), offsets=tuple(offsets[start:end])))
            start = end
        return found


def alike(lengths: Sequence[int], room: int) -> Iterator[list[int]]:
    """Places of rows of like length, at most `room` padded tokens a batch."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and lengths[place] * (len(batch) + 1) > room:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch
