"""The trainable form of the shared model: an encoder and a head per task, in torch."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from empathia import parts
from empathia.encoders.huggingface import HuggingFaceEncoder, WordVectors
from empathia.errors import InputError, ModelError
from empathia.models._folder import read_card
from empathia.models._numbers import Floats
from empathia.models.shared import Head, Shared
from empathia.schema import ModelId
from empathia.task import Task


class Network(nn.Module):
    """One encoder, a head per task."""

    def __init__(self, encoder: HuggingFaceEncoder, tasks: Sequence[Task], options: Mapping[str, Any] | None = None) -> None:
        """The `options` are those of the heads, such as CLSN's `cascade`; with several tasks they go to each."""
        super().__init__()
        self.encoder = WordVectors.of(encoder) if reads_words(tasks) else encoder
        self.heads = nn.ModuleDict({task.name: head_class(task)(task, self.encoder.width, **(options or {})) for task in tasks})

    @classmethod
    def load(cls, folder: Path, tasks: Sequence[Task]) -> "Network":
        """The trainable form of a model folder that was trained on these tasks; the default model has none, to stay small."""
        card = read_card(folder)
        if "network.safetensors" not in card["files"]:
            raise ModelError(f"The model in '{folder}' has no torch weights (network.safetensors): train one with `empathia train`.")
        tasks = [replace(task, model=card["tasks"][task.name]["head"]) for task in tasks]
        network = cls(HuggingFaceEncoder.empty(folder, window=card["encoder"]["window"]), tasks, card["recipe"]["options"])
        network.load_state_dict(load_file(folder / "network.safetensors"))
        return network.eval()

    def alone(self, name: str) -> "Network":
        """The same encoder with one of the heads; they share their weights with this network."""
        one = copy.copy(self)
        one._modules = self._modules | {"heads": nn.ModuleDict({name: self.heads[name]})}
        return one

    def model(self, settings: Mapping[str, Mapping[str, Any]]) -> Shared:
        """This network, as it is now, as a model that answers examples."""
        self.eval()
        heads = {name: _runner(head) for name, head in self.heads.items()}
        who = ModelId(name="in training", version="0", sha256="")
        return Shared(id=who, encoder=self.encoder, heads=heads, settings=settings, spreads=False)


def reads_words(tasks: Sequence[Task]) -> bool:
    """Whether the heads of these tasks read word vectors; they cannot share an encoder with heads that read its states."""
    kinds = {bool(getattr(head_class(task), "words", False)) for task in tasks}
    if len(kinds) > 1:
        raise InputError("The heads rnn and hred read word vectors: train their task alone.")
    return True in kinds


def head_class(task: Task) -> Callable[..., nn.Module]:
    """The head that a task is trained with: the `HEAD` of its model's file."""
    found: Callable[..., nn.Module] = parts.load("models", task.model).HEAD
    return found


def _runner(head: nn.Module) -> Head:
    @torch.no_grad()
    def run(feed: Mapping[str, Floats]) -> Mapping[str, Floats]:
        outputs: Mapping[str, Tensor] = head(**{name: torch.from_numpy(value) for name, value in feed.items()})
        return {name: value.numpy() for name, value in outputs.items()}

    return Head(cast(Any, head).inputs, run)
