"""How fast training reads: `python -m benchmarks.reading --encoder FOLDER [--times N]`.

The layers of an encoder that are trained read the same turns, forward and back, in the same run, in alternation: a few padded
texts at a time, all at once without padding, and that in 16 bits.
"""

import statistics
import time
from collections.abc import Sequence
from typing import Annotated

import torch
import typer

from benchmarks.rows import DATA, row, save, show
from empathia import corpora
from empathia.encoders._stack import Stack, _Padded, stack
from empathia.encoders.huggingface import HuggingFaceEncoder

TEXTS = 96  # per step


def seconds(layers: Stack, texts: Sequence[tuple[int, ...]], *, half: bool) -> float:
    """The time to read texts and to find the gradients."""
    began = time.perf_counter()
    with torch.autocast("cpu", torch.bfloat16, enabled=half):
        states = layers(texts)
    torch.cat(states).float().pow(2).mean().backward()  # type: ignore[no-untyped-call]
    return time.perf_counter() - began


def main(encoder: Annotated[str, typer.Option(help="Folder or Hugging Face id of an encoder.")], times: int = 7) -> None:
    """Measure and save."""
    made = HuggingFaceEncoder.load(encoder, window=192).train()
    turns = [turn.content for dialogue in corpora.dialogues("esconv", DATA)[:40] for turn in dialogue.turns][:TEXTS]
    texts = sorted((found[0].ids for found in made.tokens.windows(turns)), key=len)
    ways: dict[str, tuple[Stack, bool]] = {
        "padded": (_Padded(made.network), False),
        "packed": (stack(made.network), False),
        "half": (stack(made.network), True),
    }
    for layers, half in ways.values():
        seconds(layers, texts, half=half)
    taken = [{name: seconds(layers, texts, half=half) for name, (layers, half) in ways.items()} for _ in range(times)]
    told = {
        "system": "training",
        "data": f"esconv, {len(texts)} turns",
        "split": "none",
        "command": "python -m benchmarks.reading --encoder FOLDER",
    }
    tokens = sum(map(len, texts))
    rows = [
        row(f"reading/{name}/tokens/per_second/minilm", tokens / statistics.median(one[name] for one in taken), **told) for name in ways
    ]
    rows += [
        row(f"reading/{name}/padded/ratio/minilm", statistics.median(one["padded"] / one[name] for one in taken), **told)
        for name in ("packed", "half")
    ]
    save("reading", rows)
    show(rows, "id", "ours")


if __name__ == "__main__":
    typer.run(main)
