"""Logits as scores, and scores as they are told."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
DIGITS = 6


def rounded(scores: Floats) -> Any:
    """Scores as they are told, in lists: six digits are more than they are worth, and keep the files small."""
    return scores.astype(np.float64).round(DIGITS).tolist()


def softmax(logits: Floats, temperature: float | Floats = 1.0) -> Floats:
    """Logits as scores that sum to 1, over the last axis; the higher the temperature, the less sure."""
    cooled = np.divide(logits, temperature, dtype=np.float32)
    powers = np.exp(cooled - cooled.max(axis=-1, keepdims=True))
    scores: Floats = powers / powers.sum(axis=-1, keepdims=True)
    return scores


def sigmoid(logits: Floats, temperature: float = 1.0) -> Floats:
    """Logits as scores between 0 and 1; the higher the temperature, the less sure."""
    scores: Floats = (1 / (1 + np.exp(-logits / np.float32(temperature)))).astype(np.float32)
    return scores


def warmth(settings: Mapping[str, Any], name: str) -> float:
    """The temperature of an output, chosen on validation rows; 1 where none was."""
    return float(settings.get("temperatures", {}).get(name, 1.0))
