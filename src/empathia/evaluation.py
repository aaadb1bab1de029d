"""How good a model is on rows it never saw, with intervals and trivial baselines beside every score."""

import math
import random
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

from empathia import corpora, metrics, tasks
from empathia.errors import UnknownName
from empathia.findings import Score
from empathia.models import Model, ask, prompted
from empathia.models._candidates import candidates, moved
from empathia.models._labels import labels_of, rating_of
from empathia.schema import Answer, Example, Graded
from empathia.task import Causes, Choice, Choices, Flag, Level, Rating, Task

__all__ = ["Split", "Trial", "ask", "evaluate", "folds", "of_llm", "on_test_rows", "rows_of", "score", "split", "split_alike"]


FEW = 100  # groups
Scored = Choice | Choices | Level | Rating | Causes | Flag


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


def split_alike(examples: Sequence[Example], *, seed: int = 0, valid: float = 0.1, test: float = 0.2) -> Split:
    """Split as the corpus was published, or else by the name of each group, so that tasks that share posts split them alike."""
    places = {_group(e): zlib.crc32(f"{seed} {_group(e)}".encode()) / 2**32 for e in examples}
    if len(places) < FEW:  # chance may leave a part of a few groups empty; ranks do not
        places = {group: (i + 0.5) / len(places) for i, group in enumerate(sorted(places, key=lambda name: places[name]))}
    parts: dict[str, list[Example]] = {"train": [], "valid": [], "test": []}
    published = {example.dialogue.metadata.get("split") for example in examples} >= parts.keys()
    for example in examples:
        place, part = places[_group(example)], example.dialogue.metadata.get("split")
        if not published or part not in parts:
            part = "test" if place < test else "valid" if place < test + valid else "train"
        parts[str(part)].append(example)
    return Split(**parts)


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
    return score(task, examples, ask(model, task, examples), rounds=rounds)


def score(task: Task, examples: Sequence[Example], answers: Sequence[Mapping[str, Answer]], *, rounds: int = 500) -> list[Score]:
    """The scores of answers to labelled examples."""
    return [
        score
        for name, output in task.outputs.items()
        if isinstance(output, Scored)
        for score in _scores(name, output, examples, answers, rounds)
    ]


def _scores(
    name: str, output: Scored, examples: Sequence[Example], answers: Sequence[Mapping[str, Answer]], rounds: int
) -> Iterator[Score]:
    asked = [(e, found) for e, found in zip(examples, answers, strict=True) if name in e.turn.labels]
    rows = [(e, found[name]) for e, found in asked if name in found]
    if not rows:
        return  # nothing was answered: no score, rather than a score of 0
    groups = [_group(e) for e, _ in rows]
    for one in MEASURES[type(output)](output, name, rows):
        drawn = rounds and one.drawn
        low, high = metrics.interval(one.function, one.gold, one.said, groups, rounds=rounds) if drawn else (None, None)
        yield Score(
            output=name,
            metric=one.metric,
            value=one.function(one.gold, one.said),
            low=low,
            high=high,
            baselines={label: one.function(one.gold, said) for label, said in one.trivial.items()},
            rows=len(rows),
            unanswered=len(asked) - len(rows),
            silver=output.silver,
        )


@dataclass(frozen=True)
class _Measure:
    """A metric, the gold and said values it compares, and what trivial answers would say."""

    metric: str
    function: Callable[[Sequence[Any], Sequence[Any]], float]
    gold: Sequence[Any]
    said: Sequence[Any]
    trivial: Mapping[str, Sequence[Any]]
    drawn: bool = True  # has an interval


def _choices(output: Choice, name: str, rows: Sequence[tuple[Example, Any]]) -> Iterator[_Measure]:
    labels = list(output.labels)
    gold = [str(example.turn.labels[name]) for example, _ in rows]
    said = [answer.label for _, answer in rows]
    trivial = {"majority": _majority(gold)}
    yield _Measure("weighted_f1", metrics.weighted_f1, gold, said, trivial)
    yield _Measure("macro_f1", partial(metrics.macro_f1, labels=labels), gold, said, trivial)
    yield _Measure("accuracy", metrics.accuracy, gold, said, trivial)
    yield _Measure("weighted_precision", metrics.weighted_precision, gold, said, trivial)
    scores = [list(answer.scores.values()) for _, answer in rows]
    yield _Measure("calibration_error", metrics.expected_calibration_error, [labels.index(label) for label in gold], scores, {})
    yield from _each({label: label for label in labels}, gold, said)


