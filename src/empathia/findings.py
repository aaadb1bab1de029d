"""What the other verbs find, as frozen records: scores, findings of probes, explanations, relations, agreements, descriptions."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from empathia.schema import GlassAnswer, Record


class Score(Record):
    """One figure of one output: the value, its 95 % interval, and what trivial answers reach on the same rows.

    `rows` were scored; `unanswered` ones were asked about but got no answer, and are in no figure.
    """

    output: str
    metric: str
    value: float
    low: float | None = None
    high: float | None = None
    baselines: Mapping[str, float] = Field(default_factory=dict)
    rows: int
    unanswered: int = 0
    silver: bool = False


class Finding(Record):
    """What a probe of context found in one part of its items, and what stands beside it for comparison."""

    probe: str
    part: str
    measure: str
    value: float
    rows: int
    output: str | None = None
    beside: Mapping[str, float] = Field(default_factory=dict)


class Attribution(Record):
    """How much each word of a text speaks for each label, by one method; `agreement` is its rank correlation with occlusion."""

    output: str
    method: str
    words: tuple[str, ...]
    scores: Mapping[str, float]
    weights: Mapping[str, tuple[float, ...]]
    agreement: Mapping[str, float] = Field(default_factory=dict)


class Reasons(Record):
    """Why a glass box gave a reply its level: the reply, and the answer with all of its reasons."""

    output: str
    text: str
    answer: GlassAnswer
    levels: tuple[str, ...]


class Hit(Record):
    """A sentence somewhere that is like a seed of a set."""

    place: str
    name: str
    sentence: str
    seed: str
    score: float


class SeedScore(Record):
    """The IOU-F1 that so many seeds reach, by variant of the metric."""

    seeds: int
    scores: Mapping[str, float]


class Curve(Record):
    """The IOU-F1 of a seed set against the number of seeds, and what trivial answers reach on the same rows."""

    name: str
    points: tuple[SeedScore, ...]
    trivial: Mapping[str, Mapping[str, float]]


Origin = Literal["human", "silver", "ours"]


class Side(Record):
    """A rating over the turns or dialogues on one side of a comparison: how many, its mean and the standard error of that."""

    rows: int
    mean: float | None = None
    error: float | None = None


class Relation(Record):
    """How a rating differs between the turns (or whole dialogues) that show a label and those that do not.

    `p` is of one test, `corrected` of all (Holm). What cannot be computed is null.
    """

    output: str
    label: str
    rating: str
    unit: Literal["turn", "dialogue"]
    shown: Side
    absent: Side
    effect: float | None = None
    p: float | None = None
    corrected: float | None = None


class Correlation(Record):
    """Spearman's correlation of a label (shown or not) or a rating with one rating, with its approximate 95 % interval."""

    output: str
    label: str | None
    rating: str
    unit: Literal["turn", "dialogue"]
    rows: int
    value: float | None
    low: float | None = None
    high: float | None = None


class Related(Record):
    """How labels and ratings of a source hang together; `origins` says of each whether people, a language model or we gave it."""

    source: str
    test: str
    effect: str
    turns: int
    dialogues: int
    origins: Mapping[str, Origin]
    relations: tuple[Relation, ...]
    correlations: tuple[Correlation, ...]


class Estimate(Record):
    """A figure and its 95 % interval; what cannot be computed is null."""

    value: float | None
    low: float | None = None
    high: float | None = None


class Agreement(Record):
    """How far annotators agree on one output, or on one label of it: `rows` are the items that two or more of them labelled."""

    output: str
    label: str | None
    rows: int
    figures: Mapping[str, Estimate]


class Agreed(Record):
    """All agreements of some annotators, and what could not be compared: labelled items of each that match nothing, by reason."""

    annotators: tuple[str, ...]
    matched: int
    unmatched: Mapping[str, Mapping[str, int]]
    agreements: tuple[Agreement, ...]


class Term(Record):
    """A word, a pair of words or an emotion: how often among causes and others, and how many times as likely among causes.

    `times` is a ratio of odds with its 95 % interval, `z` its logarithm in standard errors, `p` two-sided and corrected for the
    number of terms (Bonferroni). Null where there are no causes.
    """

    text: str
    cause: int
    other: int
    times: float | None = None
    low: float | None = None
    high: float | None = None
    z: float | None = None
    p: float | None = None


class Terms(Record):
    """Terms of one kind: those that stand out on each side, and the most frequent; `cause` and `other` count all, stop words too."""

    cause: int
    other: int
    among_causes: tuple[Term, ...] = ()
    among_others: tuple[Term, ...] = ()
    frequent: tuple[Term, ...] = ()


class Bin(Record):
    """How many sentences have a value of this kind."""

    label: str
    cause: int
    other: int


class Measure(Record):
    """A number that each sentence has, or a part of them: means on both sides, and how it is spread."""

    name: str
    cause: Side
    other: Side
    bins: tuple[Bin, ...]


class Topic(Record):
    """A topic by its words, and its share (0 to 1) of what cause sentences and other sentences say."""

    words: tuple[str, ...]
    cause: float | None
    other: float | None


class Described(Record):
    """The sentences of a corpus: causes against the others. Without causes, `origin` is null and all sentences are others.

    `turns` hold the sentences, `labelled` turns were asked for their causes. `left_out` tells which parts could not be computed, and why.
    """

    source: str
    origin: Origin | None
    dialogues: int
    turns: int
    labelled: int
    cause: int
    other: int
    words: Terms
    bigrams: Terms
    emotions: tuple[Term, ...]
    measures: tuple[Measure, ...]
    topics: tuple[Topic, ...]
    left_out: Mapping[str, str] = Field(default_factory=dict)
