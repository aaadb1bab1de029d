"""What sharing costs: `python -m benchmarks.alone --encoder FOLDER [--work FOLDER] [--half] [--task NAME …] [--seed N …]`.

Trains a model of each task alone from the same encoder, on all of the same training rows, and sets its scores beside those that
`benchmarks.default` tells of the default model with the same seed, on the same test rows, both after quantisation. Resumable:
models that are complete in the work folder are used again, and what the results tell of other tasks and seeds stays.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

import typer

from benchmarks.rows import DATA, Row, kept, load, over_seeds, row, save, show
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
        with progress.steps(f"{task}, seed {plan.recipe.seed}") as watch:
            training.train([task], plan, watch)
    return models.read_card(plan.out)


def headlines(card: Mapping[str, Any], task: str) -> dict[str, float]:
    """A task's figure of each output, by the id of the row, in percent but for kappa; and their mean where outputs are alike."""
    metric = HEADLINES[task]
    factor = 1 if metric == "quadratic_kappa" else 100
    found = {one["output"]: factor * one["value"] for one in card["scores"]["after_quantisation"][task] if one["metric"] == metric}
    found |= {"mean": mean(found.values())} if tasks.load(task).nested else {}
    return {f"alone/{task}/{output}/{metric}/minilm": value for output, value in found.items()}


def rows(found: Mapping[str, Mapping[str, float]]) -> Iterator[Row]:
    """For each id the mean over its seeds, beside that of the default model; `found` are figures by seed."""
    default = {one["id"]: one["seeds"] for one in load("default")}
    ids = dict.fromkeys(id_ for own in found.values() for id_ in own)
    for id_ in sorted(ids, key=lambda id_: tasks.DEFAULT.index(id_.split("/")[1])):
        _, task, output, _, _ = id_.split("/")
        shared = default[id_.replace("alone", "default", 1)]
        seeds = {seed: {"ours": own[id_], "shared": shared[seed]["ours"]} for seed, own in found.items() if id_ in own and seed in shared}
        if seeds:
            yield row(
                id_,
                table="what sharing costs",
                system="models of this task alone, after quantisation",
                data="+".join(tasks.load(task).corpora) + " (visible)",
                split=f"as published or 70/10/20 by group, seeds {', '.join(seeds)}",
                silver=getattr(tasks.load(task).outputs.get(output), "silver", task == "perceived"),
                **over_seeds(seeds),
            )


def main(
    encoder: Annotated[str, typer.Option(help="all-MiniLM-L6-v2 as a folder or Hugging Face id.")],
    work: Annotated[Path, typer.Option(help="Where the trained models are kept.")] = Path("models"),
    half: Annotated[bool, typer.Option("--half", help="Multiply in 16 bits: faster on processors that can.")] = False,
    task: Annotated[list[str], typer.Option(help="Which tasks.")] = list(tasks.DEFAULT),  # noqa: B006
    seed: Annotated[list[int], typer.Option(help="Which seeds.")] = [0, 1, 2],  # noqa: B006
) -> None:
    """Train, score and save."""
    known = {of for one in load("default") for of in one["seeds"]}
    if missing := [one for one in seed if str(one) not in known]:
        raise typer.BadParameter(
            f"No figures of the default model with seed {missing[0]}: run benchmarks.default --seed {missing[0]} first."
        )
    command, signed = "python -m benchmarks.alone --encoder FOLDER" + " --half" * half, str((SMALL, LARGE))
    for name, one in ((name, one) for name in task for one in seed):
        recipe = replace(LARGE.get(name, SMALL), half=half, seed=one)
        own = trained(name, training.Plan(DATA, encoder, work / f"alone-{name}-{one}", recipe, resume=True))
        found = {of: {id_: told["ours"] for id_, told in some.items()} for of, some in kept("alone", signed).items()}
        found[str(one)] = found.get(str(one), {}) | headlines(own, name)
        save("alone", (made | {"command": command, "recipe": signed} for made in rows(dict(sorted(found.items())))))
    show(load("alone"), "id", "ours", "low", "high", "shared")


if __name__ == "__main__":
    typer.run(main)
