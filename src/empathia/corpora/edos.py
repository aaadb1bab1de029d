"""EDOS: dialogues from film subtitles whose last turn people labelled with an emotion or an intent.

Layout: `mturk.csv`: `DialogID,Dialog,Agreed emotion (2/3 vote)`, one turn per line of `Dialog`, no speakers (they are
taken to alternate, as `A` and `B`). 32 emotions (named as in EmpatheticDialogues), eight intents of a response, and
Neutral; `-` means that no two of three people agreed: such a dialogue has no label. Further columns are passed over. A
`DialogID` may stand in several rows.
Licence: CC BY 4.0. Citation: Welivita, Xie and Pu, "A Large-Scale Dataset for Empathetic Response Generation", EMNLP
2021.
"""

from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

from empathia.corpora import Card, Found
from empathia.corpora._files import each, each_file
from empathia.corpora._rows import Row, rows
from empathia.corpora._text import Item
from empathia.schema import Dialogue, Label, Problem, Turn

CARD = Card(
    title="EDOS: emotions and intents in film subtitles, labelled by people",
    tasks=("emotion",),
    licence="CC BY 4.0",
    source="github.com/anuradha1992/EDOS",
    folder="edos",
    files={"mturk.csv": 10245},
)
EMOTIONS = frozenset((
    "afraid", "angry", "annoyed", "anticipating", "anxious", "apprehensive", "ashamed", "caring", "confident", "content", "devastated",
    "disappointed", "disgusted", "embarrassed", "excited", "faithful", "furious", "grateful", "guilty", "hopeful", "impressed",
    "jealous", "joyful", "lonely", "nostalgic", "prepared", "proud", "sad", "sentimental", "surprised", "terrified", "trusting",
))  # fmt: skip
INTENTS = frozenset(
    {"Acknowledging", "Agreeing", "Consoling", "Encouraging", "Questioning", "Suggesting", "Sympathizing", "Wishing", "Neutral"}
)
LABEL = "Agreed emotion (2/3 vote)"
NONE_AGREED = "-"


def read(path: Path) -> Iterator[Found]:
    """One dialogue per row; its last turn has the label `emotion`, `response_intent` or none."""
    needed = ("DialogID", "Dialog", LABEL)
    return each_file(path, CARD.files, lambda file: each(rows(file, needed=needed), _dialogue))


def _dialogue(item: Item[Row]) -> Iterator[Found]:
    agreed = item.value[LABEL].strip()
    labels = _labels(agreed)
    if not labels and agreed != NONE_AGREED:
        yield Problem(place=item.place, reason="the label is none of the 41: the dialogue is given without it", kind="note")
    *before, last = item.value["Dialog"].split("\n")
    roles = cycle("AB")
    turns = [Turn(role=next(roles), content=text.strip()) for text in before]
    turns.append(Turn(role=next(roles), content=last.strip(), labels=labels))
    about = {"label": agreed}
    yield Dialogue(id=f"edos-{item.number}", group=item.value["DialogID"], turns=tuple(turns), metadata=about)


def _labels(agreed: str) -> dict[str, Label]:
    if agreed.lower() in EMOTIONS:
        return {"emotion": agreed.lower()}
    return {"response_intent": agreed} if agreed in INTENTS else {}
