"""Causes, as in the empathy-cause paper and in RECCON: `python -m benchmarks.causes --encoder FOLDER [--quick]`.

Silver causes on EPITOME, 80/10/10 by post; emotion causes on RECCON's own split. Tables 3 and 4 of the paper side by side; its
data (AcnEmpathize-Cause) is not public, so that its figures stand beside ours for orientation only. `--encoder` is what a system
starts from: an encoder, or for `prompting` and `asking` an LLM such as `llamacpp:FILE.gguf`, which is slow, hence `--limit`. Each
finished run is kept in `results/causes-runs.json`, so that an interrupted grid goes on where it stopped.
"""

import json
import random
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Annotated, Any, cast

import typer

from benchmarks.rows import DATA, RESULTS, Row, command, row, save, show
from empathia import metrics, tasks, training
from empathia.evaluation import Split, ask, evaluate, rows_of, split
from empathia.models import Model, prompted
from empathia.models._candidates import EVERYTHING, candidates, moved, output_of
from empathia.models.shared import Shared
from empathia.report import progress
from empathia.schema import Cause, Example, FoundCause
from empathia.task import Task

RUNS = RESULTS / "causes-runs.json"
SETS = {"epitome": "causes", "reccon": "emotion_causes"}
SYSTEMS: Mapping[str, Mapping[str, Any]] = {  # options of the head
    "coattention": {},
    "together": {"reading": "together"},  # beyond the paper: post and reply in one text
    "also-unmoved": {"reading": "together"},  # taught by replies without empathy too, so that nothing need be a cause
    "no-attention": {"attention": "none"},
    "first": {"pool": "first"},
    "cross-entropy": {"eta": 0.0},
    "weights-3": {"eta": 0.0, "positive": 3.0},
    "weights-11": {"eta": 0.0, "positive": 11.0},
    "restarts": {},  # the paper's schedule of the rate
}
ASKED: Mapping[str, prompted.Settings] = {  # LLMs: quotes from the whole post, or yes or no to each of its sentences
    "prompting": prompted.Settings(by="json"),
    "asking": prompted.Settings(by="likelihood"),
}
PUBLISHED: Mapping[str, Mapping[str, Mapping[str, float]]] = {  # theirs on their own data (Tables 3 and 4), RECCON's on its test rows
    "epitome": {
        "coattention": {"positive_f1": 45.9, "positive_precision": 49.1, "positive_recall": 43.1, "accuracy": 91.6, "roc_auc": 82.7},
        "no-attention": {"positive_f1": 45.7, "roc_auc": 80.9},
        "first": {"positive_f1": 45.4, "roc_auc": 80.3},
        "weights-3": {"positive_f1": 45.4, "roc_auc": 81.7},
        "weights-11": {"positive_f1": 44.2, "roc_auc": 82.5},
        "prompting": {"positive_f1": 8.0},
        "asking": {"positive_f1": 3.0},
    },
    "reccon": {"coattention": {"positive_f1": 64.3, "macro_f1": 76.5}},  # RoBERTa-base with context
}
WINDOW = 384  # tokens that are read at once in training: few posts are longer, even with their reply
CEILINGS = {  # of other sources: F1 of a second annotator on a sample (DATA.md), RoBERTa-large with context
    "causes/epitome/causes/f1/annotators": 91.0,
    "causes/reccon/entailment/macro_f1/RoBERTa-large": 77.06,
}
Run = dict[str, Any]


def rows_for(name: str, system: str, seed: int, *, quick: bool) -> Split:
    """80/10/10 by post, replies with empathy alone but for `also-unmoved`; RECCON as it was published."""
    examples = rows_of(tasks.load(SETS[name]), DATA)
    if name == "reccon":
        parts = {part: [e for e in examples if e.dialogue.metadata["split"] == part] for part in ("train", "valid", "test")}
        return Split(**{part: some[:40] if quick else some for part, some in parts.items()})
    rows = split([*examples[:150], *examples[150:][-150:]] if quick else examples, seed=seed, valid=0.1, test=0.1)
    return rows if system == "also-unmoved" else Split(*(list(filter(_moved, part)) for part in (rows.train, rows.valid, rows.test)))


