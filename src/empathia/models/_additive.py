"""An additive model: each feature adds to the score of each level by a curve of its own, which is a table one can read.

It is what an Explainable Boosting Machine learns (`interpret`); once learnt, numpy is all that it needs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BINS = 64  # of a feature: as fine as a person can read
NEVER = -1e9  # the score of a level that no training row has


@dataclass(frozen=True)
class Additive:
    """Per feature the edges of its bins, (bins - 1,), and what each bin adds to each level, (bins, levels)."""

    intercept: Floats
    edges: tuple[Floats, ...]
    scores: tuple[Floats, ...]

    def terms(self, features: Floats) -> Floats:
        """What each feature adds to each level: features (features,) -> (features, levels)."""
        return np.stack(
            [table[np.searchsorted(edges, x, side="right")] for x, edges, table in zip(features, self.edges, self.scores, strict=True)]
        )

    def probabilities(self, features: Floats) -> Floats:
        """The probability of each level: features (features,) -> (levels,)."""
        logits = self.intercept + self.terms(features).sum(axis=0)
        powers = np.exp(logits - logits.max())
        found: Floats = powers / powers.sum()
        return found

    def to_json(self) -> dict[str, Any]:
        """As plain lists of numbers."""
        features = [{"edges": e.tolist(), "scores": s.tolist()} for e, s in zip(self.edges, self.scores, strict=True)]
        return {"intercept": self.intercept.tolist(), "features": features}

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> "Additive":
        """From plain lists of numbers."""
        return cls(
            np.array(told["intercept"], float),
            tuple(np.array(one["edges"], float) for one in told["features"]),
            tuple(np.array(one["scores"], float) for one in told["features"]),
        )


def fit(features: Floats, levels: Sequence[int], *, count: int, seed: int = 0) -> Additive:
    """Learn from rows, features (rows, features), to tell `count` levels."""
    return of(learn(features, levels, seed=seed), count)


def learn(features: Floats, levels: Sequence[int], *, seed: int = 0) -> Any:
    """The Explainable Boosting Machine itself, without interactions: each feature alone, so that each curve says all.

    A level weighs by the inverse root of its share, as with the other models, so that rare ones are learnt too.
    """
    from interpret.glassbox import ExplainableBoostingClassifier  # type: ignore[import-untyped]

    gold = np.asarray(levels)
    shares = np.bincount(gold) / len(gold)
    machine = ExplainableBoostingClassifier(interactions=0, max_bins=BINS, random_state=seed, n_jobs=1)
    return machine.fit(features, gold, sample_weight=shares[gold] ** -0.5)


def of(machine: Any, count: int) -> Additive:
    """A learnt machine as tables; of two levels it scores only the second, and levels that it never saw it does not know."""
    seen = [int(level) for level in machine.classes_]

    def wide(scores: Floats, empty: float) -> Floats:
        scores = np.stack([np.zeros_like(scores), scores], axis=-1) if len(seen) == 2 else scores
        full = np.full((*scores.shape[:-1], count), empty)
        full[..., seen] = scores
        return full

    intercept = machine.intercept_[0] if len(seen) == 2 else machine.intercept_
    # the first row of a table is for a missing value, the last for an unknown one: a similarity is neither
    return Additive(
        wide(np.asarray(intercept), NEVER),
        tuple(np.asarray(bins[0]) for bins in machine.bins_),
        tuple(wide(table[1:-1], 0.0) for table in machine.term_scores_),
    )
