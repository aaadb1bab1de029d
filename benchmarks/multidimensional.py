"""Expressed and perceived empathy, as in the multi-dimensional evaluation: `python -m benchmarks.multidimensional --encoder FOLDER`.

Five folds over dialogues, 80/20: mechanisms (EMH, the same data as EPITOME), strategies (ESConv), and on our silver care data
service intents and perceived ratings. Table 4 of the paper side by side, and its ablations: the loss, the following messages, the
instruction. `--encoder` is what a system starts from: an encoder, for `instructed` a language model's folder, for `zero-shot`
and `few-shot` an LLM such as `llamacpp:FILE.gguf`; these three are slow, hence `--limit`. Each finished fold is kept in
`results/multidimensional-runs.json`, so that an interrupted grid goes on where it stopped.
"""

import json
import random
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

import typer

from benchmarks.rows import DATA, RESULTS, Row, command, row, save, show
from empathia import evaluation, tasks, training
from empathia.evaluation import Split, ask, rows_of, score, split
from empathia.findings import Score
from empathia.models import Model, instructed, prompted
from empathia.report import progress
from empathia.schema import Example
from empathia.task import Task

RUNS = RESULTS / "multidimensional-runs.json"
DATASETS = {"esconv": "strategies", "emh": "mechanisms", "service": "service", "perceived": "perceived"}
SYSTEMS: Mapping[str, tuple[str, Mapping[str, Any]]] = {  # name: head, options
    "window": ("window", {}),
    "focal": ("window", {"loss": "focal"}),
    "ldam": ("window", {"loss": "ldam"}),
    "live": ("window", {"after": 0}),
    "epitome": ("epitome", {"heed": False}),
}
LANGUAGE = {"instructed": True, "instructed-plain": False}  # name: with an instruction
SHOTS = {"zero-shot": 0, "few-shot": 1}  # name: worked examples per option
PUBLISHED = {  # mean macro-F1 and accuracy of the best of each kind in Table 4
    "emh": {"encoder": (76.6, 88.4), "instructed": (77.0, 88.9), "zero-shot": (45.4, 65.1), "few-shot": (45.5, 61.3)},
    "esconv": {"encoder": (73.5, 90.9), "instructed": (75.3, 91.2), "zero-shot": (67.3, 82.5), "few-shot": (61.2, 73.5)},
}
RATINGS = ("engagement", "understanding", "sympathy", "helpfulness")
PLAIN = ("quadratic_kappa", "kappa", "spearman", "seconds_per_thousand")  # told as they are; all else in percent
FOLDS = 5
TOLD = {True: ("epochs", "rows", "rate", "frozen"), False: ("epochs",)}  # what of a recipe counts, for encoders and for language models
Run = dict[str, Any]


