"""ShareGPT: conversations with language models as people shared them.

Layout: a JSON array, or JSON Lines, of `{"id": …, "conversations": [{"from": …, "value": …}, …]}`; other keys are kept
as metadata.
Licence and citation: those of the user's data.
"""

from collections.abc import Iterator
from pathlib import Path

from empathia.corpora import Card
from empathia.corpora._json import items
from empathia.corpora._messages import Keys, dialogues
from empathia.schema import Dialogue, Problem

CARD = Card(title="ShareGPT (conversations with from, value)", tasks=(), licence="the user's", source="a file", kind="format")
KEYS = Keys("conversations", "from", "value")


def read(path: Path) -> Iterator[Dialogue | Problem]:
    """One dialogue per conversation."""
    return dialogues(items(path), keys=KEYS)
