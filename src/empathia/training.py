"""Training: labelled rows -> a network -> a model folder.

Rows are split by group; the encoder is trained with a head per task at once; the epoch that does best on the
validation rows is exported to ONNX, quantised, and scored on the test rows before and after. A checkpoint after each
epoch lets an interrupted run go on where it stopped, to the same result.
"""

import json
import math
import random
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from empathia import __version__, choosing, corpora, evaluation, models, tasks
from empathia.encoders.huggingface import HuggingFaceEncoder
from empathia.errors import InputError
from empathia.evaluation import Split, evaluate, rows_of, split
from empathia.findings import Score
from empathia.models._export import check_exportable, export
from empathia.models._labels import labels_of, level_of, rating_of
from empathia.models._network import Network, reads_words
from empathia.schema import Answer, Example
from empathia.task import Causes, Choice, Choices, Level, Output, Rating, Task


@dataclass(frozen=True)
class Recipe:
    """How to train; the same recipe, rows and machine give the same model."""

    seed: int = 0
    epochs: int = 5
    patience: int = 2
    rows: int = 32  # per step, of the task with most rows; the others in proportion
    rate: float = 1e-4
    head_rate: float = 5e-4
    decay: float = 0.01
    frozen: int = 0  # lowest layers of the encoder that stay as they are: faster, and little is lost
    options: Mapping[str, Any] = field(default_factory=dict)  # of the heads
    window: int = 192  # tokens that the encoder reads at once; training reads the first window of a text


@dataclass(frozen=True)
class Progress:
    """Where a training stands."""

    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float
    scores: Mapping[str, float]

    @property
    def done(self) -> tuple[int, int]:
        """Steps done, and in all."""
        return self.epoch * self.steps + self.step, self.epochs * self.steps

    @property
    def told(self) -> str:
        """Epoch, loss and the last validation scores."""
        valid = "".join(f" · {name} {score:.3f}" for name, score in self.scores.items())
        return f"epoch {self.epoch + 1}/{self.epochs} · loss {self.loss:.3f}{valid}"


LIMITS = (
    "Learnt from English forum posts, mostly on health and mental health; other registers and languages were not seen.",
    "Direction and intent are learnt from single sentences; a turn takes those of its most telling sentence.",
    "Rates the message, not the person. Not a clinical device.",
)
Watch = Callable[[Progress], None]
HEADLINES = {Choice: "macro_f1", Choices: "macro_f1", Level: "macro_f1", Rating: "quadratic_kappa", Causes: "positive_f1"}


@dataclass(frozen=True)
class Plan:
    """From what to train, how, and where to: corpora, starting encoder, recipe, model folder."""

    data: Path
    encoder: str
    out: Path
    recipe: Recipe = field(default_factory=Recipe)
    resume: bool = False
    head: str | None = None  # instead of the heads that the tasks name


def train(names: Sequence[str], plan: Plan, watch: Watch = lambda _: None) -> Path:
    """Train these tasks together and write a model folder; its card holds the scores on rows it never saw."""
    asked = [replace(task, model=plan.head or task.model) for task in map(tasks.load, names)]
    return _train(asked, {task.name: _split(task, rows_of(task, plan.data), plan.recipe.seed) for task in asked}, plan, watch)


def cross_validate(name: str, plan: Plan, folds: int, watch: Watch = lambda _: None) -> list[Score]:
    """Train on all folds but one, `folds` times, and score every row by the model that did not see it.

    The models stay in the plan's folder; with `resume`, those that are complete are not trained again.
    """
    task = tasks.load(name)
    tested: list[Example] = []
    answers: list[dict[str, Answer]] = []
    for number, (rest, fold) in enumerate(evaluation.folds(_checked(task, rows_of(task, plan.data)), folds, seed=plan.recipe.seed), 1):
        here = replace(plan, out=plan.out / f"fold-{number}")
        if not (plan.resume and (here.out / "model.json").exists()):
            inner = split(rest, seed=plan.recipe.seed, test=0)
            _train([task], {name: Split(train=inner.train, valid=inner.valid, test=fold)}, here, watch)
        tested += fold
        answers += evaluation.ask(models.load(here.out), task, fold)
    return evaluation.score(task, tested, answers)


