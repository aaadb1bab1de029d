"""Tables of turns and tables of pairs, by the names that their columns usually have."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from empathia.corpora._messages import Keys, dialogues
from empathia.corpora._rows import blocks
from empathia.corpora._text import Item
from empathia.schema import Dialogue, Problem

Table = Iterable[Item[Any] | Problem]
CONVERSATION = ("conversation_id", "conv_id", "dialogue_id", "dialog_id", "thread_id", "session_id", "chat_id", "conversation", "id")
ROLE = ("role", "speaker", "author", "sender", "participant", "from", "speaker_id", "speaker_idx", "user", "name")
CONTENT = ("content", "text", "message", "utterance", "body", "value")
PAIRS = (
    ("seeker_post", "response_post"),
    ("post", "reply"),
    ("post", "response"),
    ("context", "response"),
    ("context", "reply"),
    ("prompt", "response"),
    ("prompt", "completion"),
    ("question", "answer"),
    ("input", "output"),
)
SCATTERED = (
    "this conversation stood earlier in the file too and is given in parts: sort the rows by conversation, in the order of its turns"
)


class Turns(NamedTuple):
    """The columns of a table of turns."""

    conversation: str
    role: str
    content: str


class Pairs(NamedTuple):
    """The columns of a table of pairs."""

    post: str
    reply: str


def turn_columns(header: Iterable[str]) -> Turns | None:
    """The columns that say which conversation, who and what, if all are there."""
    names = _plain(header)
    found = [next((names[name] for name in usual if name in names), None) for usual in (CONVERSATION, ROLE, CONTENT)]
    return None if None in found else Turns(*(name for name in found if name is not None))


def pair_columns(header: Iterable[str]) -> Pairs | None:
    """The columns of the post and of the reply, if both are there."""
    names = _plain(header)
    return next((Pairs(names[post], names[reply]) for post, reply in PAIRS if post in names and reply in names), None)


def turns(table: Table, columns: Turns) -> Iterator[Dialogue | Problem]:
    """A dialogue per block of rows of one conversation; the other columns are metadata of the turn."""
    found = (
        block if isinstance(block, Problem) else _conversation(block, columns)
        for block in blocks(table, lambda row: row[columns.conversation])
    )
    return dialogues(found, keys=Keys(role=columns.role, content=columns.content), again=SCATTERED)


def pairs(table: Table, columns: Pairs) -> Iterator[Dialogue | Problem]:
    """A dialogue of two turns per row, with the columns' names as roles; the other columns are metadata of the dialogue."""
    return dialogues(row if isinstance(row, Problem) else _pair(row, columns) for row in table)


def _plain(header: Iterable[str]) -> dict[str, str]:
    return {name.strip().lower().replace(" ", "_"): name for name in header}


def _conversation(block: Item[list[dict[str, Any]]], columns: Turns) -> Item[Any]:
    messages = [{key: value for key, value in row.items() if key != columns.conversation} for row in block.value]
    return block.to({"id": block.value[0][columns.conversation], "messages": messages})


def _pair(row: Item[dict[str, Any]], columns: Pairs) -> Item[Any]:
    rest = {key: value for key, value in row.value.items() if key not in columns}
    return row.to(rest | {"messages": [{"role": column, "content": row.value[column]} for column in columns]})
