"""Any Hugging Face encoder, for training: a local folder or, where the machine has access, a hub id.

Layers that are not trained give the same states for a text each time, so they read it once and the states are kept.
"""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, AutoTokenizer
from transformers.utils.logging import disable_progress_bar

from empathia.encoders import Encoded, Tokens, Window, alike
from empathia.encoders._stack import Given, Stack, layers_of, pad, stack
from empathia.errors import ModelError

KEPT = 3_000_000_000  # bytes of states that the layers below the trained ones may keep
ROOM = 8192  # tokens that are read at once


class States(NamedTuple):
    """A padded batch: states (batch, tokens, width), mask (batch, tokens), offsets per text; special tokens are left out."""

    states: Tensor
    mask: Tensor
    offsets: list[tuple[tuple[int, int], ...]]


class HuggingFaceEncoder(nn.Module):
    """A transformer and its tokenizer, reading windows like the default encoder."""

    def __init__(self, network: nn.Module, tokens: Tokens, name: str, *, frozen: int = 0, half: bool = False) -> None:
        super().__init__()
        self.network, self.tokens, self.name = network, tokens, name
        self.width: int = cast(Any, network).config.hidden_size
        self.halved = half
        self.through: Stack = _Halves(network, frozen) if frozen else stack(network)

    @classmethod
    def load(cls, where: str, *, window: int = 256, frozen: int = 0, half: bool = False) -> "HuggingFaceEncoder":
        """The encoder of a folder or hub id, its lowest `frozen` layers left as they are; remote code is never run.

        With `half` the products of the layers above are computed in 16 bits, which is faster on processors that can.
        """
        disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            tokenizer = AutoTokenizer.from_pretrained(where, use_fast=True, trust_remote_code=False).backend_tokenizer
            config = AutoConfig.from_pretrained(where, trust_remote_code=False)
            config.attention_probs_dropout_prob = 0.0  # costs three quarters of the time on a processor, and gains nothing here
            network = AutoModel.from_pretrained(where, config=config, trust_remote_code=False)
        except (OSError, ValueError) as error:
            raise ModelError(
                f"No encoder could be loaded from '{where}'. Give a folder with config.json, weights and tokenizer.json, "
                f"or a Hugging Face id that this machine can reach. ({type(error).__name__})"
            ) from error
        network.get_input_embeddings().requires_grad_(False)  # most of the weights, and what little they would learn costs half the time
        if frozen:
            network.requires_grad_(False)
            layers_of(network)[frozen:].requires_grad_(True)
        tokenizer.no_padding()
        tokenizer.no_truncation()
        room = min(window, int(getattr(network.config, "max_position_embeddings", window)) - 2)
        return cls(network, Tokens(tokenizer, room), Path(where).name, frozen=frozen, half=half)

    @classmethod
    def empty(cls, folder: Path, *, window: int) -> "HuggingFaceEncoder":
        """The encoder of a model folder, by its config.json and tokenizer.json, before its weights are loaded."""
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
        network = AutoModel.from_config(config, trust_remote_code=False)  # type: ignore[no-untyped-call]
        return cls(network, Tokens.load(folder / "tokenizer.json", window), folder.name)

    def freeze(self) -> None:
        """Stay as it is from here on: every text is read once."""
        self.network.requires_grad_(False)
        self.through = _Halves(self.network, len(layers_of(self.network)))

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """ids (batch, tokens) and mask -> states (batch, tokens, width)."""
        states: Tensor = self.network(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return states

    def states(self, texts: Sequence[str]) -> dict[str, Tensor]:
        """The states (tokens, width) of the first window of each text, for training."""
        return dict(zip(texts, self._states([found[0] for found in self.tokens.windows(texts)]), strict=True)) if texts else {}

    def read(self, texts: Sequence[str]) -> States:
        """The states of the first window of each text, padded, for training."""
        windows = [found[0] for found in self.tokens.windows(texts)]
        return States(*pad(self._states(windows)), [window.offsets for window in windows])

    @torch.no_grad()
    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """The token states of each text, whole, whatever its length."""
        if not texts:
            return []
        found = self.tokens.windows(texts)
        states = iter(self._states([window for some in found for window in some]))
        return [
            Encoded(
                states=np.concatenate([_numbers(next(states)) for _ in some]),
                offsets=np.array([offset for window in some for offset in window.offsets]),
            )
            for some in found
        ]

    def _states(self, windows: Sequence[Window]) -> list[Tensor]:
        """The states of each window without the special tokens; windows of like length are read together."""
        states: dict[int, Tensor] = {}
        with torch.autocast("cpu", torch.bfloat16, enabled=self.halved):
            for some in alike([len(window.ids) for window in windows], ROOM):
                states |= zip(some, self.through([windows[i].ids for i in some]), strict=True)
        return [states[i][1:-1].float() for i in range(len(windows))]


def _numbers(states: Tensor) -> NDArray[np.float32]:
    found: NDArray[np.float32] = states.numpy()
    return found


class _Halves:
    """An encoder whose lower layers stay as they are: they read each text once, the upper ones each time. Shares its weights."""

    def __init__(self, network: nn.Module, frozen: int) -> None:
        self.lower, self.upper = stack(network, last=frozen), stack(network, first=frozen)
        self.stays = nn.ModuleList([network.get_submodule("embeddings"), *layers_of(network)[:frozen]])
        self.kept = _kept(frozen, tuple(float(weight.sum()) for weight in self.stays.parameters()))

    def __call__(self, given: Sequence[Given]) -> list[Tensor]:
        """ids of each text -> states (tokens, width) of each."""
        texts = [cast(tuple[int, ...], text) for text in given]
        new = [text for text in dict.fromkeys(texts) if text not in self.kept]
        read = dict(zip(new, self._read(new), strict=True)) if new else {}
        return self.upper([read[text] if text in read else self.kept[text] for text in texts])

    @torch.no_grad()
    def _read(self, texts: Sequence[tuple[int, ...]]) -> list[Tensor]:
        self.stays.eval()
        with torch.autocast("cpu", enabled=False):  # what is kept serves trainings with and without `half`
            states = [state.half() for state in self.lower(texts)]
        for text, state in zip(texts, states, strict=True):
            self.kept.add(text, state)
        return states


class _Kept(dict[tuple[int, ...], Tensor]):
    """States by the tokens of their text, as many as there is room for."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    def add(self, text: tuple[int, ...], states: Tensor) -> None:
        """Keep the states of a text, if they are new and there is room."""
        if text not in self and self.room > 0:
            self[text] = states
            self.room -= states.nbytes


@functools.lru_cache(maxsize=2)
def _kept(frozen: int, weights: tuple[float, ...]) -> _Kept:
    """What layers with these weights have read; trainings that start from the same encoder share it."""
    return _Kept(KEPT)


class WordVectors(HuggingFaceEncoder):
    """The same tokenizer and the same input word vectors, but none of the layers above: what recurrent baselines read."""

    @classmethod
    def of(cls, encoder: HuggingFaceEncoder) -> "WordVectors":
        """The word vectors of an encoder."""
        made = cls(encoder.network, encoder.tokens, encoder.name)
        vectors = cast(Any, made.network).get_input_embeddings()
        made.width = vectors.embedding_dim
        made.through = lambda texts: [vectors(torch.tensor(text)) for text in texts]
        return made
