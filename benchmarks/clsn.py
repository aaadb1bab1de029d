"""Direction and intent, as in the CLSN paper: `python -m benchmarks.clsn --encoder FOLDER [--quick] [--systems …] [--seeds N]`.

Tables 1, 3 and 4 of the paper side by side with ours: three settings (all directions, `seek` against the rest, `provide`
against the rest), baselines, CLSN, ablations; IEMPATHIZE, 60/20/20 by sentence. Each finished run is kept in
`results/clsn-runs.json`, so that an interrupted grid goes on where it stopped. The intents are silver labels, made for
this project: never compare them with the paper's, which are not public.
"""

import json
import math
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from benchmarks.rows import DATA, RESULTS, Row, load, row, save, show
from empathia import corpora, explanation, training
from empathia.evaluation import Split, evaluate, rows_of, split
from empathia.report import progress
from empathia.schema import Example
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
    "clsn-more-intents": ("clsn", {}),
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
    "clsn-more-intents": ((None,) * 3, (None,) * 3),
}
GAINS = {"weighted_precision": (1.06, 2.11, 3.36), "accuracy": (3.98, 8.50, 6.63), "weighted_f1": (1.74, 2.79, 5.61)}  # Table 1
ADDED = {  # what is added: the system with it, the one without
    "gain": ("joint", "encoder"),  # the intent task
    "interaction": ("clsn", "joint"),
    "clsn": ("clsn", "encoder"),  # both
    "cascade": ("clsn", "clsn-no-cascade"),
    "signal": ("clsn", "clsn-no-signal"),
    "focal": ("clsn", "clsn-cross-entropy"),
    "more_intents": ("clsn-more-intents", "clsn"),
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


def more_intents() -> list[Example]:
    """Rows that carry an intent and no direction: those of EDOS and EmpatheticIntents whose label is one of ours by name."""
    known = {label.lower(): label for label in direction.TASK.outputs["intent"].labels}  # type: ignore[union-attr]
    found = []
    for name in ("edos", "empathetic_intents"):
        for dialogue in corpora.dialogues(name, DATA):
            turn = dialogue.turns[-1]
            if (label := str(turn.labels.get("response_intent")).lower()) in known:
                taught = turn.model_copy(update={"labels": {"intent": known[label]}})
                alone = dialogue.model_copy(update={"turns": (taught,)})
                found.append(Example(dialogue=alone, index=0))
    return found


def run(system: str, setting: str, seed: int, recipe: training.Recipe, encoder: str, *, quick: bool) -> Run:
    """Train one system once and score it on its test rows."""
    task, rows, began = task_of(system, setting), rows_for(setting, seed, quick=quick), time.monotonic()
    if system == "clsn-more-intents":
        rows = replace(rows, train=rows.train + more_intents())
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
        "recipe": {"epochs": recipe.epochs, "rate": recipe.rate, "frozen": recipe.frozen},
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
            command=_command(found[0][0]["recipe"]),
        )


def _command(recipe: Mapping[str, Any]) -> str:
    return "python -m benchmarks.clsn --encoder FOLDER " + " ".join(f"--{name} {value}" for name, value in recipe.items())


def gains(runs: Sequence[Run]) -> Iterator[Row]:
    """What one system adds to another, seed by seed (the intent task: the paper's Table 1)."""
    scores = {
        (one["encoder"], one["setting"], score["output"], one["system"], one["seed"], score["metric"]): 100 * score["value"]
        for one in runs
        for score in one["scores"]
        if score["metric"] in GAINS
    }
    found: dict[tuple[str, str, str, str, str], dict[int, float]] = {}
    for (encoder, setting, output, system, seed, metric), value in scores.items():
        for name, (more, less) in ADDED.items():
            if system == more and (base := scores.get((encoder, setting, output, less, seed, metric))) is not None:
                found.setdefault((name, encoder, setting, output, metric), {})[seed] = value - base
    for (name, encoder, setting, output, metric), differences in found.items():
        more, less = ADDED[name]
        yield row(
            f"clsn/{setting}/{output}/{name}_{metric}/{encoder}",
            mean(differences.values()),
            table="papers/clsn.txt Table 1",
            system=f"{more} less {less}",
            data="iempathize (visible)",
            split=f"60/20/20 by sentence, seeds {', '.join(map(str, sorted(differences)))}",
            published=GAINS[metric][direction.SETTINGS.index(setting)] if name == "gain" else None,
            low=min(differences.values()),
            high=max(differences.values()),
            silver=output == "intent",
            command="python -m benchmarks.clsn --encoder FOLDER",
        )