def _each(labels: Mapping[str, Any], gold: Sequence[Any], said: Sequence[Any]) -> Iterator[_Measure]:
    """The F1 of each label by itself."""
    for name, label in labels.items():
        yield _Measure(f"f1 ({name})", partial(metrics.positive_f1, positive=label), gold, said, {}, drawn=False)


def _sets(output: Choices, name: str, rows: Sequence[tuple[Example, Any]]) -> Iterator[_Measure]:
    gold = [labels_of(example, name) for example, _ in rows]
    said = [answer.labels for _, answer in rows]
    trivial: dict[str, Sequence[Any]] = {"say none": [()] * len(rows), "say all": [tuple(output.labels)] * len(rows)}
    labels = list(output.labels)
    yes = [tuple(int(label in shown) for label in labels) for shown in gold]
    scores = [tuple((1 - answer.scores[label], answer.scores[label]) for label in labels) for _, answer in rows]
    yield _Measure("macro_f1", partial(metrics.mean_macro_f1, labels=labels), gold, said, trivial)
    yield _Measure("accuracy", partial(metrics.mean_accuracy, labels=labels), gold, said, trivial)
    yield _Measure("macro_precision", partial(metrics.mean_macro_precision, labels=labels), gold, said, trivial)
    yield _Measure("macro_recall", partial(metrics.mean_macro_recall, labels=labels), gold, said, trivial)
    yield _Measure("calibration_error", partial(_flat, metrics.expected_calibration_error), yes, scores, {})
    for label in labels:
        yield _Measure(f"macro_f1 ({label})", partial(metrics.mean_macro_f1, labels=[label]), gold, said, trivial)


def _ratings(output: Rating, name: str, rows: Sequence[tuple[Example, Any]]) -> Iterator[_Measure]:
    gold = [rating_of(example, name) - output.low for example, _ in rows]
    said = [answer - output.low for _, answer in rows]
    nearest = [min(max(math.floor(one + 0.5), 0), output.high - output.low) for one in said]
    steps = output.high - output.low + 1
    yield _Measure("quadratic_kappa", partial(metrics.quadratic_kappa, levels=steps), gold, nearest, {"majority": _majority(gold)})
    yield _Measure("spearman", metrics.spearman, gold, said, {})
    yield _Measure("accuracy", metrics.accuracy, gold, nearest, {"majority": _majority(gold)})


def _causes(output: Causes, name: str, rows: Sequence[tuple[Example, Any]]) -> Iterator[_Measure]:
    """Each candidate of a turn is an item; candidates of one turn are drawn together."""
    gold = [tuple(moved(one, cast(Any, e.turn.labels[name])) for one in candidates(e, output)) for e, _ in rows]
    said = [tuple(moved(one, answer) for one in candidates(e, output)) for e, answer in rows]
    trivial = {"say none": metrics.mark_nothing(gold), "say all": metrics.mark_everything(gold)}
    for metric, function in (
        ("positive_f1", metrics.positive_f1),
        ("positive_precision", metrics.positive_precision),
        ("positive_recall", metrics.positive_recall),
        ("macro_f1", partial(metrics.macro_f1, labels=[False, True])),
        ("accuracy", metrics.accuracy),
    ):
        yield _Measure(metric, partial(_flat, function), gold, said, trivial)


def _flags(output: Flag, name: str, rows: Sequence[tuple[Example, Any]]) -> Iterator[_Measure]:
    gold, said = [bool(example.turn.labels[name]) for example, _ in rows], [answer.flag for _, answer in rows]
    trivial = {"raise always": [True] * len(rows)}
    yield _Measure("positive_recall", metrics.positive_recall, gold, said, trivial)
    yield _Measure("positive_precision", metrics.positive_precision, gold, said, trivial)
    yield _Measure("positive_f1", metrics.positive_f1, gold, said, trivial)
    yield _Measure("roc_auc", metrics.roc_auc, gold, [answer.score for _, answer in rows], {})
    scores = [(1 - answer.score, answer.score) for _, answer in rows]
    yield _Measure("calibration_error", metrics.expected_calibration_error, [int(one) for one in gold], scores, {})


