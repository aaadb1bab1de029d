"""Training on tiny corpora with a tiny encoder: the loop, checkpoints, export and the model folder."""

import random
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tiny

pytest.importorskip("torch", reason="training needs the extra [train]")

from empathia import corpora as corpus_parts
from empathia import explanation, models, tasks, training
from empathia.errors import InputError, ModelError, UnknownName
from empathia.evaluation import evaluate, folds, rows_of, split, split_alike
from empathia.models._network import Network
from empathia.schema import Dialogue, Example, FlagAnswer, Problem, Turn
from empathia.training._rows import by_dialogue, drawn
from empathia.training._run import Run

RECIPE = training.Recipe(epochs=2, rows=16, window=64)
NAMES = tuple(name for name in tasks.names() if name != "risk")  # which learns from a thousand rows of the package


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.corpora(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny.encoder(tmp_path_factory.mktemp("encoder")))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, corpora: Path, encoder: str) -> Path:
    return training.train(NAMES, training.Plan(corpora, encoder, tmp_path_factory.mktemp("model") / "tiny", RECIPE))


def test_a_model_folder_is_whole_and_answers(trained: Path, corpora: Path) -> None:
    model = models.load(trained)
    assert set(model.tasks) == set(NAMES)
    assert {"encoder.onnx", "tokenizer.json", "network.safetensors"} <= set(tiny.card(trained)["files"])  # type: ignore[call-overload]
    for name in NAMES:
        task = tasks.load(name)
        assert all(set(found) == set(task.outputs) for found in model.answer(rows_of(task, corpora)[:5], [task]))


@pytest.mark.parametrize(
    ("task", "labels"), [("strategies", {"Question"}), ("perceived", {"rating"}), ("causes", {"moved"}), ("emotion_causes", {"moved"})]
)
def test_every_kind_of_answer_is_explained(trained: Path, task: str, labels: set[str]) -> None:
    found = explanation.explain(task, "i am sorry . what happened ?", model=trained, context="my dog was lost . i feel sad .")
    assert {one.output for one in found} == set(tasks.load(task).outputs)
    assert all(labels <= set(one.scores) and len(one.words) == len(next(iter(one.weights.values()))) for one in found)


def test_a_flag_is_raised_in_most_rows_that_call_for_it(encoder: str, tmp_path: Path) -> None:
    task = tasks.load("risk")
    rows = split(rows_of(task, tmp_path)[::8], seed=0)
    network = training.fit([task], {"risk": rows}, training.Plan(tmp_path, encoder, tmp_path / "x", RECIPE))
    model = training.chosen(network, [task], {"risk": rows})
    recall = next(score for score in evaluate(model, task, rows.valid, rounds=0) if score.metric == "positive_recall")
    assert recall.value >= 0.97 and recall.baselines == {"raise always": 1}
    (found,) = model.answer(rows.test[:1], [task])
    assert isinstance(found["risk"], FlagAnswer) and found["risk"].evidence


def test_an_interrupted_training_goes_on_to_the_same_result(tmp_path: Path, corpora: Path, encoder: str, trained: Path) -> None:
    class Stop(Exception): ...

    def interrupt(now: training.Progress) -> None:
        if now.epoch == 1:
            raise Stop

    out = tmp_path / "tiny"
    with pytest.raises(Stop):
        training.train(NAMES, training.Plan(corpora, encoder, out, RECIPE), interrupt)
    assert not (out / "model.json").exists()
    training.train(NAMES, training.Plan(corpora, encoder, out, RECIPE, resume=True))
    assert tiny.card(out)["scores"] == tiny.card(trained)["scores"]
    assert tiny.card(out)["files"]["network.safetensors"] == tiny.card(trained)["files"]["network.safetensors"]  # type: ignore[index]


