"""Encoders for training: frozen layers read a text once, and nothing else changes."""

import threading
from pathlib import Path

import pytest
import tiny

pytest.importorskip("torch", reason="training needs the extra [train]")
import torch

from empathia.encoders import huggingface
from empathia.encoders.huggingface import HuggingFaceEncoder
from empathia.encoders.onnx import spread
from empathia.errors import ModelError

TEXTS = ["i feel so sad", "the cat is in the day and we know how to go", "ok"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.encoder(tmp_path_factory.mktemp("encoder"))


def test_frozen_layers_read_each_text_once(folder: Path) -> None:
    plain, frozen = (HuggingFaceEncoder.load(str(folder), frozen=layers).eval() for layers in (0, 1))
    assert frozen.halves is not None
    whole, first, second = plain.read(TEXTS), frozen.read(TEXTS), frozen.read(TEXTS)
    shown = whole.mask[..., None]
    assert torch.allclose(whole.states * shown, first.states * shown, atol=1e-2)
    assert torch.equal(first.states * shown, second.states * shown)
    assert len(frozen.halves.kept) == len(TEXTS)
    again = HuggingFaceEncoder.load(str(folder), frozen=1)
    assert again.halves is not None
    assert again.halves.kept is frozen.halves.kept


def test_the_layers_above_learn_and_keep_their_names(folder: Path) -> None:
    plain, frozen = (HuggingFaceEncoder.load(str(folder), frozen=layers) for layers in (0, 1))
    frozen.read(TEXTS).states.sum().backward()  # type: ignore[no-untyped-call]
    learnt = [name for name, weight in frozen.named_parameters() if weight.grad is not None]
    assert learnt
    assert all(".layer.1." in name for name in learnt)
    assert set(frozen.state_dict()) == set(plain.state_dict())


def test_no_more_is_kept_than_there_is_room_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface, "KEPT", 1)
    huggingface._kept.cache_clear()
    frozen = HuggingFaceEncoder.load(str(folder), frozen=1).eval()
    first, second = (frozen.read([text for text in TEXTS for _ in range(9)]).states for _ in range(2))
    assert frozen.halves is not None
    assert len(frozen.halves.kept) == 1
    assert torch.allclose(first, second, atol=1e-2)


def test_an_encoder_of_another_build_says_that_its_layers_cannot_be_frozen() -> None:
    with pytest.raises(ModelError, match="Leave `frozen` out"):
        huggingface._layers(torch.nn.Linear(2, 2))


def test_work_is_spread_over_cores_once_and_kept_in_order() -> None:
    def threads(_: int) -> set[str]:
        return set(spread(lambda _: threading.current_thread().name, [1, 2, 3]))

    assert list(spread(lambda x: 2 * x, range(50))) == [2 * x for x in range(50)]
    assert all(len(names) == 1 for names in spread(threads, range(8)))
    assert list(spread(lambda _: threading.current_thread().name, [1])) == [threading.current_thread().name]
