"""How a reply is received: empathy as the one who reads it perceives it, and satisfaction with the conversation so far."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from empathia.schema import Dialogue, Example, Label
from empathia.task import Rating, Task

SURVEY = "seeker_empathy"  # ESConv: what the seeker said of the whole chat


@dataclass(frozen=True)
class Perceived(Task):
    """A task whose ratings also come from whole conversations: they count for the reply that was rated, or the last one."""

    def examples(self, dialogues: Iterable[Dialogue]) -> Iterator[Example]:
        """The replies that carry a rating."""
        for dialogue in map(self._rated, dialogues):
            yield from (example for example in super().examples([dialogue]) if example.context)

    def _rated(self, dialogue: Dialogue) -> Dialogue:
        index = next((i for i, turn in enumerate(dialogue.turns) if any(name in turn.labels for name in self.outputs)), None)
        given: dict[str, Label] = {"satisfaction": dialogue.labels["satisfaction"]} if "satisfaction" in dialogue.labels else {}
        if SURVEY in dialogue.labels:
            index = max((i for i, turn in enumerate(dialogue.turns) if turn.role == "supporter"), default=None)
            given["empathy"] = dialogue.labels[SURVEY]
        return dialogue if index is None or not given else _with(dialogue, index, given)


def _with(dialogue: Dialogue, index: int, labels: Mapping[str, Label]) -> Dialogue:
    turn = dialogue.turns[index]
    taught = turn.model_copy(update={"labels": {**turn.labels, **labels}})
    return dialogue.model_copy(update={"turns": (*dialogue.turns[:index], taught, *dialogue.turns[index + 1 :])})


TASK = Perceived(
    name="perceived",
    question="How would the one who reads this reply receive it?",
    on="reply",
    corpora=("care", "esconv", "empathetic_exchanges"),
    model="window",
    nested=True,
    outputs={
        "engagement": Rating(question="Is the writer eager to help?", ends=("not at all", "very much"), silver=True),
        "understanding": Rating(question="Did the writer understand what it is about?", ends=("not at all", "entirely"), silver=True),
        "sympathy": Rating(question="Does the writer feel with the reader?", ends=("not at all", "very much"), silver=True),
        "helpfulness": Rating(question="Does the reply help?", ends=("not at all", "it solves the problem"), silver=True),
        "empathy": Rating(question="How empathic is the writer, all in all?", ends=("not at all", "very")),
        "satisfaction": Rating(
            question="How satisfied is the reader with the conversation so far?", ends=("not at all", "entirely"), silver=True
        ),
    },
)
