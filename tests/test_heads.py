"""Contracts of all heads that judge sentences: padding changes nothing, export changes nothing, missing labels do not count."""

import random
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
import tiny
import torch

from empathia import training
from empathia.encoders.huggingface import HuggingFaceEncoder
from empathia.encoders.onnx import session
from empathia.errors import InputError, ModelError
from empathia.evaluation import rows_of, split
from empathia.models import _export
from empathia.models._export import _export_head, shrink
from empathia.models._network import head_class, reads_words
from empathia.models._sentences import SentenceHead
from empathia.schema import Dialogue, Example, Turn
from empathia.tasks import direction, mechanisms

WIDTH = 16
HEADS = ("clsn", "plain", "bigru", "dcrnet", "cogat")
OPTIONS = [("clsn", {"cascade": False}), ("clsn", {"signal": False}), ("clsn", {"cascade": False, "signal": False}), ("clsn", {"eta": 0.0})]
ALL = [*((name, {}) for name in HEADS), *OPTIONS]


def head(name: str, options: dict[str, float]) -> "torch.nn.Module":
    torch.manual_seed(1)
    return head_class(replace(direction.TASK, model=name))(direction.TASK, WIDTH, **options).eval()


@pytest.mark.parametrize(("name", "options"), ALL)
def test_padding_changes_nothing(name: str, options: dict[str, float]) -> None:
    made, states = head(name, options), torch.randn(2, 9, WIDTH)
    mask = torch.ones(2, 9)
    mask[0, 5:] = 0
    together, alone = made(states, mask), made(states[:1, :5], mask[:1, :5])
    for output, logits in alone.items():
        assert torch.allclose(together[output][0], logits[0], atol=1e-5)


@pytest.mark.parametrize(("name", "options"), ALL)
def test_export_changes_nothing(name: str, options: dict[str, float], tmp_path: Path) -> None:
    made, file = head(name, options), tmp_path / "head.onnx"
    _export_head(made, file, WIDTH)
    shrink(file)
    graph = session(file)
    for batch, tokens in ((1, 3), (4, 11)):
        states, mask = torch.randn(batch, tokens, WIDTH), torch.ones(batch, tokens)
        mask[0, tokens - 1 :] = 0
        wanted = made(states, mask)
        found = dict(zip(wanted, graph.run(list(wanted), {"states": states.numpy(), "mask": mask.numpy()}), strict=True))
        for output in wanted:
            assert torch.allclose(wanted[output], torch.from_numpy(found[output]), atol=2e-2)


def example(**labels: str) -> Example:
    return Example(dialogue=Dialogue(id="1", turns=(Turn(role="a", content="i feel so sad", labels=labels),)), index=0)


@pytest.mark.parametrize("name", HEADS)
def test_a_missing_label_does_not_count(name: str, tmp_path: Path) -> None:
    encoder = HuggingFaceEncoder.load(str(tiny.encoder(tmp_path)), window=64).eval()
    made = head_class(replace(direction.TASK, model=name))(direction.TASK, encoder.width).eval()
    step = cast(SentenceHead, made).step
    losses = [step(encoder, [example(**labels)], random.Random(0)).item() for labels in (DIRECTION, INTENT, {**DIRECTION, **INTENT})]
    assert losses[0] + losses[1] == pytest.approx(losses[2], abs=1e-5)
    assert min(losses) > 0


DIRECTION, INTENT = {"direction": "seek"}, {"intent": "Negative"}


@pytest.mark.parametrize("name", ["epitome", "rnn", "hred"])
def test_padding_of_a_reply_changes_nothing(name: str) -> None:
    torch.manual_seed(1)
    made = head_class(replace(mechanisms.TASK, model=name))(mechanisms.TASK, WIDTH).eval()
    reply, context, mask, other = torch.randn(2, 9, WIDTH), torch.randn(2, 7, WIDTH), torch.ones(2, 9), torch.ones(2, 7)
    mask[0, 5:] = other[0, 4:] = 0
    together = made(reply, mask, context, other)
    alone = made(reply[:1, :5], mask[:1, :5], context[:1, :4], other[:1, :4])
    assert torch.allclose(together["levels"][0], alone["levels"][0], atol=1e-5)
    assert torch.allclose(together["marks"][0, :5], alone["marks"][0], atol=1e-5)


@pytest.mark.parametrize("name", ["rnn", "hred"])
def test_recurrent_baselines_learn_but_are_not_exported(name: str, tmp_path: Path) -> None:
    data, encoder = tiny.corpora(tmp_path / "data"), str(tiny.encoder(tmp_path / "encoder"))
    task = replace(mechanisms.TASK, model=name)
    plan = training.Plan(data, encoder, tmp_path / "model", training.Recipe(epochs=2, rows=16, window=64), head=name)
    rows = split(rows_of(task, data))
    network = training.fit([task], {task.name: rows}, plan)
    model = network.model({task.name: {"head": name, "shares": dict.fromkeys(task.outputs, 0.5)}})
    assert set(model.answer(rows.test[:1], [task])[0]) == set(task.outputs)
    for export in (
        lambda: training.train(["mechanisms"], replace(plan, out=tmp_path / "other")),
        lambda: _export.export(network, tmp_path, []),
    ):
        with pytest.raises(ModelError, match="baselines for benchmarks"):
            export()
    with pytest.raises(InputError, match="alone"):
        reads_words([task, direction.TASK])


def test_settings_of_two_directions() -> None:
    task = direction.setting("seek")
    assert list(task.outputs["direction"].labels) == ["none", "seek"]  # type: ignore[union-attr]
    found = direction.relabelled([example(direction=label) for label in ("none", "seek", "provide")], "seek")
    assert [one.turn.labels["direction"] for one in found] == ["none", "seek", "none"]
    assert direction.setting("multi") is direction.TASK
