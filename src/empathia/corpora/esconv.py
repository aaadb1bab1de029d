"""ESConv: emotional support chats of a seeker and a supporter, with the supporter's strategy at each message.

Layout: `ESConv.json`, an array of dialogues with `dialog` (`speaker`, `annotation`, `content`), `survey_score` (1-5)
and what the seeker said of the problem; optionally `split`. `FailedESConv.json` holds the dialogues that were rated
low: the speakers are `speaker` (seeker) and `listener` (supporter), and some strategies have other names, here given
ESConv's; the original is in the turn's metadata. `Others` is kept: it says that none of the seven strategies was used.
Licence: CC BY-NC 4.0. Citation: Liu et al., "Towards Emotional Support Dialog Systems", ACL 2021.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from empathia.corpora import Card, Found
from empathia.corpora._files import each, each_file
from empathia.corpora._json import items
from empathia.corpora._text import Item
from empathia.errors import InputError
from empathia.schema import Dialogue, Label, Turn

CARD = Card(
    title="ESConv: strategies of emotional support, and how the seeker rated the chat",
    tasks=("strategies",),
    licence="CC BY-NC 4.0",
    source="github.com/thu-coai/Emotional-Support-Conversation",
    folder="esconv",
    files={"ESConv.json": 1300, "FailedESConv.json": 196},
)
ROLES = {"seeker": "seeker", "supporter": "supporter", "speaker": "seeker", "listener": "supporter"}
STRATEGIES = (
    "Question",
    "Restatement or Paraphrasing",
    "Reflection of feelings",
    "Self-disclosure",
    "Affirmation and Reassurance",
    "Providing Suggestions",
    "Information",
    "Others",
)
SAME = {
    "Questions": "Question",
    "Other": "Others",
    "Restatement": "Restatement or Paraphrasing",
    "Approval and Reassurance": "Affirmation and Reassurance",
    "Direct Guidance": "Providing Suggestions",
}


def read(path: Path) -> Iterator[Found]:
    """One dialogue per chat; strategies are on the supporter's turns, the survey's scores on the dialogue."""
    return each_file(path, CARD.files, lambda file: each(items(file), lambda item: _dialogue(item, file.stem)))


def _dialogue(item: Item[Any], corpus: str) -> Iterator[Found]:
    rest = {key: value for key, value in item.value.items() if key not in ("dialog", "survey_score")}
    scores = item.value["survey_score"]
    labels: dict[str, Label] = {f"{who}_{what}": int(score) for who, given in scores.items() for what, score in given.items()}
    turns = tuple(_turn(message) for message in item.value["dialog"])
    name = f"{corpus}-{item.number}"
    yield Dialogue(id=name, group=name, turns=turns, labels=labels, metadata=rest)


def _turn(message: Mapping[str, Any]) -> Turn:
    labels: dict[str, Label] = {}
    metadata = {}
    if strategy := message["annotation"].get("strategy"):
        usual = SAME.get(strategy, strategy)
        if usual not in STRATEGIES:
            raise InputError("a strategy is none of ESConv's eight")
        labels["strategies"] = (usual,)
        metadata = {"strategy": strategy}
    if feedback := message["annotation"].get("feedback"):
        labels["feedback"] = int(feedback)
    return Turn(role=ROLES[message["speaker"]], content=message["content"].strip(), labels=labels, metadata=metadata)
