"""The answers on a turn, beside what their task declares of them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from empathia.schema import Answer, ChoiceAnswer, ChoicesAnswer, FlagAnswer, LevelAnswer, SpansAnswer, TurnAnalysis
from empathia.task import Causes, Flag, Level, Output, Spans, Task

DIRECTION = "direction"
FOUND, NOT_FOUND = "found", "not found"


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
            if isinstance(answer, ChoiceAnswer | ChoicesAnswer | LevelAnswer | SpansAnswer | FlagAnswer | tuple | float):
                yield Given(name, output, answer)


def said(answer: Answer) -> tuple[str | int, ...]:
    """What an answer says, in the words or levels that are counted."""
    match answer:
        case ChoiceAnswer():
            return (answer.label,)
        case ChoicesAnswer():
            return answer.labels
        case LevelAnswer():
            return (answer.level,)
        case SpansAnswer():
            return (FOUND if answer.spans else NOT_FOUND,)
        case FlagAnswer():
            return (FOUND if answer.flag else NOT_FOUND,)
        case tuple():
            return (FOUND if answer else NOT_FOUND,)
    return (round(answer),)


def marked_names(tasks: Iterable[Task]) -> tuple[str, ...]:
    """The outputs whose words are highlighted: levels with their rationales, spans, causes, and flags."""
    return tuple(name for task in tasks for name, output in task.outputs.items() if isinstance(output, Level | Spans | Causes | Flag))
