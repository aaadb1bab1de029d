"""RECCON: emotions in DailyDialog and the stretches of text that caused them.

Layout: `dailydialog_train.json`, `dailydialog_valid.json`, `dailydialog_test.json`: an object from dialogue id to a
list that holds the list of turns: `turn` (from 1), `speaker`, `utterance`, `emotion`, and on emotional turns `expanded
emotion cause evidence` (turn numbers, or `b` for a cause outside the text), `expanded emotion cause span` (their words)
and `type`. Evidence `b` is dropped with a note; misspelt and rare emotions are given the name of the class that they
belong to. Counts are dialogues.
Licence: none stated. Citation: Poria et al., "Recognizing Emotion Cause in Conversations", Cognitive Computation 2021.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from empathia.corpora import Card, Found
from empathia.corpora._files import each, each_file
from empathia.corpora._json import members
from empathia.corpora._text import Item
from empathia.schema import Cause, Dialogue, Label, Problem, Turn

CARD = Card(
    title="RECCON: causes of emotions in DailyDialog",
    tasks=("causes", "emotion"),
    licence="none stated",
    source="github.com/declare-lab/RECCON",
    folder="reccon",
    files={"dailydialog_train.json": 834, "dailydialog_valid.json": 47, "dailydialog_test.json": 225},
)
EMOTIONS = {
    "happy": "happiness",
    "excited": "happiness",
    "happines": "happiness",
    "sad": "sadness",
    "angry": "anger",
    "surprised": "surprise",
}
EVIDENCE, SPANS = "expanded emotion cause evidence", "expanded emotion cause span"


def read(path: Path) -> Iterator[Found]:
    """One dialogue per conversation; emotions and causes are on the turns, by index and offsets."""

    def file(path: Path) -> Iterator[Found]:
        return each(members(path), lambda item: _dialogue(item, path.stem.removeprefix("dailydialog_")))

    return each_file(path, CARD.files, file)


def _dialogue(item: Item[tuple[str, Any]], split: str) -> Iterator[Found]:
    name, (messages,) = item.value
    turns = []
    for index, message in enumerate(messages):
        labels: dict[str, Label] = {"emotion": EMOTIONS.get(message["emotion"], message["emotion"])}
        if EVIDENCE in message:
            causes = tuple(_causes(message, messages))
            labels["causes"] = tuple(cause for cause in causes if isinstance(cause, Cause))
            for reason in (cause for cause in causes if isinstance(cause, str)):
                yield Problem(place=f"{item.place} turn {index + 1}", reason=reason, kind="note")
        rest = {key: message[key] for key in ("type", "explanation") if key in message}
        turns.append(Turn(role=message["speaker"], content=message["utterance"], labels=labels, metadata=rest))
    yield Dialogue(id=name, group=name, turns=tuple(turns), metadata={"split": split})


def _causes(message: dict[str, Any], messages: list[dict[str, Any]]) -> Iterator[Cause | str]:
    """The causes of one turn's emotion, and what is to be said of them."""
    for number, words in zip(message[EVIDENCE], message[SPANS], strict=True):
        if not isinstance(number, int):
            yield "a cause outside the text (evidence b) is dropped"
        elif (start := messages[number - 1]["utterance"].find(words)) < 0:
            yield "a cause that does not stand in its turn is dropped"
        else:
            yield Cause(turn=number - 1, start=start, end=start + len(words))
            if number > message["turn"]:
                yield "a cause stands in a later turn"
