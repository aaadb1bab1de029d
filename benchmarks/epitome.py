"""Mechanisms and rationales, as in the EPITOME and Micromodels papers: `python -m benchmarks.epitome --encoder FOLDER [--quick]`.

Two protocols, both grouped by seeker post: `split` (75:5:20, Table 1 of Micromodels) and `folds` (five folds, Table 4 of the
multi-dimensional evaluation). Each finished run is kept in `results/epitome-runs.json`, so that an interrupted grid goes on
where it stopped; the `seconds` of a run that stood still in between are null there. The probe of context follows every trained model.
"""

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

import typer

from benchmarks import baselines
from benchmarks.rows import DATA, RESULTS, Row, row, save, show
from empathia import evaluation, metrics, probing, tasks, training
from empathia.evaluation import Split, evaluate, rows_of, split
from empathia.models import Model
from empathia.report import progress

TASK = tasks.load("mechanisms")
RUNS = RESULTS / "epitome-runs.json"
METRICS = ("accuracy", "macro_f1", *(f"{kind} ({variant})" for kind in ("token_f1", "iou_f1") for variant in metrics.VARIANTS))
HEADS: Mapping[str, tuple[str, Mapping[str, Any]]] = {  # name: model, options
    "rnn": ("rnn", {}),
    "hred": ("hred", {}),
    "encoder": ("epitome", {"alone": True, "heed": False}),
    "epitome": ("epitome", {"heed": False}),
    "heed": ("epitome", {}),
}
CHEAP: Mapping[str, Callable[[Split, str], Model]] = baselines.FITTED  # name: rows, encoder -> model
PUBLISHED = {  # accuracy and macro-F1; T-F1 and IOU-F1 in the variant of that paper (Micromodels, Table 1)
    "majority": ((66.38, 26.60), (54.58, 23.54), (83.90, 30.41)),
    "tfidf": ((41.69, 42.69), (70.58, 49.77), (67.08, 46.63)),
    "rnn": ((71.63, 42.85), (76.21, 51.76), (85.58, 30.74)),
    "hred": ((71.11, 44.10), (79.65, 54.16), (85.58, 30.74)),
    "encoder": ((76.99, 70.35), (82.16, 61.38), (90.58, 63.41)),
    "epitome": ((79.43, 74.46), (84.04, 62.60), (92.61, 72.58)),
    "micromodels-leak": ((88.26, 59.52), (92.71, 62.73), (95.27, 61.47)),
}
RATIONALES = {"epitome": ((53.57, 64.83), (57.40, 55.90), (71.56, 84.48)), "micromodels": ((70.30, 69.13), (54.94, 54.08), (86.92, 86.64))}
FOLDS = {"epitome": 71.4}
UNPROBED = ("majority", "tfidf", "micromodels-3", "micromodels-10", "micromodels-100")  # nothing to learn from it
Run = dict[str, Any]


def parts(protocol: str, *, quick: bool) -> Iterator[tuple[int, Split]]:
    """The numbered splits of a protocol: one per seed, or one per fold."""
    examples = rows_of(TASK, DATA)[: 150 if quick else None]
    if protocol == "split":
        yield from ((seed, split(examples, seed=seed, valid=0.05, test=0.2)) for seed in range(10))
    else:
        for number, (rest, fold) in enumerate(evaluation.folds(examples, 5)):
            inner = split(rest, seed=0, valid=0.05, test=0)
            yield number, Split(train=inner.train, valid=inner.valid, test=fold)


def fitted(system: str, rows: Split, number: int, recipe: training.Recipe, encoder: str) -> Model:
    """One system, trained once."""
    if system in CHEAP:
        return CHEAP[system](rows, encoder)
    head, options = HEADS[system]
    task = replace(TASK, model=head)
    with tempfile.TemporaryDirectory() as scratch, progress.steps(f"{system} {number}") as watch:
        plan = training.Plan(DATA, encoder, Path(scratch), replace(recipe, seed=number, options=options))
        return training.chosen(training.fit([task], {TASK.name: rows}, plan, watch), [task], {TASK.name: rows})


def run(system: str, protocol: str, number: int, rows: Split, recipe: training.Recipe, encoder: str) -> Run:
    """Train, score on the test rows, and probe."""
    began = time.monotonic()
    model = fitted(system, rows, number, recipe, encoder)
    seconds = round(time.monotonic() - began)
    scores = [score for score in evaluate(model, TASK, rows.test, rounds=0) if score.metric in METRICS]
    wanted = protocol == "split" and system not in UNPROBED and number < 3
    probed = probing.probe(model, DATA if (DATA / "probe").is_dir() else None) if wanted else []
    return {
        "encoder": Path(encoder).name,
        "system": system,
        "protocol": protocol,
        "number": number,
        "seconds": seconds,
        "recipe": {"epochs": recipe.epochs, "rate": recipe.rate, "frozen": recipe.frozen, "rows": recipe.rows},
        "scores": [score.model_dump(include={"output", "metric", "value", "baselines"}) for score in scores],
        "probe": [found.model_dump() for found in probed],
    }


