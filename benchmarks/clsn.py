"""Direction and intent, as in the CLSN paper: `python -m benchmarks.clsn --encoder FOLDER [--quick] [--systems …] [--seeds N]`.

Tables 1, 3 and 4 of the paper side by side with ours: three settings (all directions, `seek` against the rest, `provide`
against the rest), baselines, CLSN, ablations; IEMPATHIZE, 60/20/20 by sentence. Each finished run is kept in
`results/clsn-runs.json`, so that an interrupted grid goes on where it stopped. The intents are silver labels, made for
this project: never compare them with the paper's, which are not public.
"""

import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

import typer

from benchmarks.rows import DATA, RESULTS, Row, row, save, show
from empathia import training
from empathia.evaluation import Split, evaluate, rows_of, split
from empathia.report import progress
from empathia.task import Task
from empathia.tasks import direction

RUNS = RESULTS / "clsn-runs.json"
OUTPUTS = ("direction", "intent")
SYSTEMS: Mapping[str, tuple[str, Mapping[str, Any]]] = {  # name: model, options
    "encoder": ("plain", {}),
    "joint": ("plain", {}),
    "bigru": ("bigru", {}),
    "dcrnet": ("dcrnet", {}),
    "cogat": ("cogat", {}),
    "clsn": ("clsn", {}),
    "clsn-no-cascade": ("clsn", {"cascade": False}),
    "clsn-no-signal": ("clsn", {"signal": False}),
    "clsn-cross-entropy": ("clsn", {"eta": 0.0}),
    "clsn-eta-5": ("clsn", {"eta": 5.0}),
}
PUBLISHED = {  # weighted F1 of direction and intent, by system, in the settings multi, seek, provide (Tables 3 and 4)
    "encoder": ((74.42, 76.37, 84.49), (None, None, None)),
    "joint": ((76.16, 79.16, 90.10), (66.15, 66.83, 67.83)),
    "bigru": ((76.24, 83.15, 90.85), (68.38, 68.42, 67.17)),
    "dcrnet": ((76.99, 82.61, 90.79), (67.90, 67.11, 63.50)),
    "cogat": ((64.73, 70.38, 75.61), (55.73, 55.63, 58.04)),
    "clsn": ((79.13, 85.02, 91.62), (69.69, 69.31, 70.65)),
    "clsn-no-cascade": ((77.26, 82.99, 90.93), (69.42, 69.44, 68.98)),
    "clsn-no-signal": ((78.29, 83.49, 90.68), (69.13, 68.24, 68.80)),
    "clsn-cross-entropy": ((78.33, 82.57, 91.06), (68.72, 67.62, 67.64)),
    "clsn-eta-5": ((79.13, 85.02, 91.62), (69.69, 69.31, 70.65)),
}
Run = dict[str, Any]


def task_of(system: str, setting: str) -> Task:
    """The task as a system is trained on it: the encoder alone learns no intent."""
    task = replace(direction.setting(setting), model=SYSTEMS[system][0])
    return replace(task, outputs={"direction": task.outputs["direction"]}) if system == "encoder" else task


def rows_for(setting: str, seed: int, *, quick: bool) -> Split:
    """60/20/20 by sentence."""
    examples = direction.relabelled(rows_of(direction.TASK, DATA), setting)
    return split(examples[:300] if quick else examples, seed=seed, valid=0.2, test=0.2)


def run(system: str, setting: str, seed: int, recipe: training.Recipe, encoder: str, *, quick: bool) -> Run:
    """Train one system once and score it on its test rows."""
    task, rows, began = task_of(system, setting), rows_for(setting, seed, quick=quick), time.monotonic()
    with tempfile.TemporaryDirectory() as scratch, progress.steps(f"{system} {setting} {seed}") as watch:
        plan = training.Plan(DATA, encoder, Path(scratch), replace(recipe, seed=seed, options=SYSTEMS[system][1]))
        network = training.fit([task], {task.name: rows}, plan, watch)
    scores = evaluate(network.model({task.name: {}}), task, rows.test, rounds=0)
    told = [score.model_dump(include={"output", "metric", "value", "baselines"}) for score in scores]
    return {
        "encoder": Path(encoder).name,
        "system": system,
        "setting": setting,
        "seed": seed,
        "seconds": round(time.monotonic() - began),
        "scores": told,
    }