def _train(asked: Sequence[Task], rows: Mapping[str, Split], plan: Plan, watch: Watch) -> Path:
    if (plan.out / "model.json").exists():
        raise InputError(f"'{plan.out}' already holds a model. Choose another --out, or delete it first.")
    check_exportable(words=reads_words(asked))
    return finish(fit(asked, rows, plan, watch), asked, rows, plan)


def fit(asked: Sequence[Task], rows: Mapping[str, Split], plan: Plan, watch: Watch = lambda _: None) -> Network:
    """Train a network on the training rows; its weights are those of the epoch that does best on the validation rows."""
    torch.manual_seed(plan.recipe.seed)
    network = Network(
        HuggingFaceEncoder.load(plan.encoder, window=plan.recipe.window, frozen=plan.recipe.frozen), asked, plan.recipe.options
    )
    run = _Run(network, asked, rows, plan, watch)
    if plan.resume:
        run.resume()
    run.fit()
    return network


def named(asked: str) -> tuple[str, ...]:
    """The tasks that names with commas between stand for: `default` for all of them."""
    return tasks.names() if asked == "default" else tuple(tasks.load(name).name for name in asked.split(","))


def _checked(task: Task, examples: list[Example]) -> list[Example]:
    """The examples, if they can teach anything: at least two labels, levels or ratings per output, each one that the task knows."""
    for name, output in task.outputs.items():
        if not (known := _known(output)):
            continue
        seen = {label: e.dialogue.id for e in examples if name in e.turn.labels for label in _labels(output, e, name)}
        for label in seen.keys() - known:
            raise InputError(f"Row {seen[label]}: '{label}' is no {name}. Known: {', '.join(sorted(known))}.")
        if len(seen) < 2:
            raise InputError(f"The rows of {', '.join(task.corpora)} hold {len(seen)} label(s) for {name}: a model needs at least 2.")
    return examples


def _split(task: Task, examples: list[Example], seed: int) -> Split:
    rows = split(_checked(task, examples), seed=seed)
    if not (rows.train and rows.valid and rows.test):
        raise InputError(f"The {len(examples)} rows for {task.name} are too few to split by group: give at least 10 posts or dialogues.")
    return rows


def _known(output: Output) -> set[str]:
    match output:
        case Choice():
            return set(output.labels)
        case Choices():
            return {*output.labels, output.none}
        case Level():
            return {str(level) for level in range(len(output.levels))}
        case Rating():
            return {str(step) for step in range(output.low, output.high + 1)}
    return set()


def _labels(output: Output, example: Example, name: str) -> tuple[str, ...]:
    match output:
        case Level():
            return (str(level_of(example, name)),)
        case Rating():
            return (str(rating_of(example, name)),)
        case Choices():
            return labels_of(example, name) or (output.none,)
    return (str(example.turn.labels[name]),)


