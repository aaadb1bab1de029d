"""One question per file: the file's name is the task's name, its `TASK` the task."""

from empathia import parts
from empathia.task import Task

DEFAULT = ("direction", "emotion", "mechanisms", "strategies", "service", "perceived", "causes", "risk")  # of the default model


def names() -> tuple[str, ...]:
    """All tasks."""
    return parts.names("tasks")


def load(name: str) -> Task:
    """The task of that name."""
    task: Task = parts.load("tasks", name).TASK
    return task
