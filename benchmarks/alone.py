"""What sharing costs: `python -m benchmarks.alone --encoder FOLDER [--work FOLDER] [--half] [--task NAME …]`.

Trains a model of each task alone from the same encoder, on all of the same training rows, and sets its scores beside those of
the built-in model on the same test rows, both after quantisation. Resumable: models that are complete in the work folder are
used again, and what the results tell of other tasks stays, beside the built-in model as it is now.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

import typer

from benchmarks.rows import DATA, Row, load, row, save, show
from empathia import models, tasks, training
from empathia.report import progress

SMALL = training.Recipe(epochs=6, rows=20, rate=1.5e-4, head_rate=1e-3, frozen=training.JOINT.frozen)
LARGE = {task: replace(SMALL, epochs=epochs, rows=60) for task, epochs in {"emotion": 3, "strategies": 2}.items()}
HEADLINES = {
    "direction": "weighted_f1",
    "emotion": "accuracy",
    "mechanisms": "macro_f1",
    "strategies": "macro_f1",
    "service": "macro_f1",
    "perceived": "quadratic_kappa",
    "causes": "positive_f1",
    "risk": "roc_auc",
}


def trained(task: str, plan: training.Plan) -> Mapping[str, Any]:
    """The card of a task's own model, trained where it is not there yet."""
    if not (plan.out / "model.json").exists():
        with progress.steps(task) as watch:
            training.train([task], plan, watch)
    return models.read_card(plan.out)


def headlines(card: Mapping[str, Any], task: str) -> dict[str, float]:
    """A task's figure of each output, in percent but for kappa, and their mean where outputs are alike."""
    metric = HEADLINES[task]
    factor = 1 if metric == "quadratic_kappa" else 100
    found = {one["output"]: factor * one["value"] for one in card["scores"]["after_quantisation"][task] if one["metric"] == metric}
    return found | ({"mean": mean(found.values())} if tasks.load(task).nested else {})


def rows(task: str, own: Mapping[str, Any]) -> Iterator[Row]:
    """The figures of the task's own model."""
    for output, value in headlines(own, task).items():
        yield row(
            f"alone/{task}/{output}/{HEADLINES[task]}/minilm",
            value,
            table="what sharing costs",
            system="a model of this task alone, after quantisation",
            data="+".join(tasks.load(task).corpora) + " (visible)",
            split=f"as published or 70/10/20 by group, seed {own['recipe']['seed']}",
            silver=getattr(tasks.load(task).outputs.get(output), "silver", task == "perceived"),
        )


def beside(found: Sequence[Row], shared: Mapping[str, Any]) -> Iterator[Row]:
    """The rows, with the figures of a model of all tasks beside, in the order of the tasks."""
    for task in tasks.DEFAULT:
        told = headlines(shared, task)
        yield from ({**one, "shared": told[one["id"].split("/")[2]]} for one in found if one["id"].split("/")[1] == task)


def main(
    encoder: Annotated[str, typer.Option(help="all-MiniLM-L6-v2 as a folder or Hugging Face id.")],
    work: Annotated[Path, typer.Option(help="Where the trained models are kept.")] = Path("models"),
    half: Annotated[bool, typer.Option("--half", help="Multiply in 16 bits: faster on processors that can.")] = False,
    task: Annotated[list[str], typer.Option(help="Which tasks.")] = list(tasks.DEFAULT),  # noqa: B006
) -> None:
    """Train, score and save."""
    shared, command = models.read_card(models.DEFAULT), "python -m benchmarks.alone --encoder FOLDER" + " --half" * half
    for name in task:
        recipe = replace(LARGE.get(name, SMALL), half=half, seed=shared["recipe"]["seed"])
        own = trained(name, training.Plan(DATA, encoder, work / f"alone-{name}", recipe, resume=True))
        kept = [one for one in load("alone") if one["id"].split("/")[1] != name]
        save("alone", beside([*kept, *(one | {"command": command} for one in rows(name, own))], shared))
    show(load("alone"), "id", "ours", "shared")


if __name__ == "__main__":
    typer.run(main)