class _Run:
    """One training: the network, its optimiser, and the best epoch so far."""

    def __init__(self, network: Network, asked: Sequence[Task], rows: Mapping[str, Split], plan: Plan, watch: Watch) -> None:
        self.network, self.asked, self.rows, self.watch = network, asked, rows, watch
        self.recipe, self.folder = plan.recipe, plan.out / "checkpoint"
        recipe = plan.recipe
        self.steps = math.ceil(max(len(part.train) for part in rows.values()) / recipe.rows)
        learnt = [weight for weight in network.encoder.parameters() if weight.requires_grad]
        groups = [{"params": learnt, "lr": recipe.rate}, {"params": list(network.heads.parameters()), "lr": recipe.head_rate}]
        self.optimiser = torch.optim.AdamW(groups, weight_decay=recipe.decay)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimiser, self._rate)
        self.epoch, self.best, self.best_epoch, self.scores = 0, 0.0, -1, dict[str, float]()
        self.best_weights = _copy(network)
        for task in asked:
            if hasattr(network.heads[task.name], "prepare"):
                cast(Any, network.heads[task.name]).prepare(rows[task.name].train, plan.data, plan.recipe.seed)

    def _rate(self, step: int) -> float:
        """Up over the first tenth of the steps, then straight down to nothing."""
        total = self.steps * self.recipe.epochs
        return min((step + 1) / (0.1 * total), (total - step) / (0.9 * total))

    def fit(self) -> None:
        """All epochs, or fewer where the validation rows no longer gain; then the best epoch's weights."""
        while self.epoch < self.recipe.epochs and self.epoch - self.best_epoch <= self.recipe.patience:
            self._one_epoch()
            self.scores = {task.name: _headline(self.network, task, self.rows[task.name].valid) for task in self.asked}
            if (mean := sum(self.scores.values()) / len(self.scores)) > self.best:
                self.best, self.best_epoch, self.best_weights = mean, self.epoch, _copy(self.network)
            self.epoch += 1
            self.save()
        self.network.load_state_dict(self.best_weights)

    def _one_epoch(self) -> None:
        seed = self.recipe.seed * 1000 + self.epoch  # an epoch's chance depends on nothing before it
        torch.manual_seed(seed)
        dice = random.Random(seed)
        self.network.train()
        batches = {
            task.name: (_dialogues if getattr(self.network.heads[task.name], "together", False) else _batches)(
                self.rows[task.name].train, self.steps, dice
            )
            for task in self.asked
        }
        loss = 0.0
        for step in range(self.steps):
            losses = [cast(Any, head).step(self.network.encoder, next(batches[name]), dice) for name, head in self.network.heads.items()]
            total: Tensor = torch.stack(losses).sum()
            self.optimiser.zero_grad()
            total.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self.optimiser.step()
            self.schedule.step()
            loss += (total.item() - loss) / (step + 1)
            self.watch(Progress(self.epoch, self.recipe.epochs, step + 1, self.steps, loss, self.scores))

    def save(self) -> None:
        """A checkpoint, written aside and then put in place."""
        aside = self.folder.with_name("checkpoint.new")
        aside.mkdir(parents=True, exist_ok=True)
        save_file(_copy(self.network), aside / "network.safetensors")
        save_file(self.best_weights, aside / "best.safetensors")
        state = self.optimiser.state_dict()["state"]
        save_file(
            {f"{i}.{key}": value.clone() for i, held in state.items() for key, value in held.items()}, aside / "optimiser.safetensors"
        )
        told = {"recipe": asdict(self.recipe), "epoch": self.epoch, "best": self.best, "best_epoch": self.best_epoch, "scores": self.scores}
        (aside / "progress.json").write_text(json.dumps(told), encoding="utf-8")
        shutil.rmtree(self.folder, ignore_errors=True)
        aside.replace(self.folder)

    def resume(self) -> None:
        """Go on from the checkpoint; without one, from the start."""
        if not (self.folder / "progress.json").exists():
            return
        told = json.loads((self.folder / "progress.json").read_text(encoding="utf-8"))
        if told["recipe"] != asdict(self.recipe):
            raise InputError(
                f"The checkpoint in '{self.folder}' comes from another recipe: {told['recipe']}. Give the same options, or delete it."
            )
        self.epoch, self.best, self.best_epoch, self.scores = told["epoch"], told["best"], told["best_epoch"], told["scores"]
        self.network.load_state_dict(load_file(self.folder / "network.safetensors"))
        self.best_weights = load_file(self.folder / "best.safetensors")
        state: dict[int, dict[str, Tensor]] = {}
        for name, value in load_file(self.folder / "optimiser.safetensors").items():
            number, key = name.split(".")
            state.setdefault(int(number), {})[key] = value
        self.optimiser.load_state_dict({"state": state, "param_groups": self.optimiser.state_dict()["param_groups"]})
        self.schedule.last_epoch = self.epoch * self.steps - 1
        with warnings.catch_warnings():  # torch expects steps of the optimiser, which were taken before the interruption
            warnings.simplefilter("ignore")
            self.schedule.step()


def _copy(network: nn.Module) -> dict[str, Tensor]:
    return {name: value.detach().clone().contiguous() for name, value in network.state_dict().items()}


