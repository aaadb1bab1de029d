"""Does a message call for a human at once?"""

from empathia.task import Flag, Task

TASK = Task(
    name="risk",
    question="Is the writer, or somebody they speak of, in danger now or soon?",
    on="turn",
    corpora=("crisis",),
    model="plain",
    outputs={
        "risk": Flag(
            question="Does this message speak of present suicidality, self-harm, abuse or another danger to life?",
            raised="a careful moderator would want to see it at once",
        )
    },
)
