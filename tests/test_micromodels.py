"""The glass box: its tables equal the machine that they come from, every answer carries its reasons, nothing is compared with itself."""

import io
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny
from rich.console import Console
from test_cli import run
from test_report import Page
from typer.testing import CliRunner

pytest.importorskip("interpret", reason="fitting the glass box needs the extra [explain]")

from benchmarks import baselines
from empathia import evaluation, explanation, models, seeding, seeds, tasks
from empathia.cli import app
from empathia.errors import InputError, ModelError, UnknownName
from empathia.evaluation import Split, rows_of, split
from empathia.models import _additive
from empathia.models._additive import Additive
from empathia.models._similar import open_encoder
from empathia.models.micromodels import Micromodels, uses
from empathia.report import glass, seeded
from empathia.schema import Dialogue, Example, GlassAnswer, Graded, Span, Turn
from empathia.seeds import SeedSet

TASK = tasks.load("mechanisms")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Split:
    return split(rows_of(TASK, tiny.corpora(tmp_path_factory.mktemp("data"), times=20)), valid=0.2)


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny.encoder(tmp_path_factory.mktemp("encoder")))


@pytest.fixture(scope="module")
def model(rows: Split, where: str) -> Micromodels:
    return seeding.fit(rows, open_encoder(where), where=where)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, where: str) -> Path:
    out = tmp_path_factory.mktemp("model") / "glass"
    seeding.train(tiny.corpora(tmp_path_factory.mktemp("data"), times=20), out, encoder=where)
    return out


@pytest.mark.parametrize("levels", [(0, 1, 2), (0, 2), (1, 2)])
def test_tables_equal_the_machine(levels: tuple[int, ...]) -> None:
    dice = np.random.default_rng(0)
    features = dice.uniform(-1, 1, (300, 3))
    gold = [levels[int(x > 0.2) + int(y > 0.5 and len(levels) > 2)] for x, y, _ in features]
    machine = _additive.learn(features, gold)
    plain = Additive.from_json(json.loads(json.dumps(_additive.of(machine, 3).to_json())))
    asked = np.concatenate([dice.uniform(-1.5, 1.5, (200, 3)), features[:50], np.array([[edge[0]] * 3 for edge in machine.bins_[0]])])
    wanted = np.zeros((len(asked), 3))
    wanted[:, list(machine.classes_)] = machine.predict_proba(asked)
    assert np.abs(np.stack([plain.probabilities(one) for one in asked]) - wanted).max() < 1e-6


def test_every_answer_carries_its_reasons(model: Micromodels, rows: Split) -> None:
    for row, answers in zip(rows.test, model.answer(rows.test, [TASK]), strict=True):
        assert set(answers) == set(TASK.outputs)
        for name, answer in answers.items():
            assert isinstance(answer, GlassAnswer)
            logits = np.sum(list(answer.terms.values()), axis=0)
            assert np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum() == pytest.approx(answer.scores, abs=1e-4)
            assert set(answer.terms) == {*model.names, "intercept"} and len(model.names) == 6
            assert {match.seed for match in answer.matches} <= set(model.seeds[name].seeds)
            shown = {(span.start, span.end) for span in answer.rationales}
            assert shown <= {(match.start, match.end) for match in answer.matches}
            assert all(span.score >= model.seeds[name].threshold for span in answer.rationales)
            assert answer.level or not shown
            assert all(row.turn.content[m.start : m.end].strip() for m in answer.matches)


def test_it_learns(model: Micromodels, rows: Split) -> None:
    scores = {(s.output, s.metric): s for s in evaluation.evaluate(model, TASK, rows.test, rounds=0)}
    for name in TASK.outputs:
        assert scores[name, "macro_f1"].value > scores[name, "macro_f1"].baselines["majority"]


def test_no_row_is_compared_with_what_its_post_alone_said(where: str, rows: Split) -> None:
    text = "the cat is in the day ."
    labels = {name: Graded(level=2, rationales=(Span(start=0, end=len(text)),)) for name in TASK.outputs}
    reply = Turn(role="b", content=text, labels=labels)
    lone = Example(dialogue=Dialogue(id="lone", turns=(Turn(role="a", content="i am lost"), reply)), index=1)
    some = [*rows.train, lone]
    model = seeding.bare(open_encoder(where), seeding.make(some, by="likest"), by="likest")
    apart, together = seeding.apart(model, some), seeding.together(model, some)
    assert together[-1] == pytest.approx([1, 1, 1], abs=1e-5)
    assert (apart[-1] < 1).all()
    assert np.allclose(together[:-1], apart[:-1])  # the others share their rationales with rows of other posts
    graded = seeding.bare(open_encoder(where), seeding.make(some))
    assert (seeding.apart(graded, some)[-1] < seeding.together(graded, some)[-1]).all()


