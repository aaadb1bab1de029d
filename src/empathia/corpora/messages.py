"""Messages: the canonical format, one conversation per line, as language-model services write them.

Layout: JSON Lines of `{"id": …, "messages": [{"role": …, "content": …}, …]}`; a bare list of messages may stand for the
object. Other keys of a line or a message are kept as metadata; an object under `labels` is also read as what annotators
said: text, a list of texts, a number, yes or no, or `{"level": 2, "rationales": [{"start": 0, "end": 9}]}`. One JSON
array of such objects, or of the messages of one conversation, is read too. A missing id is the line's number; content in
parts of text is joined by line ends.
Licence and citation: those of the user's data.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from empathia.corpora import Card
from empathia.corpora._json import is_array, items
from empathia.corpora._labels import with_labels
from empathia.corpora._messages import dialogues
from empathia.corpora._text import Item
from empathia.schema import Dialogue, Problem

CARD = Card(title="JSON Lines with messages (role, content)", tasks=(), licence="the user's", source="a file", kind="format")


def read(path: Path) -> Iterator[Dialogue | Problem]:
    """One dialogue per conversation."""
    return with_labels(dialogues(_together(items(path), path.name) if is_array(path) else items(path)))


def _together(elements: Iterator[Item[Any] | Problem], name: str) -> Iterator[Item[Any] | Problem]:
    """The elements of an array, or one item of them all where they are messages and not conversations."""
    first = next(elements, None)
    if isinstance(first, Item) and isinstance(first.value, dict) and "messages" not in first.value and "content" in first.value:
        rest = list(elements)
        yield from (element for element in rest if isinstance(element, Problem))
        yield Item(name, 1, [first.value, *(element.value for element in rest if isinstance(element, Item))])
    elif first is not None:
        yield first
        yield from elements
