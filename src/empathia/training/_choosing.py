"""What is chosen on validation rows once a network is trained: which sentences count as rationales, from which score a label."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from empathia import evaluation, metrics
from empathia.evaluation import Split
from empathia.models._asks.replies import telling
from empathia.models._candidates import EVERYTHING
from empathia.models._labels import labels_of, level_of
from empathia.models._network import Network
from empathia.models._numbers import Floats, softmax
from empathia.models.shared import Shared
from empathia.schema import Answer, ChoiceAnswer, ChoicesAnswer, Example, FlagAnswer, FoundCause, LevelAnswer
from empathia.task import Causes, Choices, Flag, Level, Task

TEMPERATURES = tuple(step / 10 for step in range(5, 41))
RECALL = 0.97  # of a flag
Found = tuple[FoundCause, ...]
SHARES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
THRESHOLDS = tuple(step / 20 for step in range(1, 20))


def chosen(network: Network, asked: Sequence[Task], rows: Mapping[str, Split]) -> Shared:
    """The network as a model, with what is chosen on validation rows."""
    return network.model(choices(network, asked, rows))


def choices(network: Network, asked: Sequence[Task], rows: Mapping[str, Split]) -> dict[str, dict[str, Any]]:
    """The settings of each task's head, as the model card holds them."""
    return {task.name: _settings(network, task, rows[task.name]) for task in asked}


def untuned(network: Network, task: Task) -> dict[str, Any]:
    """The settings of a head before anything is chosen: one half for everything."""
    found: dict[str, Any] = {"head": task.model, **getattr(network.heads[task.name], "settings", {})}
    for name, output in task.outputs.items():
        if isinstance(output, Level):
            found.setdefault("shares", {})[name] = 0.5
        if isinstance(output, Choices):
            found.setdefault("thresholds", {})[name] = dict.fromkeys(output.labels, 0.5)
        if isinstance(output, Causes | Flag):
            found["threshold"] = 0.5
    return found


def _settings(network: Network, task: Task, rows: Split) -> dict[str, Any]:
    settings, examples = untuned(network, task), rows.valid
    asked = evaluation.ask(network.model({task.name: settings}), task, examples)
    settings["temperatures"] = temperatures(task, examples, asked)
    if hasattr(network.heads[task.name], "narrowed"):
        settings |= cast(Any, network.heads[task.name]).narrowed(network.encoder, rows.valid, rows.train)
    if "shares" in settings:
        settings["shares"] = _shares(network, task, examples, settings)
    if "thresholds" in settings:
        answers = evaluation.ask(network.model({task.name: settings}), task, examples)
        for name, output in task.outputs.items():
            if isinstance(output, Choices):
                told = [(e, cast(ChoicesAnswer, found[name])) for e, found in zip(examples, answers, strict=True) if name in found]
                settings["thresholds"][name] = {label: _threshold(name, label, told) for label in output.labels}
    if any(isinstance(output, Causes) for output in task.outputs.values()):
        _, settings["threshold"] = of_causes(network, task, examples, settings)
    if any(isinstance(output, Flag) for output in task.outputs.values()):
        settings["threshold"] = _flag_threshold(network, task, examples, settings)
    return settings


def temperatures(task: Task, examples: Sequence[Example], answers: Sequence[Mapping[str, Answer]]) -> dict[str, float]:
    """For each output with scores the temperature at which they fit the labels of these rows best: calibrated certainty."""
    asked = list(zip(examples, answers, strict=True))
    rows = {name: [row for e, found in asked if name in e.turn.labels for row in _odds(e, name, found)] for name in task.outputs}
    return {name: _temperature(some) for name, some in rows.items() if some}


def _temperature(rows: Sequence[tuple[Floats, int]]) -> float:
    """The one at which the right answers are least surprising."""
    return min(TEMPERATURES, key=lambda warm: -sum(math.log(softmax(logits, warm)[right] + 1e-9) for logits, right in rows))


