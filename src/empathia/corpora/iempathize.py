"""IEMPATHIZE: sentences of an online community of cancer survivors that seek empathy, provide it, or neither.

Layout: `dataset.csv` (`text,label`; 0 none, 1 seek, 2 provide; Windows-1252), human labels; beside it, optionally,
`intents_silver.csv` (`text,label,intent`; UTF-8), whose intents are silver. TwittEmp has the same layout.
Licence: none stated. Citation: Hosseini and Caragea, "It Takes Two to Empathize: One to Seek and One to Provide", AAAI
2021.
"""

from collections.abc import Iterator
from pathlib import Path

from empathia.corpora import Card, Found
from empathia.corpora._files import each, each_file
from empathia.corpora._rows import Row, rows
from empathia.corpora._text import Item
from empathia.errors import InputError
from empathia.schema import Dialogue, Problem, Turn

CARD = Card(
    title="IEMPATHIZE: direction of empathy in a forum of cancer survivors",
    tasks=("direction",),
    licence="none stated",
    source="github.com/Mahhos/Empathy",
    folder="iempathize",
    files={"dataset.csv": 5007, "intents_silver.csv": 5007},
)
DIRECTIONS = {"0": "none", "1": "seek", "2": "provide"}


def read(path: Path) -> Iterator[Found]:
    """One dialogue of one turn per sentence, with its direction and, where known, its silver intent."""
    folder = path if path.is_dir() else path.parent
    return each_file(folder, ("dataset.csv",), _sentences)


def _sentences(path: Path) -> Iterator[Found]:
    intents = _intents(path.with_name("intents_silver.csv"))

    def sentence(item: Item[Row]) -> Iterator[Found]:
        text, label = item.value["text"].strip(), DIRECTIONS.get(item.value["label"].strip())
        if not text:
            raise InputError("the text is empty")
        if label is None:
            raise InputError(f"the label '{item.value['label']}' is none of 0 (none), 1 (seek), 2 (provide)")
        labels = {"direction": label} | ({"intent": intents[text]} if text in intents else {})
        yield Dialogue(id=f"iempathize-{item.number - 1}", group=text, turns=(Turn(role="member", content=text, labels=labels),))

    return each(rows(path, needed=("text", "label"), encoding=_encoding(path)), sentence)


def _encoding(path: Path) -> str:
    """Windows-1252 as published; UTF-8 where the bytes are that, as in files of one's own."""
    try:
        path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    except OSError:  # a missing file is told by the rows
        return "cp1252"
    return "utf-8-sig"


def _intents(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    found = rows(path, needed=("text", "intent"))
    return {row.value["text"].strip(): row.value["intent"].strip() for row in found if not isinstance(row, Problem)}
