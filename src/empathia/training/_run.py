"""One training: epochs, checkpoints, and the best epoch so far."""

import json
import math
import random
import shutil
import warnings
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, cast

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from empathia.errors import InputError
from empathia.evaluation import Split, evaluate
from empathia.models._network import Network
from empathia.schema import Example
from empathia.task import Causes, Choice, Choices, Flag, Level, Rating, Task
from empathia.training._choosing import of_causes, untuned
from empathia.training._recipe import Plan, Progress, Watch
from empathia.training._rows import batches, by_dialogue, drawn

HEADLINES = {
    Choice: "macro_f1",
    Choices: "macro_f1",
    Level: "macro_f1",
    Rating: "quadratic_kappa",
    Flag: "positive_f1",
}
RESTART = 5  # epochs


class Run:
    """One training: the network, its optimiser, and the best epoch so far."""

    def __init__(self, network: Network, asked: Sequence[Task], rows: Mapping[str, Split], plan: Plan, watch: Watch) -> None:
        self.network, self.asked, self.rows, self.watch = network, asked, rows, watch
        self.plan, self.recipe, self.folder = plan, plan.recipe, plan.out / "checkpoint"
        recipe = plan.recipe
        most = max(len(part.train) for part in rows.values())
        self.steps = math.ceil(min(most, recipe.most or most) / recipe.rows)
        learnt = [weight for weight in network.encoder.parameters() if weight.requires_grad]
        groups = [{"params": learnt, "lr": recipe.rate}, {"params": list(network.heads.parameters()), "lr": recipe.head_rate}]
        self.optimiser = torch.optim.AdamW([group for group in groups if group["params"]], weight_decay=recipe.decay)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimiser, self._rate)
        self.epoch, self.best, self.best_epoch, self.scores = 0, 0.0, -1, dict[str, float]()
        self.first: list[float] = []  # losses; those of several tasks count by the root of these, so that none drowns the others
        self.best_weights = copy(network)
        for task in asked:
            if hasattr(network.heads[task.name], "prepare"):
                cast(Any, network.heads[task.name]).prepare(rows[task.name].train, plan.data, plan.recipe.seed)

    def _rate(self, step: int) -> float:
        """Up over the first tenth of the steps, then straight down to nothing; or in cosines with warm restarts."""
        if self.recipe.schedule == "restarts":
            return (1 + math.cos(math.pi * (step / self.steps % RESTART) / RESTART)) / 2
        total = self.steps * self.recipe.epochs
        return min((step + 1) / (0.1 * total), (total - step) / (0.9 * total))

    def fit(self) -> None:
        """All epochs, or fewer where the validation rows no longer gain; then the best epoch's weights."""
        while self.epoch < self.recipe.epochs and self.epoch - self.best_epoch <= self.recipe.patience:
            self._one_epoch()
            if (mean := self._score()) > self.best:
                self.best, self.best_epoch, self.best_weights = mean, self.epoch, copy(self.network)
            self.epoch += 1
            self.save()
        self.network.load_state_dict(self.best_weights)

    def polish(self) -> None:
        """Teach each head on by itself, while the encoder stays as it is; weights change only where the validation rows gain."""
        recipe = replace(self.recipe, epochs=self.recipe.polish, most=None, least=0, patience=self.recipe.polish)
        self.network.encoder.freeze()
        for task in self.asked:
            rows = {task.name: self.rows[task.name]}
            one = _Polish(self.network.alone(task.name), [task], rows, replace(self.plan, recipe=recipe), self.watch)
            one.best = one._score()
            one.fit()

    def _score(self) -> float:
        self.scores = {task.name: _headline(self.network, task, self._valid(task)) for task in self.asked}
        return sum(self.scores.values()) / len(self.scores)

    def _valid(self, task: Task) -> Sequence[Example]:
        """The rows by which epochs are compared: of a large corpus a part, always the same."""
        most = self.recipe.most and self.recipe.most // 4
        return drawn(self.rows[task.name].valid, most, random.Random(self.recipe.seed))

    def _one_epoch(self) -> None:
        seed = self.recipe.seed * 1000 + self.epoch  # an epoch's chance depends on nothing before it
        torch.manual_seed(seed)
        dice = random.Random(seed)
        self.network.train()
        rows = {
            task.name: (by_dialogue if getattr(self.network.heads[task.name], "together", False) else batches)(
                drawn(self.rows[task.name].train, self.recipe.most, dice, least=self.recipe.least), self.steps, dice
            )
            for task in self.asked
        }
        loss = 0.0
        for step in range(self.steps):
            losses = [cast(Any, head).step(self.network.encoder, next(rows[name]), dice) for name, head in self.network.heads.items()]
            if not self.first:
                self.first = [max(loss.item(), 0.1) for loss in losses] if len(losses) > 1 else [1.0]
            total = torch.stack([loss / first**0.5 for loss, first in zip(losses, self.first, strict=True)]).sum()
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
        save_file(copy(self.network), aside / "network.safetensors")
        save_file(self.best_weights, aside / "best.safetensors")
        state = self.optimiser.state_dict()["state"]
        save_file(
            {f"{i}.{key}": value.clone() for i, held in state.items() for key, value in held.items()}, aside / "optimiser.safetensors"
        )
        told = {
            "recipe": asdict(self.recipe),
            "rows": _sign(self.rows),
            "epoch": self.epoch,
            "best": self.best,
            "best_epoch": self.best_epoch,
            "scores": self.scores,
            "first": self.first,
        }
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
        if told.get("rows") != _sign(self.rows):  # checkpoints of earlier versions do not tell
            raise InputError(f"The checkpoint in '{self.folder}' comes from other rows. Give the same data and seed, or delete it.")
        self.epoch, self.best, self.best_epoch, self.scores = told["epoch"], told["best"], told["best_epoch"], told["scores"]
        self.first = told["first"]
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


class _Polish(Run):
    """A training that is short enough to go without checkpoints."""

    def save(self) -> None:
        """Nothing."""


def copy(network: nn.Module) -> dict[str, Tensor]:
    """The weights of a network as they are now."""
    return {name: value.detach().clone().contiguous() for name, value in network.state_dict().items()}


def _sign(rows: Mapping[str, Split]) -> str:
    """A short name of the training rows: other rows have another."""
    names = [(task, example.dialogue.id, example.index) for task, part in rows.items() for example in part.train]
    return f"{zlib.crc32(repr(names).encode()):08x}"


def _headline(network: Network, task: Task, examples: Sequence[Example]) -> float:
    """The mean over a task's outputs of the figure by which epochs are compared: macro-F1, kappa for ratings, the best F1 of causes."""
    settings = untuned(network, task)
    if any(isinstance(output, Causes) for output in task.outputs.values()):
        return of_causes(network, task, examples, settings)[0]
    scores = evaluate(network.model({task.name: settings}), task, examples, rounds=0)
    found = [score.value for score in scores if score.metric == HEADLINES[type(task.outputs[score.output])]]
    return sum(0 if math.isnan(value) else value for value in found) / len(found)
