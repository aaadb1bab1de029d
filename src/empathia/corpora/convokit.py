"""ConvoKit: a folder of one corpus, as ConvoKit's `dump` writes it.

Layout: `utterances.jsonl` (`id`, `conversation_id`, `speaker`, `text`, `reply-to`, `timestamp`, `meta`; older: `root`,
`user`), and optionally `conversations.json`, whose entries become metadata; `speakers.json` and `corpus.json` are not
needed. The utterances of a conversation need not stand together. Their order is the chain of replies; without one, the
time; in a forum whose threads branch, the order of the file.
Licence and citation: those of the corpus.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from empathia.corpora import Card
from empathia.corpora._json import json_lines, members
from empathia.corpora._messages import Keys, dialogues
from empathia.corpora._text import Item
from empathia.errors import InputError
from empathia.schema import Dialogue, Problem

CARD = Card(title="ConvoKit corpus (a folder)", tasks=(), licence="the corpus's", source="convokit.cornell.edu", kind="format")
UTTERANCES, CONVERSATIONS = "utterances.jsonl", "conversations.json"
OLDER = {"root": "conversation_id", "user": "speaker", "reply_to": "reply-to"}


def read(path: Path) -> Iterator[Dialogue | Problem]:
    """One dialogue per conversation; what the corpus says of an utterance or a conversation is metadata."""
    if not (path / UTTERANCES).is_file():
        raise InputError(f"'{path}' has no {UTTERANCES}: name the folder that ConvoKit's `dump` wrote.")
    return dialogues(_conversations(path), keys=Keys(role="speaker", content="text"))


def _conversations(path: Path) -> Iterator[Item[Any] | Problem]:
    about: dict[str, Any] = {}
    for member in members(path / CONVERSATIONS) if (path / CONVERSATIONS).is_file() else ():
        if isinstance(member, Problem):
            yield member
        else:
            about[member.value[0]] = member.value[1] if isinstance(member.value[1], dict) else {}
    starts: list[int] = []  # where each line begins, so that texts need not be held in memory
    lines_of: dict[str, list[int]] = defaultdict(list)
    with (path / UTTERANCES).open("rb") as file:
        for item in json_lines(_noted(file, starts), name=UTTERANCES):
            if isinstance(item, Problem):
                yield item
            elif isinstance(item.value, dict) and isinstance(conversation := _usual(item.value).get("conversation_id"), str):
                lines_of[conversation].append(item.number)
            else:
                yield Problem(place=item.place, reason="an utterance without `conversation_id`: dump the corpus again with ConvoKit")
        for conversation, numbers in lines_of.items():
            utterances = [_utterance(file, starts[number - 1]) for number in numbers]
            value = about.get(conversation, {}) | {"id": conversation, "messages": _ordered(utterances)}
            yield Item(f"{UTTERANCES}:{numbers[0]}", numbers[0], value)


def _noted(file: BinaryIO, starts: list[int]) -> Iterator[bytes]:
    start = 0
    for line in file:
        starts.append(start)
        start += len(line)
        yield line


def _utterance(file: BinaryIO, start: int) -> dict[str, Any]:
    file.seek(start)
    usual = _usual(json.loads(file.readline()))
    return {key: value for key, value in usual.items() if key != "conversation_id"}


def _usual(utterance: dict[str, Any]) -> dict[str, Any]:
    return {OLDER.get(key, key): value for key, value in utterance.items()}


def _ordered(utterances: list[dict[str, Any]]) -> list[dict[str, Any]]:
    ids = {utterance.get("id") for utterance in utterances}
    answers = {utterance.get("reply-to"): utterance for utterance in utterances if utterance.get("reply-to") in ids}
    chain = [utterance for utterance in utterances if utterance.get("reply-to") not in ids]
    if len(chain) == 1:
        while len(chain) < len(utterances) and (answer := answers.get(chain[-1].get("id"))):
            chain.append(answer)
    if len(chain) == len(utterances) and answers:
        return chain
    timed = not answers and all(isinstance(utterance.get("timestamp"), int | float) for utterance in utterances)
    return sorted(utterances, key=lambda utterance: float(utterance["timestamp"])) if timed else utterances
