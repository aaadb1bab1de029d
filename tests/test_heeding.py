"""Heeding the context: the gate, and the replies that teach it."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import tiny

pytest.importorskip("torch", reason="training needs the extra [train]")
import torch

from empathia import probing, tasks
from empathia.encoders.huggingface import HuggingFaceEncoder
from empathia.encoders.onnx import session
from empathia.evaluation import rows_of
from empathia.models import epitome
from empathia.models._asks.replies import heeded
from empathia.models._clashes import FEELINGS, FELT, NEUTRAL, clashes, held
from empathia.models._export import _export_head, shrink
from empathia.models.epitome import Epitome
from empathia.task import Choice

TASK = tasks.load("mechanisms")


def test_an_open_gate_changes_nothing_and_a_shut_one_leaves_level_0() -> None:
    scores = [0.2, 0.3, 0.5]
    assert heeded(scores, (50.0, 0.0)) == pytest.approx(scores)
    assert heeded(scores, (50.0, 0.0), (-50.0, 0.0)) == pytest.approx([1, 0, 0])
    assert heeded(scores, (9999.0, 0.0), (-9999.0, 0.0)) == pytest.approx([1, 0, 0])


@pytest.mark.parametrize("logit", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("scores", [(0.2, 0.3, 0.5), (0.1, 0.8, 0.1), (0.45, 0.1, 0.45), (0.34, 0.36, 0.3), (0.0, 0.0, 1.0)])
def test_a_gate_that_is_rather_open_lowers_the_certainty_of_a_level_and_a_shut_one_takes_it(logit: float, scores: Sequence[float]) -> None:
    found = heeded(scores, (logit, 0.0), (9.0, 0.0))
    assert np.argmax(found) == (np.argmax(scores) if logit >= 0 else 0)
    assert sum(found) == pytest.approx(1) and sum(found[1:]) <= sum(scores[1:]) + 1e-6
    assert found[1] * scores[2] == pytest.approx(found[2] * scores[1], abs=1e-6)


def test_a_reply_at_level_0_stays_there_and_is_surer_of_it_the_less_the_gate_is_open() -> None:
    wide, narrow = (heeded((0.6, 0.3, 0.1), (logit, 0.0)) for logit in (2.0, -2.0))
    assert 0.6 < wide[0] < narrow[0]


def test_a_head_without_the_gate_says_nothing_of_fitting() -> None:
    states, mask = torch.randn(2, 5, 8), torch.ones(2, 5)
    assert set(Epitome(TASK, 8, heed=False)(states, mask, states, mask)) == {"levels", "marks"}
    assert Epitome(TASK, 8)(states, mask, states, mask)["fit"].shape == (2,)


def test_clashes_come_from_conversations_and_never_from_the_probe(tmp_path: Path) -> None:
    data = tiny.corpora(tmp_path, "iempathize", "epitome")
    (data / "reccon").mkdir()
    calm = [{"turn": i + 1, "speaker": "AB"[i % 2], "utterance": f"we meet at {i} on monday .", "emotion": "neutral"} for i in range(4)]
    (data / "reccon" / "dailydialog_train.json").write_text(json.dumps({"tr_1": [calm]}), encoding="utf-8")
    for name in ("valid", "test"):
        (data / "reccon" / f"dailydialog_{name}.json").write_text("{}", encoding="utf-8")
    rows = rows_of(TASK, data)
    found = clashes(rows, data, seed=0)
    assert found == clashes(rows, data, seed=0)
    assert {clash.clashing for clash in found if "monday" in clash.clashing}
    assert all(clash.fitting != clash.clashing or clash.fitting is None for clash in found if "monday" in clash.clashing)
    asked = {pair[key] for pair in probing.pairs() for key in ("response", "fitting", "clashing")}
    assert not asked & {text for clash in found for text in clash}


def test_without_other_corpora_the_posts_of_strangers_and_what_is_inside_remain(tmp_path: Path) -> None:
    rows = rows_of(TASK, tiny.corpora(tmp_path, "iempathize", "epitome"))
    found = clashes(rows, tmp_path, seed=0)
    assert {row.turn.content for row in rows if not held(row)} <= {clash.reply for clash in found if clash.fitting}
    assert {clash.other for clash in found} == {FELT, NEUTRAL}
    assert all(clash.other == NEUTRAL for clash in found if clash.fitting is None)


def test_gates_are_as_narrow_as_nearly_all_rows_that_show_empathy_let_them_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(epitome, "held", lambda example: True)
    torch.manual_seed(0)
    rows = rows_of(TASK, tiny.corpora(tmp_path, "epitome"))
    encoder = HuggingFaceEncoder.load(str(tiny.encoder(tmp_path / "encoder")))
    head = Epitome(TASK, encoder.width).eval()
    gates = head.narrowed(encoder.eval(), rows[:10], rows[10:])
    assert set(gates) == {"fits_from", "needs_from"} == set(head.settings)
    context = [_states(encoder, "\n".join(turn.content for turn in row.context)) for row in rows]
    needs = sorted(float(head.need(states.mean(dim=0))) for states in context)
    assert needs[0] - 1e-3 <= gates["needs_from"] <= needs[len(needs) // 2] + 1e-3
    assert head.narrowed(encoder, [], []) == {}


def _states(encoder: HuggingFaceEncoder, text: str) -> torch.Tensor:
    return torch.from_numpy(encoder.encode([text])[0].states)


def test_export_keeps_the_gate(tmp_path: Path) -> None:
    torch.manual_seed(0)
    head = Epitome(TASK, 16).eval()
    _export_head(head, tmp_path / "head.onnx", 16)
    shrink(tmp_path / "head.onnx")
    feed = {"reply": torch.randn(3, 6, 16), "reply_mask": torch.ones(3, 6)}
    feed |= {"context": torch.randn(3, 4, 16), "context_mask": torch.ones(3, 4)}
    wanted = head(**feed)
    found = session(tmp_path / "head.onnx").run(list(wanted), {name: value.numpy() for name, value in feed.items()})
    for output, value in zip(wanted.values(), found, strict=True):
        assert torch.allclose(output, torch.from_numpy(value), atol=2e-2)


def test_a_fifth_of_the_posts_is_held_from_the_gates() -> None:
    rows = [probing.exchange(f"my dog is ill, day {day}", "oh no") for day in range(1000)]
    assert 150 < sum(map(held, rows)) < 250


def test_the_feelings_are_those_of_the_task_of_emotions_and_none() -> None:
    emotion = tasks.load("emotion").outputs["emotion"]
    assert isinstance(emotion, Choice) and set(FEELINGS) == {NEUTRAL, *emotion.labels}
