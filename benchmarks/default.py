"""How good the default model is: `python -m benchmarks.default --encoder FOLDER [--work FOLDER] [--seed N …] [--quick]`.

Trains it with three seeds, each with its own split, and scores each on its test rows, before and after quantisation; then
whether it heeds the context, and the crisis flag on messages of other corpora (`benchmarks.risk`). Resumable: models that are
complete in the work folder are used again, and what the results tell of other seeds stays as long as the recipe is the same
(with or without `--half`): seeds may be trained one at a time. The shipped weights are seed 0's.
"""

import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Annotated

import typer

from benchmarks import risk
from benchmarks.rows import DATA, Row, kept, over_seeds, row, save, show
from empathia import evaluation, models, probing, tasks, training
from empathia.report import progress

SEEDS = (0, 1, 2)
SHIPPED = "0"  # whose model is the default one
BASE = "all-MiniLM-L6-v2"
MEANS = ("mechanisms", "perceived")  # tasks whose outputs are alike
BESIDE = {"posts": "risk_silver.csv", "moved": "epitome_causes: test replies that have a cause"}  # not the test rows of a task
PUBLISHED = {"direction/weighted_f1": 79.13, "emotion/accuracy": 39.6}  # CLSN, IMAGINE; each on its own split of the whole corpus


def trained(encoder: str, work: Path, seeds: Iterable[int], recipe: training.Recipe) -> dict[int, Path]:
    """The folders of the models, trained where they are not there yet."""
    folders = {}
    for seed in seeds:
        out = work / f"default-{seed}"
        if not (out / "model.json").exists():
            with progress.steps(f"Seed {seed}") as watch:
                training.train(tasks.DEFAULT, training.Plan(DATA, encoder, out, replace(recipe, seed=seed), resume=True), watch)
        folders[seed] = out
    return folders


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


def figures(folder: Path) -> dict[str, dict[str, float]]:
    """What a trained model reaches, by the id of the row, in percent (kappa as it is): on its test rows, and beside them."""
    told: dict[str, dict[str, float]] = {}
    for state, column in {"after_quantisation": "ours", "before_quantisation": "before_quantisation"}.items():
        for task, scores in models.read_card(folder)["scores"][state].items():
            for score in scores:
                metric = score["metric"].replace(" ", "_").strip("()").replace("(", "")
                factor = 1 if metric == "quadratic_kappa" else 100
                found = told.setdefault(f"default/{task}/{score['output']}/{metric}/minilm", {})
                found[column] = factor * score["value"]
                if score["baselines"]:
                    found["baseline"] = factor * max(score["baselines"].values())
    for task in MEANS:
        for metric in dict.fromkeys(id_.split("/")[3] for id_ in told if id_.startswith(f"default/{task}/")):
            each = [told[id_] for name in tasks.load(task).outputs if (id_ := f"default/{task}/{name}/{metric}/minilm") in told]
            told[f"default/{task}/mean/{metric}/minilm"] = {key: mean(one[key] for one in each) for key in each[0]}
    return told | {f"default/{name}/minilm": {"ours": value} for name, value in beside(folder).items()}


def rows(found: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Iterator[Row]:
    """For each id the mean, the lowest and the highest over seeds; `found` are figures by seed."""
    for id_ in next(iter(found.values())):
        _, task, output, metric, _ = id_.split("/")
        own = task != "probe" and output not in BESIDE
        corpora_ = "+".join(tasks.load(task).corpora) + " (visible)" if own else BESIDE.get(output, "contrast, probe and epitome")
        yield row(
            id_,
            table="the default model",
            system="default model, after quantisation",
            data=corpora_,
            split=f"{'as published or 70/10/20 by group' if own else 'all'}, seeds {', '.join(found)}",
            **over_seeds({seed: told[id_] for seed, told in found.items()}),
            shipped=found[SHIPPED][id_]["ours"] if SHIPPED in found else None,
            published=PUBLISHED.get(f"{output}/{metric}"),
            silver=getattr(tasks.load(task).outputs.get(output), "silver", task == "perceived") if own else task != "probe",
        )


def main(
    encoder: Annotated[str, typer.Option(help="all-MiniLM-L6-v2 as a folder or Hugging Face id.")],
    work: Annotated[Path, typer.Option(help="Where the trained models are kept.")] = Path("models"),
    seed: Annotated[list[int], typer.Option(help="Which seeds.")] = list(SEEDS),  # noqa: B006
    shipped: Annotated[bool, typer.Option("--ship", help="Make seed 0's model the default one.")] = False,
    half: Annotated[bool, typer.Option("--half", help="Multiply in 16 bits: faster on processors that can.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="One seed, one epoch: a test of the path, not a result.")] = False,
) -> None:
    """Train, score and save."""
    recipe = replace(training.JOINT, half=half, epochs=1 if quick else training.JOINT.epochs)
    folders = trained(encoder, work, [0] if quick else seed, recipe)
    signed, told = str(replace(recipe, seed=0, half=False)), {str(one): figures(folder) for one, folder in folders.items()}
    found = list(rows(told if quick else dict(sorted((kept("default", signed) | told).items()))))
    if not quick:
        command = " ".join(["python -m benchmarks.default --encoder FOLDER", *(f"--seed {one}" for one in found[0]["seeds"])])
        save("default", [one | {"command": command, "recipe": signed} for one in found])
    if shipped:
        ship(work / "default-0")
    show(found, "id", "ours", "low", "high", "before_quantisation", "baseline")


if __name__ == "__main__":
    typer.run(main)
