"""The layers of a transformer over texts of different lengths, in one go.

All but attention looks at each token by itself, so a network like BERT reads the tokens of all texts as one long row, without
padding; only attention pads, some texts of like length at a time. Other networks read a few padded texts at a time.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import BertModel

from empathia.errors import ModelError

Given = tuple[int, ...] | Tensor  # a text: its token ids, or the states (tokens, width) that lower layers left
Stack = Callable[[Sequence[Given]], list[Tensor]]
TOGETHER = 16  # texts of like length over which attention goes at once
FAR = -1e4


def layers_of(network: nn.Module) -> nn.ModuleList:
    """The layers of a transformer that is built like BERT."""
    layers = getattr(getattr(network, "encoder", None), "layer", None)
    if not isinstance(layers, nn.ModuleList):
        raise ModelError(f"No layers can be frozen in a {type(network).__name__}, which is not built like BERT. Leave `frozen` out.")
    return layers


def stack(network: nn.Module, *, first: int = 0, last: int | None = None) -> Stack:
    """Some layers of a network, or all, with the word vectors below if they begin with the first; they share its weights."""
    if isinstance(network, BertModel) and getattr(network.config, "position_embedding_type", "absolute") == "absolute":
        return _Packed(network.embeddings if not first else None, layers_of(network)[first:last])
    if not first and last is None:
        return _Padded(network)
    part, encoder = copy.copy(network), copy.copy(cast(Any, network).encoder)
    encoder._modules = encoder._modules | {"layer": layers_of(network)[first:last]}
    part._modules = part._modules | {"encoder": encoder} | ({"embeddings": _Passed()} if first else {})
    return _Padded(part)


class _Passed(nn.Module):
    """In the place of word vectors: states that were read before, as they are."""

    def forward(self, *, inputs_embeds: Tensor, **_: Any) -> Tensor:
        """States in, the same states out."""
        return inputs_embeds


class _Padded:
    """Any network, over a few padded texts at a time."""

    def __init__(self, network: nn.Module) -> None:
        self.network = network

    def __call__(self, given: Sequence[Given]) -> list[Tensor]:
        """Ids or states of each text -> states of each."""
        return [states for some in _some(given, TOGETHER // 2) for states in self._read(some)]

    def _read(self, some: Sequence[Given]) -> list[Tensor]:
        name = "inputs_embeds" if isinstance(some[0], Tensor) else "input_ids"
        rows = [one.float() if isinstance(one, Tensor) else torch.tensor(one) for one in some]
        mask = nn.utils.rnn.pad_sequence([torch.ones(len(row), dtype=torch.long) for row in rows], batch_first=True)
        states = self.network(**{name: nn.utils.rnn.pad_sequence(rows, batch_first=True)}, attention_mask=mask).last_hidden_state
        return [one[: len(row)] for one, row in zip(states, rows, strict=True)]


class _Packed:
    """Layers of a BERT over the tokens of all texts, which come sorted by length."""

    def __init__(self, embeddings: nn.Module | None, layers: nn.ModuleList) -> None:
        self.embeddings, self.layers = embeddings, cast(Any, layers)

    def __call__(self, given: Sequence[Given]) -> list[Tensor]:
        """Ids or states of each text -> states of each."""
        lengths = [len(one) for one in given]
        states = self._embedded(given) if self.embeddings else torch.cat([cast(Tensor, one).float() for one in given])
        shown = [_shown(some) for some in _some(lengths, TOGETHER)]
        for layer in self.layers:
            beside, above = layer.attention.output, layer.output
            states = beside.LayerNorm(states + _dropped(beside.dropout, beside.dense(_attended(layer.attention.self, states, shown))))
            inner = layer.intermediate.intermediate_act_fn(layer.intermediate.dense(states))
            states = above.LayerNorm(states + _dropped(above.dropout, above.dense(inner)))
        return list(torch.split(states, lengths))

    def _embedded(self, given: Sequence[Given]) -> Tensor:
        ids = torch.tensor([[token for one in given for token in cast(tuple[int, ...], one)]])
        places = torch.cat([torch.arange(len(one)) for one in given])[None]
        embedded: Tensor = cast(Any, self.embeddings)(input_ids=ids, position_ids=places)[0]
        return embedded


def pad(rows: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Rows of different lengths, each (length, …), padded, and a mask of what is no padding.

    As torch's `pad_sequence`, whose way back takes time by the square of the rows.
    """
    mask = _shown([len(row) for row in rows])
    flat = torch.cat(list(rows)).flatten(1) if rows[0].dim() > 1 else torch.cat(list(rows))[:, None]
    padded = cast(Tensor, _Pad.apply(flat, mask.flatten().nonzero()[:, 0], mask.numel()))  # type: ignore[no-untyped-call]
    return padded.view(*mask.shape, *rows[0].shape[1:]), mask.float()


