"""What the analysis costs: `python -m benchmarks.throughput [--turns N] [--long]`.

Beside the bare encoder: both sides read the same turns, on the same onnxruntime and the same cores, in the same run, in
alternation. The bare encoder is given its best case: each turn once, already cut to windows, with nothing done to the
states. The analysis is all the rest too: sentences, every head, records.

Beside EPITOME's setup, on the same replies in the same run: two encoders of RoBERTa-base's size for each of three mechanisms,
in torch, every text padded to 64 tokens as published. The weights are random, which is the same for time; what comes after
its encoders is not counted.

With `--long`, seconds and peak memory for 1,000, 10,000 and 100,000 turns, each in a fresh process.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from typing import Annotated, Any

import typer

from benchmarks.rows import DATA, Row, load, row, save, show
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


def epitome_seconds(replies: int) -> float:
    """The time that EPITOME's six encoders take for so many replies and what they answer."""
    import torch
    from transformers import RobertaConfig, RobertaModel  # type: ignore[attr-defined,unused-ignore]

    encoder: Any = RobertaModel(RobertaConfig(vocab_size=50265, max_position_embeddings=514))  # type: ignore[no-untyped-call,unused-ignore]
    encoder.eval()
    ids = torch.randint(5, 50000, (replies, 64))
    with torch.inference_mode():
        encoder(ids[:2])
        began = time.perf_counter()
        for some in torch.split(ids, 32):
            for _ in range(6):  # a seeker's and a responder's encoder for each mechanism; one in memory stands for all
                encoder(some)
        return time.perf_counter() - began


def replies_seconds(model: Shared, dialogues: Sequence[Dialogue], replies: int) -> float:
    """The time of the whole analysis for so many conversations of two turns, each a reply and what it answers."""
    pairs = (
        Dialogue(id=f"{d.id}-{i}", turns=d.turns[i - 1 : i + 1])
        for d in dialogues
        for i in range(1, len(d.turns))
        if d.turns[i].role != d.turns[i - 1].role
    )
    return analysis_seconds(model, list(islice(pairs, replies)))


def beside_epitome(model: Shared, dialogues: Sequence[Dialogue], times: int, replies: int = 64) -> Row:
    """How many times as fast the analysis of replies is."""
    pairs = [(epitome_seconds(replies), replies_seconds(model, dialogues, replies)) for _ in range(times)]
    theirs, ours = (statistics.median(side) for side in zip(*pairs, strict=True))
    told = {"system": "default model", "data": f"esconv, {replies} replies", "split": "none", "seconds": round(ours, 2)}
    ratio = statistics.median(one / other for one, other in pairs)
    each = {"epitome": replies / theirs, "analysis": replies / ours}
    return row("throughput/default/epitome/ratio/torch", ratio, **told, replies_per_second=each)


LONG = """
import resource, sys, time
from pathlib import Path
from benchmarks.throughput import repeated
from empathia import analysis, models
model, began = models.load(), time.perf_counter()
count = sum(len(one.turns) for one in analysis.analyse_all(repeated(int(sys.argv[1])), model=model))
seconds, status = time.perf_counter() - began, Path("/proc/self/status")
if status.exists():  # what the kernel tells of a child's peak may be its parent's
    memory = 1024 * int(status.read_text().split("VmHWM:")[1].split()[0])
else:
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print(count, seconds, memory / 1e6)
"""


def repeated(turns: int) -> Iterator[Dialogue]:
    """Conversations of ESConv, over and over, until there are so many turns."""
    for dialogue in cycle(some_dialogues(3000)):
        if turns <= 0:
            return
        turns -= len(dialogue.turns)
        yield dialogue


def long_rows() -> Iterator[Row]:
    """Seconds per thousand turns and peak memory, by the number of turns."""
    for turns in (1_000, 10_000, 100_000):
        done = subprocess.run([sys.executable, "-c", LONG, str(turns)], text=True, capture_output=True, check=True)
        count, seconds, memory = map(float, done.stdout.split())
        told = {"system": "default model", "data": f"esconv, {count:.0f} turns", "split": "none", "seconds": round(seconds, 1)}
        yield row(f"throughput/default/{turns}_turns/seconds_per_thousand/onnx", seconds / count * 1000, **told)
        yield row(f"throughput/default/{turns}_turns/megabytes/onnx", memory, **told)


def main(
    turns: Annotated[int, typer.Option(help="So many turns.")] = 3000,
    times: int = 3,
    long: Annotated[bool, typer.Option("--long", help="Also 1,000 to 100,000 turns, each in a fresh process.")] = False,
) -> None:
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
    rows.append(beside_epitome(model, dialogues, times))
    rows += long_rows() if long else (old for old in load("throughput") if "_turns/" in old["id"])
    save("throughput", rows)
    show(rows, "id", "ours")


if __name__ == "__main__":
    typer.run(main)
