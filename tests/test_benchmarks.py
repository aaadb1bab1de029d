"""The benchmarks run: each on a slice, on tiny corpora with a tiny encoder; what they print there is no result."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tiny

ROOT = Path(__file__).parent.parent
KEYS = {"id", "table", "system", "data", "split", "metric", "published", "ours", "low", "high", "baseline", "silver", "command", "date"}


def run(tmp_path: Path, name: str, *words: str) -> str:
    data, encoder = tiny.corpora(tmp_path / "data"), tiny.encoder(tmp_path / "encoder")
    command = [sys.executable, "-m", f"benchmarks.{name}", "--encoder", str(encoder), "--quick", *words]
    given = {**os.environ, "EMPATHIA_DATA": str(data), "TMPDIR": str(tmp_path), "COLUMNS": "200"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=given)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_clsn_on_a_slice(tmp_path: Path) -> None:
    told = run(tmp_path, "clsn", "--systems", "encoder,joint,clsn", "--settings", "multi,seek", "--plot", "--explain", "2")
    assert "clsn/seek/direction/weighted_f1/encoder" in told
    assert (tmp_path / "clsn-tsne.svg").read_text(encoding="utf-8").startswith("<svg")


def test_epitome_on_a_slice(tmp_path: Path) -> None:
    told = run(tmp_path, "epitome", "--systems", "majority,tfidf,micromodels-3,glass,hred,heed")
    assert "epitome/split/mean/macro_f1/encoder-heed" in told and "probe/contrast_inverted/mechanisms/ordered/encoder-heed" in told


def test_multidimensional_on_a_slice(tmp_path: Path) -> None:
    told = run(tmp_path, "multidimensional", "--systems", "window,ldam")
    for wanted in (
        "esconv/mean/macro_f1/encoder",
        "emh/mean/macro_f1/encoder-ldam",
        "care/service/macro_f1/encoder",
        "care/perceived/kappa",
    ):
        assert f"multidimensional/{wanted}" in told


def test_multidimensional_with_an_llm(tmp_path: Path) -> None:
    told = run(tmp_path, "multidimensional", "--systems", "zero-shot", "--datasets", "service", "--limit", "3", "--encoder", "echo")
    assert "multidimensional/care/service/macro_f1/echo-zero-shot" in told


def test_causes_on_a_slice(tmp_path: Path) -> None:
    told = run(tmp_path, "causes", "--systems", "coattention,no-attention")
    assert "causes/epitome/causes/f1/encoder" in told and "causes/reccon/entailment/macro_f1/encoder-no-attention" in told


def test_causes_with_an_llm(tmp_path: Path) -> None:
    told = run(tmp_path, "causes", "--systems", "prompting,asking", "--sets", "epitome", "--limit", "2", "--encoder", "echo")
    assert "causes/epitome/causes/f1/echo-prompting" in told and "causes/epitome/causes/f1/annotators" in told


def test_risk_on_the_real_posts(tmp_path: Path, data: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.risk", "--encoder", str(tiny.encoder(tmp_path / "encoder")), "--quick"]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, env={**os.environ, "EMPATHIA_DATA": str(data), "COLUMNS": "200"}
    )
    assert "risk/posts/risk/positive_recall/encoder" in done.stdout, done.stderr[-2000:]


def test_default_on_a_slice(tmp_path: Path) -> None:
    told = run(tmp_path, "default", "--work", str(tmp_path / "models"))
    assert "default/mechanisms/mean/macro_f1/minilm" in told


def test_results_of_the_default_model_keep_the_seeds_of_the_same_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import default
    from benchmarks import rows as kept

    monkeypatch.setattr(kept, "RESULTS", tmp_path)
    by_seed = {str(seed): {"default/emotion/emotion/accuracy/minilm": {"ours": 40.0 + seed, "baseline": 5.0}} for seed in (0, 2)}
    (found,) = default.rows(by_seed)
    assert (found["ours"], found["low"], found["high"], found["baseline"]) == (41, 40, 42, 5)
    kept.save("default", [found | {"recipe": "this"}])
    assert kept.kept("default", "this") == by_seed and kept.kept("default", "another") == {}


@pytest.mark.parametrize("file", sorted((ROOT / "benchmarks" / "results").glob("*.json")), ids=lambda file: file.name)
def test_results_have_the_form_of_the_contract(file: Path) -> None:
    rows = json.loads(file.read_text(encoding="utf-8"))
    if file.name.endswith("-runs.json"):
        return
    assert len({row["id"] for row in rows}) == len(rows)
    for row in rows:
        assert row.keys() >= KEYS, row["id"]
        assert row["id"].count("/") == 4
        assert row["ours"] is not None or row["reason"]


def test_models_of_a_task_stand_beside_the_default_model_of_the_same_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import alone
    from benchmarks import rows as kept
    from empathia import models, tasks

    own = {id_: value for task in reversed(tasks.DEFAULT) for id_, value in alone.headlines(models.read_card(models.DEFAULT), task).items()}
    assert set(alone.HEADLINES) == set(tasks.DEFAULT)
    shared = [{"id": id_.replace("alone", "default", 1), "silver": False, "seeds": {"0": {"ours": 3.0}, "1": {"ours": 1.0}}} for id_ in own]
    monkeypatch.setattr(kept, "RESULTS", tmp_path)
    kept.save("default", shared)
    beside = list(alone.rows({"1": own, "2": own}))  # nothing is known of the default model with seed 2
    assert {one["id"]: one["ours"] for one in beside} == own and {one["shared"] for one in beside} == {1.0}
    assert list(dict.fromkeys(one["id"].split("/")[1] for one in beside)) == list(tasks.DEFAULT)
    told = {one["metric"]: one["value"] for one in models.read_card(models.DEFAULT)["scores"]["after_quantisation"]["strategies"]}
    assert own["alone/strategies/strategies/macro_f1/minilm"] == 100 * told["macro_f1"]  # of all labels, not of one
