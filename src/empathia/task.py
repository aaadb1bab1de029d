"""What a task is: a question about a turn, the kinds of its answers, and where its training rows come from."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from empathia.schema import Dialogue, Example


@dataclass(frozen=True)
class Choice:
    """One of several labels, each with its definition; `neutral` is the one that says "nothing here"."""

    question: str
    labels: Mapping[str, str]
    neutral: str
    silver: bool = False


@dataclass(frozen=True)
class Level:
    """A level from 0 up, each with its definition, and rationales: the words that show it."""

    question: str
    levels: tuple[str, ...]
    silver: bool = False


@dataclass(frozen=True)
class Choices:
    """Any number of labels, each with its definition; `none` is how annotators write that none of them applies."""

    question: str
    labels: Mapping[str, str]
    silver: bool = False
    none: str = ""


@dataclass(frozen=True)
class Rating:
    """A number between two ends, each end with its definition."""

    question: str
    ends: tuple[str, str]
    low: int = 1
    high: int = 5
    silver: bool = False


@dataclass(frozen=True)
class Spans:
    """The stretches of a turn that show something."""

    question: str
    silver: bool = False


@dataclass(frozen=True)
class Causes:
    """What moved a turn: sentences of the turns that it answers, or whole turns up to and with itself."""

    question: str
    unit: Literal["sentence", "turn"] = "sentence"
    silver: bool = False


@dataclass(frozen=True)
class Flag:
    """Yes or no, where a yes that is overlooked is worse than one too many; `raised` says what a yes means."""

    question: str
    raised: str
    silver: bool = False


Output = Choice | Choices | Level | Rating | Spans | Causes | Flag


@dataclass(frozen=True)
class Task:
    """A question. `on` says which turns it is asked of: every `turn`, or each `reply` to another participant."""

    name: str
    question: str
    outputs: Mapping[str, Output]
    on: Literal["turn", "reply"]
    corpora: tuple[str, ...]
    model: str
    nested: bool = False

    def keys(self) -> tuple[str, ...]:
        """The keys of a turn's analysis that this task fills."""
        return (self.name,) if self.nested else tuple(self.outputs)

    def examples(self, dialogues: Iterable[Dialogue]) -> Iterator[Example]:
        """The turns that carry a human (or silver) label for any output of this task."""
        for dialogue in dialogues:
            for index, turn in enumerate(dialogue.turns):
                if any(name in turn.labels for name in self.outputs):
                    yield Example(dialogue=dialogue, index=index)
