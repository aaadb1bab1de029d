"""Neutral: exchanges in which there is nothing to react to with empathy. Written for this project, inside it.

Layout: `exchanges.jsonl`, one exchange per line: `context`, `reply`, `register`. No labels. No text is anybody's.
Licence: CC BY 4.0. Citation: none; written for this project.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from empathia.corpora import Card, Found
from empathia.corpora._files import each, each_file
from empathia.corpora._json import json_lines
from empathia.corpora._text import Item
from empathia.schema import Dialogue, Turn

CARD = Card(
    title="Neutral: exchanges in which there is nothing to react to with empathy",
    tasks=(),
    licence="CC BY 4.0",
    source="written for this project",
    folder="neutral",
    files={"exchanges.jsonl": 672},
    shipped=True,
)


def read(path: Path) -> Iterator[Found]:
    """One dialogue of two turns per exchange."""
    return each_file(path, CARD.files, lambda file: each(json_lines(file), _exchange))


def _exchange(item: Item[Any]) -> Iterator[Found]:
    row = item.value
    turns = (Turn(role="first", content=row["context"]), Turn(role="second", content=row["reply"]))
    yield Dialogue(id=f"neutral-{item.number}", group=f"neutral-{item.number}", turns=turns, metadata={"register": row["register"]})
