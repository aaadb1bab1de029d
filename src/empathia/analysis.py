"""The main job: conversations in, analyses out. Turns are batched across conversations."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, cast, get_args

from empathia import corpora, models
from empathia.errors import UnknownName
from empathia.language import foreign
from empathia.models import Model, prompted
from empathia.models.prompted import Prompted
from empathia.models.seeded import Seeded
from empathia.schema import (
    NOT_PARTICIPANTS,
    Analysis,
    Answer,
    ChoiceAnswer,
    Dialogue,
    Example,
    LevelAnswer,
    Outcome,
    Summary,
    TurnAnalysis,
)
from empathia.seeds import read_all
from empathia.segment import sentences
from empathia.task import Task
from empathia.tasks import load as load_task
from empathia.tasks import names as task_names

BATCH = 2048  # turns answered at once


def analyse(
    conversation: Dialogue | Sequence[Mapping[str, Any]], *, tasks: Sequence[str] | None = None, model: Model | None = None
) -> Analysis:
    """The analysis of one conversation: a Dialogue, or messages with `role` and `content`."""
    dialogue = conversation if isinstance(conversation, Dialogue) else corpora.dialogue(conversation)
    return next(analyse_all([dialogue], tasks=tasks, model=model))


def analyse_all(
    dialogues: Iterable[Dialogue], *, tasks: Sequence[str] | None = None, model: Model | None = None, batch: int = BATCH
) -> Iterator[Analysis]:
    """An analysis per dialogue, in their order, as a stream; the batch changes the speed, never the answers."""
    model = model or models.load()
    chosen = choose(tasks, model)
    for some in _batches(dialogues, batch):
        yield from _analyse(some, chosen, model)


def judge(spec: str, *, tasks: Sequence[str] | None = None, cache: Path | None = None) -> Prompted:
    """The LLM that a string names, as a model of these tasks or of all; with a cache file, no call is made twice."""
    return prompted.load(spec, [load_task(name) for name in tasks or task_names()], cache=cache)


def choose(asked: Sequence[str] | None, model: Model) -> list[Task]:
    """The tasks of these names, or all that the model answers; an unknown one is an error that suggests the nearest.

    What a person brings along as seeds is always asked.
    """
    own: Mapping[str, Task] = model.own if isinstance(model, Seeded) else {}
    for name in asked or ():
        if name not in model.tasks:
            raise UnknownName("task", name, model.tasks)
    return [own.get(name) or load_task(name) for name in model.tasks if asked is None or name in asked or name in own]


def with_seeds(model: Model, paths: Sequence[Path]) -> Model:
    """The model with a task of its own for each seed file, or each .txt file of a folder, named after the file."""
    taken = [key for name in task_names() for key in (name, *load_task(name).outputs)]
    return Seeded.of(model, read_all(paths), taken) if paths else model


def texts(file: Path) -> Iterator[tuple[str, str]]:
    """What is said in a file of conversations, each turn with its place; what cannot be read is passed over."""
    for found in corpora.open_dialogues(file):
        if isinstance(found, Dialogue):
            yield from ((f"{found.id} [{one.index}]", one.turn.content) for one in speaking(found))


def _batches(dialogues: Iterable[Dialogue], size: int) -> Iterator[list[Dialogue]]:
    some: list[Dialogue] = []
    for dialogue in dialogues:
        some.append(dialogue)
        if sum(len(one.turns) for one in some) >= size:
            yield some
            some = []
    if some:
        yield some


def _analyse(dialogues: Sequence[Dialogue], asked: Sequence[Task], model: Model) -> Iterator[Analysis]:
    examples = [speaking(dialogue) for dialogue in dialogues]
    each = getattr(model, "each", model.answer)  # as they come, where the model can: they are put together while others are answered
    answers = iter(each(list(chain.from_iterable(examples)), asked))
    for dialogue, mine in zip(dialogues, examples, strict=True):
        yield _put_together(dialogue, {example.index: next(answers) for example in mine}, asked, model)


def speaking(dialogue: Dialogue) -> list[Example]:
    """The turns of a dialogue that a model is asked about: those in which a participant says something."""
    turns = enumerate(dialogue.turns)
    return [Example(dialogue=dialogue, index=i) for i, turn in turns if turn.role not in NOT_PARTICIPANTS and turn.content.strip()]


def _put_together(dialogue: Dialogue, answers: Mapping[int, Mapping[str, Answer]], asked: Sequence[Task], model: Model) -> Analysis:
    turns = []
    for index, turn in enumerate(dialogue.turns):
        found = answers.get(index, {})
        given = {key: value for task in asked for key, value in _keys(task, found)}
        outcome = _outcome(index, dialogue, answers, asked)
        turns.append(
            TurnAnalysis(
                index=index,
                role=turn.role,
                content=turn.content,
                sentences=sentences(turn.content),
                english=not foreign(turn.content),
                outcome=outcome,
                metadata=turn.metadata,
                **given,
            )
        )
    return Analysis(id=dialogue.id, model=model.id, turns=tuple(turns), summary=_summary(turns, answers), metadata=dialogue.metadata)


def _summary(turns: Sequence[TurnAnalysis], answers: Mapping[int, Mapping[str, Answer]]) -> Summary:
    counts = {name: sum(turn.outcome == name for turn in turns) for name in get_args(Outcome)}
    satisfied = [found["satisfaction"] for _, found in sorted(answers.items()) if "satisfaction" in found]
    return Summary(**counts, satisfaction=cast(float, satisfied[-1]) if satisfied else None)


def _keys(task: Task, found: Mapping[str, Answer]) -> Iterator[tuple[str, Any]]:
    """The keys of a turn that a task fills; null where it does not apply."""
    if task.nested:
        yield task.name, {name: found[name] for name in task.outputs if name in found} or None
    else:
        yield from ((name, found.get(name)) for name in task.outputs)


def _outcome(index: int, dialogue: Dialogue, answers: Mapping[int, Mapping[str, Answer]], asked: Sequence[Task]) -> Outcome | None:
    """Was empathy sought in the turns that this one answers, and does it give any?"""
    answered = [i for i in dialogue.answered(index) if i in answers]
    if index not in answers or not answered or "direction" not in {task.name for task in asked}:
        return None
    directions = [_direction(answers[i]) for i in (*answered, index)]
    if None in directions:
        return None  # a model may leave a question unanswered
    if "seek" not in directions[:-1]:
        return "not_needed"
    mine = answers[index]
    shown = any(isinstance(answer, LevelAnswer) and answer.level > 0 for answer in mine.values())
    return "given" if shown or directions[-1] == "provide" else "missed"


def _direction(answers: Mapping[str, Answer]) -> str | None:
    answer = answers.get("direction")
    return answer.label if isinstance(answer, ChoiceAnswer) else None