def fitted(task: Task, system: str, rows: Split, recipe: training.Recipe, encoder: str) -> Model:
    """One system, trained on its rows, or prompted with examples from them."""
    if system in ASKED:
        return prompted.load(encoder, [task], shots=rows.train, settings=ASKED[system])
    with tempfile.TemporaryDirectory() as scratch, progress.steps(f"{task.name} {system} {recipe.seed}") as watch:
        recipe = replace(recipe, options=SYSTEMS[system], schedule="restarts" if system == "restarts" else "linear")
        plan = training.Plan(DATA, encoder, Path(scratch), recipe)
        return training.chosen(training.fit([task], {task.name: rows}, plan, watch), [task], {task.name: rows})


def run(name: str, system: str, recipe: training.Recipe, encoder: str, *, limit: int | None, quick: bool) -> Run:
    """Train one system once and score it on its test rows: of EPITOME replies with empathy, as in the paper."""
    task, rows, began, seed = tasks.load(SETS[name]), rows_for(name, system, recipe.seed, quick=quick), time.monotonic(), recipe.seed
    tested = rows.test if name == "reccon" else list(filter(_moved, rows.test))
    tested = random.Random(seed).sample(tested, limit) if limit and limit < len(tested) else tested
    model = fitted(task, system, rows, recipe, encoder)
    scores = {score.metric: (score.value, score.baselines) for score in evaluate(model, task, tested, rounds=0)}
    seconds = round(time.monotonic() - began)
    if isinstance(model, Shared):
        scores |= {metric: (value, {}) for metric, value in (_area(model, task, tested), *_swapped(model, task, tested, seed))}
        scores["random_f1"] = (_by_chance(task, replace(rows, test=tested), seed), {})
        if system == "also-unmoved":
            unmoved = [example for example in rows.test if not _moved(example)]
            scores["marked_without_empathy"] = (mean(bool(found["causes"]) for found in ask(model, task, unmoved)), {})
    return {
        "encoder": Path(encoder).stem,
        "system": system,
        "set": name,
        "seed": seed,
        "seconds": seconds,
        "recipe": {key: getattr(recipe, key) for key in ("epochs", "rows", "rate", "frozen") if system in SYSTEMS} | {"limit": limit},
        "scores": {metric: {"value": value, "baselines": trivial} for metric, (value, trivial) in scores.items()},
    }


def _moved(example: Example) -> bool:
    return bool(example.turn.labels["causes"])


def _area(model: Shared, task: Task, examples: Sequence[Example]) -> tuple[str, float]:
    """The area under the ROC curve over all candidates."""
    settings = {task.name: {**model.settings[task.name], **EVERYTHING}}
    found = [cast(tuple[FoundCause, ...], one[next(iter(task.outputs))]) for one in ask(replace(model, settings=settings), task, examples)]
    gold = [flag for example in examples for flag in _gold(task, example)]
    return "roc_auc", metrics.roc_auc(gold, [one.score for some in found for one in some])


def _swapped(model: Shared, task: Task, examples: Sequence[Example], seed: int) -> Iterator[tuple[str, float]]:
    """Does the reply matter? The same posts with another post's reply: F1 against the true causes, and how many marks change."""
    if task.name != "causes":
        return
    moved_on = random.Random(seed).sample(examples, len(examples))
    others = [_with_reply(one, other.turn.content) for one, other in zip(examples, moved_on, strict=True)]
    gold = [flag for example in examples for flag in _gold(task, example)]
    mine, theirs = (_said(model, task, some) for some in (examples, others))
    yield "swapped_f1", metrics.positive_f1(gold, theirs)
    yield "swapped_change", mean(one != other for one, other in zip(mine, theirs, strict=True))


def _with_reply(example: Example, reply: str) -> Example:
    turns = [*example.dialogue.turns]
    turns[example.index] = example.turn.model_copy(update={"content": reply})
    return example.model_copy(update={"dialogue": example.dialogue.model_copy(update={"turns": tuple(turns)})})


def _said(model: Shared, task: Task, examples: Sequence[Example]) -> list[bool]:
    """For each candidate of each example whether the model says that it is a cause."""
    found = [cast(tuple[FoundCause, ...], one[next(iter(task.outputs))]) for one in ask(model, task, examples)]
    return [moved(one, said) for e, said in zip(examples, found, strict=True) for one in candidates(e, output_of(task))]