def table(runs: Sequence[Run]) -> Iterator[Row]:
    """The mean over seeds of every metric, with the lowest and highest seed."""
    groups: dict[tuple[str, str, str, str, str], list[tuple[Run, Mapping[str, Any]]]] = {}
    for one in runs:
        for score in one["scores"]:
            groups.setdefault((one["setting"], score["output"], score["metric"], one["encoder"], one["system"]), []).append((one, score))
    for (setting, output, metric, encoder, system), found in groups.items():
        values = [100 * score["value"] for _, score in found]
        published = PUBLISHED[system][OUTPUTS.index(output)][direction.SETTINGS.index(setting)] if metric == "weighted_f1" else None
        yield row(
            f"clsn/{setting}/{output}/{metric}/{encoder if system == 'clsn' else f'{encoder}-{system}'}",
            mean(values),
            table="papers/clsn.txt Tables 3 and 4",
            system=system,
            data="iempathize (visible)",
            split=f"60/20/20 by sentence, seeds {', '.join(sorted(str(one['seed']) for one, _ in found))}",
            published=published,
            low=min(values),
            high=max(values),
            baseline=mean(100 * score["baselines"]["majority"] for _, score in found) if found[0][1]["baselines"] else None,
            silver=output == "intent",
            seconds=sum(one["seconds"] for one, _ in found),
            command="python -m benchmarks.clsn --encoder FOLDER",
        )


def together() -> Iterator[Row]:
    """How often each intent goes with each direction in the training rows (the paper's Table 2)."""
    train = rows_for("multi", 0, quick=False).train
    counts = Counter((str(e.turn.labels["direction"]), str(e.turn.labels["intent"])) for e in train if "intent" in e.turn.labels)
    for (one, other), count in sorted(counts.items()):
        told = {"table": "papers/clsn.txt Table 2", "data": "iempathize (visible)", "split": "training rows of seed 0", "silver": True}
        yield row(f"clsn/together/{one}/count/{other.lower()}", count, **told, command="python -m benchmarks.clsn --encoder FOLDER")


def main(
    encoder: Annotated[str, typer.Option(help="Encoder folder or Hugging Face id.")],
    systems: Annotated[str, typer.Option(help="Which systems, with commas between.")] = ",".join(SYSTEMS),
    settings: Annotated[str, typer.Option(help="Which settings, with commas between.")] = ",".join(direction.SETTINGS),
    seeds: Annotated[int, typer.Option(help="How many seeds.")] = 3,
    epochs: Annotated[int, typer.Option(help="Passes over the rows.")] = 5,
    rate: Annotated[float, typer.Option(help="Learning rate of the encoder.")] = 1e-4,
    quick: Annotated[bool, typer.Option("--quick", help="300 rows, one epoch, one seed: a test of the path, not a result.")] = False,
) -> None:
    """Run what is missing, then print and save the tables."""
    done: list[Run] = json.loads(RUNS.read_text(encoding="utf-8")) if RUNS.exists() and not quick else []
    known = {(one["encoder"], one["system"], one["setting"], one["seed"]) for one in done}
    recipe = training.Recipe(epochs=1 if quick else epochs, rate=rate)
    for seed in range(1 if quick else seeds):
        for setting in settings.split(","):
            for system in systems.split(","):
                if (Path(encoder).name, system, setting, seed) not in known:
                    done.append(run(system, setting, seed, recipe, encoder, quick=quick))
                    if not quick:
                        RUNS.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
    found = [*table(done), *together()]
    if not quick:
        save("clsn", found)
    show([one for one in found if one["metric"] == "weighted_f1"], "id", "ours", "low", "high", "published", "baseline")


if __name__ == "__main__":
    typer.run(main)
