"""What is done with seeds: make them of rationales, fit the glass box, keep the useful ones, see how many are needed.

Seeds come from training rows, thresholds and the choice of seeds from validation rows, scores from test rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, cast

import numpy as np

from empathia import __version__, corpora, evaluation, metrics, seeds, tasks
from empathia.encoders import Encoder
from empathia.errors import InputError
from empathia.evaluation import Split, evaluate, rows_of, split
from empathia.models import _additive, _similar
from empathia.models._additive import Floats
from empathia.models._similar import DEFAULT_ENCODER, DIGITS, Sentences, matches, vectors, wins
from empathia.models.micromodels import KIND, Micromodels, features
from empathia.schema import Curve, Example, GlassAnswer, Graded, ModelId, Score, ScoredSpan, SeedScore
from empathia.seeds import SeedSet
from empathia.task import Level

TASK = tasks.load("mechanisms")
GRID = tuple(round(0.3 + 0.02 * i, 2) for i in range(34))  # thresholds that are tried
SIZES = (3, 10, 30, 100)
CHOOSE: metrics.Variant = "positives-only"


def make(rows: Sequence[Example]) -> list[SeedSet]:
    """A seed set per mechanism, of the rationales of these rows: give training rows alone."""
    return [seeds.make(rows, name, output.question) for name, output in TASK.outputs.items()]


def fit(rows: Split, encoder: Encoder, *, given: Sequence[SeedSet] = (), where: str = DEFAULT_ENCODER, seed: int = 0) -> Micromodels:
    """The glass box of these rows; `given` are a person's own seeds instead of all rationales, `where` names the encoder."""
    model = bare(encoder, given or make(rows.train), where)
    return chosen(taught(model, rows.train, apart(model, rows.train), seed=seed), rows.valid)


def bare(encoder: Encoder, given: Sequence[SeedSet], where: str = DEFAULT_ENCODER) -> Micromodels:
    """A model that knows its seeds, and nothing yet of levels."""
    if missing := TASK.outputs.keys() - {some.name for some in given}:
        raise InputError(f"Seeds are missing for {', '.join(sorted(missing))}: give a file of that name with the ending .txt for each.")
    sets = {some.name: some for name in TASK.outputs for some in given if some.name == name}
    known = {name: vectors(encoder, some.seeds) for name, some in sets.items()}
    return Micromodels(ModelId(name=KIND, version=__version__, sha256=""), encoder, sets, known, {}, where)


def apart(model: Micromodels, rows: Sequence[Example]) -> Floats:
    """The features of training rows, where no row is compared with a seed that only its own post gave: (rows, mechanisms)."""
    texts = read(model.encoder, rows)
    columns = []
    for name, some in model.seeds.items():
        own = seeds.own(some, rows)
        columns.append([_likest(text, model.known[name], own.get(seeds.group(row), [])) for row, text in zip(rows, texts, strict=True)])
    return np.array(columns).T


def _likest(text: Sentences, known: Floats, left_out: Sequence[int]) -> float:
    alike = text.vectors @ known.T if text.spans else np.zeros((1, len(known)))  # (sentences, seeds)
    alike[:, left_out] = -1
    return round(float(alike.max()), DIGITS)


def together(model: Micromodels, rows: Sequence[Example]) -> Floats:
    """The features of rows as the model sees them when it answers: (rows, mechanisms)."""
    return np.array([features(model.matches(text)) for text in read(model.encoder, rows)])


def taught(model: Micromodels, rows: Sequence[Example], table: Floats, *, seed: int = 0) -> Micromodels:
    """The model with an additive machine per mechanism, learnt from the features of these rows."""
    machines = {}
    for name, output in TASK.outputs.items():
        levels = [_grade(row, name).level for row in rows]
        if len(set(levels)) < 2:
            raise InputError(f"The training rows hold one level of {name} alone: a model needs at least 2.")
        machines[name] = _additive.fit(table, levels, count=len(cast(Level, output).levels), seed=seed)
    return replace(model, machines=machines)


def chosen(model: Micromodels, rows: Sequence[Example]) -> Micromodels:
    """The model with the thresholds that find the rationales of validation rows best."""
    everything = replace(model, seeds={name: replace(some, threshold=-1.0) for name, some in model.seeds.items()})
    answers = evaluation.ask(everything, TASK, rows)
    sets = {}
    for name, some in model.seeds.items():
        shown = [cast(GlassAnswer, found[name]).rationales for found in answers]
        sets[name] = replace(some, threshold=threshold(rows, name, shown, some.threshold))
    return replace(model, seeds=sets)


