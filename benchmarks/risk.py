"""The crisis flag on real messages: `python -m benchmarks.risk --encoder FOLDER [--quick]`.

Taught by the crisis messages of the package alone, tested on 750 messages of five corpora whose risk is in `risk_silver.csv`
(silver; a second annotator judged 250 of them, and the kappa of the two is a row of the results). The flag is tuned for recall;
its precision stands beside.
"""

import csv
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from benchmarks.rows import DATA, Row, row, save, show
from empathia import agreement, corpora, tasks, training
from empathia.evaluation import evaluate, rows_of, split
from empathia.report import progress
from empathia.schema import Dialogue, Example

LABELS = Path(__file__).parent / "risk_silver.csv"
TASK = tasks.load("risk")


def tested() -> list[Example]:
    """The messages of the corpora that were judged, with their risk."""
    with LABELS.open(encoding="utf-8", newline="") as file:
        risks = {(one["corpus"], one["id"]): one["risk"] == "1" for one in csv.DictReader(file)}
    names = [name for name in dict.fromkeys(name for name, _ in risks) if (DATA / corpora.card(name).folder).is_dir()]
    return [example for name in names for dialogue in corpora.dialogues(name, DATA) for example in _judged(name, dialogue, risks)]


def _judged(name: str, dialogue: Dialogue, risks: dict[tuple[str, str], bool]) -> Iterator[Example]:
    """The turns of a dialogue that were judged: by dialogue (or its group) and turn; each once."""
    for index, turn in enumerate(dialogue.turns):
        keys = [f"{dialogue.id}#{index}", *([dialogue.id, dialogue.group] if index == 0 else [])]
        found = next((risks.pop((name, key)) for key in keys if (name, key) in risks), None)
        if found is not None:
            labelled = turn.model_copy(update={"labels": {"risk": found}})
            yield Example(dialogue=Dialogue(id=f"{name}-{dialogue.id}", turns=(labelled,)), index=0)


def agreed() -> Row:
    """How far two annotators agree on the messages that both judged."""
    with LABELS.open(encoding="utf-8", newline="") as file:
        both = np.array([(one["risk"], one["second"]) for one in csv.DictReader(file) if one["second"]])  # (messages, annotators)
    kappa = agreement.kappa(both[:, 0], both[:, 1], "nominal")
    told = {"data": "risk_silver.csv", "split": f"{len(both)} messages", "silver": True}
    return row("risk/annotators/risk/kappa/two", kappa, command="python -m benchmarks.risk --encoder FOLDER", **told)


def main(
    encoder: Annotated[str, typer.Option(help="Encoder folder or Hugging Face id.")],
    seeds: Annotated[int, typer.Option(help="How many seeds.")] = 3,
    epochs: Annotated[int, typer.Option(help="Passes over the rows.")] = 5,
    quick: Annotated[bool, typer.Option("--quick", help="One epoch, one seed: a test of the path, not a result.")] = False,
) -> None:
    """Train, test, print and save."""
    values: dict[str, list[float]] = {}
    began, posts = time.monotonic(), tested()
    for seed in range(1 if quick else seeds):
        rows = split(rows_of(TASK, DATA), seed=seed, valid=0.2, test=0.0)
        with tempfile.TemporaryDirectory() as scratch, progress.steps(f"risk {seed}") as watch:
            recipe = training.Recipe(seed=seed, epochs=1 if quick else epochs)
            network = training.fit([TASK], {TASK.name: rows}, training.Plan(DATA, encoder, Path(scratch), recipe), watch)
            model = training.chosen(network, [TASK], {TASK.name: rows})
        for score in evaluate(model, TASK, posts, rounds=0) if posts else ():
            values.setdefault(score.metric, []).append(100 * score.value)
    found: list[Row] = [
        agreed(),
        *(
            row(
                f"risk/posts/risk/{metric}/{Path(encoder).name}",
                sum(some) / len(some),
                data="epitome, esconv, empatheticdialogues, iempathize, care (visible)",
                split=f"{len(posts)} messages, none seen in training, seeds {', '.join(map(str, range(len(some))))}",
                low=min(some),
                high=max(some),
                silver=True,
                seconds=round(time.monotonic() - began),
                command="python -m benchmarks.risk --encoder FOLDER",
            )
            for metric, some in values.items()
        ),
    ]
    if not quick:
        save("risk", found)
    show(found)


if __name__ == "__main__":
    typer.run(main)
