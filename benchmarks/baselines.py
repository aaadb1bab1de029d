"""Systems for mechanisms that are fitted in seconds: trivial ones, tf-idf, and Micromodels as they should and should not be scored."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]

from empathia import metrics, seeding
from empathia.encoders import Encoded, Encoder
from empathia.evaluation import Split
from empathia.models import Model
from empathia.models._similar import open_encoder
from empathia.schema import Answer, Example, Graded, LevelAnswer, ModelId, ScoredSpan
from empathia.segment import sentences
from empathia.task import Task

TASK = seeding.TASK
Scores = Callable[[str], Sequence[float]]  # a text -> a share per class


@dataclass(frozen=True)
class Fitted:
    """Per mechanism what scores the levels of a reply, and what scores its sentences as rationales."""

    name: str
    levels: Mapping[str, Scores]
    marks: Mapping[str, Scores]

    tasks = (TASK.name,)

    @property
    def id(self) -> ModelId:
        """Which system this is."""
        return ModelId(name=self.name, version="0", sha256="")

    def answer(self, examples: Sequence[Example], tasks: Sequence[Task]) -> list[dict[str, Answer]]:
        """For each reply its level per mechanism, and the sentences that rather are a rationale than not."""
        return [{name: self._one(name, example.turn.content) for name in self.levels if example.context} for example in examples]

    def _one(self, name: str, text: str) -> LevelAnswer:
        scores = tuple(float(score) for score in self.levels[name](text))
        marked = [(span, float(self.marks[name](text[span.start : span.end])[1])) for span in sentences(text)]
        spans = tuple(ScoredSpan(start=span.start, end=span.end, score=score) for span, score in marked if score >= 0.5)
        return LevelAnswer(level=scores.index(max(scores)), scores=scores, rationales=spans)


def majority(rows: Split, _: str) -> Model:
    """Always the most frequent level of the training rows; marks nothing."""
    most = {name: Counter(_grade(row, name).level for row in rows.train).most_common(1)[0][0] for name in TASK.outputs}
    levels = {name: partial(_always, tuple(float(i == level) for i in range(3))) for name, level in most.items()}
    return Fitted("majority", levels, dict.fromkeys(TASK.outputs, partial(_always, (1.0, 0.0))))


def _always(scores: tuple[float, ...], _: str) -> tuple[float, ...]:
    return scores


def tfidf(rows: Split, _: str) -> Model:
    """Logistic regression over tf-idf of the reply; its rationales by another one over single sentences."""
    texts = [row.turn.content for row in rows.train]
    levels = {name: _regression(texts, [_grade(row, name).level for row in rows.train], 3) for name in TASK.outputs}
    parts = [(row, span) for row in rows.train for span in sentences(row.turn.content)]
    said = [row.turn.content[span.start : span.end] for row, span in parts]
    marks = {}
    for name in TASK.outputs:
        inside = [int(any(metrics.marks(text, _inside(row, name, span)))) for text, (row, span) in zip(said, parts, strict=True)]
        marks[name] = _regression(said, inside, 2)
    return Fitted("tfidf", levels, marks)


def _inside(row: Example, name: str, sentence: Any) -> list[Any]:
    """The rationales of a row as offsets into one of its sentences."""
    moved = ((s.start - sentence.start, s.end - sentence.start) for s in _grade(row, name).rationales)
    return [sentence.model_copy(update={"start": start, "end": end}) for start, end in moved]


def _regression(texts: Sequence[str], gold: Sequence[int], classes: int) -> Scores:
    model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), min_df=2), LogisticRegression(max_iter=1000, class_weight="balanced"))
    model.fit(texts, gold)
    seen = {int(label): place for place, label in enumerate(model.classes_)}

    def scores(text: str) -> list[float]:
        found = model.predict_proba([text])[0]
        return [float(found[seen[i]]) if i in seen else 0.0 for i in range(classes)]

    return scores


class Remembering:
    """An encoder that reads each text once: the systems and seeds of a benchmark ask for the same sentences."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.known: dict[str, Encoded] = {}

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """The token states of each text."""
        new = list(dict.fromkeys(text for text in texts if text not in self.known))
        self.known |= zip(new, self.encoder.encode(new), strict=True)
        return [self.known[text] for text in texts]


@cache
def opened(where: str) -> Encoder:
    """The encoder of a folder, or the default model's."""
    return Remembering(open_encoder(where))


def micromodels(rows: Split, encoder: str) -> Model:
    """Micromodels, scored honestly: seeds of training rows, none of which is compared with itself."""
    return seeding.fit(rows, opened(encoder), where=encoder, by="likest")


def few(count: int, rows: Split, encoder: str) -> Model:
    """The same with so many seeds per mechanism: those most used on validation rows."""
    kept = seeding.prune(seeding.make(rows.train, by="likest"), rows.valid, count, opened(encoder))
    return seeding.fit(rows, opened(encoder), given=kept, where=encoder, by="likest")


def glass(rows: Split, encoder: str) -> Model:
    """Micromodels with our features: shares of graded seeds."""
    return seeding.fit(rows, opened(encoder), where=encoder)


def leaking(rows: Split, encoder: str) -> Model:
    """Micromodels as the published code scores them: test replies are compared with the rationales of the test rows.

    Training rows are compared with themselves too. What it reaches is no result: it shows what the leak is worth.
    """
    model = seeding.bare(opened(encoder), seeding.make(rows.train, by="likest"), encoder, by="likest")
    model = seeding.chosen(seeding.taught(model, rows.train, seeding.together(model, rows.train)), rows.valid)
    leaked = seeding.bare(model.encoder, seeding.make(rows.test, by="likest"), encoder, by="likest")
    sets = {name: replace(some, threshold=model.seeds[name].threshold) for name, some in leaked.seeds.items()}
    return replace(model, seeds=sets, known=leaked.known)


def _grade(row: Example, name: str) -> Graded:
    found = row.turn.labels[name]
    assert isinstance(found, Graded)
    return found


FITTED: Mapping[str, Callable[[Split, str], Model]] = {
    "majority": majority,
    "tfidf": tfidf,
    "micromodels": micromodels,
    **{f"micromodels-{count}": partial(few, count) for count in (3, 10, 100)},
    "micromodels-leak": leaking,
    "glass": glass,
}
