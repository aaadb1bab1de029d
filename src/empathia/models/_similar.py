"""How like a sentence is to seeds: the cosine between the means of their token states."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from empathia.encoders import Encoder
from empathia.errors import ModelError
from empathia.schema import Match, Span
from empathia.segment import sentences

Floats = NDArray[np.float64]
DIGITS = 6
DEFAULT_ENCODER = "default"
NEAREST = 15  # seeds that a sentence is compared with
SHARP = 4  # how much more a near seed counts than a far one


@dataclass(frozen=True)
class Sentences:
    """The sentences of one text, and their vectors of length 1: (sentences, width)."""

    spans: tuple[Span, ...]
    vectors: Floats


def open_encoder(where: str = DEFAULT_ENCODER) -> Encoder:
    """The default model's encoder, or the one of a Hugging Face folder or id, which needs torch."""
    if where == DEFAULT_ENCODER:
        from empathia.models import load
        from empathia.models.shared import Shared

        return cast(Shared, load()).encoder
    if Path(where, "encoder.onnx").exists():
        raise ModelError(f"'{where}' is a model folder. Give the folder or id of a Hugging Face encoder, or '{DEFAULT_ENCODER}'.")
    from empathia.encoders.huggingface import HuggingFaceEncoder

    return HuggingFaceEncoder.load(where).eval()


def vectors(encoder: Encoder, texts: Sequence[str]) -> Floats:
    """A vector of length 1 for each text, (texts, width); each different text is read once."""
    if not texts:
        return np.zeros((0, 0))
    known = list(dict.fromkeys(texts))
    means = [encoded.states.astype(np.float64).mean(axis=0) for encoded in encoder.encode(known)]
    units = {text: mean / max(float(np.linalg.norm(mean)), 1e-12) for text, mean in zip(known, means, strict=True)}
    return np.stack([units[text] for text in texts]).astype(np.float32).astype(np.float64)  # as they are kept in files


def split(encoder: Encoder, texts: Sequence[str]) -> list[Sentences]:
    """The sentences of each text with their vectors; a sentence is read alone, as seeds are."""
    spans = [sentences(text) for text in texts]
    found = vectors(encoder, [text[span.start : span.end] for text, some in zip(texts, spans, strict=True) for span in some])
    ends = np.cumsum([len(some) for some in spans])
    return [Sentences(some, found[end - len(some) : end]) for some, end in zip(spans, ends, strict=True)]


def shares(text: Sentences, known: Floats, levels: Sequence[int], left_out: Sequence[int] = ()) -> Floats:
    """How much of the seeds nearest to a sentence, by their likeness, show the phenomenon, and show it strongly: (sentences, 2)."""
    alike = text.vectors @ known.T if text.spans else np.zeros((1, len(known)))  # (sentences, seeds)
    alike[:, list(left_out)] = -1
    near = np.argsort(alike, axis=1)[:, -NEAREST:]
    weights = np.clip(np.take_along_axis(alike, near, axis=1), 1e-3, 1) ** SHARP  # (sentences, nearest)
    level = np.asarray(levels)[near]
    shown = [((level >= least) * weights).sum(axis=1) / weights.sum(axis=1) for least in (1, 2)]
    return np.stack(shown, axis=1).round(DIGITS)


def matches(text: Sentences, seeds: Sequence[str], known: Floats) -> tuple[Match, ...]:
    """Each sentence with the seed that it is most like; `known` are the vectors of the seeds."""
    if not text.spans or not len(known):
        return ()
    alike = text.vectors @ known.T  # (sentences, seeds)
    best = alike.argmax(axis=1)
    return tuple(
        Match(start=span.start, end=span.end, seed=seeds[i], score=round(float(row[i]), DIGITS))
        for span, row, i in zip(text.spans, alike, best, strict=True)
    )
