"""Empathetic intents: what listeners in EmpatheticDialogues do when they answer, sorted by people.

Layout: one text file per intent, named after it, one listener's utterance per line. Utterances may repeat.
Licence: none stated. Citation: Welivita and Pu, "A Taxonomy of Empathetic Response Intents in Human Social
Conversations", COLING 2020.
"""

from collections.abc import Iterator
from pathlib import Path

from empathia.corpora import Card, Found
from empathia.corpora._files import each, each_file
from empathia.corpora._text import Item, lines
from empathia.schema import Dialogue, Turn

CARD = Card(
    title="Empathetic intents: utterances of listeners, by intent",
    tasks=(),
    licence="none stated",
    source="github.com/anuradha1992/EmpatheticIntents",
    folder="empathetic_intents",
    files={
        "acknowledging.txt": 116,
        "advising.txt": 13,
        "agreeing.txt": 49,
        "appreciating.txt": 4,
        "consoling.txt": 40,
        "disapproving.txt": 5,
        "encouraging.txt": 27,
        "expressing_care_concern.txt": 11,
        "expressing_relief.txt": 7,
        "questioning.txt": 126,
        "sharing_experience.txt": 19,
        "sharing_opinions.txt": 20,
        "suggesting.txt": 20,
        "sympathizing.txt": 27,
        "wishing.txt": 22,
    },
)


def read(path: Path) -> Iterator[Found]:
    """One dialogue of one turn per utterance, with its `response_intent`."""
    return each_file(path, CARD.files, lambda file: each(lines(file), lambda line: _utterance(line, file.stem)))


def _utterance(line: Item[str], intent: str) -> Iterator[Found]:
    if text := line.value.strip():
        turn = Turn(role="listener", content=text, labels={"response_intent": intent.replace("_", " ").capitalize()})
        yield Dialogue(id=f"{intent}-{line.number}", group=text, turns=(turn,))
