"""A language model that follows an instruction: verbalised labels, ranked by how likely each is as the answer.

Each output of a task is a question with options in words (Choice: its labels; Choices: yes or no to each label; Level and Rating:
the numbers). The prompt is an instruction made of the task (domain, intent, question, options with their definitions) and the turn
with those around it; the options' log-likelihoods are the answer's scores, a rating is the mean by them. The model can be asked as
it comes, or fine-tuned: on the log-likelihood of the right option alone, the best epoch on validation rows is kept. Sequence-to-
sequence models (Flan-T5) and causal ones (SmolLM2, GGUF files included) go through the same code.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from empathia import __version__, metrics
from empathia.errors import InputError
from empathia.models import _language
from empathia.models._folder import FORMAT, sha256, write_card
from empathia.models._instructions import Asked, Settings, prompt
from empathia.models._language import Ids, Language
from empathia.models._questions import Kind, kinds
from empathia.models._tuning import Recipe, tune
from empathia.schema import Answer, Example, ModelId
from empathia.task import Task

KIND = "instructed"

__all__ = ["Instructed", "Recipe", "Settings", "start", "train"]


class Rows(Protocol):
    """Rows for learning and for choosing, such as an `evaluation.Split`."""

    @property
    def train(self) -> Sequence[Example]:
        """Rows to learn from."""
        ...

    @property
    def valid(self) -> Sequence[Example]:
        """Rows to choose the best epoch with; without any, the last one is kept."""
        ...


@dataclass(frozen=True)
class Instructed:
    """A language model, the tasks that it answers, and what its prompts show."""

    id: ModelId
    language: Language
    tasks: tuple[str, ...]
    settings: Settings = field(default_factory=Settings)
    recipe: Recipe = field(default_factory=lambda: Recipe(epochs=0))

    @classmethod
    def load(cls, folder: Path, card: Mapping[str, Any]) -> "Instructed":
        """The model of a checked folder."""
        return cls(
            id=ModelId(name=card["name"], version=card["version"], sha256=sha256(folder / "model.json")),
            language=_language.load(str(folder)),
            tasks=tuple(card["tasks"]),
            settings=Settings(**card["settings"]),
            recipe=Recipe(**card["recipe"]),
        )

    def save(self, folder: Path, told: Mapping[str, Any] | None = None) -> None:
        """Write the folder: weights, tokenizer, and last the card, with what else is `told` of the model."""
        if (folder / "model.json").exists():
            raise InputError(f"'{folder}' already holds a model. Choose another folder, or delete it first.")
        folder.mkdir(parents=True, exist_ok=True)
        self.language.save(folder)
        card = {
            "format": FORMAT,
            "kind": KIND,
            "name": self.id.name,
            "version": self.id.version,
            "tasks": {name: {} for name in self.tasks},
            "settings": asdict(self.settings),
            "recipe": asdict(self.recipe),
        }
        write_card(folder, {**card, **(told or {})})

    def answer(self, examples: Sequence[Example], tasks: Sequence[Task]) -> list[dict[str, Answer]]:
        """For each example its answers by output name; tasks on replies leave out turns that answer nobody."""
        answers: list[dict[str, Answer]] = [{} for _ in examples]
        for task in tasks:
            places = [place for place, example in enumerate(examples) if _applies(task, example)]
            rows = [examples[place] for place in places]
            for name, kind in _named(task):
                shares = [self.shares(Asked(task, about, question), rows) for about, question in kind.named().items()]
                for place, mine in zip(places, zip(*shares, strict=True), strict=True):
                    answers[place][name] = kind.weigh(mine)
        return answers

    def shares(self, asked: Asked, examples: Sequence[Example]) -> list[list[float]]:
        """How likely each option of a question is for each example, the sum being 1."""
        return self.language.shares([self.prompt(asked, one) for one in examples], self.language.options(list(asked.question.options)))

    def prompt(self, asked: Asked, example: Example) -> Ids:
        """The tokens of the prompt for one question about one example."""
        room = min(self.settings.room, self.language.room or self.settings.room)
        return self.language.prompt(prompt(asked, example, replace(self.settings, room=room), self.language.ids))


def start(where: str, tasks: Sequence[Task], *, settings: Settings | None = None) -> Instructed:
    """The language model of a folder, GGUF file or hub id as it comes, to answer these tasks."""
    language = _language.load(where)
    answered = tuple(task.name for task in tasks if any(_named(task)))
    return Instructed(ModelId(name=f"{KIND}:{language.name}", version=__version__, sha256=""), language, answered, settings or Settings())


def train(
    task: Task,
    rows: Rows,
    where: str,
    *,
    settings: Settings | None = None,
    recipe: Recipe | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Instructed:
    """Fine-tune the language model of a folder, GGUF file or hub id on a task; each epoch is told in a line."""
    recipe = recipe or Recipe()
    model = replace(start(where, [task], settings=settings), recipe=recipe)
    pairs = list(_pairs(model, task, rows.train))
    if not pairs:
        raise InputError(f"No row to learn from has a label for {', '.join(task.outputs)}.")
    tune(model.language, pairs, recipe, lambda: _headline(model, task, rows.valid), tell)
    return model


def _named(task: Task) -> Iterator[tuple[str, Kind]]:
    """The outputs whose questions are the same for every example."""
    return ((name, kind) for name, kind in kinds(task) if kind.named())


def _applies(task: Task, example: Example) -> bool:
    return task.on == "turn" or bool(example.context)


def _pairs(model: Instructed, task: Task, examples: Sequence[Example]) -> Iterator[tuple[Ids, Ids]]:
    """Each question about each row as a prompt, with the right answer."""
    for asked, rows in _labelled(task, examples):
        options = model.language.options(list(asked.question.options))
        yield from ((model.prompt(asked, example), options[place]) for example, place in rows)


def _labelled(task: Task, examples: Sequence[Example]) -> Iterator[tuple[Asked, list[tuple[Example, int]]]]:
    """Each question of a task with the rows that answer it, and the place of the right option."""
    for name, kind in _named(task):
        mine = [example for example in examples if name in example.turn.labels and _applies(task, example)]
        for about, question in kind.named().items():
            options = list(question.options)
            yield Asked(task, about, question), [(example, _place(question.option(example), options, name, example)) for example in mine]


def _place(option: str, options: list[str], name: str, example: Example) -> int:
    if option not in options:
        raise InputError(f"Row {example.dialogue.id}: '{option}' is no {name}. Known: {', '.join(options)}.")
    return options.index(option)


def _headline(model: Instructed, task: Task, examples: Sequence[Example]) -> float | None:
    """The mean over the questions of their options' macro-F1, by which epochs are compared; nothing without rows."""
    found = []
    for asked, rows in _labelled(task, examples):
        shares = model.shares(asked, [example for example, _ in rows])
        if said := [row.index(max(row)) for row in shares]:
            found.append(metrics.macro_f1([place for _, place in rows], said, labels=range(len(asked.question.options))))
    return sum(found) / len(found) if found else None


MODEL = Instructed