def _gold(task: Task, example: Example) -> list[bool]:
    causes = cast(tuple[Cause, ...], example.turn.labels[next(iter(task.outputs))])
    return [moved(one, causes) for one in candidates(example, output_of(task))]


def _by_chance(task: Task, rows: Split, seed: int) -> float:
    """F1 of marking by chance, as often as in the training rows."""
    share = mean(flag for example in rows.train for flag in _gold(task, example))
    dice, gold = random.Random(seed), [flag for example in rows.test for flag in _gold(task, example)]
    return metrics.positive_f1(gold, [dice.random() < share for _ in gold])


def table(runs: Sequence[Run]) -> Iterator[Row]:
    """The mean over seeds of every metric."""
    groups: dict[tuple[str, str, str, str], list[tuple[Run, Mapping[str, Any]]]] = {}
    for one in runs:
        for metric, found in one["scores"].items():
            groups.setdefault((one["set"], metric, one["encoder"], one["system"]), []).append((one, found))
    for (name, metric, encoder, system), found in groups.items():
        values = [100 * score["value"] for _, score in found]
        trivial = [mean(100 * score["baselines"][k] for _, score in found) for k in found[0][1]["baselines"]]
        seeds = ", ".join(sorted(str(one["seed"]) for one, _ in found))
        yield row(
            f"causes/{name}/{'causes' if name == 'epitome' else 'entailment'}/"
            f"{'f1' if metric == 'positive_f1' else metric}/{encoder if system == 'coattention' else f'{encoder}-{system}'}",
            mean(values),
            table="papers/causes.txt Tables 3 and 4" if name == "epitome" else "RECCON, causal emotion entailment",
            system=system,
            data="epitome_causes (visible)" if name == "epitome" else "reccon (visible)",
            split=f"80/10/10 by post, seeds {seeds}" if name == "epitome" else f"the published one, seeds {seeds}",
            published=PUBLISHED[name].get(system, {}).get(metric),
            low=min(values),
            high=max(values),
            baseline=max(trivial, default=None),
            silver=name == "epitome",
            seconds=sum(one["seconds"] for one, _ in found),
            command=command("causes", encoder=encoder, sets=name, systems=system, seeds=len(found), **found[0][0]["recipe"]),
        )
    for id, value in CEILINGS.items():  # noqa: A001
        yield row(id, None, published=value, silver="epitome" in id, command=None, reason="not a system of ours: what others reached")


def main(
    encoder: Annotated[str, typer.Option(help="What the systems start from: an encoder, or an LLM.")],
    sets: Annotated[str, typer.Option(help="Which data, with commas between.")] = ",".join(SETS),
    systems: Annotated[str, typer.Option(help="Which systems, with commas between.")] = ",".join(SYSTEMS),
    seeds: Annotated[int, typer.Option(help="How many seeds.")] = 5,
    epochs: Annotated[int, typer.Option(help="Passes over the rows.")] = 8,
    size: Annotated[int, typer.Option("--rows", help="Rows of a step.")] = 32,
    rate: Annotated[float, typer.Option(help="Learning rate of the encoder.")] = 1e-4,
    frozen: Annotated[int, typer.Option(help="Lowest layers of the encoder that are not trained.")] = 0,
    limit: Annotated[int | None, typer.Option(help="At most so many test rows.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few rows, one epoch, one seed: a test of the path, not a result.")] = False,
) -> None:
    """Run what is missing, then print and save the tables."""
    done: list[Run] = json.loads(RUNS.read_text(encoding="utf-8")) if RUNS.exists() and not quick else []
    known = {(one["encoder"], one["system"], one["set"], one["seed"]) for one in done}
    recipe = training.Recipe(epochs=1 if quick else epochs, rows=size, rate=rate, frozen=frozen, patience=4, window=WINDOW)
    for name in sets.split(","):
        for seed in range(1 if quick else seeds):
            for system in systems.split(","):
                if (Path(encoder).stem, system, name, seed) not in known:
                    done.append(run(name, system, replace(recipe, seed=seed), encoder, limit=limit, quick=quick))
                    if not quick:
                        RUNS.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
    found = list(table(done))
    if not quick:
        save("causes", found)
    show(found)


if __name__ == "__main__":
    typer.run(main)