def test_a_checkpoint_of_another_recipe_or_other_rows_is_refused(tmp_path: Path, corpora: Path, encoder: str) -> None:
    out = tmp_path / "tiny"

    def interrupt(now: training.Progress) -> None:
        if now.epoch == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        training.train(["direction"], training.Plan(corpora, encoder, out, RECIPE), interrupt)
    with pytest.raises(InputError, match="another recipe"):
        training.train(["direction"], training.Plan(corpora, encoder, out, training.Recipe(epochs=3, window=64), resume=True))
    file = tiny.corpora(tmp_path / "data") / "iempathize" / "dataset.csv"
    lines = file.read_text(encoding="cp1252").splitlines(keepends=True)
    file.write_text("".join(lines[: len(lines) // 2]), encoding="cp1252")
    with pytest.raises(InputError, match="comes from other rows"):
        training.train(["direction"], training.Plan(tmp_path / "data", encoder, out, RECIPE, resume=True))


def test_another_head_answers_the_same_task(tmp_path: Path, corpora: Path, encoder: str) -> None:
    folder = training.train(["direction"], training.Plan(corpora, encoder, tmp_path / "plain", RECIPE, head="plain"))
    (found,) = models.load(folder).answer(rows_of(tasks.load("direction"), corpora)[:1], [tasks.load("direction")])
    assert set(found) == {"direction", "intent"}
    assert Network.load(folder, [tasks.load("direction")]).heads["direction"].__class__.__name__ == "Plain"
    with pytest.raises(UnknownName, match="Did you mean 'plain'"):
        training.train(["direction"], training.Plan(corpora, encoder, tmp_path / "other", RECIPE, head="plane"))


def test_a_finished_model_is_not_overwritten(trained: Path, corpora: Path, encoder: str) -> None:
    with pytest.raises(InputError, match="already holds a model"):
        training.train(["direction"], training.Plan(corpora, encoder, trained, RECIPE))


def test_no_encoder_there(tmp_path: Path, corpora: Path) -> None:
    with pytest.raises(ModelError, match="No encoder"):
        training.train(["direction"], training.Plan(corpora, str(tmp_path / "nowhere"), tmp_path / "out", RECIPE))


def test_rows_of_one_class_only_are_refused(tmp_path: Path, encoder: str) -> None:
    data = tiny.corpora(tmp_path / "data")
    (data / "iempathize" / "intents_silver.csv").unlink()
    (data / "iempathize" / "dataset.csv").write_text("text,label\ni am sad,1\ni am lost,1\n", encoding="cp1252")
    with pytest.raises(InputError, match="at least 2"):
        training.train(["direction"], training.Plan(data, encoder, tmp_path / "out", RECIPE))


@pytest.mark.parametrize("harm", ["cut", "gone", "card"])
def test_a_damaged_model_folder_is_named(tmp_path: Path, trained: Path, harm: str) -> None:
    folder = tmp_path / "harmed"
    shutil.copytree(trained, folder)
    if harm == "cut":
        (folder / "encoder.onnx").write_bytes((folder / "encoder.onnx").read_bytes()[:-10])
    elif harm == "gone":
        (folder / "tokenizer.json").unlink()
    else:
        (folder / "model.json").write_text("{", encoding="utf-8")
    with pytest.raises(ModelError, match="model"):
        models.load(folder)


def test_an_epoch_may_draw_some_rows_of_a_large_corpus() -> None:
    turns = tuple(Turn(role="ab"[i % 2], content="so", labels={"x": "y"}) for i in range(4))
    rows = [Example(dialogue=Dialogue(id=str(n), turns=turns), index=i) for n in range(9) for i in range(4)]
    assert drawn(rows, None, random.Random(0)) == drawn(rows, 36, random.Random(0)) == rows
    one, other = (drawn(rows, 10, random.Random(seed)) for seed in (0, 1))
    assert len(one) == len(other) == 12
    assert one != other
    assert len({row.dialogue.id for row in one}) == 3


def test_rows_of_a_small_corpus_come_more_than_once_but_not_in_one_step() -> None:
    turns = tuple(Turn(role="ab"[i % 2], content="so", labels={"x": "y"}) for i in range(4))
    rows = [Example(dialogue=Dialogue(id=str(n), turns=turns), index=i) for n in range(3) for i in range(4)]
    often = drawn(rows, 100, random.Random(0), least=30)
    assert len(often) == 30 and {id(row) for row in often} == {id(row) for row in rows}
    steps = list(by_dialogue(often[:24], 6, random.Random(0)))
    assert [len({row.dialogue.id for row in step}) for step in steps] == [1] * 6
    assert all(len({row.index for row in step}) == 4 for step in steps)


def test_polishing_teaches_heads_and_leaves_the_encoder(corpora: Path, encoder: str, tmp_path: Path) -> None:
    asked = [tasks.load(name) for name in ("direction", "mechanisms")]
    rows = {task.name: split_alike(rows_of(task, corpora)) for task in asked}
    plan = training.Plan(corpora, encoder, tmp_path, replace(RECIPE, epochs=1, frozen=1))
    plain, polished = (training.fit(asked, rows, replace(plan, recipe=replace(plan.recipe, polish=some))) for some in (0, 3))
    states = [dict(network.encoder.state_dict()) for network in (plain, polished)]
    assert all(states[0][name].equal(states[1][name]) for name in states[0])
    assert any(not one.equal(other) for one, other in zip(plain.heads.parameters(), polished.heads.parameters(), strict=True))


def test_rates_may_restart_every_five_epochs() -> None:
    run: Any = SimpleNamespace(recipe=training.Recipe(schedule="restarts"), steps=10)
    assert [round(Run._rate(run, step), 6) for step in (0, 25, 50, 75)] == [1, 0.5, 1, 0.5]


def test_splits_and_folds_keep_groups_together(corpora: Path) -> None:
    examples = rows_of(tasks.load("mechanisms"), corpora)
    parts = split(examples, seed=3)
    groups = [{e.dialogue.group for e in part} for part in (parts.train, parts.valid, parts.test)]
    assert sum(len(part) for part in groups) == len(set.union(*groups))
    assert split(examples, seed=3) == parts
    seen = [e.dialogue.id for _, fold in folds(examples, 5) for e in fold]
    assert sorted(seen) == sorted(e.dialogue.id for e in examples)


def test_tasks_that_share_posts_split_them_alike() -> None:
    def rows(names: Iterable[int], **metadata: str) -> list[Example]:
        turns = (Turn(role="a", content="so"),)
        return [Example(dialogue=Dialogue(id=f"{n}", group=f"{n}", turns=turns, metadata=metadata), index=0) for n in names]

    one, other = split_alike(rows(range(1000)), seed=1), split_alike(rows(range(0, 1000, 3)), seed=1)
    for part in ("train", "valid", "test"):
        names = {example.dialogue.id for example in getattr(one, part)}
        assert all(example.dialogue.id in names for example in getattr(other, part))
    assert 150 < len(one.test) < 250 and 60 < len(one.valid) < 140
    assert one != split_alike(rows(range(1000)), seed=2)
    few = split_alike(rows(range(10)))
    assert (len(few.train), len(few.valid), len(few.test)) == (7, 1, 2)
    published = [*rows(range(9), split="train"), *rows(range(9, 12), split="valid"), *rows(range(12, 20), split="test")]
    assert [len(part) for part in vars(split_alike(published)).values()] == [9, 3, 8]
    assert split_alike(rows(range(10), split="train")).test


BAD_ROWS = {
    "unknown label": ("i am sad,1\ni am here,7\n", "dataset.csv:3.*'7' is none of 0"),
    "empty text": ("i am sad,1\n  ,0\n", "dataset.csv:3.*text is empty"),
    "too few fields": ("i am sad,1\nhello\n", "dataset.csv:3.*1 fields where the header has 2"),
    "no such column": (None, "lacks the columns label"),
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_a_bad_row_is_named_with_its_remedy(tmp_path: Path, encoder: str, case: str) -> None:
    rows, told = BAD_ROWS[case]
    data = tiny.corpora(tmp_path / "data")
    text = "text,sort\ni am sad,1\n" if rows is None else f"text,label\n{rows}"
    (data / "iempathize" / "dataset.csv").write_text(text, encoding="cp1252")
    with pytest.raises(InputError, match=told):
        training.train(["direction"], training.Plan(data, encoder, tmp_path / "out", RECIPE))


def test_an_unknown_intent_is_named(tmp_path: Path, encoder: str) -> None:
    data = tiny.corpora(tmp_path / "data")
    (data / "iempathize" / "dataset.csv").write_text("text,label\ni am sad,1\nyou are here,0\n", encoding="cp1252")
    (data / "iempathize" / "intents_silver.csv").write_text("text,label,intent\ni am sad,1,Weeping\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"'Weeping' is no intent\. Known: Acknowledging"):
        training.train(["direction"], training.Plan(data, encoder, tmp_path / "out", RECIPE))


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8", "utf-8-sig"])
def test_both_encodings_of_iempathize_are_read(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "dataset.csv").write_text("text,label\nI don’t know – “why”?,1\n", encoding=encoding)  # noqa: RUF001
    [found] = corpus_parts.read("iempathize", tmp_path)
    assert isinstance(found, Dialogue)
    assert found.turns[0].content == "I don’t know – “why”?"  # noqa: RUF001


def test_a_byte_of_no_encoding_is_named(tmp_path: Path) -> None:
    (tmp_path / "dataset.csv").write_bytes(b"text,label\nfine,0\nbad \x81\x92 byte,1\n")
    problems = [found for found in corpus_parts.read("iempathize", tmp_path) if isinstance(found, Problem)]
    assert problems[0].place == "dataset.csv:3"
    assert "iconv" in problems[0].reason
