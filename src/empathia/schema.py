"""The records that flow through the software: a conversation in, an analysis out. All are frozen."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Record(BaseModel):
    """A frozen value that refuses unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Span(Record):
    """A stretch of a text, as Python string offsets."""

    start: int
    end: int


class ScoredSpan(Span):
    """A stretch of a text and how sure the model is of it."""

    score: float


class Cause(Span):
    """A stretch of a turn that moved this one."""

    turn: int


class Graded(Record):
    """A human grade of a mechanism, with the words that show it."""

    level: int
    rationales: tuple[Span, ...] = ()


Label = str | bool | int | float | Graded | tuple[str, ...] | tuple[Cause, ...]


class Turn(Record):
    """One message of one participant; `labels` holds what annotators said of it."""

    role: str
    content: str
    labels: Mapping[str, Label] = Field(default_factory=dict)
    metadata: Mapping[str, Any] = Field(default_factory=dict)


class Dialogue(Record):
    """A conversation. Dialogues of one `group` (the same post, say) never straddle a split."""

    id: str
    turns: tuple[Turn, ...]
    group: str = ""
    labels: Mapping[str, Label] = Field(default_factory=dict)
    metadata: Mapping[str, Any] = Field(default_factory=dict)

    def answered(self, index: int) -> tuple[int, ...]:
        """The turns that turn `index` answers: all by others since its participant last had the floor."""
        role, earlier = self.turns[index].role, index - 1
        while earlier >= 0 and self.turns[earlier].role == role:
            earlier -= 1
        last = earlier
        while earlier >= 0 and self.turns[earlier].role != role:
            earlier -= 1
        return tuple(i for i in range(earlier + 1, last + 1) if self.turns[i].role not in NOT_PARTICIPANTS)


NOT_PARTICIPANTS = frozenset({"system", "developer", "tool", "function"})


class Inference(Record):
    """A piece of commonsense: what follows from an event, by one relation."""

    head: str
    relation: str
    tail: str
    plausible: bool | None = None
    metadata: Mapping[str, Any] = Field(default_factory=dict)


class SystemReply(Record):
    """What a published system answered in a test dialogue, beside the human reply."""

    system: str
    context: tuple[str, ...]
    reply: str
    reference: str
    emotion: str | None = None
    metadata: Mapping[str, Any] = Field(default_factory=dict)


class Card(Record):
    """What a corpus is: its tasks, licence and source, its files below the data folder and their published counts."""

    title: str
    tasks: tuple[str, ...]
    licence: str
    source: str
    folder: str = ""
    files: Mapping[str, int] = Field(default_factory=dict)
    kind: Literal["corpus", "format"] = "corpus"
    silver: bool = False


class Checked(Record):
    """What was found in one file of a corpus, beside what the published file holds; problems by reason, with their counts."""

    corpus: str
    file: str
    expected: int
    found: int = 0
    missing: bool = False
    skipped: Mapping[str, int] = Field(default_factory=dict)
    notes: Mapping[str, int] = Field(default_factory=dict)


class Problem(Record):
    """Something that a reader met: a row it `skipped`, or a `note` on one that it still gives."""

    place: str
    reason: str
    kind: Literal["skipped", "note"] = "skipped"


class Example(Record):
    """One turn of a dialogue as a question to a model."""

    dialogue: Dialogue
    index: int

    @property
    def turn(self) -> Turn:
        """The turn that is asked about."""
        return self.dialogue.turns[self.index]

    @property
    def context(self) -> tuple[Turn, ...]:
        """The turns that it answers."""
        return tuple(self.dialogue.turns[i] for i in self.dialogue.answered(self.index))


class ChoiceAnswer(Record):
    """One label of several, and the sentence that decided it."""

    label: str
    scores: Mapping[str, float]
    evidence: Span | None = None


class LevelAnswer(Record):
    """A level from 0 up, with the words that show it."""

    level: int
    scores: tuple[float, ...]
    rationales: tuple[ScoredSpan, ...] = ()

    @property
    def expected(self) -> float:
        """The mean of the levels by their scores: finer than the level decided for, so that two answers seldom tie."""
        return sum(level * score for level, score in enumerate(self.scores))


class Match(ScoredSpan):
    """A sentence that is like a seed: which seed, and how like (the score)."""

    seed: str


class GlassAnswer(LevelAnswer):
    """A level whose reasons are all there: which sentence matched which seed, and what each feature added to each level."""

    matches: tuple[Match, ...] = ()
    terms: Mapping[str, tuple[float, ...]] = Field(default_factory=dict)


class SpansAnswer(Record):
    """The stretches of a turn that show something, and the seeds that they are like."""

    spans: tuple[Match, ...]


class FoundCause(Cause):
    """A stretch of a turn that moved this one, how sure the model is, and the sentence of this one that reacts to it."""

    score: float
    reaction: Span | None = None


class ChoicesAnswer(Record):
    """Any number of labels."""

    labels: tuple[str, ...]
    scores: Mapping[str, float]


Answer = ChoiceAnswer | ChoicesAnswer | LevelAnswer | GlassAnswer | SpansAnswer | tuple[FoundCause, ...] | float
Outcome = Literal["given", "missed", "not_needed"]


class TurnAnalysis(BaseModel):
    """What the model says of one turn: beside the fields below, one key per task that was asked."""

    model_config = ConfigDict(frozen=True, extra="allow")
    __pydantic_extra__: dict[str, Answer | dict[str, Answer] | None]

    index: int
    role: str
    content: str
    sentences: tuple[Span, ...]
    outcome: Outcome | None = None
    metadata: Mapping[str, Any] = Field(default_factory=dict)

    @property
    def answers(self) -> Mapping[str, Any]:
        """The answers by key: `direction`, `intent`, `mechanisms` and what further tasks were asked."""
        return self.__pydantic_extra__


class ModelId(Record):
    """Which model gave the answers."""

    name: str
    version: str
    sha256: str


class Summary(Record):
    """How often empathy was sought and given, sought and missed, or not needed; how satisfied the last reply leaves the reader."""

    given: int = 0
    missed: int = 0
    not_needed: int = 0
    satisfaction: float | None = None


class Analysis(Record):
    """The analysis of one conversation: one JSON line of the output contract."""

    schema_: Literal["empathia/1"] = Field(default="empathia/1", alias="schema")
    id: str
    model: ModelId
    turns: tuple[TurnAnalysis, ...]
    summary: Summary
    metadata: Mapping[str, Any] = Field(default_factory=dict)

    def to_json(self) -> str:
        """The record as one line of JSON."""
        return self.model_dump_json(by_alias=True)


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
