"""Encoders for training: frozen layers read a text once, and nothing else changes."""

import threading
from pathlib import Path

import pytest
import tiny

pytest.importorskip("torch", reason="training needs the extra [train]")
import torch

from empathia.encoders import huggingface
from empathia.encoders._stack import _dropped, _Padded, layers_of, pad
from empathia.encoders.huggingface import HuggingFaceEncoder
from empathia.encoders.onnx import spread
from empathia.errors import ModelError


def _kept(encoder: HuggingFaceEncoder) -> dict[tuple[int, ...], torch.Tensor]:
    assert isinstance(encoder.through, huggingface._Halves)
    return encoder.through.kept


TEXTS = ["i feel so sad", "the cat is in the day and we know how to go", "ok"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.encoder(tmp_path_factory.mktemp("encoder"))


def test_frozen_layers_read_each_text_once(folder: Path) -> None:
    plain, frozen = (HuggingFaceEncoder.load(str(folder), frozen=layers).eval() for layers in (0, 1))
    whole, first, second = plain.read(TEXTS), frozen.read(TEXTS), frozen.read(TEXTS)
    shown = whole.mask[..., None]
    assert torch.allclose(whole.states * shown, first.states * shown, atol=1e-2)
    assert torch.equal(first.states * shown, second.states * shown)
    assert len(_kept(frozen)) == len(TEXTS)
    assert _kept(HuggingFaceEncoder.load(str(folder), frozen=1)) is _kept(frozen)


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
    assert len(_kept(frozen)) == 1
    assert torch.allclose(first, second, atol=1e-2)


def test_an_encoder_of_another_build_says_that_its_layers_cannot_be_frozen() -> None:
    with pytest.raises(ModelError, match="Leave `frozen` out"):
        layers_of(torch.nn.Linear(2, 2))


@pytest.mark.parametrize("frozen", [0, 1, 2])
def test_texts_read_without_padding_have_the_states_of_texts_read_alone(folder: Path, frozen: int) -> None:
    encoder = HuggingFaceEncoder.load(str(folder), frozen=frozen).eval()
    together = encoder.states([*TEXTS, *(f"{text} {n}" for text in TEXTS for n in range(9))])
    for text in TEXTS:
        ids = torch.tensor([encoder.tokens.windows([text])[0][0].ids])
        assert torch.allclose(together[text], encoder(ids, torch.ones_like(ids))[0, 1:-1], atol=1e-2)


def test_networks_of_another_build_read_the_same_with_padding(folder: Path) -> None:
    encoder = HuggingFaceEncoder.load(str(folder)).eval()
    padded = _Padded(encoder.network)([window.ids for found in encoder.tokens.windows(TEXTS) for window in found])
    for one, other in zip(padded, encoder.states(TEXTS).values(), strict=True):
        assert torch.allclose(one[1:-1], other, atol=1e-5)


def test_gradients_are_those_of_the_network_itself(folder: Path) -> None:
    plain, packed = (HuggingFaceEncoder.load(str(folder)).eval() for _ in range(2))
    for text in TEXTS:
        ids = torch.tensor([plain.tokens.windows([text])[0][0].ids])
        plain(ids, torch.ones_like(ids))[0, 1:-1].pow(2).sum().backward()
    packed.read(TEXTS).states.pow(2).sum().backward()  # type: ignore[no-untyped-call]
    for (name, one), other in zip(plain.named_parameters(), packed.parameters(), strict=True):
        if one.grad is not None:
            assert other.grad is not None, name
            assert torch.allclose(one.grad, other.grad, atol=1e-3), name


def test_half_as_many_bits_give_nearly_the_same_states(folder: Path) -> None:
    whole, half = (HuggingFaceEncoder.load(str(folder), half=bits).eval().read(TEXTS).states for bits in (False, True))
    assert half.dtype == torch.float32
    assert torch.allclose(whole, half, atol=0.1)


def test_a_share_of_the_values_is_dropped_and_the_others_make_up_for_it() -> None:
    given = torch.ones(1000, 20)
    dropped = _dropped(torch.nn.Dropout(0.1), given)
    assert (dropped == 0).float().mean() == pytest.approx(0.1, abs=0.02)
    assert dropped.mean() == pytest.approx(1, abs=0.02)
    assert torch.equal(_dropped(torch.nn.Dropout(0.1).eval(), given), given)


def test_rows_are_padded_and_gradients_find_their_way_back() -> None:
    rows = [torch.full((n, 3), float(n), requires_grad=True) for n in (2, 4, 1)]
    padded, mask = pad(rows)
    assert mask.tolist() == [[1, 1, 0, 0], [1, 1, 1, 1], [1, 0, 0, 0]]
    assert torch.equal(padded, torch.nn.utils.rnn.pad_sequence(rows, batch_first=True))
    (padded * 2).sum().backward()  # type: ignore[no-untyped-call]
    assert all(row.grad is not None and torch.equal(row.grad, torch.full_like(row, 2)) for row in rows)
    assert pad([torch.ones(2), torch.ones(1)])[0].tolist() == [[1, 1], [1, 0]]


def test_work_is_spread_over_cores_once_and_kept_in_order() -> None:
    def threads(_: int) -> set[str]:
        return set(spread(lambda _: threading.current_thread().name, [1, 2, 3]))

    assert list(spread(lambda x: 2 * x, range(50))) == [2 * x for x in range(50)]
    assert all(len(names) == 1 for names in spread(threads, range(8)))
    assert list(spread(lambda _: threading.current_thread().name, [1])) == [threading.current_thread().name]