def test_batches_orphans_and_odd_texts(model: Micromodels, rows: Split) -> None:
    some = rows.test[:4]
    together = model.answer(some, [TASK])
    assert together == [model.answer([row], [TASK])[0] for row in some]
    orphan = some[0].model_copy(update={"index": 0})
    assert model.answer([orphan, some[0]], [TASK]) == [{}, together[0]]
    assert model.answer([], [TASK]) == [] and model.answer(some, []) == [{}] * 4
    for text in ("😢", "\u200b", "sad " * 3000):
        turns = (*some[0].dialogue.turns[:1], some[0].turn.model_copy(update={"content": text}))
        odd = some[0].model_copy(update={"dialogue": some[0].dialogue.model_copy(update={"turns": turns})})
        assert set(model.answer([odd], [TASK])[0]) == set(TASK.outputs)


def test_a_folder_answers_as_the_model_did(model: Micromodels, rows: Split, tmp_path: Path) -> None:
    model.save(tmp_path / "glass")
    loaded = models.load(tmp_path / "glass")
    assert loaded.answer(rows.test, [TASK]) == model.answer(rows.test, [TASK])
    assert {file.name for file in (tmp_path / "glass").iterdir()} == {
        "model.json",
        "vectors.npz",
        *(f"{name}.txt" for name in TASK.outputs),
    }
    with pytest.raises(InputError, match="not empty"):
        model.save(tmp_path / "glass")


def test_seeds_of_a_folder_may_be_edited_and_the_id_tells(folder: Path, tmp_path: Path, rows: Split) -> None:
    before = models.load(folder)
    shutil.copytree(folder, tmp_path / "edited")
    (tmp_path / "edited" / "explorations.txt").write_text("# threshold: 0.1\nthe cat is in the day\n", encoding="utf-8")
    after = models.load(tmp_path / "edited")
    assert after.id.sha256 != before.id.sha256
    (found,) = after.answer(rows.test[:1], [TASK])
    assert {match.seed for match in found["explorations"].matches} == {"the cat is in the day"}  # type: ignore[union-attr]


def test_the_card_tells_scores_and_uses(folder: Path) -> None:
    assert {score.output for score in models.scores(folder)} == set(TASK.outputs)
    assert models.recipe(folder) == {"seed": 0}
    told = uses(folder)
    assert set(told) == set(TASK.outputs) and all(count > 0 for counts in told.values() for count in counts.values())
    assert uses(folder.parent) == {}
    done = run("seeds", "show", str(folder))
    assert done.returncode == 0 and "what happened ?" in done.stdout


def harmed(folder: Path, out: Path, **card: Any) -> Path:
    shutil.copytree(folder, out)
    (out / "model.json").write_text(json.dumps({**tiny.card(folder), **card}), encoding="utf-8")
    return out


def test_folders_that_cannot_be_used_are_named(folder: Path, tmp_path: Path, where: str) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'micromodels'"):
        models.load(harmed(folder, tmp_path / "kind", kind="micromodel"))
    with pytest.raises(ModelError, match="not read from a folder"):
        models.load(harmed(folder, tmp_path / "head", kind="clsn"))
    with pytest.raises(ModelError, match="another encoder"):
        models.load(harmed(folder, tmp_path / "other", encoder={"where": where, "fingerprint": [0, 0, 0]}))
    gone = harmed(folder, tmp_path / "gone")
    (gone / "explorations.txt").unlink()
    with pytest.raises(InputError, match="no seed file"):
        models.load(gone)
    with pytest.raises(ModelError, match="model folder"):
        open_encoder(str(models.DEFAULT))


def test_fitting_names_what_is_missing(rows: Split, where: str) -> None:
    with pytest.raises(InputError, match="Seeds are missing for explorations, interpretations"):
        seeding.fit(rows, open_encoder(where), given=[SeedSet("emotional_reactions", ("i am sorry",))])
    one = [row for row in rows.train if row.turn.labels["explorations"].level == 1]  # type: ignore[union-attr]
    with pytest.raises(InputError, match="one level"):
        seeding.fit(replace(rows, train=one), open_encoder(where), by="likest")


