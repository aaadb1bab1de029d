"""How good the default model is: `python -m benchmarks.default --encoder FOLDER [--work FOLDER] [--seeds N] [--quick]`.

Trains it with three seeds, each with its own split, and scores each on its test rows, before and after quantisation; then
whether it heeds the context, and the crisis flag on messages of other corpora (`benchmarks.risk`). Resumable: models that are
complete in the work folder are used again. The shipped weights are seed 0's.
"""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

import typer

from benchmarks import risk
from benchmarks.rows import DATA, Row, row, save, show
from empathia import evaluation, models, probing, tasks, training
from empathia.report import progress

SEEDS = 3
BASE = "all-MiniLM-L6-v2"
MEANS = ("mechanisms", "perceived")  # tasks whose outputs are alike
PUBLISHED = {"direction/weighted_f1": 79.13, "emotion/accuracy": 39.6}  # CLSN, IMAGINE; each on its own split of the whole corpus


def trained(encoder: str, work: Path, seeds: int, recipe: training.Recipe) -> dict[int, dict[str, Any]]:
    """The cards of the models, trained where they are not there yet."""
    cards = {}
    for seed in range(seeds):
        out = work / f"default-{seed}"
        if not (out / "model.json").exists():
            with progress.steps(f"Seed {seed}") as watch:
                training.train(tasks.DEFAULT, training.Plan(DATA, encoder, out, replace(recipe, seed=seed), resume=True), watch)
        cards[seed] = dict(models.read_card(out))
    return cards


@cache
def beside(folder: Path) -> dict[str, float]:
    """What the test rows do not tell, in percent: is the context heeded, how good is the crisis flag elsewhere, which cause was it?"""
    model, posts = models.load(folder), risk.tested()
    found = {
        f"probe/{one.probe}_{one.part}/{f'{one.output}_' if one.output else ''}{one.measure}": 100 * one.value
        for one in probing.probe(model, DATA if (DATA / "probe").is_dir() else None)
    }
    causes, seed = tasks.load("causes"), models.read_card(folder)["recipe"]["seed"]
    moved = [row for row in evaluation.split_alike(evaluation.rows_of(causes, DATA), seed=seed).test if row.turn.labels["causes"]]
    asked = {"risk/posts": (risk.TASK, posts), "causes/moved": (causes, moved)}
    return found | {
        f"{name}/{score.metric}": 100 * score.value
        for name, (task, rows) in asked.items()
        for score in (evaluation.evaluate(model, task, rows, rounds=0) if rows else [])
    }


def ship(folder: Path) -> None:
    """Put a trained model in the place of the default one, without the torch weights; its card tells the probe too."""
    card = dict(models.read_card(folder)) | {"beside": beside(folder)}
    for old in models.DEFAULT.iterdir():
        old.unlink()
    for name in card["files"]:
        if not name.endswith(".safetensors"):
            shutil.copy(folder / name, models.DEFAULT / name)
    models.write_card(models.DEFAULT, card | {"name": "default", "encoder": {**card["encoder"], "base": BASE}})


def rows(cards: dict[int, dict[str, Any]]) -> Iterator[Row]:
    """For each output and metric the mean over seeds, before and after quantisation, and over mechanisms and ratings."""
    values: dict[tuple[str, str, str, str], list[float]] = {}
    for card in cards.values():
        for state, told in card["scores"].items():
            for task, scores in told.items():
                for score in scores:
                    values.setdefault((task, score["output"], score["metric"], state), []).append(100 * score["value"])
                    for name, trivial in score["baselines"].items():
                        values.setdefault((task, score["output"], score["metric"], f"trivial, {name}"), []).append(100 * trivial)
    for task, _, metric, state in list(values):
        if task in MEANS:
            each = [values[task, name, metric, state] for name in tasks.load(task).outputs if (task, name, metric, state) in values]
            values[task, "mean", metric, state] = [mean(some) for some in zip(*each, strict=True)]
    for (task, output, metric, state), found in values.items():
        if state != "after_quantisation":
            continue
        trivial = [mean(other) for key, other in values.items() if key[:3] == (task, output, metric) and key[3].startswith("trivial")]
        factor = 100 if metric == "quadratic_kappa" else 1
        yield row(
            f"default/{task}/{output}/{metric.replace(' ', '_').strip('()').replace('(', '')}/minilm",
            mean(found) / factor,
            table="the default model",
            system="default model, after quantisation",
            data="+".join(tasks.load(task).corpora) + " (visible)",
            split=f"as published or 70/10/20 by group, seeds {', '.join(map(str, cards))}",
            metric=metric,
            low=min(found) / factor,
            high=max(found) / factor,
            before_quantisation=mean(values[task, output, metric, "before_quantisation"]) / factor,
            baseline=max(trivial) / factor if trivial else None,
            published=PUBLISHED.get(f"{output}/{metric}"),
            silver=getattr(tasks.load(task).outputs.get(output), "silver", task == "perceived"),
        )


def rows_beside(folders: list[Path]) -> Iterator[Row]:
    """The mean over seeds of what the test rows do not tell."""
    told = [beside(folder) for folder in folders]
    for name in told[0]:
        found = [one[name] for one in told]
        data = {"risk": "risk_silver.csv", "causes": "epitome_causes: test replies that have a cause"}.get(name.split("/")[0])
        split = f"all, seeds {', '.join(map(str, range(len(folders))))}"
        system = "default model, after quantisation"
        yield row(
            f"default/{name}/minilm",
            mean(found),
            system=system,
            data=data or "contrast, probe and epitome",
            split=split,
            low=min(found),
            high=max(found),
            silver=data is not None,
        )


def main(
    encoder: Annotated[str, typer.Option(help="all-MiniLM-L6-v2 as a folder or Hugging Face id.")],
    work: Annotated[Path, typer.Option(help="Where the trained models are kept.")] = Path("models"),
    seeds: Annotated[int, typer.Option(help="How many seeds.")] = SEEDS,
    shipped: Annotated[bool, typer.Option("--ship", help="Make seed 0's model the default one.")] = False,
    half: Annotated[bool, typer.Option("--half", help="Multiply in 16 bits: faster on processors that can.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="One seed, one epoch: a test of the path, not a result.")] = False,
) -> None:
    """Train, score and save."""
    recipe = replace(training.JOINT, half=half, epochs=1 if quick else training.JOINT.epochs)
    cards = trained(encoder, work, 1 if quick else seeds, recipe)
    found = [*rows(cards), *rows_beside([work / f"default-{seed}" for seed in cards])]
    if not quick:
        command = f"python -m benchmarks.default --encoder FOLDER --seeds {len(cards)}" + " --half" * half
        save("default", [one | {"command": command} for one in found])
    if shipped:
        ship(work / "default-0")
    show(found, "id", "ours", "low", "high", "before_quantisation", "baseline")


if __name__ == "__main__":
    typer.run(main)