def plot(encoder: str, recipe: training.Recipe, *, quick: bool) -> Path:
    """A t-SNE picture of the test sentences as the encoder sees them, trained without and with the intent task (Figure 3)."""
    from sklearn.manifold import TSNE  # type: ignore[import-untyped]

    rows = rows_for("multi", 0, quick=quick)
    texts = [example.turn.content for example in rows.test]
    labels = [str(example.turn.labels["direction"]) for example in rows.test]
    panels = []
    for system, title in (("encoder", "without the intent task"), ("joint", "with the intent task")):
        task = task_of(system, "multi")
        with tempfile.TemporaryDirectory() as scratch, progress.steps(title) as watch:
            network = training.fit([task], {task.name: rows}, training.Plan(DATA, encoder, Path(scratch), recipe), watch)
        network.eval()
        means = np.stack([encoded.states.mean(axis=0) for encoded in network.encoder.encode(texts)])
        panels.append((title, TSNE(random_state=0, perplexity=min(30, len(texts) // 4)).fit_transform(means)))
    path = (Path(tempfile.gettempdir()) if quick else RESULTS) / "clsn-tsne.svg"
    path.write_text(scatter(panels, labels), encoding="utf-8")
    return path


def faithful(encoder: str, recipe: training.Recipe, sentences: int, *, quick: bool) -> Iterator[Row]:
    """How far integrated gradients and occlusion rank the words of test sentences alike, for the label that the model chose."""
    rows, task = rows_for("multi", 0, quick=quick), task_of("clsn", "multi")
    with tempfile.TemporaryDirectory() as scratch, progress.steps("to explain") as watch:
        plan = training.Plan(DATA, encoder, Path(scratch) / "model", recipe)
        folder = training.finish(training.fit([task], {task.name: rows}, plan, watch), [task], {task.name: rows}, plan)
        texts = [example.turn.content for example in rows.test if len(example.turn.content.split()) > 4][:sentences]
        found = [one for text in texts for one in explanation.explain("direction", text, model=folder, gradients=True) if one.agreement]
    for output in OUTPUTS:
        ranks = [one.agreement[max(one.scores, key=one.scores.__getitem__)] for one in found if one.output == output]
        alike = [rank for rank in ranks if not math.isnan(rank)] or [0.0]  # words that all weigh alike have no ranks
        told = {"data": "iempathize (visible)", "split": f"{len(alike)} test sentences of seed 0", "silver": output == "intent"}
        command = f"python -m benchmarks.clsn --encoder FOLDER --explain {sentences}"
        name = f"clsn/explained/{output}/spearman/{Path(encoder).name}"
        yield row(
            name, mean(alike), table="papers/clsn.txt Figure 6", system="clsn", low=min(alike), high=max(alike), command=command, **told
        )


def scatter(panels: Sequence[tuple[str, NDArray[np.float32]]], labels: Sequence[str]) -> str:
    """Points of several panels side by side as one SVG picture, coloured by label, with a legend."""
    colours, size = {"none": "#9aa0a6", "seek": "#b58900", "provide": "#0f766e"}, 420
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size * len(panels)} {size + 60}" font-family="sans-serif" font-size="15">'
    ]
    for i, (title, points) in enumerate(panels):
        low, high = points.min(axis=0), points.max(axis=0)
        parts.append(f'<text x="{i * size + 20}" y="24">{title}</text>')
        for (x, y), label in zip((points - low) / (high - low), labels, strict=True):
            at = f'cx="{i * size + 20 + x * (size - 40):.1f}" cy="{40 + y * (size - 40):.1f}"'
            parts.append(f'<circle {at} r="3" fill="{colours[label]}" fill-opacity="0.7"/>')
    for i, (label, colour) in enumerate(colours.items()):
        parts.append(f'<circle cx="{24 + i * 110}" cy="{size + 40}" r="6" fill="{colour}"/>')
        parts.append(f'<text x="{36 + i * 110}" y="{size + 45}">{label}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


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
    epochs: Annotated[int, typer.Option(help="Passes over the rows.")] = 3,
    rate: Annotated[float, typer.Option(help="Learning rate of the encoder.")] = 1e-4,
    frozen: Annotated[int, typer.Option(help="Lowest layers of the encoder that are not trained.")] = 2,
    pictured: Annotated[bool, typer.Option("--plot", help="Also draw the t-SNE picture.")] = False,
    explained: Annotated[int, typer.Option("--explain", help="Also compare the explanations of so many test sentences.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="300 rows, one epoch, one seed: a test of the path, not a result.")] = False,
) -> None:
    """Run what is missing, then print and save the tables."""
    done: list[Run] = json.loads(RUNS.read_text(encoding="utf-8")) if RUNS.exists() and not quick else []
    known = {(one["encoder"], one["system"], one["setting"], one["seed"]) for one in done}
    recipe = training.Recipe(epochs=1 if quick else epochs, rate=rate, frozen=frozen)
    for seed in range(1 if quick else seeds):
        for setting in settings.split(","):
            for system in systems.split(","):
                if (Path(encoder).name, system, setting, seed) not in known:
                    done.append(run(system, setting, seed, recipe, encoder, quick=quick))
                    if not quick:
                        RUNS.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
    scored = list(table(done))
    apart = faithful(encoder, recipe, explained, quick=quick) if explained else (one for one in load("clsn") if "/explained/" in one["id"])
    found = [*scored, *gains(done), *together(), *apart]
    if pictured:
        print(plot(encoder, recipe, quick=quick))
    if not quick:
        save("clsn", found)
    show([one for one in found if one["metric"] == "weighted_f1"], "id", "ours", "low", "high", "published", "baseline")


if __name__ == "__main__":
    typer.run(main)
