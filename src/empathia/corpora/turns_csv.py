"""Turns in CSV: one row per turn.

Layout: a header with a column for the conversation (`conversation_id`, `dialogue_id`, `thread_id`, …), one for who
speaks (`role`, `speaker`, `author`, …) and one for the text (`content`, `text`, `utterance`, …), between commas,
semicolons or tabs; other columns are kept as metadata of the turn. The rows of a conversation stand together, in their
order; one that comes again later is reported.
Licence and citation: those of the user's data.
"""

from collections.abc import Iterator
from pathlib import Path

from empathia.corpora import Card
from empathia.corpora._messages import shown
from empathia.corpora._rows import header, rows
from empathia.corpora._tables import turn_columns, turns
from empathia.errors import InputError
from empathia.schema import Dialogue, Problem

CARD = Card(title="CSV with one row per turn", tasks=(), licence="the user's", source="a file", kind="format")


def read(path: Path) -> Iterator[Dialogue | Problem]:
    """One dialogue per block of rows of one conversation."""
    if (columns := turn_columns(header(path))) is None:
        raise InputError(
            f"The columns of '{path.name}' ({shown(header(path))}) are not a table of turns: name them conversation_id, role, content."
        )
    return turns(rows(path), columns)