def threshold(
    rows: Sequence[Example],
    output: str,
    shown: Sequence[Sequence[ScoredSpan]],
    otherwise: float,
    variant: metrics.Variant = CHOOSE,
) -> float:
    """How like a seed a sentence must be to be a rationale, by IOU-F1; `otherwise` where no row has a rationale."""
    if not any(_grade(row, output).rationales for row in rows):
        return otherwise
    return max(GRID, key=lambda theta: iou(rows, output, shown, theta, variant))


def iou(rows: Sequence[Example], output: str, shown: Sequence[Sequence[ScoredSpan]], theta: float, variant: metrics.Variant) -> float:
    """The IOU-F1 of the sentences that are at least so like a seed."""
    said = [metrics.marks(row.turn.content, [s for s in spans if s.score >= theta]) for row, spans in zip(rows, shown, strict=True)]
    return metrics.iou_f1(_gold(rows, output), said, variant=variant)


def prune(given: Sequence[SeedSet], rows: Sequence[Example], keep: int, encoder: Encoder) -> list[SeedSet]:
    """Of each set the seeds that most often are the best match in these rows: give validation rows."""
    texts = read(encoder, rows)
    return [seeds.prune(some, keep, wins(texts, some, vectors(encoder, some.seeds))) for some in given]


def curve(given: SeedSet, rows: Split, encoder: Encoder, *, sizes: Sequence[int] = SIZES) -> Curve:
    """How well the sentences that are like a seed are rationales, against the number of seeds, on test rows.

    Seeds are kept, and the threshold is chosen, on validation rows; levels play no part.
    """
    if given.name not in TASK.outputs:
        raise InputError(f"No corpus has rationales for '{given.name}'. Seeds that can be scored: {', '.join(TASK.outputs)}.")
    valid, test = read(encoder, rows.valid), read(encoder, rows.test)
    known = dict(zip(given.seeds, vectors(encoder, given.seeds), strict=True))
    used = wins(valid, given, np.stack(list(known.values())))
    points = []
    for size in sorted({min(size, len(known)) for size in (*sizes, len(known))}):
        some = seeds.prune(given, size, used)
        held, asked = ([matches(text, some.seeds, np.stack([known[seed] for seed in some.seeds])) for text in part] for part in (valid, test))
        thetas = {variant: threshold(rows.valid, given.name, held, given.threshold, variant) for variant in metrics.VARIANTS[1:]}
        scores = {variant: iou(rows.test, given.name, asked, theta, variant) for variant, theta in thetas.items()}
        points.append(SeedScore(seeds=size, scores=scores))
    gold = _gold(rows.test, given.name)
    guesses = {"mark nothing": metrics.mark_nothing(gold), "mark everything": metrics.mark_everything(gold)}
    trivial = {name: {v: metrics.iou_f1(gold, said, variant=v) for v in metrics.VARIANTS[1:]} for name, said in guesses.items()}
    return Curve(name=given.name, points=tuple(points), trivial=trivial)


def train(data: Path, out: Path, *, given: Sequence[SeedSet] = (), encoder: str = DEFAULT_ENCODER, seed: int = 0) -> list[Score]:
    """Fit the glass box on the corpora, write it as a model folder, and give its scores on test rows."""
    rows = split(rows_of(TASK, data), seed=seed)
    model = fit(rows, _similar.open_encoder(encoder), given=given, where=encoder, seed=seed)
    scores = evaluate(model, TASK, rows.test)
    model.save(out, _told(model, rows, scores, seed))
    return scores


def _told(model: Micromodels, rows: Split, scores: Sequence[Score], seed: int) -> dict[str, Any]:
    texts = read(model.encoder, rows.valid)
    return {
        "recipe": {"seed": seed},
        "rows": {TASK.name: {part: len(getattr(rows, part)) for part in ("train", "valid", "test")}},
        "data": {name: corpora.card(name).model_dump(include={"licence", "source"}) for name in TASK.corpora},
        "licence": "the seeds are words of the training data: its licence, see `data`, is theirs",
        "wins": {name: dict(wins(texts, some, model.known[name]).most_common()) for name, some in model.seeds.items()},
        "scores": {"after_quantisation": {TASK.name: [score.model_dump() for score in scores]}},
        "date": date.today().isoformat(),
    }


def read(encoder: Encoder, rows: Sequence[Example]) -> list[Sentences]:
    """The sentences of the replies."""
    return _similar.split(encoder, [row.turn.content for row in rows])


def _gold(rows: Sequence[Example], output: str) -> list[metrics.Marks]:
    return [metrics.marks(row.turn.content, _grade(row, output).rationales) for row in rows]


def _grade(example: Example, output: str) -> Graded:
    found = example.turn.labels[output]
    assert isinstance(found, Graded)
    return found


def uses(card: Mapping[str, Any], name: str) -> Mapping[str, int]:
    """How often each seed of a model was the best match in validation rows, as its card tells."""
    return dict(card.get("wins", {}).get(name, {}))
