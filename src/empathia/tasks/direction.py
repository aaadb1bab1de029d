"""Who seeks and who provides empathy, and with which intent."""

from collections.abc import Iterable
from dataclasses import replace

from empathia.schema import Example
from empathia.task import Choice, Task

TASK = Task(
    name="direction",
    question="Does this turn seek empathy, provide it, or neither, and with which intent?",
    on="turn",
    corpora=("iempathize",),
    model="clsn",
    outputs={
        "direction": Choice(
            question="In which direction does empathy flow?",
            neutral="none",
            labels={
                "none": "neither seeks nor provides empathy",
                "seek": "shows distress or need that calls for empathy",
                "provide": "offers empathy to somebody else",
            },
        ),
        "intent": Choice(
            question="What is the main purpose of the turn?",
            neutral="Neutral",
            labels={
                "Acknowledging": "shows that the other was heard or agrees with them",
                "Consoling": "comforts or encourages the other",
                "Questioning": "asks the other for more",
                "Sympathizing": "expresses sorrow or compassion for the other",
                "Wishing": "wishes the other well, congratulates, prays or hopes for them",
                "Positive": "reports something good of the writer's own",
                "Negative": "reports something bad of the writer's own",
                "Neutral": "gives facts, advice or anything else",
            },
            silver=True,
        ),
    },
)

SETTINGS = ("multi", "seek", "provide")


def setting(name: str) -> Task:
    """The task with all three directions (`multi`), or with `seek` or `provide` against the rest."""
    if name == "multi":
        return TASK
    direction = TASK.outputs["direction"]
    assert isinstance(direction, Choice)
    two = replace(direction, labels={"none": "anything else", name: direction.labels[name]})
    return replace(TASK, outputs={**TASK.outputs, "direction": two})


def relabelled(examples: Iterable[Example], name: str) -> list[Example]:
    """The examples with the directions of a setting."""
    return [_relabelled(example, setting(name)) for example in examples]


def _relabelled(example: Example, task: Task) -> Example:
    label, known = example.turn.labels.get("direction"), task.outputs["direction"]
    if label is None or not isinstance(known, Choice) or label in known.labels:
        return example
    turn = example.turn.model_copy(update={"labels": {**example.turn.labels, "direction": "none"}})
    turns = tuple(turn if i == example.index else other for i, other in enumerate(example.dialogue.turns))
    return example.model_copy(update={"dialogue": example.dialogue.model_copy(update={"turns": turns})})
