"""Replies with a context that they answer and one that they do not: what teaches a model to heed the context.

Made from conversations alone, without labels of empathy: a reply after its own context fits; after a context of the opposite
feeling about a like topic, after a neutral one, or after that of a stranger it does not. In neutral exchanges there is nothing
to react to, also when an empathic sentence is put into the reply. The contrast set and the carriers of the probe are never used.
"""

import random
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from empathia import corpora
from empathia.schema import Dialogue, Example, Graded
from empathia.segment import sentences

NEGATIVE = frozenset(
    {"afraid", "angry", "annoyed", "anxious", "apprehensive", "ashamed", "devastated", "disappointed", "disgusted", "embarrassed"}
    | {"furious", "guilty", "jealous", "lonely", "sad", "terrified"}
)
POSITIVE = frozenset(
    {"anticipating", "caring", "confident", "content", "excited", "faithful", "grateful", "hopeful", "impressed", "joyful", "proud"}
    | {"trusting"}
)
NEUTRAL, FELT = "neutral", "felt"
MIXED = frozenset({"nostalgic", "prepared", "sentimental", "surprised"})
WRITTEN = 3  # how often the neutral exchanges that were written for this count beside those of RECCON
FEELINGS = (NEUTRAL, *sorted(NEGATIVE | POSITIVE | MIXED))  # those of EmpatheticDialogues, and none
KINDS = ("inverted", "inverted", "neutral", "stranger")


class Clash(NamedTuple):
    """A reply, a context to which it reacts (none if there is no such), and a context that leaves it nothing to react to.

    `feeling` is that of the fitting context, `other` that of the clashing one: an emotion of EmpatheticDialogues, NEUTRAL where nobody
    feels anything, FELT where somebody feels something that nobody named. None: not known.
    """

    reply: str
    fitting: str | None
    clashing: str
    feeling: str | None = None
    other: str | None = None


def held(example: Example) -> bool:
    """Whether a row's post, a fifth of all, is never shown to the gates: on these rows they are set."""
    return zlib.crc32(example.context[-1].content.encode()) % 5 == 0


def clashes(rows: Sequence[Example], data: Path, *, seed: int, most: int = 12000) -> list[Clash]:
    """Clashes from the training rows of the mechanisms and from other conversations, of which `most` bounds each corpus.

    Missing corpora are left out. Sentences of held rows may be planted in neutral exchanges.
    """
    dice = random.Random(f"clashes {seed}")
    own = [(example.context[-1].content, example.turn.content) for example in rows if not held(example)]
    talk = list(_first_replies(data, "empatheticdialogues"))
    dice.shuffle(talk)
    talk = talk[:most]
    neutral = WRITTEN * list(_written(data)) + list(_calm(data))
    opposite = _opposites(talk)
    found = [Clash(reply, post, dice.choice(own)[0], FELT, FELT) for post, reply in own]
    found += [Clash(reply, post, dice.choice(neutral)[0], FELT, NEUTRAL) for post, reply in own if neutral]
    for i, (context, reply, emotion) in enumerate(talk):
        kind = dice.choice(KINDS)
        if kind == "neutral" and neutral:
            found.append(Clash(reply, context, dice.choice(neutral)[0], emotion, NEUTRAL))
        else:
            other = talk[opposite[i]] if kind == "inverted" and i in opposite else dice.choice(talk)
            found.append(Clash(reply, context, other[0], emotion, other[2]))
    for name in ("esconv", "care"):
        others = list(_replies(data, name))
        found += [Clash(reply, context, dice.choice(others)[0]) for context, reply in dice.sample(others, min(len(others), most // 8))]
    found += [Clash(reply, None, context, other=NEUTRAL) for context, reply in dice.sample(neutral, min(len(neutral), most // 8))]
    found += _planted(rows, neutral, dice, count=most // 4)
    dice.shuffle(found)
    return found


def _planted(rows: Sequence[Example], neutral: Sequence[tuple[str, str]], dice: random.Random, *, count: int) -> Iterator[Clash]:
    """Neutral exchanges with an empathic sentence of a training row in the reply."""
    shown = [text for example in rows for text in _rationales(example)]
    for _ in range(count if shown and neutral else 0):
        context, reply = dice.choice(neutral)
        place = dice.choice([0, *(span.end for span in sentences(reply))])
        yield Clash(f"{reply[:place]} {dice.choice(shown)} {reply[place:].strip()}".strip(), None, context, other=NEUTRAL)


def _rationales(example: Example) -> Iterator[str]:
    for grade in example.turn.labels.values():
        if isinstance(grade, Graded) and grade.level:
            yield from (text for span in grade.rationales for text in _short(example.turn.content[span.start : span.end]))


def _short(text: str) -> Iterator[str]:
    """The sentences of a text that could stand in any reply."""
    return (found for span in sentences(text) if 2 <= len((found := text[span.start : span.end]).split()) <= 14)


def _first_replies(data: Path, name: str) -> Iterator[tuple[str, str, str]]:
    """(what the speaker says first, the first reply, the speaker's emotion)."""
    for dialogue in _read(data, name):
        if len(dialogue.turns) > 1 and dialogue.metadata.get("split", "train") == "train":
            yield dialogue.turns[0].content, dialogue.turns[1].content, str(dialogue.labels.get("emotion"))


def _written(data: Path) -> Iterator[tuple[str, str]]:
    """Neutral exchanges that were written for this."""
    for dialogue in corpora.dialogues("neutral", data):
        yield dialogue.turns[0].content, dialogue.turns[1].content


def _calm(data: Path) -> Iterator[tuple[str, str]]:
    """Neighbouring turns in which nobody shows an emotion."""
    for dialogue in _read(data, "reccon"):
        for one, other in zip(dialogue.turns, dialogue.turns[1:], strict=False):
            calm = one.labels.get("emotion") == other.labels.get("emotion") == "neutral"
            if calm and one.role != other.role and len(one.content.split()) > 3:
                yield one.content, other.content


def _replies(data: Path, name: str) -> Iterator[tuple[str, str]]:
    """Labelled replies of helpers, each with the last turn that it answers; rows kept for tests stay out."""
    for dialogue in _read(data, name):
        if dialogue.metadata.get("split", "train") == "train":
            for index, turn in enumerate(dialogue.turns):
                answered = dialogue.answered(index)
                if turn.labels and answered:
                    yield dialogue.turns[answered[-1]].content, turn.content


def _read(data: Path, name: str) -> list[Dialogue]:
    return corpora.dialogues(name, data) if (data / corpora.card(name).folder).is_dir() else []


def _opposites(talk: Sequence[tuple[str, str, str]]) -> dict[int, int]:
    """For the place of each context of a clear feeling that of the nearest one of the opposite feeling, by the words they share."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]

    sides = [[i for i, (_, _, emotion) in enumerate(talk) if emotion in side] for side in (NEGATIVE, POSITIVE)]
    if not all(sides):
        return {}
    words = TfidfVectorizer(stop_words="english", sublinear_tf=True).fit_transform([context for context, _, _ in talk])
    found: dict[int, int] = {}
    for mine, other in (sides, sides[::-1]):
        near = (words[mine] @ words[other].T).toarray().argmax(axis=1)
        found |= {i: other[j] for i, j in zip(mine, near, strict=True)}
    return found