def _flat(function: Callable[[Sequence[Any], Sequence[Any]], float], gold: Sequence[Any], said: Sequence[Any]) -> float:
    return function([one for some in gold for one in some], [one for some in said for one in some])


def _levels(output: Level, name: str, rows: Sequence[tuple[Example, Any]]) -> Iterator[_Measure]:
    levels = list(range(len(output.levels)))
    grades = [cast(Graded, example.turn.labels[name]) for example, _ in rows]
    gold, said = [grade.level for grade in grades], [answer.level for _, answer in rows]
    trivial = {"majority": _majority(gold)}
    yield _Measure("macro_f1", partial(metrics.macro_f1, labels=levels), gold, said, trivial)
    yield _Measure("weighted_f1", metrics.weighted_f1, gold, said, trivial)
    yield _Measure("accuracy", metrics.accuracy, gold, said, trivial)
    yield _Measure("quadratic_kappa", partial(metrics.quadratic_kappa, levels=len(levels)), gold, said, {})
    yield _Measure("calibration_error", metrics.expected_calibration_error, gold, [answer.scores for _, answer in rows], {})
    yield from _each({f"level {level}": level for level in levels}, gold, said)
    texts = [example.turn.content for example, _ in rows]
    marked = [metrics.marks(text, grade.rationales) for text, grade in zip(texts, grades, strict=True)]
    found = [metrics.marks(text, answer.rationales) for text, (_, answer) in zip(texts, rows, strict=True)]
    beside = {"mark nothing": metrics.mark_nothing(marked), "mark everything": metrics.mark_everything(marked)}
    written = [marks if any(marks) else (True,) * len(marks) for marks in found]  # EPITOME writes "no rationale" as all marked
    for variant in metrics.VARIANTS:
        said_of = written if variant == "epitome" else found
        yield _Measure(f"token_f1 ({variant})", partial(metrics.token_f1, variant=variant), marked, said_of, beside)
        yield _Measure(f"iou_f1 ({variant})", partial(metrics.iou_f1, variant=variant), marked, said_of, beside)


MEASURES: Mapping[type, Callable[[Any, str, Sequence[tuple[Example, Any]]], Iterator[_Measure]]] = {
    Choice: _choices,
    Choices: _sets,
    Level: _levels,
    Rating: _ratings,
    Causes: _causes,
    Flag: _flags,
}


def _majority(gold: Sequence[Any]) -> list[Any]:
    """The most frequent label of the scored rows, for each of them."""
    return [Counter(gold).most_common(1)[0][0]] * len(gold)


def on_test_rows(model: Model, name: str, data: Path, *, seed: int) -> list[Score]:
    """The scores of a model on the test rows of a task's corpora."""
    task = tasks.load(name)
    if name not in model.tasks:
        raise UnknownName("task of this model", name, model.tasks)
    return evaluate(model, task, split_alike(rows_of(task, data), seed=seed).test)


@dataclass(frozen=True)
class Trial:
    """An LLM to score: worked examples per label, at most so many test rows, the file that keeps its answers."""

    llm: str
    shots: int = 0
    limit: int | None = None
    cache: Path | None = None


def of_llm(trial: Trial, name: str, data: Path, *, seed: int, tell: Callable[[str], None]) -> list[Score]:
    """The scores of an LLM on test rows; worked examples come from training rows. What it takes and what is left out is told."""
    task = tasks.load(name)
    parts = split_alike(rows_of(task, data), seed=seed)
    rows = random.Random(f"rows {seed}").sample(parts.test, min(len(parts.test), trial.limit or len(parts.test)))
    shots = random.Random(f"shots {seed}").sample(parts.train, len(parts.train)) if trial.shots else []
    judge = prompted.load(trial.llm, [task], shots=shots, cache=trial.cache, settings=prompted.Settings(shots=trial.shots))
    tell(prompted.estimate(judge, rows, [task]).told())
    found = evaluate(judge, task, rows)
    tell(judge.told())
    return found


def rows_of(task: Task, data: Path) -> list[Example]:
    """The labelled examples of a task's corpora, which lie below the data folder."""
    return [example for name in task.corpora for example in task.examples(corpora.dialogues(name, data))]