def table(runs: Sequence[Run]) -> Iterator[Row]:
    """The mean over seeds or folds of every metric, per mechanism and over the three."""
    groups: dict[tuple[str, str, str, str, str], list[tuple[Run, Mapping[str, Any]]]] = {}
    for one in runs:
        for score in [*one["scores"], *_over_mechanisms(one["scores"])]:
            groups.setdefault((one["protocol"], score["output"], score["metric"], one["encoder"], one["system"]), []).append((one, score))
    for (protocol, output, metric, encoder, system), found in groups.items():
        values = [100 * score["value"] for _, score in found]
        numbers = ", ".join(sorted({str(one["number"]) for one, _ in found}, key=int))
        yield row(
            f"epitome/{protocol}/{output}/{_slug(metric)}/{_name(encoder, system)}",
            mean(values),
            table="papers/micromodels.txt Table 1" if protocol == "split" else "papers/multidimensional.txt Table 4",
            system=system,
            data="epitome (visible)",
            split=f"75:5:20 by post, seeds {numbers}" if protocol == "split" else f"five folds by post, folds {numbers}",
            published=_published(protocol, system, output, metric),
            low=min(values),
            high=max(values),
            baseline=max((mean(100 * score["baselines"][name] for _, score in found) for name in found[0][1]["baselines"]), default=None),
            seconds=None if any(one["seconds"] is None for one, _ in found) else sum(one["seconds"] for one, _ in found),
            command=_command(found[0][0], f"--protocol {protocol} --seeds {1 + max(one['number'] for one, _ in found)}"),
        )


def probes(runs: Sequence[Run]) -> Iterator[Row]:
    """The mean over seeds of every finding of the probe."""
    groups: dict[tuple[str, str], list[tuple[Run, Mapping[str, Any]]]] = {}
    for one in runs:
        for found in one["probe"]:
            part = found["part"] if found["probe"] == "stock" else f"{found['probe']}_{found['part']}"
            name = f"probe/{part}/{found['output'] or 'mechanisms'}/{found['measure']}"
            groups.setdefault((name, _name(one["encoder"], one["system"])), []).append((one, found))
    for (name, model), some in groups.items():
        values, (told, first) = [100 * found["value"] for _, found in some], some[0]
        yield row(
            f"{name}/{model}",
            mean(values),
            table="papers/micromodels.txt Table 3" if first["probe"] == "stock" else None,
            system=told["system"],
            data=first["probe"],
            split=f"{first['rows']} items, models of seeds {', '.join(str(one['number']) for one, _ in some)}",
            published=100 * first["beside"]["EPITOME"] if "EPITOME" in first["beside"] else None,
            low=min(values),
            high=max(values),
            command=_command(told, f"--seeds {len(some)}"),
        )


def _command(one: Run, which: str) -> str:
    """The command that gives such runs again."""
    recipe = " ".join(f"--{name} {value}" for name, value in one["recipe"].items())
    return f"python -m benchmarks.epitome --encoder FOLDER --systems {one['system']} {which} {recipe}"


def _over_mechanisms(scores: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for metric in METRICS:
        some = [score for score in scores if score["metric"] == metric]
        baselines_of = {name: mean(score["baselines"][name] for score in some) for name in some[0]["baselines"]}
        yield {"output": "mean", "metric": metric, "value": mean(score["value"] for score in some), "baselines": baselines_of}


def _published(protocol: str, system: str, output: str, metric: str) -> float | None:
    if protocol == "folds":
        return FOLDS.get(system) if (output, metric) == ("mean", "macro_f1") else None
    if output == "mean":
        return None
    place = list(TASK.outputs).index(output)
    if metric in ("accuracy", "macro_f1"):
        return PUBLISHED[system][place][metric == "macro_f1"] if system in PUBLISHED else None
    kind, variant = metric.removesuffix(")").split(" (")
    return RATIONALES[variant][place][kind == "iou_f1"] if system == variant else None


def _name(encoder: str, system: str) -> str:
    return encoder if system == "epitome" else f"{encoder}-{system}"


def _slug(metric: str) -> str:
    return metric.replace(" (", "_").rstrip(")")


def main(
    encoder: Annotated[str, typer.Option(help="Encoder folder or Hugging Face id.")],
    systems: Annotated[str, typer.Option(help="Which systems, with commas between.")] = ",".join([*CHEAP, *HEADS]),
    protocol: Annotated[str, typer.Option(help="`split` or `folds`.")] = "split",
    seeds: Annotated[int, typer.Option(help="How many seeds (or folds) of the trained systems; the cheap ones have ten.")] = 3,
    epochs: Annotated[int, typer.Option(help="Passes over the rows.")] = 4,
    rate: Annotated[float, typer.Option(help="Learning rate of the encoder.")] = 1e-4,
    frozen: Annotated[int, typer.Option(help="Lowest layers of the encoder that are not trained.")] = 0,
    rows: Annotated[int, typer.Option(help="Rows of a step.")] = 16,
    quick: Annotated[bool, typer.Option("--quick", help="150 rows, one epoch, one seed: a test of the path, not a result.")] = False,
) -> None:
    """Run what is missing, then print and save the tables."""
    done: list[Run] = json.loads(RUNS.read_text(encoding="utf-8")) if RUNS.exists() and not quick else []
    known = {(one["encoder"], one["system"], one["protocol"], one["number"]) for one in done}
    recipe = training.Recipe(epochs=1 if quick else epochs, rate=rate, frozen=frozen, rows=rows)
    for number, parted in parts(protocol, quick=quick):
        for system in systems.split(","):
            wanted = number < (1 if quick else 10 if system in CHEAP and protocol == "split" else seeds)
            if wanted and (Path(encoder).name, system, protocol, number) not in known:
                done.append(run(system, protocol, number, parted, recipe, encoder))
                if not quick:
                    RUNS.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
    found = [*table(done), *probes(done)]
    if not quick:
        save("epitome", found)
    show([one for one in found if "/macro_f1/" in one["id"] or one["id"].startswith("probe/")], "id", "ours", "low", "high", "published")


if __name__ == "__main__":
    typer.run(main)
