"""What is done with seeds: make them of rationales, fit the glass box, keep the useful ones, see how many are needed.

Seeds come from training rows, thresholds and the choice of seeds from validation rows, scores from test rows.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, cast

import numpy as np

from empathia import __version__, corpora, evaluation, metrics, seeds, tasks
from empathia.encoders import Encoder
from empathia.errors import InputError
from empathia.evaluation import Split, evaluate, rows_of, split_alike
from empathia.findings import Curve, Score, SeedScore
from empathia.models import _additive, _similar
from empathia.models._additive import Floats
from empathia.models._rationales import grade, iou, threshold, trivial
from empathia.models._similar import DEFAULT_ENCODER, Sentences, matches, open_encoder, vectors
from empathia.models.micromodels import KIND, By, Micromodels, check_free
from empathia.schema import Example, GlassAnswer, Match, ModelId
from empathia.seeds import SeedSet
from empathia.task import Level

TASK = tasks.load("mechanisms")
SIZES = (3, 10, 30, 100)
CHOOSE: metrics.Variant = "positives-only"
VARIANTS: tuple[metrics.Variant, ...] = ("micromodels", "positives-only")


def make(rows: Sequence[Example], *, by: By = "share") -> list[SeedSet]:
    """A seed set per mechanism, of these rows: give training rows alone. Rationales as they are (`likest`), or graded sentences."""
    maker = seeds.make_graded if by == "share" else seeds.make
    return [maker(rows, name, output.question) for name, output in TASK.outputs.items()]


def fit(
    rows: Split, encoder: Encoder, *, given: Sequence[SeedSet] = (), where: str = DEFAULT_ENCODER, seed: int = 0, by: By = "share"
) -> Micromodels:
    """The glass box of these rows; `given` are a person's own seeds instead of those of the rows, `where` names the encoder.

    Seeds that are all of one level say nothing of shares: then the features are those of the paper.
    """
    if given and not all(some.levels for some in given):
        by = "likest"
    model = bare(encoder, given or make(rows.train, by=by), where, by=by)
    return chosen(taught(model, rows.train, apart(model, rows.train), seed=seed), rows.valid)


def bare(encoder: Encoder, given: Sequence[SeedSet], where: str = DEFAULT_ENCODER, *, by: By = "share") -> Micromodels:
    """A model that knows its seeds, and nothing yet of levels."""
    if missing := TASK.outputs.keys() - {some.name for some in given}:
        raise InputError(f"Seeds are missing for {', '.join(sorted(missing))}: give a file of that name with the ending .txt for each.")
    sets = {some.name: some for name in TASK.outputs for some in given if some.name == name}
    known = {name: vectors(encoder, some.seeds) for name, some in sets.items()}
    return Micromodels(ModelId(name=KIND, version=__version__, sha256=""), encoder, sets, known, {}, where, by)


def apart(model: Micromodels, rows: Sequence[Example]) -> Floats:
    """The features of training rows, where no row is compared with a seed that only its own post gave: (rows, features)."""
    own = {name: seeds.own(some, rows) for name, some in model.seeds.items()}
    return np.array(
        [
            model.features({name: model.near(name, text, own[name].get(seeds.group(row), [])) for name in model.seeds})
            for row, text in zip(rows, read(model.encoder, rows), strict=True)
        ]
    )


def together(model: Micromodels, rows: Sequence[Example]) -> Floats:
    """The features of rows as the model sees them when it answers: (rows, features)."""
    return np.array([model.features({name: model.near(name, text) for name in model.seeds}) for text in read(model.encoder, rows)])


def taught(model: Micromodels, rows: Sequence[Example], table: Floats, *, seed: int = 0) -> Micromodels:
    """The model with an additive machine per mechanism, learnt from the features of these rows."""
    machines = {}
    for name, output in TASK.outputs.items():
        levels = [grade(row, name).level for row in rows]
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
        sets[name] = replace(some, threshold=threshold(rows, name, shown, CHOOSE) or some.threshold)
    return replace(model, seeds=sets)


def wins(rows: Sequence[Example], best: Sequence[Sequence[Match]], name: str) -> Counter[str]:
    """How often each seed is the one that a sentence is most like, among the sentences that people marked."""
    found: Counter[str] = Counter()
    for row, some in zip(rows, best, strict=True):
        marked = grade(row, name).rationales
        for match in some:
            found[match.seed] += any(match.start < span.end and span.start < match.end for span in marked)
    return +found


def prune(given: Sequence[SeedSet], rows: Sequence[Example], keep: int, encoder: Encoder) -> list[SeedSet]:
    """Of each set the seeds that most often are the best match of what people marked in these rows: give validation rows."""
    texts = read(encoder, rows)
    plain = [some.plain() for some in given]
    known = [vectors(encoder, some.seeds) for some in plain]
    best = [[matches(text, some.seeds, table) for text in texts] for some, table in zip(plain, known, strict=True)]
    used = [wins(rows, found, some.name) for some, found in zip(plain, best, strict=True)]
    return [seeds.prune(some, keep, found) for some, found in zip(given, used, strict=True)]


def kept(given: Sequence[SeedSet], data: Path, keep: int, *, encoder: str, seed: int) -> list[SeedSet]:
    """The same with the validation rows of the corpora in a folder."""
    _scorable(given)
    return prune(given, rows(data, seed).valid, keep, open_encoder(encoder))


def curves(given: Sequence[SeedSet], rows: Split, encoder: Encoder, *, sizes: Sequence[int] = SIZES) -> list[Curve]:
    """How well the sentences that are like a seed are rationales, against the number of seeds, on test rows.

    Seeds are kept, and the threshold is chosen, on validation rows; levels play no part.
    """
    valid, test = read(encoder, rows.valid), read(encoder, rows.test)
    found = []
    for some in (one.plain() for one in given):
        known = dict(zip(some.seeds, vectors(encoder, some.seeds), strict=True))
        used = wins(rows.valid, [matches(text, some.seeds, np.stack(list(known.values()))) for text in valid], some.name)
        points = []
        for size in sorted({min(size, len(known)) for size in (*sizes, len(known))}):
            few = seeds.prune(some, size, used)
            table = np.stack([known[seed] for seed in few.seeds])
            held, asked = ([matches(text, few.seeds, table) for text in part] for part in (valid, test))
            thetas = {variant: threshold(rows.valid, some.name, held, variant) or some.threshold for variant in VARIANTS}
            scores: dict[str, float] = {kind: iou(rows.test, some.name, asked, theta, kind) for kind, theta in thetas.items()}
            points.append(SeedScore(seeds=size, scores=scores))
        found.append(Curve(name=some.name, points=tuple(points), trivial=trivial(rows.test, some.name, VARIANTS)))
    return found


def _scorable(given: Sequence[SeedSet]) -> None:
    for some in given:
        if some.name not in TASK.outputs:
            raise InputError(f"No corpus has rationales for '{some.name}'. Files that can be scored or pruned: {', '.join(TASK.outputs)}.")


def scored(given: Sequence[SeedSet], data: Path, *, encoder: str, seed: int) -> list[Curve]:
    """The curves of seed sets on the corpora in a folder."""
    _scorable(given)
    return curves(given, rows(data, seed), open_encoder(encoder))


def rows(data: Path, seed: int) -> Split:
    """The labelled rows of mechanisms in a folder of corpora."""
    return split_alike(rows_of(TASK, data), seed=seed)


def train(data: Path, out: Path, *, given: Sequence[SeedSet] = (), encoder: str = DEFAULT_ENCODER, seed: int = 0) -> list[Score]:
    """Fit the glass box on the corpora, write it as a model folder, and give its scores on test rows."""
    check_free(out)
    parts = rows(data, seed)
    model = fit(parts, open_encoder(encoder), given=given, where=encoder, seed=seed)
    scores = evaluate(model, TASK, parts.test)
    model.save(out, _told(model, parts, scores, seed))
    return scores


def _told(model: Micromodels, rows: Split, scores: Sequence[Score], seed: int) -> dict[str, Any]:
    texts = read(model.encoder, rows.valid)
    return {
        "recipe": {"seed": seed},
        "rows": {TASK.name: {part: len(getattr(rows, part)) for part in ("train", "valid", "test")}},
        "data": {name: corpora.card(name).model_dump(include={"licence", "source"}) for name in TASK.corpora},
        "licence": "the seeds are words of the training data: its licence, see `data`, is theirs",
        "wins": {name: dict(wins(rows.valid, [model.matches(name, t) for t in texts], name).most_common()) for name in model.seeds},
        "scores": {"after_quantisation": {TASK.name: [score.model_dump() for score in scores]}},
        "date": date.today().isoformat(),
    }


def read(encoder: Encoder, rows: Sequence[Example]) -> list[Sentences]:
    """The sentences of the replies."""
    return _similar.split(encoder, [row.turn.content for row in rows])
