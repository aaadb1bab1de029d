"""How a reply communicates empathy: three mechanisms, each with a level and the words that show it."""

from empathia.task import Level, Task

TASK = Task(
    name="mechanisms",
    question="How strongly does the reply communicate empathy, by which mechanism, with which words?",
    on="reply",
    corpora=("epitome",),
    model="epitome",
    nested=True,
    outputs={
        "emotional_reactions": Level(
            question="Does the reply express warmth, compassion or concern?",
            levels=("not at all", "alludes to an emotion", "names the emotion felt for the other"),
        ),
        "interpretations": Level(
            question="Does the reply show an understanding of the other's feelings and experiences?",
            levels=("not at all", "mentions understanding", "says what is understood, or tells a similar experience"),
        ),
        "explorations": Level(
            question="Does the reply ask to learn more about the other's feelings and experiences?",
            levels=("not at all", "asks in general terms", "asks about something specific"),
        ),
    },
)
