"""Which strategies of emotional support a reply uses."""

from empathia.task import Choices, Task

TASK = Task(
    name="strategies",
    question="Which strategies of emotional support does the reply use?",
    on="reply",
    corpora=("esconv",),
    model="window",
    outputs={
        "strategies": Choices(
            question="Which strategies of emotional support does the reply use?",
            none="Others",
            labels={
                "Question": "asks the other to tell more about their situation",
                "Restatement or Paraphrasing": "says again, shorter or in other words, what the other told",
                "Reflection of feelings": "puts the other's feelings into words",
                "Self-disclosure": "tells an experience or a feeling of the supporter's own",
                "Affirmation and Reassurance": "names the other's strengths, encourages or reassures",
                "Providing Suggestions": "suggests what the other might do",
                "Information": "gives facts, resources or answers",
            },
        )
    },
)
