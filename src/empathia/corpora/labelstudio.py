"""Label Studio: exported tasks with a dialogue each, with their annotations.

Layout: a JSON array of tasks, either full (`id`, `data`, `annotations`, …) or minimal (the data's keys beside the
answers). The dialogue is the list in the data whose elements have `author` and `text` (paragraphs) or `role` and
`content`. All other keys, the annotations among them, are kept as metadata.
Licence and citation: those of the user's data.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from empathia.corpora import Card
from empathia.corpora._json import items
from empathia.corpora._messages import dialogues
from empathia.corpora._sniff import task_turns
from empathia.corpora._text import Item
from empathia.schema import Dialogue, Problem

CARD = Card(title="Label Studio export of dialogues", tasks=(), licence="the user's", source="a file", kind="format")
NAMES = {"author": "role", "text": "content"}


def read(path: Path) -> Iterator[Dialogue | Problem]:
    """One dialogue per task."""
    return dialogues(item if isinstance(item, Problem) else _task(item) for item in items(path))


def _task(item: Item[Any]) -> Item[Any] | Problem:
    task = item.value if isinstance(item.value, dict) else {}
    data = task["data"] if isinstance(task.get("data"), dict) else task
    if (key := task_turns(data)) is None:
        reason = "no dialogue in the task: its data need a list with `author` and `text`, or `role` and `content`, in each element"
        return Problem(place=item.place, reason=reason)
    messages = [{NAMES.get(name, name) if "author" in turn else name: value for name, value in turn.items()} for turn in data[key]]
    rest = {name: value for name, value in data.items() if name != key}
    return item.to((rest if data is task else task | {"data": rest}) | {"messages": messages})
