"""Does a model heed the context? Stock sentences in neutral exchanges, posts swapped, and a contrast set.

Every probe changes what stands around a reply and asks the model again. A model that looks at the reply alone calls a stock
sentence empathic wherever it stands, and rates the same words alike after a fitting and after a clashing context.
"""

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import cast

from empathia import corpora, tasks
from empathia.errors import UnknownName
from empathia.findings import Finding
from empathia.models import Model, ask
from empathia.schema import Dialogue, Example, Graded, LevelAnswer, Turn
from empathia.segment import sentences

FOLDER = Path(__file__).parent / "contrast"
TASK = "mechanisms"
PUBLISHED = {  # of 1,000 exchanges, those that EPITOME's own model calls empathic (Micromodels, Table 3)
    "personachat": {"emotional_reactions": 997, "interpretations": 695, "explorations": 969},
    "ubuntu": {"emotional_reactions": 992, "interpretations": 444, "explorations": 994},
}


def probe(model: Model, data: Path | None = None, *, limit: int | None = None, seed: int = 0) -> list[Finding]:
    """All probes; those that need corpora are left out without a data folder. `limit` is the number of items of each."""
    if TASK not in model.tasks:
        raise UnknownName("task of this model", TASK, model.tasks)
    found = contrast(model, limit=limit)
    if data is not None:
        found += stock(model, data, limit=limit, seed=seed) + swaps(model, data, limit=limit, seed=seed)
    return found


def contrast(model: Model, *, limit: int | None = None) -> list[Finding]:
    """How often the model rates a response higher after the fitting than after the clashing context, by kind and register."""
    chosen = pairs()[:: max(1, len(pairs()) // limit)] if limit else pairs()
    fitting = _levels(model, [exchange(pair["fitting"], pair["response"]) for pair in chosen])
    clashing = _levels(model, [exchange(pair["clashing"], pair["response"]) for pair in chosen])
    right: dict[str, list[bool]] = {}
    for pair, fits, clash in zip(chosen, fitting, clashing, strict=True):
        name = pair["mechanism"]
        if name in fits and name in clash:
            ordered = fits[name].expected > clash[name].expected
            for part in ("all", pair["kind"], pair["register"], name):
                right.setdefault(part, []).append(ordered)
    order = [*dict.fromkeys(["all", *(pair[key] for key in ("kind", "mechanism", "register") for pair in chosen)])]
    return [
        Finding(probe="contrast", part=part, measure="ordered", value=sum(found) / len(found), rows=len(found), beside={"chance": 0.5})
        for part, found in sorted(right.items(), key=lambda one: order.index(one[0]))
    ]


def stock(model: Model, data: Path, *, limit: int | None = None, seed: int = 0) -> list[Finding]:
    """How many neutral exchanges the model calls empathic once a stock sentence stands in the response, and how many before."""
    dice, sentences_of = random.Random(seed), stock_sentences()
    by_source: dict[str, list[Dialogue]] = {}
    for dialogue in corpora.dialogues("probe", data):
        by_source.setdefault(str(dialogue.metadata["source"]), []).append(dialogue)
    found = []
    for source, dialogues in by_source.items():
        carriers = dialogues[:limit]
        before = _levels(model, [Example(dialogue=dialogue, index=1) for dialogue in carriers])
        for name, phrases in sentences_of.items():
            planted = [plant(dialogue, phrases[i % len(phrases)], dice) for i, dialogue in enumerate(carriers)]
            beside = {"before": _flagged(before, name), "EPITOME": PUBLISHED[source][name] / 1000}
            share = _flagged(_levels(model, planted), name)
            found.append(
                Finding(probe="stock", part=source, output=name, measure="flagged", value=share, rows=len(carriers), beside=beside)
            )
    return found


def swaps(model: Model, data: Path, *, limit: int | None = None, seed: int = 0) -> list[Finding]:
    """Replies of EPITOME after another row's post: how often the model rates them higher after their own."""
    task = tasks.load(TASK)
    rows = [example for name in task.corpora for example in task.examples(corpora.dialogues(name, data))]
    random.Random(seed).shuffle(rows)
    rows = rows[:limit]
    other = [exchange(rows[i - 1].context[0].content, row.turn.content) for i, row in enumerate(rows)]
    own, swapped = _levels(model, rows), _levels(model, other)
    found = []
    for name in task.outputs:
        shown = [i for i, row in enumerate(rows) if cast(Graded, row.turn.labels[name]).level and name in own[i] and name in swapped[i]]
        ordered = [own[i][name].expected > swapped[i][name].expected for i in shown]
        kept = sum(swapped[i][name].level > 0 for i in shown) / max(1, len(shown))
        found.append(
            Finding(
                probe="swap",
                part="epitome",
                output=name,
                measure="ordered",
                value=sum(ordered) / max(1, len(ordered)),
                rows=len(shown),
                beside={"chance": 0.5, "still called empathic": kept},
            )
        )
    return found


@cache
def pairs() -> tuple[Mapping[str, str], ...]:
    """The contrast set: `response`, `fitting`, `clashing`, and what kind of clash it is."""
    return tuple(json.loads(line) for line in (FOLDER / "pairs.jsonl").read_text(encoding="utf-8").splitlines())


@cache
def stock_sentences() -> Mapping[str, Sequence[str]]:
    """The stock sentences of each mechanism."""
    found: Mapping[str, Sequence[str]] = json.loads((FOLDER / "stock.json").read_text(encoding="utf-8"))
    return found


def plant(dialogue: Dialogue, sentence: str, dice: random.Random) -> Example:
    """The exchange with a sentence put before, between or after those of its response."""
    content = dialogue.turns[1].content
    place = dice.choice([0, *(span.end for span in sentences(content))])
    planted = f"{content[:place]} {sentence} {content[place:].strip()}".strip()
    return exchange(dialogue.turns[0].content, planted)


def exchange(context: str, response: str) -> Example:
    """A response to a context as a question to a model."""
    return Example(dialogue=Dialogue(id="1", turns=(Turn(role="first", content=context), Turn(role="second", content=response))), index=1)


def _levels(model: Model, examples: Sequence[Example]) -> list[dict[str, LevelAnswer]]:
    return [
        {name: answer for name, answer in found.items() if isinstance(answer, LevelAnswer)}
        for found in ask(model, tasks.load(TASK), examples)
    ]


def _flagged(answers: Iterable[Mapping[str, LevelAnswer]], name: str) -> float:
    levels = list(_named(answers, name))
    return sum(level > 0 for level in levels) / max(1, len(levels))


def _named(answers: Iterable[Mapping[str, LevelAnswer]], name: str) -> Iterator[int]:
    return (found[name].level for found in answers if name in found)