def rows_for(dataset: str, *, quick: bool) -> list[Example]:
    """The labelled rows of a data set; ESConv's low-rated chats are not part of the paper's."""
    examples = rows_of(tasks.load(DATASETS[dataset]), DATA)
    kept = [e for e in examples if dataset != "esconv" or e.dialogue.id.startswith("ESConv-")]
    return kept[:: max(1, len(kept) // 150)] if quick else kept


def folds(dataset: str, *, quick: bool) -> Iterator[tuple[int, Split]]:
    """Numbered folds over dialogues; a tenth of the rest is for choosing."""
    for number, (rest, fold) in enumerate(evaluation.folds(rows_for(dataset, quick=quick), FOLDS)):
        inner = split(rest, seed=0, test=0)
        yield number, Split(train=inner.train, valid=inner.valid, test=fold)


def fitted(task: Task, system: str, number: int, rows: Split, recipe: training.Recipe, encoder: str) -> Model:
    """One system, trained on one fold's rest, or prompted with examples from it."""
    if system in SHOTS:
        return prompted.load(encoder, [task], shots=rows.train, settings=prompted.Settings(shots=SHOTS[system]))
    if system in LANGUAGE:
        settings = instructed.Settings(instruction=LANGUAGE[system], after=3)
        return instructed.train(task, rows, encoder, settings=settings, recipe=instructed.Recipe(epochs=recipe.epochs), tell=print)
    head, options = SYSTEMS[system]
    task = replace(task, model=head)
    with tempfile.TemporaryDirectory() as scratch, progress.steps(f"{task.name} {system} {number}") as watch:
        plan = training.Plan(DATA, encoder, Path(scratch), replace(recipe, options=options))
        return training.chosen(training.fit([task], {task.name: rows}, plan, watch), [task], {task.name: rows})


def limited(rows: Split, limit: int | None) -> Split:
    """At most so many rows of each part, by chance, in their order: rows of one dialogue share what is read."""
    dice = random.Random("limited")
    parts = (rows.train, rows.valid, rows.test)
    kept = [sorted(dice.sample(range(len(part)), min(limit or len(part), len(part)))) for part in parts]
    train, valid, test = ([part[i] for i in some] for part, some in zip(parts, kept, strict=True))
    return Split(train=train, valid=valid, test=test)


def run(dataset: str, system: str, number: int, rows: Split, recipe: training.Recipe, encoder: str, limit: int | None) -> Run:
    """Train on the rest, answer the fold, score."""
    task, rows, began = tasks.load(DATASETS[dataset]), limited(rows, limit), time.monotonic()
    model = fitted(task, system, number, rows, recipe, encoder)
    trained = time.monotonic()
    scores = list(scored(dataset, model, task, rows.test))
    return {
        "encoder": Path(encoder).stem,
        "system": system,
        "dataset": dataset,
        "fold": number,
        "rows": {"train": len(rows.train), "test": len(rows.test)},
        "seconds": round(trained - began),
        "answering": (time.monotonic() - trained) / len(rows.test) * 1000,
        "recipe": {name: getattr(recipe, name) for name in TOLD[system in SYSTEMS]} | {"limit": limit},
        "scores": [{"dataset": place, **one.model_dump(include={"output", "metric", "value", "baselines"})} for place, one in scores],
    }


def scored(dataset: str, model: Model, task: Task, examples: Sequence[Example]) -> Iterator[tuple[str, Score]]:
    """The scores of a fold; those of ratings apart for each corpus, whose raters differ."""
    answers = ask(model, task, examples)
    places = ["esconv" if "ESConv" in e.dialogue.id else "exchanges" if "empathy" in e.turn.labels else "care" for e in examples]
    for place in dict.fromkeys(places) if dataset == "perceived" else (dataset,):
        some = [i for i, where in enumerate(places) if dataset != "perceived" or where == place]
        for one in score(task, [examples[i] for i in some], [answers[i] for i in some], rounds=0):
            yield place, one


def table(runs: Sequence[Run]) -> Iterator[Row]:
    """The mean over folds of every metric."""
    groups: dict[tuple[str, str, str, str], list[tuple[Run, Mapping[str, Any]]]] = {}
    for one in runs:
        for found in [*one["scores"], *_means(one)]:
            slug = found["metric"].replace(" (", "_").rstrip(")").replace(" ", "_")
            groups.setdefault((*_place(found), slug, _name(one)), []).append((one, found))
        speed = {"value": one["answering"], "baselines": {}, "dataset": one["dataset"]}
        groups.setdefault((one["dataset"], "answering", "seconds_per_thousand", _name(one)), []).append((one, speed))
    for (place, output, metric, name), found in groups.items():
        scale = 1 if metric in PLAIN else 100
        values = [score["value"] * scale for _, score in found]
        trivial = [mean(score["baselines"][k] for _, score in found) for k in found[0][1]["baselines"]]
        told = found[0][0]
        yield row(
            f"multidimensional/{place}/{output}/{metric}/{name}",
            mean(values),
            table="papers/multidimensional.txt Table 4",
            system=told["system"],
            data={"emh": "epitome", "service": "care", "exchanges": "empathetic_exchanges"}.get(place, place) + " (visible)",
            split=f"five folds by dialogue, folds {', '.join(sorted({str(one['fold']) for one, _ in found}))}, "
            f"{told['rows']['train']} rows for training, {told['rows']['test']} for the score of a fold",
            published=_published(place, metric, told["system"]) if output == "mean" else None,
            low=min(values),
            high=max(values),
            baseline=max(trivial) * scale if trivial else None,
            silver=place in ("service", "care"),
            seconds=sum(one["seconds"] for one, _ in found),
            command=command(
                "multidimensional",
                encoder=told["encoder"],
                datasets=told["dataset"],
                systems=told["system"],
                folds=1 + max(one["fold"] for one, _ in found),
                **told["recipe"],
            ),
        )


def _published(place: str, metric: str, system: str) -> float | None:
    """What the paper reports for the best system of the same kind."""
    figures = PUBLISHED.get(place, {}).get("encoder" if system in SYSTEMS else system)
    return dict(zip(("macro_f1", "accuracy"), figures, strict=True)).get(metric) if figures else None


def _place(found: Mapping[str, Any]) -> tuple[str, str]:
    """Where a score stands in the ids: the mean over strategies is ESConv's, that over intents care's service."""
    if found["dataset"] == "esconv" and found["output"] == "strategies":
        return "esconv", "mean"
    return ("care", "service") if found["dataset"] == "service" else (found["dataset"], found["output"])


def _means(one: Run) -> Iterator[Mapping[str, Any]]:
    """Over the three mechanisms, and over the four perceived ratings."""
    for dataset, metrics, outputs, name in (
        ("emh", ("macro_f1", "accuracy"), tuple(tasks.load("mechanisms").outputs), "mean"),
        ("care", ("quadratic_kappa",), RATINGS, "perceived"),
    ):
        for metric in metrics:
            some = [s for s in one["scores"] if s["dataset"] == dataset and s["metric"] == metric and s["output"] in outputs]
            if some:
                baselines = {k: mean(s["baselines"][k] for s in some) for k in some[0]["baselines"]}
                value, slug = mean(s["value"] for s in some), "kappa" if metric == "quadratic_kappa" else metric
                yield {"dataset": dataset, "output": name, "metric": slug, "value": value, "baselines": baselines}


def _name(one: Run) -> str:
    return one["encoder"] if one["system"] == "window" else f"{one['encoder']}-{one['system']}"


def main(
    encoder: Annotated[str, typer.Option(help="What the systems start from: an encoder, a language model, or an LLM.")],
    datasets: Annotated[str, typer.Option(help="Which data sets, with commas between.")] = ",".join(DATASETS),
    systems: Annotated[str, typer.Option(help="Which systems, with commas between.")] = "window",
    count: Annotated[int, typer.Option("--folds", help="How many of the five folds.")] = FOLDS,
    epochs: Annotated[int, typer.Option(help="Passes over the rows.")] = 4,
    size: Annotated[int, typer.Option("--rows", help="Rows of a step.")] = 32,
    rate: Annotated[float, typer.Option(help="Learning rate of the encoder.")] = 1e-4,
    frozen: Annotated[int, typer.Option(help="Lowest layers of the encoder that are not trained.")] = 0,
    limit: Annotated[int | None, typer.Option(help="At most so many rows of each part of a fold.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="150 rows, one epoch, one fold: a test of the path, not a result.")] = False,
) -> None:
    """Run what is missing, then print and save the tables."""
    done: list[Run] = json.loads(RUNS.read_text(encoding="utf-8")) if RUNS.exists() and not quick else []
    known = {(one["encoder"], one["system"], one["dataset"], one["fold"]) for one in done}
    recipe = training.Recipe(epochs=1 if quick else epochs, rows=size, rate=rate, frozen=frozen)
    for dataset in datasets.split(","):
        for number, rows in folds(dataset, quick=quick):
            for system in systems.split(",") if number < (1 if quick else count) else ():
                if (Path(encoder).stem, system, dataset, number) not in known:
                    done.append(run(dataset, system, number, rows, recipe, encoder, limit))
                    if not quick:
                        RUNS.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
    found = list(table(done))
    if not quick:
        save("multidimensional", found)
    show([one for one in found if one["metric"] in ("macro_f1", "kappa", "spearman", "seconds_per_thousand")])


if __name__ == "__main__":
    typer.run(main)
