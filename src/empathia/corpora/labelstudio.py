"""Label Studio: exported tasks with a dialogue each, with their annotations.

Layout: a JSON array of tasks, either full (`id`, `data`, `annotations`, …) or minimal (the data's keys beside the
answers). The dialogue is the list in the data whose elements have `author` and `text` (paragraphs) or `role` and
`content`. All other keys, the annotations among them, are kept as metadata. The choices, ratings, numbers and marked words
of the annotations of a full export are labels too: of its ground truth, or else of its last annotation. `dialogue_id` in
the data is the dialogue's id, where `empathia annotate export` wrote the task.
Licence and citation: those of the user's data.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from empathia.corpora import Card
from empathia.corpora._annotations import NO, NONE, TURN, YES, labels, units
from empathia.corpora._json import items
from empathia.corpora._messages import dialogues
from empathia.corpora._sniff import task_turns
from empathia.corpora._text import Item
from empathia.schema import Dialogue, Label, Problem

__all__ = ["CARD", "ID", "KINDS", "NO", "NONE", "TURN", "YES", "by_annotator", "read", "units"]
CARD = Card(title="Label Studio export of dialogues", tasks=(), licence="the user's", source="a file", kind="format")
NAMES = {"author": "role", "text": "content"}
ID, KINDS = "dialogue_id", "kinds"  # keys of the data that only our own tasks have
BROKEN = "an annotation is not in Label Studio's layout for paragraphs: it gives no labels"
MANY = "several annotators: the labels are those of the ground truth, or else of the last; `empathia agree` compares them all"


def read(path: Path) -> Iterator[Dialogue | Problem]:
    """One dialogue per task."""
    return _labelled(dialogues(item if isinstance(item, Problem) else _task(item) for item in items(path)))


def by_annotator(dialogue: Dialogue) -> dict[str, Dialogue]:
    """The dialogue of a task with the labels of each of its annotators."""
    found = {who: _with(dialogue, annotation) for who, annotation in _annotations(dialogue).items()}
    return {who: theirs for who, theirs in found.items() if theirs is not None}


def _task(item: Item[Any]) -> Item[Any] | Problem:
    task = item.value if isinstance(item.value, dict) else {}
    data = task["data"] if isinstance(task.get("data"), dict) else task
    if (key := task_turns(data)) is None:
        reason = "no dialogue in the task: its data need a list with `author` and `text`, or `role` and `content`, in each element"
        return Problem(place=item.place, reason=reason)
    messages = [{NAMES.get(name, name) if "author" in turn else name: value for name, value in turn.items()} for turn in data[key]]
    rest = {name: value for name, value in data.items() if name != key}
    name = {"id": data[ID]} if isinstance(data.get(ID), str) else {}
    return item.to((rest if data is task else task | {"data": rest}) | name | {"messages": messages})


def _labelled(found: Iterable[Dialogue | Problem]) -> Iterator[Dialogue | Problem]:
    for one in found:
        annotations = _annotations(one) if isinstance(one, Dialogue) else {}
        if isinstance(one, Problem) or not annotations:
            yield one
            continue
        if len(annotations) > 1:
            yield Problem(place=f"task {one.id}", reason=MANY, kind="note")
        chosen = next((given for given in annotations.values() if given.get("ground_truth")), [*annotations.values()][-1])
        if (theirs := _with(one, chosen)) is None:
            yield Problem(place=f"task {one.id}", reason=BROKEN, kind="note")
        yield theirs or one


def _annotations(dialogue: Dialogue) -> dict[str, Mapping[str, Any]]:
    """The last annotation of each annotator that was not cancelled and says something."""
    given = dialogue.metadata.get("annotations")
    good = [one for one in given if isinstance(one, dict) and one.get("result")] if isinstance(given, list) else []
    return {_who(one.get("completed_by")): one for one in good if not one.get("was_cancelled")}


def _who(completed_by: object) -> str:
    return str(completed_by.get("id", completed_by.get("email"))) if isinstance(completed_by, dict) else str(completed_by)


def _with(dialogue: Dialogue, annotation: Mapping[str, Any]) -> Dialogue | None:
    """The dialogue with the labels of one annotation; nothing if that is not in the layout."""
    data = dialogue.metadata.get("data")
    kinds = data.get(KINDS) if isinstance(data, dict) else None
    try:
        turns, whole = labels(annotation["result"], [turn.content for turn in dialogue.turns], kinds or {})
        given = [dict[str, Label]() for _ in dialogue.turns]
        for index, found in turns.items():
            given[index] = found
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        return None
    pairs = zip(dialogue.turns, given, strict=True)
    return dialogue.model_copy(update={"turns": tuple(turn.model_copy(update={"labels": mine}) for turn, mine in pairs), "labels": whole})
