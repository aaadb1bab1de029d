"""Conversations with labels, wherever they come from: a corpus by name, a file whose turns carry labels, or our own results."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path

from empathia import corpora, tasks
from empathia.corpora import labelstudio, results
from empathia.errors import InputError, UnknownName
from empathia.findings import Origin
from empathia.schema import Analysis, Dialogue, Graded, Label, Problem
from empathia.task import Choice, Choices, Level, Output, Rating, Spans

YES, NO = labelstudio.YES, labelstudio.NO


@dataclass(frozen=True)
class Labelled:
    """Conversations as they are read; what cannot be used lands in `aside` on the way."""

    name: str
    records: Iterable[Dialogue | Analysis]
    corpus: str | None = None
    ours: bool = False
    aside: list[Problem] = field(default_factory=list)

    def dialogues(self) -> Iterator[Dialogue]:
        """The conversations with their labels; answers of ours are labels too."""
        return (results.dialogue(one) if isinstance(one, Analysis) else one for one in self.records)

    def origin(self, output: str) -> Origin:
        """Who gave the labels of an output: people, a language model under guidelines (silver), or our own model."""
        if self.ours:
            return "ours"
        learnt = (
            task.outputs[output].silver for task in map(tasks.load, tasks.names()) if self.corpus in task.corpora and output in task.outputs
        )
        return "silver" if self.corpus and (corpora.card(self.corpus).silver or any(learnt)) else "human"

    def told(self) -> str:
        """What was set aside, in words; nothing if all could be read."""
        bad = [problem for problem in self.aside if problem.kind == "skipped"]
        return f"{self.name}: {len(bad)} set aside, the first at {bad[0].place}: {bad[0].reason}" if bad else ""


def opened(source: str, *, data: Path | None = None, format: str | None = None) -> Labelled:  # noqa: A002
    """The conversations of a corpus below the data folder, by its name, or of a file in any known format."""
    if source in corpora.names("corpus") and format is None:
        if data is None:
            raise InputError(f"The corpus '{source}' lies in a data folder: name the folder with --data, or set EMPATHIA_DATA.")
        return Labelled(source, corpora.dialogues(source, data), corpus=source)
    path = Path(source)
    if not path.exists() and not path.suffix:
        raise UnknownName("file or corpus", source, corpora.names("corpus"))
    name, aside = format or corpora.sniff(path), list[Problem]()
    ours = name == "results"
    stream = results.analyses(path) if ours else corpora.open_dialogues(path, name)
    corpus = name if name in corpora.names("corpus") else None
    return Labelled(path.name, _good(stream, aside), corpus=corpus, ours=ours, aside=aside)


def annotators(sources: Iterable[Labelled]) -> dict[str, list[Dialogue]]:
    """The dialogues by annotator: a source is one, but a Label Studio export in which several worked is all of them."""
    found: dict[str, list[Dialogue]] = {}
    for source in sources:
        dialogues = list(source.dialogues())
        several: dict[str, list[Dialogue]] = {}
        for dialogue in dialogues:
            for who, one in labelstudio.by_annotator(dialogue).items():
                several.setdefault(f"{source.name} {who}", []).append(one)
        for who, theirs in (several if len(several) > 1 else {source.name: dialogues}).items():
            found[who if who not in found else f"{who} ({len(found) + 1})"] = theirs
    return found


def names(label: Label) -> tuple[str, ...]:
    """The labels that one value says: text, several texts, or yes and no; none for numbers, levels and spans."""
    if isinstance(label, bool):
        return (YES if label else NO,)
    if isinstance(label, str):
        return (label,)
    return tuple(one for one in label if isinstance(one, str)) if isinstance(label, tuple) else ()


def number(label: Label) -> float | None:
    """The number that a value is: a rating, or a level; nothing for others."""
    if isinstance(label, Graded):
        return label.level
    return label if isinstance(label, int | float) and not isinstance(label, bool) else None


@cache
def declared() -> Mapping[str, Output]:
    """The outputs of all tasks of the registry."""
    return {name: output for task in map(tasks.load, tasks.names()) for name, output in task.outputs.items()}


def outputs(values: Mapping[str, Sequence[Label]]) -> dict[str, Output]:
    """What each output is: as its task declares it, or as its values show it where no task does or they do not fit."""
    return {name: _fitting(declared().get(name), inferred(name, some)) for name, some in values.items()}


def inferred(name: str, values: Sequence[Label]) -> Output:
    """What an output is, by its values."""
    said = sorted(set(chain.from_iterable(map(names, values))))
    numbers = [found for found in map(number, values) if found is not None]
    if any(isinstance(value, Graded) for value in values):
        return Level(question=name, levels=tuple(map(str, range(int(max(numbers)) + 1))))
    if numbers:
        return Rating(question=name, ends=("", ""), low=int(min(numbers)), high=int(-(-max(numbers) // 1)))
    if any(isinstance(value, tuple) and value and not isinstance(value[0], str) for value in values):
        return Spans(question=name)
    if any(isinstance(value, tuple) for value in values):
        return Choices(question=name, labels=dict.fromkeys(said, ""))
    return Choice(question=name, labels=dict.fromkeys(said, ""), neutral="")


def _fitting(known: Output | None, seen: Output) -> Output:
    if isinstance(known, Choice | Choices) and isinstance(seen, Choice | Choices):
        same = type(known) is type(seen) and set(seen.labels) <= {*known.labels, getattr(known, "none", "")}
        return known if same else seen
    if isinstance(known, Level) and isinstance(seen, Level):
        return known if len(seen.levels) <= len(known.levels) else seen
    if isinstance(known, Rating) and isinstance(seen, Rating):
        return known if known.low <= seen.low and seen.high <= known.high else seen
    return known if known is not None and type(known) is type(seen) else seen


def _good(stream: Iterable[Dialogue | Analysis | Problem], aside: list[Problem]) -> Iterator[Dialogue | Analysis]:
    for one in stream:
        if isinstance(one, Problem):
            aside.append(one)
        else:
            yield one
