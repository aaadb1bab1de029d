"""EmpatheticConversations: dialogues of EmpatheticDialogues with the empathy that readers saw in each turn.

Layout: `EmpatheticConversations.csv`: `conv_id,utterance_idx,context,prompt,speaker_idx,utterance,Empathy`, one row per
turn, empathy from 1 to 5; `conv_id` is EmpatheticDialogues', so that the two corpora can be split alike. Two
conversations stand in it twice.
Counts are dialogues; the rows are turns.
Licence: CC BY-NC 4.0. Citation: Montiel-Vazquez et al., "An Explainable Artificial Intelligence Approach for Detecting
Empathy in Textual Communication", Applied Sciences 2022.
"""

from collections.abc import Iterator
from pathlib import Path

from empathia.corpora import Card, Found
from empathia.corpora._files import each, each_file
from empathia.corpora._rows import Row, blocks, rows
from empathia.corpora._text import Item
from empathia.corpora.empatheticdialogues import plain, turns
from empathia.schema import Dialogue

CARD = Card(
    title="EmpatheticConversations: empathy of each turn as rated by readers",
    tasks=(),
    licence="CC BY-NC 4.0",
    source="github.com/Dregdael/EmpatheticConversations-EC",
    folder="empathetic_exchanges",
    files={"EmpatheticConversations.csv": 367},
)


def read(path: Path) -> Iterator[Found]:
    """One dialogue per conversation, with readers' `empathy` on every turn."""
    needed = ("conv_id", "context", "prompt", "speaker_idx", "utterance", "Empathy")
    return each_file(path, CARD.files, lambda file: each(blocks(rows(file, needed=needed), lambda row: row["conv_id"]), _conversation))


def _conversation(block: Item[list[Row]]) -> Iterator[Found]:
    first = block.value[0]
    rated = tuple(
        turn.model_copy(update={"labels": {"empathy": int(row["Empathy"])}})
        for turn, row in zip(turns(block.value), block.value, strict=True)
    )
    about = {"situation": plain(first["prompt"])}
    yield Dialogue(id=first["conv_id"], group=first["conv_id"], turns=rated, labels={"emotion": first["context"]}, metadata=about)
