"""Pairs in CSV: a post and its reply in each row.

Layout: a header with two columns `post` and `reply` (or `seeker_post`, `response_post`; `context`, `response`;
`prompt`, `response`; `question`, `answer`; …), between commas, semicolons or tabs; optionally `id`; other columns are
kept as metadata of the dialogue. The names of the two columns are the roles.
Licence and citation: those of the user's data.
"""

from collections.abc import Iterator
from pathlib import Path

from empathia.corpora import Card
from empathia.corpora._messages import shown
from empathia.corpora._rows import header, rows
from empathia.corpora._tables import pair_columns, pairs
from empathia.errors import InputError
from empathia.schema import Dialogue, Problem

CARD = Card(title="CSV with a post and a reply in each row", tasks=(), licence="the user's", source="a file", kind="format")


def read(path: Path) -> Iterator[Dialogue | Problem]:
    """One dialogue of two turns per row."""
    if (columns := pair_columns(header(path))) is None:
        raise InputError(f"The columns of '{path.name}' ({shown(header(path))}) are not a table of pairs: name them post, reply.")
    return pairs(rows(path), columns)
