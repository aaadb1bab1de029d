"""Which emotion a turn shows."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from empathia.schema import Dialogue, Example
from empathia.task import Choice, Task

SPEAKER = "speaker"  # EmpatheticDialogues: the one whose emotion the conversation is about


@dataclass(frozen=True)
class Emotion(Task):
    """A task whose labels stand on whole conversations: they count for the turns of the one who tells of the situation."""

    def examples(self, dialogues: Iterable[Dialogue]) -> Iterator[Example]:
        """The speaker's turns."""
        return super().examples(map(_told, dialogues))


def _told(dialogue: Dialogue) -> Dialogue:
    given = {"emotion": dialogue.labels["emotion"]} if "emotion" in dialogue.labels else {}
    turns = (turn.model_copy(update={"labels": {**turn.labels, **given}}) if turn.role == SPEAKER else turn for turn in dialogue.turns)
    return dialogue.model_copy(update={"turns": tuple(turns)})


TASK = Emotion(
    name="emotion",
    question="Which emotion does the one who writes this turn show?",
    on="turn",
    corpora=("empatheticdialogues",),
    model="window",
    outputs={
        "emotion": Choice(
            question="Which emotion does the turn show?",
            neutral="content",
            labels={
                "afraid": "fears something",
                "angry": "is displeased at a wrong",
                "annoyed": "is irritated by something small",
                "anticipating": "awaits something to come",
                "anxious": "is uneasy about what may happen",
                "apprehensive": "hesitates before something that may go badly",
                "ashamed": "feels small for something done",
                "caring": "looks after somebody",
                "confident": "is sure to succeed",
                "content": "is at peace with how things are",
                "devastated": "is crushed by a loss or blow",
                "disappointed": "hoped for more than came",
                "disgusted": "is repelled by something",
                "embarrassed": "feels awkward before others",
                "excited": "looks forward with high spirits",
                "faithful": "is loyal to somebody or something",
                "furious": "is in a rage",
                "grateful": "is thankful",
                "guilty": "is sorry for a wrong of their own",
                "hopeful": "believes that things will turn out well",
                "impressed": "admires what somebody did",
                "jealous": "wants what another has, or fears to lose somebody",
                "joyful": "is full of joy",
                "lonely": "misses company",
                "nostalgic": "thinks back fondly",
                "prepared": "is ready for what comes",
                "proud": "is pleased with what they or theirs achieved",
                "sad": "is unhappy",
                "sentimental": "is moved by something dear",
                "surprised": "met something unexpected",
                "terrified": "is in great fear",
                "trusting": "relies on somebody",
            },
        )
    },
)
