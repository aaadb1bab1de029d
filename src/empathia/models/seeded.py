"""A person's own phenomena beside a model's tasks: each seed set is a question, its answer the sentences that are like a seed.

A sentence is read alone, as a seed is, so that a seed which stands in a text word for word is always found; among its
neighbours the same sentence would look like itself by 0.8 in the median and by 0.5 at times.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from empathia.encoders import Encoder
from empathia.findings import Hit
from empathia.models import Model
from empathia.models._additive import Floats
from empathia.models._similar import DEFAULT_ENCODER, matches, open_encoder, split, vectors
from empathia.schema import Answer, Example, ModelId, SpansAnswer, TurnAnalysis
from empathia.seeds import SeedSet, check_names
from empathia.task import Spans, Task

BATCH = 256  # texts read at once


@dataclass(frozen=True)
class Finder:
    """Seed sets, the vectors of their seeds, and the encoder that made them."""

    encoder: Encoder
    sets: tuple[SeedSet, ...]
    known: tuple[Floats, ...]

    @classmethod
    def of(cls, sets: Sequence[SeedSet], where: str = DEFAULT_ENCODER) -> "Finder":
        """A finder with the default encoder, or the one of a folder."""
        encoder = open_encoder(where)
        shown = [some.plain() for some in sets]
        return cls(encoder, tuple(shown), tuple(vectors(encoder, some.seeds) for some in shown))

    def spans(self, texts: Sequence[str]) -> Iterator[dict[str, SpansAnswer]]:
        """For each text by seed set the sentences that are like a seed."""
        for text in split(self.encoder, texts):
            yield {
                some.name: SpansAnswer(spans=tuple(match for match in matches(text, some.seeds, known) if match.score >= some.threshold))
                for some, known in zip(self.sets, self.known, strict=True)
            }

    def hits(self, texts: Iterable[tuple[str, str]]) -> Iterator[Hit]:
        """The same for texts that stand at named places, as a stream, each sentence with its seed."""
        stream = iter(texts)
        while some := list(islice(stream, BATCH)):
            for (place, text), found in zip(some, self.spans([text for _, text in some]), strict=True):
                for name, answer in found.items():
                    for match in answer.spans:
                        yield Hit(place=place, name=name, sentence=text[match.start : match.end], seed=match.seed, score=match.score)


@dataclass(frozen=True)
class Seeded:
    """A model, and the seed sets beside it."""

    model: Model
    finder: Finder

    @classmethod
    def of(cls, model: Model, sets: Sequence[SeedSet], taken: Sequence[str]) -> "Seeded":
        """The model with these seed sets, none of which may have a name that is `taken`; the default encoder reads them."""
        check_names(sets, {*taken, *model.tasks, *TurnAnalysis.model_fields})
        return cls(model, Finder.of(sets))

    @property
    def id(self) -> ModelId:
        """The model's."""
        return self.model.id

    @property
    def own(self) -> Mapping[str, Task]:
        """The questions of the seed sets."""
        return {some.name: task(some) for some in self.finder.sets}

    @property
    def tasks(self) -> tuple[str, ...]:
        """The model's tasks, then the seed sets."""
        return (*self.model.tasks, *self.own)

    def answer(self, examples: Sequence[Example], tasks: Sequence[Task]) -> list[dict[str, Answer]]:
        """What the model answers, and for each turn the sentences that are like a seed."""
        asked, own = {task.name for task in tasks}, self.own
        told = self.model.answer(examples, [task for task in tasks if task.name not in own])
        spans = self.finder.spans([example.turn.content for example in examples])
        return [
            {**one, **{name: answer for name, answer in found.items() if name in asked}} for one, found in zip(told, spans, strict=True)
        ]


def task(seeds: SeedSet) -> Task:
    """The question that a seed set answers, on every turn."""
    question = seeds.question or f"Which sentences are like the seeds of {seeds.name}?"
    return Task(name=seeds.name, question=question, outputs={seeds.name: Spans(question)}, on="turn", corpora=(), model="seeded")
