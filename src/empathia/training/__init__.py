"""Training: labelled rows -> a network -> a model folder.

Rows are split by group; the encoder is trained with a head per task at once; the epoch that does best on the
validation rows is exported to ONNX, quantised, and scored on the test rows before and after. A checkpoint after each
epoch lets an interrupted run go on where it stopped, to the same result.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from empathia import __version__, corpora, evaluation, models, tasks
from empathia.encoders.huggingface import HuggingFaceEncoder
from empathia.errors import InputError
from empathia.evaluation import Split, evaluate, rows_of, split
from empathia.findings import Score
from empathia.models._export import check_exportable, export
from empathia.models._network import Network, reads_words
from empathia.schema import Answer, Example
from empathia.task import Task
from empathia.training._choosing import choices, chosen
from empathia.training._recipe import JOINT, Plan, Progress, Recipe, Watch
from empathia.training._rows import checked, split_rows
from empathia.training._run import Run, copy

__all__ = ["JOINT", "Plan", "Progress", "Recipe", "Watch", "chosen", "cross_validate", "finish", "fit", "named", "train"]
LIMITS = (
    "Learnt from English: forums on health and mental health, written support, customer care; other registers were not seen.",
    "Direction, intent and risk are learnt from single sentences; a turn takes those of its most telling sentence.",
    "Rates the message, not the person. Not a clinical device.",
)


def train(names: Sequence[str], plan: Plan, watch: Watch = lambda _: None) -> Path:
    """Train these tasks together and write a model folder; its card holds the scores on rows it never saw."""
    asked = [replace(task, model=plan.head or task.model) for task in map(tasks.load, names)]
    return _train(asked, {task.name: split_rows(task, rows_of(task, plan.data), plan.recipe.seed) for task in asked}, plan, watch)


def cross_validate(name: str, plan: Plan, folds: int, watch: Watch = lambda _: None) -> list[Score]:
    """Train on all folds but one, `folds` times, and score every row by the model that did not see it.

    The models stay in the plan's folder; with `resume`, those that are complete are not trained again.
    """
    task = tasks.load(name)
    tested: list[Example] = []
    answers: list[dict[str, Answer]] = []
    for number, (rest, fold) in enumerate(evaluation.folds(checked(task, rows_of(task, plan.data)), folds, seed=plan.recipe.seed), 1):
        here = replace(plan, out=plan.out / f"fold-{number}")
        if not (plan.resume and (here.out / "model.json").exists()):
            inner = split(rest, seed=plan.recipe.seed, test=0)
            _train([task], {name: Split(train=inner.train, valid=inner.valid, test=fold)}, here, watch)
        tested += fold
        answers += evaluation.ask(models.load(here.out), task, fold)
    return evaluation.score(task, tested, answers)


def _train(asked: Sequence[Task], rows: Mapping[str, Split], plan: Plan, watch: Watch) -> Path:
    if (plan.out / "model.json").exists():
        raise InputError(f"'{plan.out}' already holds a model. Choose another --out, or delete it first.")
    check_exportable(words=reads_words(asked))
    return finish(fit(asked, rows, plan, watch), asked, rows, plan)


def fit(asked: Sequence[Task], rows: Mapping[str, Split], plan: Plan, watch: Watch = lambda _: None) -> Network:
    """Train a network on the training rows; its weights are those of the epoch that does best on the validation rows."""
    torch.manual_seed(plan.recipe.seed)
    recipe = plan.recipe
    encoder = HuggingFaceEncoder.load(plan.encoder, window=recipe.window, frozen=recipe.frozen, half=recipe.half)
    network = Network(encoder, asked, recipe.options)
    run = Run(network, asked, rows, plan, watch)
    if plan.resume:
        run.resume()
    run.fit()
    if recipe.polish:
        run.polish()
    return network


def named(asked: str) -> tuple[str, ...]:
    """The tasks that names with commas between stand for: `default` for those of the default model."""
    return tasks.DEFAULT if asked == "default" else tuple(tasks.load(name).name for name in asked.split(","))


def finish(network: Network, asked: Sequence[Task], rows: Mapping[str, Split], plan: Plan) -> Path:
    """Choose what is chosen on validation rows, export, score, and put the card in place last: with it the model is complete."""
    aside, recipe = plan.out / "checkpoint" / "model", plan.recipe
    settings = choices(network, asked, rows)
    before = {task.name: evaluate(network.model(settings), task, rows[task.name].test, rounds=0) for task in asked}
    calibration = [example.turn.content for part in rows.values() for example in part.train[:: max(1, len(part.train) // 150)]]
    export(network, aside, calibration)
    save_file(copy(network), aside / "network.safetensors")
    card: dict[str, Any] = {
        "format": models.FORMAT,
        "name": "default" if rows.keys() == set(tasks.DEFAULT) else "+".join(rows),
        "version": __version__,
        "encoder": {"base": network.encoder.name, "window": network.encoder.tokens.size, "width": network.encoder.width},
        "tasks": settings,
        "recipe": asdict(recipe),
        "split": "as published, or by group, 70 % for training, 10 % for choosing, 20 % for the scores, with the seed of the recipe",
        "rows": {name: {"train": len(part.train), "valid": len(part.valid), "test": len(part.test)} for name, part in rows.items()},
        "data": {
            name: {"licence": corpora.card(name).licence, "source": corpora.card(name).source} for task in asked for name in task.corpora
        },
        "licence": "follows from the licences of the training data, see `data`; those that state none or allow only academic use "
        "make the weights usable for non-commercial research alone",
        "limits": LIMITS,
        "date": date.today().isoformat(),
    }
    models.write_card(aside, card)
    after = {task.name: evaluate(models.load(aside), task, rows[task.name].test) for task in asked}
    models.write_card(aside, card | {"scores": {"before_quantisation": _told(before), "after_quantisation": _told(after)}})
    models.load.cache_clear()
    for file in sorted(aside.iterdir(), key=lambda file: file.name == "model.json"):
        file.replace(plan.out / file.name)
    shutil.rmtree(plan.out / "checkpoint")
    return plan.out


def _told(scores: Mapping[str, Sequence[Score]]) -> dict[str, Any]:
    return {name: [score.model_dump() for score in found] for name, found in scores.items()}
