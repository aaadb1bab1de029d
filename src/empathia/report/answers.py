"""The answers on a turn, beside what their task declares of them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from empathia.schema import Answer, ChoiceAnswer, LevelAnswer, TurnAnalysis
from empathia.task import Level, Output, Task

DIRECTION = "direction"


@dataclass(frozen=True)
class Given:
    """One answer, the name of the output that it answers, and that output as declared."""

    name: str
    output: Output
    answer: Answer


def answers(turn: TurnAnalysis, tasks: Iterable[Task]) -> Iterator[Given]:
    """The answers that stand on a turn, in the order in which the tasks declare them."""
    for task in tasks:
        found = turn.answers.get(task.name) if task.nested else turn.answers
        for name, output in task.outputs.items():
            answer = (found or {}).get(name)
            if isinstance(answer, ChoiceAnswer | LevelAnswer):
                yield Given(name, output, answer)


def level_names(tasks: Iterable[Task]) -> tuple[str, ...]:
    """The outputs that are levels, and so may carry rationales."""
    return tuple(name for task in tasks for name, output in task.outputs.items() if isinstance(output, Level))
