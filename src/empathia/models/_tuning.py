"""Fine-tuning a language model on prompts with their right answers: only the answers are learnt, the best epoch is kept."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from empathia.models._language import Ids, Language

NEAR = 8  # steps among which prompts are sorted by length, to save padding
Pair = tuple[Ids, Ids]  # a prompt and its answer


@dataclass(frozen=True)
class Recipe:
    """How to fine-tune; the same recipe, rows and machine give the same model. No epochs leave the model as it comes."""

    seed: int = 0
    epochs: int = 3
    rows: int = 16  # prompts per step: a row is asked each question of the task
    rate: float = 3e-4
    decay: float = 0.01


def tune(
    language: Language, pairs: Sequence[Pair], recipe: Recipe, headline: Callable[[], float | None], tell: Callable[[str], None]
) -> None:
    """Teach a language model the answers, in place; after each epoch the `headline` says how good it is, and a line is told."""
    _Run(language, pairs, recipe).fit(headline, tell)


class _Run:
    """One fine-tuning: all weights but those of the words, which are most of them and gain little."""

    def __init__(self, language: Language, pairs: Sequence[Pair], recipe: Recipe) -> None:
        self.language, self.pairs, self.recipe = language, pairs, recipe
        self.network: nn.Module = language.network
        language.network.get_input_embeddings().requires_grad_(False)
        self.learnt = {name: weight for name, weight in self.network.named_parameters() if weight.requires_grad}
        self.steps = math.ceil(len(pairs) / recipe.rows)
        self.optimiser = torch.optim.AdamW(self.learnt.values(), lr=recipe.rate, weight_decay=recipe.decay)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimiser, self._rate)

    def _rate(self, step: int) -> float:
        """Up over the first tenth of the steps, then straight down to nothing."""
        total = max(1, self.steps * self.recipe.epochs)
        return min((step + 1) / (0.1 * total), (total - step) / (0.9 * total))

    def fit(self, headline: Callable[[], float | None], tell: Callable[[str], None]) -> None:
        """All epochs, then the weights of the one that did best."""
        best, kept = -1.0, dict[str, Tensor]()
        for epoch in range(self.recipe.epochs):
            loss, score = self._one_epoch(epoch), headline()
            valid = "" if score is None else f" · macro-F1 {score:.3f}"
            tell(f"epoch {epoch + 1}/{self.recipe.epochs} · loss {loss:.3f}{valid}")
            if score is not None and score > best:
                best, kept = score, {name: weight.detach().clone() for name, weight in self.learnt.items()}
        self.network.load_state_dict(kept, strict=False)
        self.network.eval()

    def _one_epoch(self, epoch: int) -> float:
        seed = self.recipe.seed * 1000 + epoch  # an epoch's chance depends on nothing before it
        torch.manual_seed(seed)
        self.network.train()
        losses = [self._step(batch) for batch in self._batches(random.Random(seed))]
        return sum(losses) / len(losses)

    def _step(self, batch: Sequence[Pair]) -> float:
        prompts, answers = zip(*batch, strict=True)
        loss = -self.language.likelihoods(self.language.read(prompts), answers).mean()
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.learnt.values(), 1.0)
        self.optimiser.step()
        self.schedule.step()
        return loss.item()

    def _batches(self, dice: random.Random) -> list[list[Pair]]:
        """Every pair once, by chance, prompts of like length together."""
        pairs, rows = dice.sample(self.pairs, len(self.pairs)), self.recipe.rows
        batches = []
        for at in range(0, len(pairs), NEAR * rows):
            near = sorted(pairs[at : at + NEAR * rows], key=lambda pair: len(pair[0]))
            batches += [near[low : low + rows] for low in range(0, len(near), rows)]
        dice.shuffle(batches)
        return batches
