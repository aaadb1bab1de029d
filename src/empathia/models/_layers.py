"""The few layers and losses that the networks share."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

FAR = -1e4  # low enough to vanish in a softmax, safe in every float type


class Attention(nn.Module):
    """Scaled dot-product attention with its own projections."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))

    def forward(self, asks: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        """asks (batch, rows, width) over states (batch, tokens, width) with mask (batch, tokens) -> (batch, rows, width).

        No state is projected: the keys' projection joins the queries', and values are projected once they are summed up, which
        gives the same with less work. A key's bias would move all scores of a row alike, that is none.
        """
        queries = asks @ (self.query.weight.T @ self.key.weight) + self.query.bias @ self.key.weight
        scores = queries @ states.transpose(1, 2) / asks.shape[-1] ** 0.5 + (1 - mask)[:, None, :] * FAR  # (batch, rows, tokens)
        attended: Tensor = self.value(torch.softmax(scores, dim=-1) @ states)
        return attended


def masked_max(states: Tensor, mask: Tensor) -> Tensor:
    """The largest value of each column over the rows that the mask shows: (batch, rows, width) -> (batch, width)."""
    return (states + (1 - mask)[..., None] * FAR).amax(dim=1)


def masked_mean(states: Tensor, mask: Tensor) -> Tensor:
    """The mean over the rows that the mask shows: (batch, rows, width) -> (batch, width)."""
    return (states * mask[..., None]).sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)


def focal(logits: Tensor, gold: Tensor, *, eta: float = 2.0, weight: Tensor | None = None) -> Tensor:
    """Focal loss: cross-entropy that counts a row less the surer the model is of it; gold -1 is left out."""
    rows = gold >= 0
    if not rows.any():
        return logits.sum() * 0
    loss = F.cross_entropy(logits[rows], gold[rows], reduction="none")
    scale = (1 - torch.exp(-loss)) ** eta
    if weight is not None:
        scale = scale * weight[gold[rows]]
    return (scale * loss).mean()


def both_ways(layer: nn.GRU, states: Tensor, mask: Tensor) -> Tensor:
    """A bidirectional recurrent layer that never reads padding: (batch, tokens, width) -> (batch, tokens, 2 x hidden)."""
    packed = nn.utils.rnn.pack_padded_sequence(states, mask.sum(dim=1).long().cpu(), batch_first=True, enforce_sorted=False)
    read, _ = nn.utils.rnn.pad_packed_sequence(layer(packed)[0], batch_first=True, total_length=states.shape[1])
    return read
