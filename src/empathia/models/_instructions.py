"""Instructions: what a fine-tuned language model is shown of a task and of a conversation, in as many tokens as there is room for."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from empathia.errors import InputError
from empathia.llm import DOMAIN, Question
from empathia.schema import NOT_PARTICIPANTS, Example, Turn
from empathia.task import Task

LEAST = 32  # tokens that must be left for the conversation
Ids = tuple[int, ...]


@dataclass(frozen=True)
class Settings:
    """What a prompt shows: an instruction or the text alone, and how many turns `before` and `after` the one that is judged."""

    instruction: bool = True
    before: int = 3
    after: int = 0
    room: int = 512  # tokens of a prompt
    domain: str = DOMAIN


@dataclass(frozen=True)
class Asked:
    """One question of a task, and in a word or two what it is about."""

    task: Task
    about: str
    question: Question


def instruction(asked: Asked, domain: str) -> str:
    """Domain, intent, question and options of a task, in words."""
    what = "reply" if asked.task.on == "reply" else "message"
    options = ", ".join(f"{option} ({meaning})" if meaning else option for option, meaning in asked.question.options.items())
    return (
        f"Below is a part of one of many {domain}. Judge the {what} after the word Judge; the others help to understand it.\n"
        f"Purpose: {asked.task.question}\n"
        f"Question: {asked.question.text}\n"
        f"Options: {options}.\n"
    )


def prompt(asked: Asked, example: Example, settings: Settings, ids: Callable[[str], Ids]) -> Ids:
    """The tokens of a prompt: instruction, conversation, and what the question is about, with a colon.

    Where the conversation is too long, the turn that is judged comes first and the nearest turns next: the farthest are left out,
    and a turn that fits only in part loses its middle.
    """
    head = ids(instruction(asked, settings.domain)) if settings.instruction else ()
    tail = ids(f"{asked.about.replace('_', ' ')}:")
    room = settings.room - len(head) - len(tail)
    if room < LEAST:
        raise InputError(
            f"The question about {asked.about} leaves {room} of {settings.room} tokens for the conversation: give more `room`."
        )
    before, judged, after = _lines(example, settings)
    parts = {place: ids(line) for place, line in [*_places(before, -1), (0, judged), *_places(after, 1)]}
    kept: dict[int, Ids] = {}
    for place in sorted(parts, key=abs):
        kept[place] = _shortened(parts[place], room)
        room -= len(kept[place])
    return (*head, *chain.from_iterable(kept[place] for place in sorted(kept)), *tail)


def _lines(example: Example, settings: Settings) -> tuple[list[str], str, list[str]]:
    """The turns before, nearest first, the one that is judged, and those after, each as a line."""
    turns, at = example.dialogue.turns, example.index
    before = [_line("Before", turn) for turn in reversed(turns[:at]) if turn.role not in NOT_PARTICIPANTS]
    after = [_line("After", turn) for turn in turns[at + 1 :] if turn.role not in NOT_PARTICIPANTS]
    return before[: settings.before], _line("Judge", example.turn), after[: settings.after]


def _line(word: str, turn: Turn) -> str:
    return f"{word} ({turn.role}): {' '.join(turn.content.split())}\n"


def _places(lines: Sequence[str], step: int) -> Iterator[tuple[int, str]]:
    return ((step * place, line) for place, line in enumerate(lines, 1))


def _shortened(ids: Ids, room: int) -> Ids:
    """The tokens without their middle, where there are too many."""
    cut = len(ids) - room
    half = (room + 1) // 2
    return ids if cut <= 0 else (*ids[:half], *ids[half + cut :])