def test_answering_needs_no_extra(tmp_path: Path, data: Path) -> None:
    """With the default encoder, the core install is enough to answer."""
    some = split(rows_of(TASK, data)[:200])
    seeding.fit(some, open_encoder()).save(tmp_path / "glass")
    code = f"""
import sys, empathia
from pathlib import Path
talk = [{{"role": "a", "content": "I feel lost."}}, {{"role": "b", "content": "I am sorry. What happened?"}}]
found = empathia.analyse(talk, model=empathia.load_model(Path({str(tmp_path / "glass")!r})))
assert found.turns[0].answers["mechanisms"] is None
assert len(found.turns[1].answers["mechanisms"]["explorations"].matches) == 2
heavy = {{"torch", "transformers", "sklearn", "scipy", "interpret"}} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    words = ["explain", "mechanisms", "I am sorry. What <b>happened</b>?", "--context", "I feel lost.", "--model", str(tmp_path / "glass")]
    done = run(*words, "--report", str(tmp_path / "e.html"))
    assert done.returncode == 0, done.stderr
    assert "explorations: level" in done.stdout and "to begin with" in done.stdout


def test_reasons_are_drawn(folder: Path) -> None:
    found = explanation.reasons("mechanisms", "i am sorry . <b>what</b> happened ?", context="i feel sad", model=folder)
    assert [one.output for one in found] == list(TASK.outputs)
    console = Console(width=100, file=io.StringIO())
    console.print(glass.drawn(found))
    told = console.file.getvalue()  # type: ignore[attr-defined]
    assert all(f"{name.replace('_', ' ')}: level" in told for name in TASK.outputs) and "…" not in told
    page = Page(glass.page(found))
    assert not page.open and "b" not in page.tags and "<b>what</b>" in page.text
    assert page.tags.count("svg") == 3 * 7 * 3  # mechanisms, features and intercept, levels
    with pytest.raises(UnknownName, match="task of this model"):
        explanation.reasons("direction", "x", model=folder)
    words = explanation.explain("mechanisms", "i am sorry .", context="i feel sad", model=folder)  # occlusion works here too
    assert [one.words for one in words] == [("i", "am", "sorry", ".")] * 3
    assert "<html" in glass.page(words) and glass.drawn(words).renderables


@pytest.mark.parametrize("name", baselines.FITTED)
def test_systems_for_the_benchmark_answer_all(name: str, rows: Split, where: str) -> None:
    system = baselines.FITTED[name](rows, where)
    found = evaluation.ask(system, TASK, rows.test)
    assert all(set(answers) == set(TASK.outputs) for answers in found)
    assert system.id.name in ("majority", "tfidf", "micromodels")
    if name == "micromodels-leak":  # every test reply with a rationale finds its own words
        assert isinstance(system, Micromodels)
        own = {seed for some in seeding.make(rows.test, by="likest") for seed in some.seeds}
        assert {seed for some in system.seeds.values() for seed in some.seeds} == own


def test_seeds_are_pruned_and_scored(rows: Split, where: str) -> None:
    encoder, made = open_encoder(where), seeding.make(rows.train)
    assert [len(one.shown) for one in seeding.prune(made, rows.valid, 1, encoder)] == [1, 1, 1]
    found = seeding.curves(made, rows, encoder, sizes=(1, 50))
    assert [[point.seeds for point in one.points] for one in found] == [
        [1, len(some.plain().seeds)] if len(some.plain().seeds) > 1 else [1] for some in made
    ]
    assert all(0 <= value <= 1 for one in found for point in one.points for value in point.scores.values())
    assert found[0].trivial["mark nothing"]["positives-only"] == 0
    picture = seeded.picture(found)
    assert picture.startswith("<svg") and picture.count("<polyline") == 6
    with pytest.raises(InputError, match="No corpus has rationales for 'thanks'"):
        seeding.kept([SeedSet("thanks", ("x",))], Path(), 1, encoder=where, seed=0)


def test_the_way_from_rows_to_a_model_on_the_command_line(tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = str(tiny.corpora(tmp_path / "data", times=20))
    told = ("--data", data, "--encoder", where)
    steps = [
        ("seeds", "make", "--data", data, "--out", "all"),
        ("seeds", "prune", "all", "-k", "1", *told, "--out", "few"),
        ("seeds", "test", "few", *told, "--plot", "few.svg"),
        ("seeds", "fit", "--seeds", "few", *told, "--out", "model"),
    ]
    for words in (*steps, ("evaluate", "mechanisms", "--data", data, "--model", "model")):
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, (words, done.exception)
    assert len(seeds.read(tmp_path / "few" / "explorations.txt").shown) == 1
    assert (tmp_path / "few.svg").read_text(encoding="utf-8").startswith("<svg")
    for words in steps:
        assert "there already" in str(CliRunner().invoke(app, words).exception)