def _odds(example: Example, name: str, found: Mapping[str, Answer]) -> Iterator[tuple[Floats, int]]:
    """The logits that an answer's scores stand for, and which of them is right."""
    match found.get(name):
        case ChoiceAnswer(scores=scores) if example.turn.labels[name] in scores:
            yield _logs(list(scores.values())), list(scores).index(str(example.turn.labels[name]))
        case LevelAnswer(scores=scores):
            yield _logs(scores), level_of(example, name)
        case ChoicesAnswer(scores=scores):
            shown = labels_of(example, name)
            yield from ((_logs((1 - score, score)), int(label in shown)) for label, score in scores.items())


def _logs(scores: Sequence[float]) -> Floats:
    return np.log(np.maximum(np.array(scores, np.float32), 1e-6))


def of_causes(network: Network, task: Task, examples: Sequence[Example], settings: Mapping[str, Any]) -> tuple[float, float]:
    """The best F1 of causes on those of the rows that have any, and from which score on something must be one to reach it."""
    examples = [example for example in examples if any(example.turn.labels.get(name) for name in task.outputs)]
    if not examples:
        return 0.0, settings["threshold"]
    everything = network.model({task.name: {**settings, **EVERYTHING}})
    answers = [{name: cast(Found, answer) for name, answer in found.items()} for found in evaluation.ask(everything, task, examples)]

    def score(threshold: float) -> float:
        kept = [{name: tuple(one for one in found if one.score >= threshold) for name, found in some.items()} for some in answers]
        return next(one.value for one in evaluation.score(task, examples, kept, rounds=0) if one.metric == "positive_f1")

    return max(((score(threshold), threshold) for threshold in THRESHOLDS), key=lambda found: found[0])


def _flag_threshold(network: Network, task: Task, examples: Sequence[Example], settings: Mapping[str, Any]) -> float:
    """The highest score that still raises the flag in so many of the validation rows that call for it."""
    (name,) = task.outputs
    answers = [cast(FlagAnswer, found[name]) for found in evaluation.ask(network.model({task.name: settings}), task, examples)]
    called = sorted((answer.score for e, answer in zip(examples, answers, strict=True) if e.turn.labels.get(name)), reverse=True)
    return called[math.ceil(RECALL * len(called)) - 1] if called else 0.5


def _threshold(name: str, label: str, rows: Sequence[tuple[Example, ChoicesAnswer]]) -> float:
    """From which score a label is said, by macro-F1 of saying it or not; of equal ones the nearest to one half."""
    asked = [(example, answer) for example, answer in rows if name in example.turn.labels]
    gold = [labels_of(example, name) for example, _ in asked]

    def score(threshold: float) -> tuple[float, float]:
        said = [(label,) if answer.scores[label] >= threshold else () for _, answer in asked]
        return metrics.mean_macro_f1(gold, said, labels=[label]), -abs(threshold - 0.5)

    return max(THRESHOLDS, key=score) if asked else 0.5


def _shares(network: Network, task: Task, examples: Sequence[Example], settings: Mapping[str, Any]) -> dict[str, float]:
    """For each mechanism how near to the strongest sentence a rationale must be, by IOU-F1 on the validation rows."""
    everything = network.model({task.name: {**settings, "shares": dict.fromkeys(settings["shares"], 0.0)}})
    answers = evaluation.ask(everything, task, examples)
    best: dict[str, tuple[float, float]] = {}
    for share in SHARES:
        kept = [{name: telling(cast(LevelAnswer, answer), share) for name, answer in found.items()} for found in answers]
        for score in evaluation.score(task, examples, kept, rounds=0):
            if score.metric == "iou_f1 (positives-only)":
                best[score.output] = max(best.get(score.output, (-1.0, 0.0)), (score.value, share))
    return {name: share for name, (_, share) in best.items()}
