"""How good a model is on rows it never saw, with intervals and trivial baselines beside every score."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from empathia import metrics
from empathia.models import Model
from empathia.schema import Answer, ChoiceAnswer, Example, Graded, LevelAnswer, Record, Span
from empathia.task import Choice, Level, Task

BATCH = 256


class Score(Record):
    """One figure of one output: the value, its 95 % interval, and what trivial answers reach on the same rows."""

    output: str
    metric: str
    value: float
    low: float | None = None
    high: float | None = None
    baselines: Mapping[str, float] = {}
    rows: int
    silver: bool = False


@dataclass(frozen=True)
class Split:
    """Examples for training, for choosing, and for the final score; no group is in two of them."""

    train: list[Example]
    valid: list[Example]
    test: list[Example]


def split(examples: Sequence[Example], *, seed: int = 0, valid: float = 0.1, test: float = 0.2) -> Split:
    """Split by group, by chance that depends on the seed alone."""
    groups = sorted({_group(example) for example in examples})
    random.Random(f"split {seed}").shuffle(groups)
    first, second = round(test * len(groups)), round((test + valid) * len(groups))
    tested, chosen = set(groups[:first]), set(groups[first:second])
    return Split(
        train=[e for e in examples if _group(e) not in tested | chosen],
        valid=[e for e in examples if _group(e) in chosen],
        test=[e for e in examples if _group(e) in tested],
    )


def folds(examples: Sequence[Example], count: int, *, seed: int = 0) -> Iterator[tuple[list[Example], list[Example]]]:
    """(rest, fold) for each of `count` folds over groups."""
    groups = sorted({_group(example) for example in examples})
    random.Random(f"folds {seed}").shuffle(groups)
    place = {group: i % count for i, group in enumerate(groups)}
    for fold in range(count):
        yield [e for e in examples if place[_group(e)] != fold], [e for e in examples if place[_group(e)] == fold]


def _group(example: Example) -> str:
    return example.dialogue.group or example.dialogue.id


def evaluate(model: Model, task: Task, examples: Sequence[Example], *, rounds: int = 500) -> list[Score]:
    """The scores of a model on labelled examples; `rounds` of bootstrap over groups give the intervals, 0 none."""
    answers: list[dict[str, Answer]] = []
    for at in range(0, len(examples), BATCH):
        answers += model.answer(examples[at : at + BATCH], [task])
    return [score for name, output in task.outputs.items() for score in _scores(name, output, examples, answers, rounds)]


def _scores(
    name: str, output: Choice | Level, examples: Sequence[Example], answers: Sequence[Mapping[str, Answer]], rounds: int
) -> Iterator[Score]:
    rows = [(e, found[name]) for e, found in zip(examples, answers, strict=True) if name in e.turn.labels and name in found]
    groups = [_group(e) for e, _ in rows]

    def score(metric: str, function: Callable[..., float], gold: Sequence[Any], said: Sequence[Any], trivial: Mapping[str, Sequence[Any]]) -> Score:
        low, high = metrics.interval(function, gold, said, groups, rounds=rounds) if rounds else (None, None)
        beside = {label: function(gold, other) for label, other in trivial.items()}
        return Score(output=name, metric=metric, value=function(gold, said), low=low, high=high, baselines=beside, rows=len(gold), silver=output.silver)

    if isinstance(output, Choice):
        ...
