"""How much the analysis costs beside the bare encoder: `python -m benchmarks.throughput [--turns N]`.

Both sides read the same turns, on the same onnxruntime and the same cores, in the same run, in alternation. The bare
encoder is given its best case: each turn once, already cut to windows, with nothing done to the states. The analysis is
all the rest too: sentences, every head, records.
"""

import statistics
import time
from collections.abc import Sequence
from typing import Annotated

import typer

from benchmarks.rows import DATA, row, save, show
from empathia import corpora, models
from empathia.analysis import analyse_all
from empathia.models.shared import Shared
from empathia.schema import Dialogue


def some_dialogues(turns: int) -> list[Dialogue]:
    """Support conversations of ESConv, until there are so many turns."""
    found: list[Dialogue] = []
    for dialogue in corpora.dialogues("esconv", DATA):
        found.append(dialogue)
        if sum(len(one.turns) for one in found) >= turns:
            return found
    return found


def encoder_seconds(model: Shared, dialogues: Sequence[Dialogue]) -> float:
    """The time to encode every turn once."""
    texts = [turn.content for dialogue in dialogues for turn in dialogue.turns]
    began = time.perf_counter()
    model.encoder.encode(texts)
    return time.perf_counter() - began


def analysis_seconds(model: Shared, dialogues: Sequence[Dialogue]) -> float:
    """The time of the whole analysis."""
    began = time.perf_counter()
    for _ in analyse_all(dialogues, model=model):
        pass
    return time.perf_counter() - began


def main(turns: Annotated[int, typer.Option(help="So many turns.")] = 3000, times: int = 3) -> None:
    """Measure and save."""
    model, dialogues = models.load(), some_dialogues(turns)
    assert isinstance(model, Shared)
    count = sum(len(dialogue.turns) for dialogue in dialogues)
    pairs = [(encoder_seconds(model, dialogues), analysis_seconds(model, dialogues)) for _ in range(times)]
    encoder, analysis = (statistics.median(side) for side in zip(*pairs, strict=True))
    ratio = statistics.median(bare / whole for bare, whole in pairs)
    told = {"system": "default model", "data": f"esconv, {count} turns", "split": "none", "seconds": round(analysis, 2)}
    rows = [
        row(
            "throughput/default/encoder/ratio/onnx",
            ratio,
            **told,
            turns_per_second={"encoder": count / encoder, "analysis": count / analysis},
        ),
        row("throughput/default/encoder/turns_per_second/onnx", count / encoder, **told),
        row("throughput/default/analysis/turns_per_second/onnx", count / analysis, **told),
    ]
    save("throughput", rows)
    show(rows, "id", "ours")


if __name__ == "__main__":
    typer.run(main)
