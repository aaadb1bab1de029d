"""Crisis: short messages that call for a human at once, and messages that only look like it. Written for this project, inside it.

Layout: `sentences.jsonl`, one message per line: `text`, `risk` (0 or 1), `kind` (`suicide`, `self_harm`, `abuse`, `danger`
or `none`), `note` (why it is there). No message is anybody's: all were invented.
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
    title="Crisis: messages that call for a human at once, and their likes",
    tasks=("risk",),
    licence="CC BY 4.0",
    source="written for this project",
    folder="crisis",
    files={"sentences.jsonl": 1032},
    shipped=True,
)


def read(path: Path) -> Iterator[Found]:
    """One dialogue of one turn per message, with its `risk`."""
    return each_file(path, CARD.files, lambda file: each(json_lines(file), _message))


def _message(item: Item[Any]) -> Iterator[Found]:
    row = item.value
    turn = Turn(role="writer", content=row["text"], labels={"risk": bool(row["risk"])}, metadata={"kind": row["kind"]})
    yield Dialogue(id=f"crisis-{item.number}", group=f"crisis-{item.number}", turns=(turn,))
