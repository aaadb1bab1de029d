"""The words of a text, its pairs of neighbouring words, and how far one side of a corpus uses each more than the other.

Stop words are function words: they are counted in totals, but neither listed nor part of a pair. Negations are no stop
words, because they carry much of what moves people ("can't sleep", "nobody cares").
"""

import math
import re
import sys
from collections.abc import Iterable
from itertools import pairwise

PRIOR = 0.1  # as if so much of both sides together had been seen once more on each side

_ADDRESS = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_APART = re.compile(r"(?<=[^\W\d_])\s?'\s?(?=(?:t|s|m|re|ve|d|ll)\b)")  # "don ' t", as some corpora have it
_BARE = re.compile(r"\b(do|does|did|is|are|was|were|have|has|had|ca|wo|would|could|should)nt\b")
_ENDINGS = frozenset(("m", "s", "re", "ve", "d", "ll"))  # of "i'm", "it's", "we're" …, but not of "don't"
STOP = frozenset(
    """
    about above after again all also although am among an and another any are as at be because been before being below
    between both but by can could did do does doing down during each either else etc even ever every for from further
    get gets getting go goes going gonna got had has have having he hence her here hers herself him himself his how
    however if im in into is it its itself ive just let lot may me might mine must my myself of off oh ok okay on once
    one ones only onto or other others our ours ourselves out over own per quite rather really said same say says
    shall she should since so some something still such than that thats the their theirs them themselves then there
    these they thing things this those though through thus till to too toward towards under until up upon us very via
    was way we were what when where whether which while who whom whose why will with within would yes yet you your
    youre yours yourself yourselves
    """.split()  # noqa: SIM905
)


def words(text: str) -> list[str]:
    """The words in order, in small letters, "dont" as "don't"; numbers, marks and addresses of pages are none."""
    plain = _APART.sub("'", _ADDRESS.sub(" ", text).lower().replace("’", "'"))  # noqa: RUF001
    return [sys.intern(word) for word in _WORD.findall(_BARE.sub(r"\1n't", plain))]


def content(some: Iterable[str]) -> list[str]:
    """The words that are neither stop words, also with an ending such as "they're", nor single letters."""
    return [word for word in some if not _stop(word)]


def bigrams(some: Iterable[str]) -> list[str]:
    """Pairs of words that are neighbours once stop words are left out: "leave the house" gives "leave house"."""
    left = content(some)
    return [sys.intern(f"{one} {other}") for one, other in pairwise(left)]


def log_odds(here: int, there: int, *, of: tuple[int, int], prior: float = PRIOR) -> tuple[float, float]:
    """How much likelier something is here than there, and the standard error of that.

    The first figure is the logarithm of the ratio of odds, with an informative Dirichlet prior: imagined counts on each side,
    `prior` times what both sides hold, so that rare words do not win by chance (Monroe et al. 2008).
    """
    more = prior * (here + there)
    rest = [all_words - count + prior * (sum(of) - here - there) for all_words, count in zip(of, (here, there), strict=True)]
    if not min(rest):
        return 0.0, math.inf  # there is nothing else
    ratio = math.log((here + more) / rest[0]) - math.log((there + more) / rest[1])
    return ratio, math.sqrt(1 / (here + more) + 1 / (there + more))


def _stop(word: str) -> bool:
    stem, mark, ending = word.partition("'")
    return len(word) == 1 or word in STOP or (bool(mark) and (len(stem) == 1 or stem in STOP) and ending in _ENDINGS)
