"""What was observed of each turn and of each whole dialogue: the labels that it shows, and the numbers that it carries."""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from empathia.corpora import results
from empathia.errors import UnknownName
from empathia.findings import Origin
from empathia.labelled import Labelled, names, number
from empathia.schema import Analysis, ChoiceAnswer, ChoicesAnswer, Dialogue, Graded, Label, LevelAnswer, TurnAnalysis

USUAL = ("engagement", "understanding", "sympathy", "helpfulness", "satisfaction")  # ratings even where they are metadata
OUTCOME = "outcome"
OUTCOMES = {"given": 1.0, "missed": 0.0}  # where empathy was sought


@dataclass(frozen=True)
class Number:
    """A number on a turn or dialogue; a `rating` is always of interest, another only when it is asked for."""

    name: str
    value: float
    origin: Origin
    rating: bool = False


@dataclass(frozen=True)
class Observed:
    """One turn or dialogue: its labels by output (an output without any was asked about in vain), its numbers by name."""

    group: str
    labels: Mapping[str, frozenset[str]]
    numbers: Mapping[str, float]
    means: Mapping[str, float] = field(default_factory=dict)  # over the turns of a dialogue


@dataclass
class Observations:
    """All turns that carry something, all dialogues, which numbers there are, and who gave what."""

    turns: list[Observed] = field(default_factory=list)
    dialogues: list[Observed] = field(default_factory=list)
    ratings: dict[str, None] = field(default_factory=dict)  # in the order in which they came
    known: set[str] = field(default_factory=set)
    origins: dict[str, Origin] = field(default_factory=dict)
    roles: set[str] = field(default_factory=set)


def observe(source: Labelled, asked: Collection[str] = (), *, role: str | None = None) -> Observations:
    """One pass over a source, over all turns or those of one role; numbers that are no ratings are kept if they are asked for."""
    found = Observations()
    for record in source.records:
        dialogue = results.dialogue(record) if isinstance(record, Analysis) else record
        found.roles |= {turn.role for turn in dialogue.turns}
        chosen = [index for index, turn in enumerate(dialogue.turns) if role in (None, turn.role)]
        inside = [_turn(record, dialogue, index, source, found, asked) for index in chosen]
        found.turns += [one for one in inside if one.labels or one.numbers]
        numbers = _kept(_numbers(dialogue.labels, dialogue.metadata, source), found, asked)
        labels = _shown(dialogue.labels, source, found)
        for output in {output for one in inside for output in one.labels}:
            labels[output] = frozenset().union(labels.get(output, ()), *(one.labels.get(output, ()) for one in inside))
        found.dialogues.append(Observed(_group(dialogue), labels, numbers, _means(inside)))
    if role is not None and role not in found.roles:
        raise UnknownName("role", role, found.roles)
    return found


def _turn(
    record: Dialogue | Analysis, dialogue: Dialogue, index: int, source: Labelled, found: Observations, asked: Collection[str]
) -> Observed:
    turn = dialogue.turns[index]
    numbers = [*_numbers(turn.labels, turn.metadata, source)]
    if isinstance(record, Analysis):
        numbers += _scores(record.turns[index])
    return Observed(_group(dialogue), _shown(turn.labels, source, found), _kept(numbers, found, asked))


def _group(dialogue: Dialogue) -> str:
    return dialogue.group or dialogue.id


def _shown(labels: Mapping[str, Label], source: Labelled, found: Observations) -> dict[str, frozenset[str]]:
    shown = {}
    for output, label in labels.items():
        if isinstance(label, Graded):
            shown[output] = frozenset({output} if label.level else ())
        elif number(label) is None:
            shown[output] = frozenset(names(label))
        found.origins[output] = source.origin(output)
    return shown


def _numbers(labels: Mapping[str, Label], metadata: Mapping[str, Any], source: Labelled) -> Iterator[Number]:
    given = metadata.get("labels") if source.ours else None  # what people said of a conversation that we analysed
    for name, value in {**metadata, **(given if isinstance(given, dict) else {})}.items():
        if not math.isnan(read := _float(value)):
            yield Number(name, read, "human", rating=name in USUAL)
    for name, label in labels.items():
        if (level := number(label)) is not None:
            yield Number(name, level, source.origin(name), rating=not isinstance(label, Graded))


def _scores(turn: TurnAnalysis) -> Iterator[Number]:
    """How sure the model is of each label, which level it expects, and whether the empathy that was sought is given."""
    for name, answer in results.answers(turn):
        if isinstance(answer, LevelAnswer):
            yield Number(name, sum(level * score for level, score in enumerate(answer.scores)), "ours")
        elif isinstance(answer, ChoiceAnswer | ChoicesAnswer):
            yield from (Number(f"{name}:{label}", score, "ours") for label, score in answer.scores.items())
    if turn.outcome in OUTCOMES:
        yield Number(OUTCOME, OUTCOMES[turn.outcome], "ours")


def _kept(numbers: Iterator[Number] | list[Number], found: Observations, asked: Collection[str]) -> dict[str, float]:
    kept = {}
    for one in numbers:
        found.known.add(one.name)
        if one.rating:
            found.ratings[one.name] = None
        if one.rating or one.name == OUTCOME or one.name in asked:
            kept[one.name] = one.value
            found.origins[one.name] = one.origin
    return kept


def _means(turns: list[Observed]) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for one in turns:
        for name, value in one.numbers.items():
            values.setdefault(name, []).append(value)
    return {name: sum(some) / len(some) for name, some in values.items()}


def _float(value: object) -> float:
    """A number of the metadata, which a table gives as text; nan if it is none."""
    try:
        return float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else math.nan
    except ValueError:
        return math.nan
