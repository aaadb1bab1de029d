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
    shipped: bool = False  # inside the package, not below the data folder


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


SURE = 0.5  # as far as scores are calibrated, below it an answer is oftener wrong than right


class ChoiceAnswer(Record):
    """One label of several, and the sentence that decided it."""

    label: str
    scores: Mapping[str, float]
    evidence: Span | None = None

    @property
    def unsure(self) -> bool:
        """Whether the answer is likelier wrong than right, by its own score."""
        return self.scores.get(self.label, 0) < SURE


class LevelAnswer(Record):
    """A level from 0 up, with the words that show it."""

    level: int
    scores: tuple[float, ...]
    rationales: tuple[ScoredSpan, ...] = ()

    @property
    def unsure(self) -> bool:
        """Whether the level is likelier wrong than right, by its own score."""
        return self.scores[self.level] < SURE

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


class FlagAnswer(Record):
    """Whether a flag is raised, and the sentence that raised it."""

    flag: bool
    score: float
    evidence: Span | None = None


class ChoicesAnswer(Record):
    """Any number of labels."""

    labels: tuple[str, ...]
    scores: Mapping[str, float]


Answer = ChoiceAnswer | ChoicesAnswer | LevelAnswer | GlassAnswer | SpansAnswer | FlagAnswer | tuple[FoundCause, ...] | float
Outcome = Literal["given", "missed", "not_needed"]


class TurnAnalysis(BaseModel):
    """What the model says of one turn: beside the fields below, one key per task that was asked."""

    model_config = ConfigDict(frozen=True, extra="allow")
    __pydantic_extra__: dict[str, Answer | dict[str, Answer] | None]

    index: int
    role: str
    content: str
    sentences: tuple[Span, ...]
    english: bool = True
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