def _batches(examples: Sequence[Example], count: int, dice: random.Random) -> Iterator[list[Example]]:
    """`count` batches that hold every example once, those of like length together to save padding."""
    rows = list(examples)
    dice.shuffle(rows)
    size = len(rows) / count
    cuts = [round(i * size) for i in range(count + 1)]
    near = 8  # batches among which rows are sorted by length
    for at in range(0, count, near):
        rows[cuts[at] : cuts[min(at + near, count)]] = sorted(
            rows[cuts[at] : cuts[min(at + near, count)]], key=lambda e: len(e.turn.content)
        )
    batches = [rows[low:high] or rows[-1:] for low, high in pairwise(cuts)]
    dice.shuffle(batches)
    return iter(batches)


def _dialogues(examples: Sequence[Example], count: int, dice: random.Random) -> Iterator[list[Example]]:
    """`count` batches that hold every example once, those of one dialogue together, so that what they share is read once."""
    apart: dict[str, list[Example]] = {}
    for example in examples:
        apart.setdefault(example.dialogue.id, []).append(example)
    order = list(apart.values())
    dice.shuffle(order)
    rows = [example for some in order for example in some]
    cuts = [round(i * len(rows) / count) for i in range(count + 1)]
    return iter([rows[low:high] or rows[-1:] for low, high in pairwise(cuts)])


def _headline(network: Network, task: Task, examples: Sequence[Example]) -> float:
    """The mean over a task's outputs of the figure by which epochs are compared: macro-F1, and kappa for ratings."""
    scores = evaluate(network.model({task.name: choosing.untuned(network, task)}), task, examples, rounds=0)
    found = [score.value for score in scores if score.metric == HEADLINES[type(task.outputs[score.output])]]
    return sum(0 if math.isnan(value) else value for value in found) / len(found)


def finish(network: Network, asked: Sequence[Task], rows: Mapping[str, Split], plan: Plan) -> Path:
    """Choose what is chosen on validation rows, export, score, and put the card in place last: with it the model is complete."""
    aside, recipe = plan.out / "checkpoint" / "model", plan.recipe
    settings = choosing.choices(network, asked, rows)
    before = {task.name: evaluate(network.model(settings), task, rows[task.name].test, rounds=0) for task in asked}
    calibration = [example.turn.content for part in rows.values() for example in part.train[:: max(1, len(part.train) // 150)]]
    export(network, aside, calibration)
    save_file(_copy(network), aside / "network.safetensors")
    card: dict[str, Any] = {
        "format": models.FORMAT,
        "name": "default" if len(asked) == len(tasks.names()) else "+".join(rows),
        "version": __version__,
        "encoder": {"base": network.encoder.name, "window": network.encoder.tokens.size, "width": network.encoder.width},
        "tasks": settings,
        "recipe": asdict(recipe),
        "split": "by group, 70 % for training, 10 % for choosing, 20 % for the scores, with the seed of the recipe",
        "rows": {name: {"train": len(part.train), "valid": len(part.valid), "test": len(part.test)} for name, part in rows.items()},
        "data": {
            name: {"licence": corpora.card(name).licence, "source": corpora.card(name).source} for task in asked for name in task.corpora
        },
        "licence": "follows from the licences of the training data, see `data`; those that state none or allow only academic use "
        "make the weights usable for non-commercial research alone",
        "limits": LIMITS,
        "date": date.today().isoformat(),
    }
    models.write_card(aside, card)
    after = {task.name: evaluate(models.load(aside), task, rows[task.name].test) for task in asked}
    models.write_card(aside, card | {"scores": {"before_quantisation": _told(before), "after_quantisation": _told(after)}})
    models.load.cache_clear()
    for file in sorted(aside.iterdir(), key=lambda file: file.name == "model.json"):
        file.replace(plan.out / file.name)
    shutil.rmtree(plan.out / "checkpoint")
    return plan.out


def _told(scores: Mapping[str, Sequence[Score]]) -> dict[str, Any]:
    return {name: [score.model_dump() for score in found] for name, found in scores.items()}
