"""Which words speak for a label: occlusion on the default model, gradients on a tiny one, and their agreement."""

from pathlib import Path

import pytest
import tiny

from empathia import explanation, models, tasks, training
from empathia.errors import InputError, ModelError

TASK = tasks.load("direction")


def test_the_words_that_say_it_weigh_most() -> None:
    found = explanation.occlusion(models.load(), TASK, "intent", "I am so sorry.")
    assert found.words == ("I", "am", "so", "sorry.")
    weights = found.weights["Sympathizing"]
    assert max(range(4), key=weights.__getitem__) == 3
    assert set(found.weights) == set(found.scores) == set(TASK.outputs["intent"].labels)  # type: ignore[union-attr]


@pytest.mark.parametrize("text", ["Help", "😢", "  a  b  "])
def test_any_text_can_be_explained(text: str) -> None:
    for found in explanation.explain("direction", text):
        assert found.words == tuple(text.split())
        assert all(len(weights) == len(found.words) for weights in found.weights.values())


def test_levels_are_explained_by_words_where_the_context_is_told() -> None:
    with pytest.raises(InputError, match="--context"):
        explanation.explain("mechanisms", "I am sorry")
    with pytest.raises(InputError, match="leaving words out"):
        explanation.explain("mechanisms", "I am sorry", context="My dog died.", gradients=True)
    found = {one.output: one for one in explanation.explain("mechanisms", "I am so sorry.", context="My dog died.")}
    assert set(found) == set(tasks.load("mechanisms").outputs)
    (weights,) = found["emotional_reactions"].weights.values()
    assert 0 < found["emotional_reactions"].scores[explanation.EXPECTED] <= 2
    assert max(range(4), key=weights.__getitem__) == 3
    assert explanation.reasons("mechanisms", "I am so sorry.", context="My dog died.") == []  # no glass box


def test_gradients_need_torch_weights() -> None:
    with pytest.raises(ModelError, match="no torch weights"):
        explanation.explain("direction", "I am sorry", gradients=True)


def test_gradients_add_up_and_can_be_compared_with_occlusion(tmp_path: Path) -> None:
    pytest.importorskip("captum", reason="gradients need the extra [explain]")
    data, encoder = tiny.corpora(tmp_path / "data"), str(tiny.encoder(tmp_path / "encoder"))
    folder = training.train(["direction"], training.Plan(data, encoder, tmp_path / "model", training.Recipe(epochs=2, rows=16, window=64)))
    by_gradients = explanation.integrated_gradients(folder, TASK, "direction", "i am so sorry", steps=64)
    assert by_gradients.words == ("i", "am", "so", "sorry")
    assert sum(by_gradients.scores.values()) == pytest.approx(1, abs=1e-5)
    assert sum(sum(weights) for weights in by_gradients.weights.values()) == pytest.approx(0, abs=1e-3)  # what one gains others lose
    by_occlusion = explanation.occlusion(models.load(folder), TASK, "direction", "i am so sorry")
    assert -1 <= explanation.compared(by_gradients, by_occlusion).agreement["provide"] <= 1
