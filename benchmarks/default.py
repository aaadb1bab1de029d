"""How good the default model is: `python -m benchmarks.default --encoder FOLDER [--work FOLDER] [--quick]`.

Trains it with three seeds, each with its own grouped split, and scores each on its test rows, before and after
quantisation. Resumable: models that are complete in the work folder are used again. The shipped weights are seed 0's.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

import typer

from benchmarks.rows import DATA, Row, row, save, show
from empathia import models, tasks, training
from empathia.report import progress

SEEDS = (0, 1, 2)
BASE = "all-MiniLM-L6-v2"
TASKS = ("direction", "mechanisms")  # of the shipped model
HEADLINES = {"direction": "weighted_f1", "intent": "weighted_f1"}
PUBLISHED = {"direction/weighted_f1": 79.13}  # CLSN, on its own split of the whole corpus


def trained(encoder: str, work: Path, seeds: tuple[int, ...], epochs: int | None) -> dict[int, dict[str, Any]]:
    """The cards of the models, trained where they are not there yet."""
    cards = {}
    for seed in seeds:
        out = work / f"default-{seed}"
        recipe = training.Recipe(seed=seed) if epochs is None else training.Recipe(seed=seed, epochs=epochs)
        if not (out / "model.json").exists():
            with progress.steps(f"Seed {seed}") as watch:
                training.train(TASKS, training.Plan(DATA, encoder, out, recipe, resume=True), watch)
        cards[seed] = dict(models.read_card(out))
    return cards


def ship(folder: Path) -> None:
    """Put a trained model in the place of the default one, without the torch weights."""
    for old in models.DEFAULT.iterdir():
        old.unlink()
    card = dict(models.read_card(folder))
    for name in card["files"]:
        if not name.endswith(".safetensors"):
            shutil.copy(folder / name, models.DEFAULT / name)
    models.write_card(models.DEFAULT, card | {"name": "default", "encoder": {**card["encoder"], "base": BASE}})


def rows(cards: dict[int, dict[str, Any]]) -> Iterator[Row]:
    """For each output and metric the mean over seeds, before and after quantisation, and over the mechanisms."""
    values: dict[tuple[str, str, str, str], list[float]] = {}
    for card in cards.values():
        for state, told in card["scores"].items():
            for task, scores in told.items():
                for score in scores:
                    values.setdefault((task, score["output"], score["metric"], state), []).append(100 * score["value"])
                    for name, trivial in score["baselines"].items():
                        values.setdefault((task, score["output"], score["metric"], f"trivial, {name}"), []).append(100 * trivial)
    for task, _, metric, state in list(values):
        if task == "mechanisms":
            each = [values[task, name, metric, state] for name in tasks.load(task).outputs]
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
            split=f"70/10/20 by group, seeds {', '.join(map(str, cards))}",
            metric=metric,
            low=min(found) / factor,
            high=max(found) / factor,
            before_quantisation=mean(values[task, output, metric, "before_quantisation"]) / factor,
            baseline=max(trivial) / factor if trivial else None,
            published=PUBLISHED.get(f"{output}/{metric}"),
            silver=output == "intent",
        )


def main(
    encoder: Annotated[str, typer.Option(help="all-MiniLM-L6-v2 as a folder or Hugging Face id.")],
    work: Annotated[Path, typer.Option(help="Where the trained models are kept.")] = Path("models"),
    shipped: Annotated[bool, typer.Option("--ship", help="Make seed 0's model the default one.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="One seed, one epoch: a test of the path, not a result.")] = False,
) -> None:
    """Train, score and save."""
    cards = trained(encoder, work, SEEDS[:1] if quick else SEEDS, 1 if quick else None)
    found = list(rows(cards))
    if not quick:
        save("default", [one | {"command": "python -m benchmarks.default --encoder FOLDER"} for one in found])
    if shipped:
        ship(work / "default-0")
    show(found, "id", "ours", "low", "high", "before_quantisation", "baseline")


if __name__ == "__main__":
    typer.run(main)
