"""Topics by latent Dirichlet allocation: learnt from whole conversations, then looked for in sentences."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import LatentDirichletAllocation  # type: ignore[import-untyped]
from sklearn.feature_extraction.text import CountVectorizer  # type: ignore[import-untyped]

Floats = NDArray[np.floating[Any]]
Words = Sequence[str]

COMMON, VOCABULARY = 30, 3000  # the most frequent words belong to all topics; how many of the next are taken
RARE = 5  # in fewer documents, a word tells nothing
SHOWN = 8  # words that a topic is called by
ALPHA, ETA = 0.1, 0.01  # priors: sentences have few topics, topics few words
FEW = 100  # documents, below which no word is too rare or too common to be taken
PASSES = 20_000  # documents to learn from, each several times where there are fewer
RELEVANCE = 0.6  # how far a topic's words are chosen by frequency, the rest by how much they are its own (Sievert and Shirley 2014)


@dataclass(frozen=True)
class Topics:
    """The words that each topic is called by, and how many words of each text belong to it."""

    names: tuple[tuple[str, ...], ...]
    words: Floats  # (texts, topics)


def topics(documents: Sequence[Words], texts: Sequence[Words], *, count: int = 5, seed: int = 0) -> Topics | None:
    """The topics of the documents, and what of each in the texts; nothing where there are too few words to tell."""
    vocabulary = _vocabulary(documents)
    if len(vocabulary) < 4 * count:
        return None
    vectors = CountVectorizer(analyzer=list, vocabulary=vocabulary)
    known = vectors.transform(documents)
    passes, batch = min(20, max(3, PASSES // len(documents))), min(128, max(8, len(documents) // 20))
    model = LatentDirichletAllocation(
        count, doc_topic_prior=ALPHA, topic_word_prior=ETA, learning_method="online", batch_size=batch, max_iter=passes, random_state=seed
    ).fit(known)
    counts = vectors.transform(texts)
    lengths = np.asarray(counts.sum(axis=1), dtype=float)  # (texts, 1)
    belongs = model.transform(counts) * (lengths + count * ALPHA) - ALPHA  # what the texts add to the prior
    return Topics(_names(model.components_, vocabulary), np.maximum(belongs, 0))


def _vocabulary(documents: Sequence[Words]) -> list[str]:
    """The words that can tell topics apart: neither negations nor very rare or common, the most frequent first."""
    often = Counter(word for words in documents for word in set(words) if word not in ("no", "not") and not word.endswith("n't"))
    ranked = sorted(often, key=lambda word: (-often[word], word))
    if len(documents) < FEW:
        return ranked[:VOCABULARY]
    return [word for word in ranked[COMMON : COMMON + VOCABULARY] if often[word] >= RARE]


def _names(weights: Floats, vocabulary: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    within = weights / weights.sum(axis=1, keepdims=True)  # (topics, words)
    overall = weights.sum(axis=0) / weights.sum()
    relevance = RELEVANCE * np.log(within) + (1 - RELEVANCE) * np.log(within / overall)
    return tuple(tuple(vocabulary[at] for at in np.argsort(-one, kind="stable")[:SHOWN]) for one in relevance)
