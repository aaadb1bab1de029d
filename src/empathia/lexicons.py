"""Sentiment and emotions by word lists, which come with the extra [corpus]; nothing is downloaded.

Sentiment is VADER's compound score, from -1 to 1 (Hutto and Gilbert 2014, MIT licence). Emotions are those of the NRC Word-
Emotion Association Lexicon, as NRCLex ships it: free for research; commercial use needs a licence of its makers (Mohammad and
Turney 2013, National Research Council Canada). Words are looked up as they are written, without regard to context, and
some plain ones are not in the list: "sad", say.
"""

import importlib.resources
import json
from collections.abc import Callable, Mapping
from functools import cache

EMOTIONS = ("negative", "positive", "sadness", "fear", "anger", "disgust", "surprise", "anticipation", "trust", "joy")


@cache
def sentiment() -> Callable[[str], float]:
    """What gives a text its sentiment, from -1 (negative) to 1 (positive)."""
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer  # type: ignore[import-untyped]

    scores = SentimentIntensityAnalyzer().polarity_scores
    return lambda text: float(scores(text)["compound"])


@cache
def emotions() -> Mapping[str, tuple[str, ...]]:
    """The emotions that each word of the lexicon goes with, `negative` and `positive` among them."""
    file = importlib.resources.files("nrclex.data") / "nrc_en.json"  # its class would load TextBlob: only its list is read
    found: dict[str, list[str]] = json.loads(file.read_text(encoding="utf-8"))
    return {word: tuple(some) for word, some in found.items()}
