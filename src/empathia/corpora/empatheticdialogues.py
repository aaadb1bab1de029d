"""EmpatheticDialogues: a speaker tells of a situation with one of 32 emotions, and a listener answers.

Layout: `train.csv`, `valid.csv`, `test.csv`:
`conv_id,utterance_idx,context,prompt,speaker_idx,utterance,selfeval,tags`, to be split at every comma and never at
quotes, since commas within a field are written `_comma_`; `context` is the emotion, `prompt` the situation. The
official valid and test files have a ninth field, the candidates of a retrieval task, which is not read.
Counts are dialogues.
Licence: CC BY-NC 4.0 in the original repository, CC BY 4.0 in a later release by the same owner. Citation: Rashkin et
al., "Towards Empathetic Open-domain Conversation Models: a New Benchmark and Dataset", ACL 2019.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from empathia.corpora import Card, Found
from empathia.corpora._files import each, each_file
from empathia.corpora._rows import Row, blocks
from empathia.corpora._text import Item, lines
from empathia.errors import InputError
from empathia.schema import Dialogue, Problem, Turn

CARD = Card(
    title="EmpatheticDialogues: chats about a situation with one of 32 emotions",
    tasks=("emotion",),
    licence="CC BY-NC 4.0 (original) or CC BY 4.0 (later release)",
    source="github.com/facebookresearch/EmpatheticDialogues",
    folder="empatheticdialogues",
    files={"train.csv": 19533, "valid.csv": 2770, "test.csv": 2547},
)
COLUMNS = ("conv_id", "utterance_idx", "context", "prompt", "speaker_idx", "utterance", "selfeval", "tags")
ROLES = ("speaker", "listener")


def read(path: Path) -> Iterator[Found]:
    """One dialogue per conversation, with its emotion; the situation is in its metadata."""
    return each_file(path, CARD.files, _file)


def turns(rows: Sequence[Row]) -> tuple[Turn, ...]:
    """The turns of one conversation: who speaks first is the speaker, the other the listener."""
    people = dict.fromkeys(row["speaker_idx"] for row in rows)
    if len(people) > len(ROLES):
        raise InputError(f"{len(people)} people in a conversation of two")
    roles = dict(zip(people, ROLES, strict=False))
    return tuple(Turn(role=roles[row["speaker_idx"]], content=plain(row["utterance"])) for row in rows)


def plain(text: str) -> str:
    """The text without the stand-ins for the file's separators."""
    return text.replace("_comma_", ",").replace("_pipe_", "|").strip()


def _file(path: Path) -> Iterator[Found]:
    def conversation(block: Item[list[Row]]) -> Iterator[Found]:
        first = block.value[0]
        about = {"split": path.stem, "situation": plain(first["prompt"])}
        labels = {"emotion": first["context"]}
        yield Dialogue(id=first["conv_id"], group=first["conv_id"], turns=turns(block.value), labels=labels, metadata=about)

    return each(blocks(_rows(path), lambda row: row["conv_id"]), conversation)


def _rows(path: Path) -> Iterator[Item[Row] | Problem]:
    for line in lines(path):
        if isinstance(line, Problem):
            yield line
            continue
        fields = line.value.split(",")
        if len(fields) not in (len(COLUMNS), len(COLUMNS) + 1):
            yield Problem(place=line.place, reason=f"{len(fields)} fields instead of 8: the turn is left out of its dialogue")
        elif fields[0] != "conv_id":
            yield line.to(dict(zip(COLUMNS, fields, strict=False)))
