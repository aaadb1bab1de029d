"""Any Hugging Face encoder, for training: a local folder or, where the machine has access, a hub id.

Layers that are not trained give the same states for a text each time, so they read it once and the states are kept.
"""

import copy
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

from empathia.encoders import Encoded, Tokens, Window
from empathia.errors import ModelError

KEPT = 3_000_000_000  # bytes of states that the layers below the trained ones may keep
TOGETHER = 8  # windows of like length that are read at once: little padding, and enough work for two cores


class States(NamedTuple):
    """A padded batch: states (batch, tokens, width), mask (batch, tokens) without special tokens, offsets per text."""

    states: Tensor
    mask: Tensor
    offsets: list[tuple[tuple[int, int], ...]]


class HuggingFaceEncoder(nn.Module):
    """A transformer and its tokenizer, reading windows like the default encoder."""

    def __init__(self, network: nn.Module, tokens: Tokens, name: str, *, frozen: int = 0) -> None:
        super().__init__()
        self.network, self.tokens, self.name = network, tokens, name
        self.width: int = cast(Any, network).config.hidden_size
        self.halves = _Halves(network, frozen) if frozen else None

    @classmethod
    def load(cls, where: str, *, window: int = 256, frozen: int = 0) -> "HuggingFaceEncoder":
        """The encoder of a folder or hub id, its lowest `frozen` layers left as they are; remote code is never run."""
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
            _layers(network)[frozen:].requires_grad_(True)
        tokenizer.no_padding()
        tokenizer.no_truncation()
        room = min(window, int(getattr(network.config, "max_position_embeddings", window)) - 2)
        return cls(network, Tokens(tokenizer, room), Path(where).name, frozen=frozen)

    @classmethod
    def empty(cls, folder: Path, *, window: int) -> "HuggingFaceEncoder":
        """The encoder of a model folder, by its config.json and tokenizer.json, before its weights are loaded."""
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
        network = AutoModel.from_config(config, trust_remote_code=False)  # type: ignore[no-untyped-call]
        return cls(network, Tokens.load(folder / "tokenizer.json", window), folder.name)

    def freeze(self) -> None:
        """Stay as it is from here on: every text is read once."""
        self.network.requires_grad_(False)
        self.halves = _Halves(self.network, len(_layers(self.network)))

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """ids (batch, tokens) and mask -> states (batch, tokens, width)."""
        states: Tensor = self.network(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return states

    def read(self, texts: Sequence[str]) -> States:
        """The states of the first window of each text, padded, for training."""
        windows = [found[0] for found in self.tokens.windows(texts)]
        lengths = torch.tensor([len(window.ids) for window in windows])
        order = torch.argsort(lengths)
        states = torch.cat([self._pad(windows, some, int(lengths.max())) for some in torch.split(order, TOGETHER)])[torch.argsort(order)]
        places = torch.arange(states.shape[1])[None]
        inner = ((places > 0) & (places < lengths[:, None] - 1)).float()  # neither the first nor the last special token
        return States(states[:, 1:], inner[:, 1:], [window.offsets for window in windows])

    def _pad(self, windows: Sequence[Window], some: Tensor, longest: int) -> Tensor:
        """The states of windows of like length, read together and then padded to the longest of all."""
        ids = [torch.tensor(windows[i].ids) for i in some.tolist()]
        mask = nn.utils.rnn.pad_sequence([torch.ones_like(one) for one in ids], batch_first=True)
        padded = nn.utils.rnn.pad_sequence(ids, batch_first=True)
        states = self.halves(padded, mask) if self.halves else self(padded, mask)
        return nn.functional.pad(states, (0, 0, 0, max(0, longest - states.shape[1])))

    @torch.no_grad()
    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """The token states of each text, whole, whatever its length."""
        if not texts:
            return []
        found = self.tokens.windows(texts)
        windows = [window for some in found for window in some]
        order = torch.argsort(torch.tensor([len(window.ids) for window in windows]), stable=True)
        states: dict[int, NDArray[np.float32]] = {}
        for some in torch.split(order, TOGETHER):
            read = self._pad(windows, some, 0)
            states |= {i: one[1 : len(windows[i].ids) - 1].numpy() for i, one in zip(some.tolist(), read, strict=True)}
        kept = iter([states[i] for i in range(len(windows))])
        return [
            Encoded(
                states=np.concatenate([next(kept) for _ in some]),
                offsets=np.array([offset for window in some for offset in window.offsets]),
            )
            for some in found
        ]


class _Halves:
    """An encoder whose lower layers stay as they are: they read each text once, the upper ones each time. Shares its weights."""

    def __init__(self, network: nn.Module, frozen: int) -> None:
        layers = _layers(network)
        self.lower, self.upper = _part(network, layers[:frozen]), _part(network, layers[frozen:])
        self.upper._modules["embeddings"] = _Passed()
        self.kept = _kept(frozen, tuple(float(weight.sum()) for weight in self.lower.parameters()))

    def __call__(self, ids: Tensor, mask: Tensor) -> Tensor:
        """ids (batch, tokens) and mask -> states (batch, tokens, width)."""
        texts = [tuple(row[:length]) for row, length in zip(ids.tolist(), mask.sum(dim=1).tolist(), strict=True)]
        states = [self.kept[text] for text in texts] if all(text in self.kept for text in texts) else self._read(texts, ids, mask)
        padded = nn.utils.rnn.pad_sequence(states, batch_first=True).float()
        found: Tensor = self.upper(inputs_embeds=padded, attention_mask=mask).last_hidden_state
        return found

    @torch.no_grad()
    def _read(self, texts: Sequence[tuple[int, ...]], ids: Tensor, mask: Tensor) -> list[Tensor]:
        read = self.lower.eval()(input_ids=ids, attention_mask=mask).last_hidden_state.half()
        states = [row[: len(text)].clone() for text, row in zip(texts, read, strict=True)]
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


class _Passed(nn.Module):
    """In the place of word vectors: states that were read before, as they are."""

    def forward(self, *, inputs_embeds: Tensor, **_: Any) -> Tensor:
        """States in, the same states out."""
        return inputs_embeds


def _layers(network: nn.Module) -> nn.ModuleList:
    layers = getattr(getattr(network, "encoder", None), "layer", None)
    if not isinstance(layers, nn.ModuleList):
        raise ModelError(f"No layers can be frozen in a {type(network).__name__}, which is not built like BERT. Leave `frozen` out.")
    return layers


def _part(network: nn.Module, layers: nn.ModuleList) -> nn.Module:
    """The same network, with the same weights, but only these layers."""
    made, encoder = copy.copy(network), copy.copy(cast(Any, network).encoder)
    encoder._modules = encoder._modules | {"layer": layers}
    made._modules = made._modules | {"encoder": encoder}
    return made


class WordVectors(HuggingFaceEncoder):
    """The same tokenizer and the same input word vectors, but none of the layers above: what recurrent baselines read."""

    @classmethod
    def of(cls, encoder: HuggingFaceEncoder) -> "WordVectors":
        """The word vectors of an encoder."""
        made = cls(encoder.network, encoder.tokens, encoder.name)
        made.width = cast(Any, made.network).get_input_embeddings().embedding_dim
        return made

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """ids (batch, tokens) -> vectors (batch, tokens, width)."""
        vectors: Tensor = cast(Any, self.network).get_input_embeddings()(input_ids)
        return vectors
