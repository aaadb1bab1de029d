"""Probes of context: the contrast set itself, the probes on models whose answers are known, and the command."""

import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from empathia import models, probing
from empathia.corpora import dialogue
from empathia.errors import UnknownName
from empathia.report import probes
from empathia.schema import Answer, Example, LevelAnswer, ModelId
from empathia.task import Task

NAMES = ("emotional_reactions", "interpretations", "explorations")


class FakeJudge:
    """Calls a reply empathic by a rule; for these tests only."""

    id = ModelId(name="fake", version="0", sha256="")
    tasks = ("mechanisms",)

    def __init__(self, *, heeds: bool) -> None:
        self.heeds = heeds

    def answer(self, examples: Sequence[Example], tasks: Sequence[Task]) -> list[dict[str, Answer]]:
        return [dict.fromkeys(NAMES, self._level(example)) for example in examples]

    def _level(self, example: Example) -> LevelAnswer:
        fits = {pair["fitting"] for pair in probing.pairs()}
        score = 0.9 if not self.heeds or example.context[-1].content in fits else 0.1
        return LevelAnswer(level=round(score), scores=(1 - score, score, 0.0))


def test_the_contrast_set_is_whole_and_balanced() -> None:
    pairs = probing.pairs()
    assert len(pairs) >= 300
    assert len({pair["id"] for pair in pairs}) == len({pair["response"] for pair in pairs}) == len(pairs)
    assert set(Counter(pair["kind"] for pair in pairs)) == {"inverted", "topic", "nothing", "sarcasm"}
    assert min(Counter(pair["register"] for pair in pairs).values()) > 40
    assert {pair["mechanism"] for pair in pairs} == set(NAMES)
    lengths = [(len(pair["fitting"].split()), len(pair["clashing"].split())) for pair in pairs]
    assert all(0.7 <= one / other <= 1.45 for one, other in lengths)
    assert abs(sum(one for one, _ in lengths) / sum(other for _, other in lengths) - 1) < 0.02


def test_a_judge_that_heeds_the_context_orders_every_pair() -> None:
    assert {found.value for found in probing.contrast(FakeJudge(heeds=True))} == {1.0}


def test_a_judge_of_the_reply_alone_orders_none() -> None:
    found = probing.contrast(FakeJudge(heeds=False))
    assert {one.value for one in found} == {0.0}  # a tie is not right
    assert [one.part for one in found][:2] == ["all", "inverted"]


@pytest.mark.parametrize("heeds", [True, False])
def test_stock_sentences_and_swaps(tmp_path: Path, heeds: bool) -> None:
    import tiny

    data = tiny.corpora(tmp_path)
    (data / "probe").mkdir()
    for source in ("personachat", "ubuntu"):
        lines = [json.dumps({"context": f"hello {i}", "response": "fine . you ?"}) for i in range(7)]
        (data / "probe" / f"{source}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    found = probing.probe(FakeJudge(heeds=heeds), data)
    stock = [one for one in found if one.probe == "stock"]
    assert [(one.part, one.output) for one in stock] == [(source, name) for source in ("personachat", "ubuntu") for name in NAMES]
    assert {one.value for one in stock} == {0.0 if heeds else 1.0}
    assert stock[0].beside == {"before": 0.0 if heeds else 1.0, "EPITOME": 0.997}
    assert {one.value for one in found if one.probe == "swap"} == {0.0}


def test_a_planted_sentence_leaves_the_response_whole() -> None:
    carrier = dialogue([{"role": "a", "content": "Hello."}, {"role": "b", "content": "Fine. And you?"}])
    for seed in range(20):
        planted = probing.plant(carrier, "My heart goes out to you.", random.Random(seed))
        assert planted.turn.content.replace("My heart goes out to you.", "").split() == ["Fine.", "And", "you?"]


def test_no_stock_sentence_is_a_response_of_the_contrast_set() -> None:
    assert set(probing.stock_sentences()) == set(NAMES)
    responses = {pair["response"] for pair in probing.pairs()}
    assert not responses & {sentence for found in probing.stock_sentences().values() for sentence in found}


def test_a_model_without_mechanisms_is_refused() -> None:
    judge = FakeJudge(heeds=True)
    judge.tasks = ("direction",)
    with pytest.raises(UnknownName, match="mechanisms"):
        probing.probe(judge)


def test_findings_are_told_as_table_json_and_picture() -> None:
    found = probing.contrast(models.load(), limit=20)
    assert json.loads(probes.as_json(found))[0]["probe"] == "contrast"
    assert probes.table(found).row_count == len(found)
    assert probes.picture(found).startswith("<svg") and "fitting" in probes.picture(found)
