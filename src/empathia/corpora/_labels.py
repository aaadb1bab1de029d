"""Labels that a file holds beside a message or a conversation, under the key `labels`."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from empathia.schema import Dialogue, Label, Problem

KEY = "labels"
LABELS = TypeAdapter(dict[str, Label])
REASON = (
    "`labels` holds something that is no label (text, a list of texts, a number, yes or no, or a level with rationales): it is kept "
    "as metadata only"
)


def with_labels(found: Iterable[Dialogue | Problem]) -> Iterator[Dialogue | Problem]:
    """The same dialogues; what stands under `labels` in their metadata, which is kept as it is, becomes their labels."""
    for one in found:
        if isinstance(one, Problem):
            yield one
            continue
        try:
            yield _labelled(one)
        except ValidationError:  # its message would quote the text
            yield Problem(place=f"conversation {one.id}", reason=REASON, kind="note")
            yield one


def _labelled(dialogue: Dialogue) -> Dialogue:
    if not any(map(_given, (dialogue.metadata, *(turn.metadata for turn in dialogue.turns)))):
        return dialogue
    turns = tuple(turn.model_copy(update={"labels": LABELS.validate_python(_given(turn.metadata))}) for turn in dialogue.turns)
    return dialogue.model_copy(update={"turns": turns, "labels": LABELS.validate_python(_given(dialogue.metadata))})


def _given(metadata: Mapping[str, Any]) -> dict[str, Any]:
    given = metadata.get(KEY)
    return given if isinstance(given, dict) else {}
