"""Micromodels: a glass box for mechanisms (Lee et al. 2023). Every answer carries all of its reasons.

Each mechanism has seeds, sentences of training rows. A feature says how a reply stands to the seeds of a mechanism; an
additive model over the features gives the level, and the sentences that stand near enough show it. The paper's feature (`by`
`likest`) is how like the likeliest sentence is to any seed. Ours (`share`) asks how many of the seeds nearest to a sentence
show the mechanism, at all and strongly, among seeds that do and sentences that do not. Seeds are text files in the model
folder: whoever edits them changes the answers. What the reply answers is not read.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from empathia import seeds as seed_files
from empathia.encoders import Encoder
from empathia.errors import InputError, ModelError
from empathia.models._additive import Additive, Floats
from empathia.models._folder import FORMAT, read_card, write_card
from empathia.models._similar import DIGITS, Sentences, matches, open_encoder, shares, split, vectors
from empathia.schema import Answer, Example, GlassAnswer, Match, ModelId, ScoredSpan
from empathia.seeds import SeedSet
from empathia.task import Task

KIND, TASK = "micromodels", "mechanisms"
By = Literal["share", "likest"]
KEPT = "vectors.npz"
NEAR = 0.02  # how far two machines' fingerprints of one encoder may differ


@dataclass(frozen=True)
class Micromodels:
    """Per mechanism its seeds, their vectors, and the additive model that reads the features of all mechanisms."""

    id: ModelId
    encoder: Encoder
    seeds: Mapping[str, SeedSet]
    known: Mapping[str, Floats]
    machines: Mapping[str, Additive]
    where: str = "default"
    by: By = "share"

    tasks = (TASK,)

    @classmethod
    def load(cls, folder: Path, card: Mapping[str, Any]) -> "Micromodels":
        """The model of a checked folder, with its seeds as they are now."""
        files = {name: folder / f"{name}.txt" for name in card["machines"]}
        seeds = {name: seed_files.read(file) for name, file in files.items()}
        encoder = open_encoder(card["encoder"]["where"])
        if not np.allclose(card["encoder"]["fingerprint"], fingerprint(encoder), atol=NEAR):
            raise ModelError(
                f"The model in '{folder}' was fitted with another encoder than '{card['encoder']['where']}' is now: fit it again."
            )
        read = b"".join(file.read_bytes() for file in (folder / "model.json", *files.values()))
        return cls(
            id=ModelId(name=card["name"], version=card["version"], sha256=hashlib.sha256(read).hexdigest()),
            encoder=encoder,
            seeds=seeds,
            known=_known(folder, encoder, seeds),
            machines={name: Additive.from_json(told) for name, told in card["machines"].items()},
            where=card["encoder"]["where"],
            by=card["by"],
        )

    def save(self, folder: Path, told: Mapping[str, Any] | None = None) -> None:
        """Write the folder: a text file of seeds per mechanism, and last the card, with what else is `told` of the model."""
        check_free(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name, seeds in self.seeds.items():
            seed_files.write(seeds, folder / f"{name}.txt")
        kept: dict[str, Any] = {name: known.astype(np.float32) for name, known in self.known.items()}
        kept |= {f"{name} seeds": np.array(some.seeds) for name, some in self.seeds.items()}
        np.savez(folder / KEPT, **kept)
        card = {
            "format": FORMAT,
            "kind": KIND,
            "name": self.id.name,
            "version": self.id.version,
            "tasks": {TASK: {}},
            "by": self.by,
            "encoder": {"where": self.where, "fingerprint": fingerprint(self.encoder)},
            "machines": {name: machine.to_json() for name, machine in self.machines.items()},
        }
        write_card(folder, {**card, **(told or {})})

    def answer(self, examples: Sequence[Example], tasks: Sequence[Task]) -> list[dict[str, Answer]]:
        """For each reply its level per mechanism, with all reasons; turns that answer nobody are left out."""
        asked = TASK in {task.name for task in tasks}
        replies = [i for i, example in enumerate(examples) if asked and example.context]
        texts = split(self.encoder, [examples[i].turn.content for i in replies])
        found = dict(zip(replies, map(self._answer, texts), strict=True))
        return [found.get(i, {}) for i in range(len(examples))]

    def matches(self, name: str, text: Sentences) -> tuple[Match, ...]:
        """Every sentence with the seed of a mechanism that it is most like."""
        some, shown = self.seeds[name], list(self.seeds[name].shown)
        return matches(text, [some.seeds[place] for place in shown], self.known[name][shown])

    def near(self, name: str, text: Sentences, left_out: Sequence[int] = ()) -> Floats:
        """How each sentence stands to the seeds of a mechanism: (sentences, 1 or 2); seeds can be left out by their places."""
        some, known = self.seeds[name], self.known[name]
        if self.by == "share":
            return shares(text, known, some.graded, left_out)
        alike = text.vectors @ known.T if text.spans else np.zeros((1, len(known)))  # (sentences, seeds)
        alike[:, [*left_out, *(place for place, level in enumerate(some.graded) if not level)]] = -1
        likest: Floats = alike.max(axis=1, keepdims=True).round(DIGITS)
        return likest

    def features(self, near: Mapping[str, Floats]) -> Floats:
        """The features of a reply: for each mechanism the sentence that stands nearest."""
        return np.concatenate([found.max(axis=0) for found in near.values()])

    @property
    def names(self) -> tuple[str, ...]:
        """What the features are called."""
        kinds = ("", " (strong)") if self.by == "share" else ("",)
        return tuple(f"{name}{kind}" for name in self.seeds for kind in kinds)

    def _answer(self, text: Sentences) -> dict[str, Answer]:
        near = {name: self.near(name, text) for name in self.seeds}
        return {name: self._glass(name, text, near[name][:, 0], self.features(near)) for name in self.seeds}

    def _glass(self, name: str, text: Sentences, near: Floats, seen: Floats) -> GlassAnswer:
        machine = self.machines[name]
        scores = machine.probabilities(seen)
        level = int(scores.argmax())
        added = {**dict(zip(self.names, machine.terms(seen), strict=True)), "intercept": machine.intercept}
        shown = [(span, float(score)) for span, score in zip(text.spans, near, strict=False) if score >= self.seeds[name].threshold]
        return GlassAnswer(
            level=level,
            scores=_told(scores),
            rationales=tuple(ScoredSpan(start=span.start, end=span.end, score=score) for span, score in shown if level),
            matches=self.matches(name, text),
            terms={feature: _told(values) for feature, values in added.items()},
        )


def _known(folder: Path, encoder: Encoder, seeds: Mapping[str, SeedSet]) -> dict[str, Floats]:
    """The vectors of the seeds: those kept in the folder, and new ones for seeds that were edited since."""
    with np.load(folder / KEPT, allow_pickle=False) as kept:
        rows = {text: row for name in seeds for text, row in zip(kept[f"{name} seeds"].tolist(), kept[name], strict=True)}
    new = list(dict.fromkeys(seed for some in seeds.values() for seed in some.seeds if seed not in rows))
    rows |= dict(zip(new, vectors(encoder, new), strict=True))
    return {name: np.array([rows[seed] for seed in some.seeds], np.float64) for name, some in seeds.items()}


def check_free(folder: Path) -> None:
    """Refuse a folder that holds anything."""
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        raise InputError(f"'{folder}' is there already and not empty. Choose another folder, or delete it first.")


def fingerprint(encoder: Encoder) -> list[float]:
    """A few numbers that tell encoders apart: another encoder has other similarities."""
    one, other, third = vectors(encoder, ["I am so sorry to hear that.", "What happened then?", "The train leaves at nine."])
    return [round(float(value), 4) for value in (one @ other, one @ third, other @ third)]


def uses(path: Path) -> Mapping[str, Mapping[str, int]]:
    """By mechanism how often each seed was the best match in validation rows; nothing where the path is no model folder."""
    card = read_card(path) if (path / "model.json").exists() else {}
    return dict(card.get("wins", {}))


def _told(values: Floats) -> tuple[float, ...]:
    return tuple(round(float(value), DIGITS) for value in values)


MODEL = Micromodels
