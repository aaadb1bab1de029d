"""Who seeks and who provides empathy, and with which intent."""

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
