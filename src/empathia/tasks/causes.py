"""What in a post moved the reply: the sentences that its empathic parts react to."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from empathia.schema import Dialogue, Example, Graded
from empathia.task import Causes, Task


@dataclass(frozen=True)
class EmpathyCauses(Task):
    """A task that also learns from replies without any empathy: nothing in the post caused what is not there."""

    def examples(self, dialogues: Iterable[Dialogue]) -> Iterator[Example]:
        """The replies whose causes are known."""
        return super().examples(map(_without, dialogues))


def _without(dialogue: Dialogue) -> Dialogue:
    """The dialogue, with no cause on replies that were graded and show no mechanism of empathy."""
    turns = []
    for turn in dialogue.turns:
        grades = [label for label in turn.labels.values() if isinstance(label, Graded)]
        none = "causes" not in turn.labels and grades and not any(grade.level for grade in grades)
        turns.append(turn.model_copy(update={"labels": {**turn.labels, "causes": ()}}) if none else turn)
    return dialogue.model_copy(update={"turns": tuple(turns)})


TASK = EmpathyCauses(
    name="causes",
    question="What in the turns that it answers moved the empathy of this reply?",
    on="reply",
    corpora=("epitome_causes", "epitome"),
    model="coattention",
    outputs={"causes": Causes(question="Which sentences do the empathic parts of the reply react to?", silver=True)},
)