def _dropped(dropout: nn.Dropout, states: Tensor) -> Tensor:
    """As torch's dropout, but a drawn number serves eight values: drawing one for each takes long on a processor."""
    if not dropout.training or not dropout.p:
        return states
    drawn = torch.empty(states.numel() // 8 + 1, dtype=torch.int64).random_(-(2**63), None)
    dropped = round(256 * dropout.p)
    kept = drawn.view(torch.uint8)[: states.numel()].view_as(states) >= dropped
    return states * kept.to(states.dtype) * (256 / (256 - dropped))


def _some(given: Sequence[Any], most: int) -> Iterator[Sequence[Any]]:
    return (given[at : at + most] for at in range(0, len(given), most))


def _shown(lengths: Sequence[int]) -> Tensor:
    """Which tokens of padded texts are no padding, (texts, tokens)."""
    return torch.arange(max(lengths))[None] < torch.tensor(lengths)[:, None]


def _attended(attention: Any, states: Tensor, shown: Sequence[Tensor]) -> Tensor:
    """What each token finds in its text: (all tokens, width) -> (all tokens, width)."""
    three = (attention.query, attention.key, attention.value)
    made = F.linear(states, torch.cat([one.weight for one in three]), torch.cat([one.bias for one in three]))
    found, at = [], 0
    for mask in shown:
        rows = mask.flatten().nonzero()[:, 0]
        padded = cast(Tensor, _Pad.apply(made[at : at + len(rows)], rows, mask.numel()))  # type: ignore[no-untyped-call]
        asks, keys, values = padded.view(*mask.shape, 3, attention.num_attention_heads, -1).permute(2, 0, 3, 1, 4)
        scores = asks @ (keys.transpose(-1, -2) * keys.shape[-1] ** -0.5) + ~mask[:, None, None, :] * FAR  # (texts, heads, tokens, tokens)
        heard = (torch.softmax(scores, dim=-1).to(values.dtype) @ values).transpose(1, 2).flatten(0, 1).flatten(1)
        found.append(cast(Tensor, _Cut.apply(heard, rows)))  # type: ignore[no-untyped-call]
        at += len(rows)
    return torch.cat(found)


class _Pad(torch.autograd.Function):
    """Rows put at their places among rows of zeros."""

    @staticmethod
    def forward(context: Any, given: Tensor, rows: Tensor, count: int) -> Tensor:
        """(places, width) -> (count, width)."""
        context.save_for_backward(rows)
        return given.new_zeros(count, given.shape[1]).index_put_((rows,), given)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        """The rows of the places."""
        return gradient.index_select(0, *context.saved_tensors), None, None


class _Cut(torch.autograd.Function):
    """The rows at some places: the way back from `_Pad`, faster than torch's own, which allows for places that come twice."""

    @staticmethod
    def forward(context: Any, given: Tensor, rows: Tensor) -> Tensor:
        """(count, width) -> (places, width)."""
        context.save_for_backward(rows)
        context.count = len(given)
        return given.index_select(0, rows)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None]:
        """Put at their places."""
        return gradient.new_zeros(context.count, gradient.shape[1]).index_put_(context.saved_tensors, gradient), None
