"""COMET-BART's answers to the 5,000 queries of ATOMIC 2020's evaluation. Made by a machine.

Layout: `comet_bart.jsonl`, one query per line: `head`, `relation`, `tails` (the human ones, read by `atomic2020`),
`generations` (nine, best first) and `greedy`. Counts are inferences, ten per query.
Licence: CC BY. Citation: Hwang et al., "COMET-ATOMIC 2020: On Symbolic and Neural Commonsense Knowledge Graphs", AAAI
2021.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from empathia.corpora import Card, Found
from empathia.corpora._files import each, each_file
from empathia.corpora._json import json_lines
from empathia.corpora._text import Item
from empathia.schema import Inference

CARD = Card(
    title="COMET-BART's inferences for the evaluation queries of ATOMIC 2020 (machine-made)",
    tasks=(),
    licence="CC BY",
    source="github.com/allenai/comet-atomic-2020",
    folder="atomic2020",
    files={"comet_bart.jsonl": 50000},
)


def read(path: Path) -> Iterator[Found]:
    """One inference per query and generation: the greedy one first, then the others by rank."""
    return each_file(path, CARD.files, lambda file: each(json_lines(file), _inferences))


def _inferences(item: Item[Any]) -> Iterator[Found]:
    for rank, tail in enumerate([item.value["greedy"], *item.value["generations"]]):
        about = {"split": "test", "decoding": "ranked", "rank": rank} if rank else {"split": "test", "decoding": "greedy"}
        yield Inference(head=item.value["head"], relation=item.value["relation"], tail=tail.strip(), metadata=about)
