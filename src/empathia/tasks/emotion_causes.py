"""Which turns of a conversation caused the emotion of a turn."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from empathia.schema import Dialogue, Example
from empathia.task import Causes, Task


@dataclass(frozen=True)
class EmotionCauses(Task):
    """A task whose corpora name their labels `causes` too."""

    def examples(self, dialogues: Iterable[Dialogue]) -> Iterator[Example]:
        """The turns whose emotion's causes are known."""
        return super().examples(map(_renamed, dialogues))


def _renamed(dialogue: Dialogue) -> Dialogue:
    names = {"causes": "emotion_causes"}
    turns = (turn.model_copy(update={"labels": {names.get(k, k): v for k, v in turn.labels.items()}}) for turn in dialogue.turns)
    return dialogue.model_copy(update={"turns": tuple(turns)})


TASK = EmotionCauses(
    name="emotion_causes",
    question="Which turns, this one included, caused the emotion of this turn?",
    on="turn",
    corpora=("reccon",),
    model="coattention",
    outputs={"emotion_causes": Causes(question="Which turns caused the emotion of this turn?", unit="turn")},
)
