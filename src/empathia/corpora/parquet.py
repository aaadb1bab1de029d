"""Parquet: the same shapes as the other formats, in columns.

Layout: a column `messages` (or `conversations`, as ShareGPT) of lists with one row per conversation; or one row per
turn; or one row per pair, with the columns of the CSV formats. Values that JSON has no form for, as dates, become text.
Needs the extra `parquet`.
Licence and citation: those of the user's data.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from empathia.corpora import Card
from empathia.corpora._messages import KEYS, dialogues, shown
from empathia.corpora._tables import pair_columns, pairs, turn_columns, turns
from empathia.corpora._text import Item
from empathia.corpora.sharegpt import KEYS as SHAREGPT
from empathia.errors import InputError, MissingExtra
from empathia.schema import Dialogue, Problem

CARD = Card(title="Parquet with messages, turns or pairs", tasks=(), licence="the user's", source="a file", kind="format")


def read(path: Path) -> Iterator[Dialogue | Problem]:
    """One dialogue per conversation, whatever the shape."""
    names = _open(path).schema_arrow.names
    for keys in (KEYS, SHAREGPT):
        if keys.messages in names:
            return dialogues(_rows(path), keys=keys)
    if by_turn := turn_columns(names):
        return turns(_rows(path), by_turn)
    if by_pair := pair_columns(names):
        return pairs(_rows(path), by_pair)
    allowed = "messages, or conversation_id, role, content, or post, reply"
    raise InputError(f"The columns of '{path.name}' ({shown(names)}) are not known: name them {allowed}.")


def _open(path: Path) -> Any:
    try:
        from pyarrow import ArrowInvalid, parquet  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtra("Reading Parquet", "parquet") from None
    try:
        return parquet.ParquetFile(path)
    except ArrowInvalid:
        raise InputError(f"'{path.name}' is not a Parquet file, or it is damaged: write it again.") from None


def _rows(path: Path) -> Iterator[Item[dict[str, Any]]]:
    number = 0
    for batch in _open(path).iter_batches(batch_size=256):
        for row in batch.to_pylist():
            number += 1
            # dates become text, and numbers that are not finite (a missing one, mostly) null
            plain = json.loads(json.dumps(row, default=str), parse_constant=lambda _: None)
            yield Item(f"{path.name} row {number}", number, plain)
