"""Labels against ratings: hand-computed tests and effects, properties, our own answers, and the real corpus where it is."""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from corpora_samples import SAMPLES
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from scipy import stats  # type: ignore[import-untyped]

from empathia import comparison, corpora, labelled, relation
from empathia.errors import InputError, UnknownName
from empathia.findings import Related, Relation
from empathia.labelled import Labelled
from empathia.report import relations
from empathia.schema import Dialogue, Graded, Label, Turn

GROUPS = st.lists(st.integers(1, 5), min_size=2, max_size=30).map(lambda some: np.array(some, dtype=float))


def rated(*rows: tuple[dict[str, Label], dict[str, Label]]) -> Labelled:
    """A source with a dialogue per row: labels of its reply, labels of the whole."""
    question = Turn(role="a", content="Where is it?")
    return Labelled(
        "here",
        [
            Dialogue(id=str(i), turns=(question, Turn(role="b", content="Soon.", labels=turn)), labels=whole)
            for i, (turn, whole) in enumerate(rows)
        ],
    )


def one(found: Related, label: str, rating: str) -> Relation:
    (relation,) = [one for one in found.relations if (one.label, one.rating) == (label, rating)]
    return relation


CARE = rated(
    ({"service": ("apology", "answer"), "sympathy": 5}, {"satisfaction": 5}),
    ({"service": ("apology",), "sympathy": 4}, {"satisfaction": 3}),
    ({"service": ("answer",), "sympathy": 2}, {"satisfaction": 4}),
    ({"service": (), "sympathy": 1}, {"satisfaction": 1}),
    ({"service": (), "sympathy": 3}, {"satisfaction": 2}),
)


def test_counts_means_errors_and_effects_by_hand() -> None:
    found = relation.relate(CARE)
    apology = one(found, "apology", "sympathy")
    assert (apology.shown.rows, apology.shown.mean, apology.shown.error) == (2, 4.5, 0.5)
    assert (apology.absent.rows, apology.absent.mean) == (3, 2.0)
    assert apology.absent.error == pytest.approx(1 / math.sqrt(3))
    assert apology.effect == 1.0  # both are above all three others
    assert apology.p == pytest.approx(0.2)  # exact: 2 of the 10 ways to choose 2 of 5 ranks are as extreme
    satisfied = one(found, "apology", "satisfaction")
    assert satisfied.unit == "dialogue" and satisfied.effect == pytest.approx((5 - 1) / 6)  # of 6 pairs 5 won, 1 lost
    assert found.turns == found.dialogues == 5 and set(found.origins.values()) == {"human"}


def test_welch_and_hedges_by_hand() -> None:
    effect, p = comparison.welch(np.array([4.0, 6.0]), np.array([1.0, 2.0, 3.0]))
    assert effect == pytest.approx((1 - 3 / 11) * 3 / math.sqrt(4 / 3))  # pooled variance (2 + 2) / 3
    t, free = 3 / math.sqrt(1 + 1 / 3), (4 / 3) ** 2 / (1 + (1 / 3) ** 2 / 2)
    assert p == pytest.approx(2 * stats.t.sf(t, free))
    found = relation.relate(CARE, test="welch")
    assert found.effect == "Hedges' g" and (one(found, "apology", "sympathy").effect or 0) > 1


def test_holm_by_hand() -> None:
    assert comparison.holm([0.01, 0.04, 0.03, math.nan]) == pytest.approx([0.03, 0.06, 0.06, math.nan], nan_ok=True)
    assert comparison.holm([0.5, 0.9]) == [1.0, 1.0]


@given(st.lists(st.floats(0, 1), max_size=20))
def test_holm_only_raises_and_keeps_the_order(values: list[float]) -> None:
    corrected = comparison.holm(values)
    assert all(p <= after <= 1 for p, after in zip(values, corrected, strict=True))
    assert sorted(values) == [p for _, p in sorted(zip(corrected, values, strict=True))]
    assert all(after <= len(values) * p + 1e-12 for p, after in zip(values, corrected, strict=True))


@given(GROUPS, GROUPS, st.sampled_from(["mann-whitney", "welch"]))
def test_swapping_the_groups_turns_the_effect_round(first: comparison.Floats, second: comparison.Floats, test: comparison.Test) -> None:
    (effect, p), (back, same) = comparison.compared(first, second, test), comparison.compared(second, first, test)
    assert back == pytest.approx(-effect, nan_ok=True) and same == pytest.approx(p, nan_ok=True)
    if test == "mann-whitney":
        pairs = [np.sign(a - b) for a in first for b in second]
        assert effect == pytest.approx(np.mean(pairs)) and -1 <= effect <= 1


def test_correlation_with_satisfaction() -> None:
    found = {(one.output, one.label): one for one in relation.relate(CARE).correlations}
    sympathy = found["sympathy", None]
    assert sympathy.value == pytest.approx(stats.spearmanr([5, 4, 2, 1, 3], [5, 3, 4, 1, 2]).statistic) == pytest.approx(0.7)
    assert sympathy.low is not None and sympathy.high is not None and sympathy.low < 0.7 < sympathy.high
    assert found["service", "answer"].rows == 5 and ("satisfaction", None) not in found


def test_levels_choices_and_flags_are_labels() -> None:
    source = rated(
        ({"explorations": Graded(level=2), "intent": "Wishing", "risk": True, "sympathy": 4}, {}),
        ({"explorations": Graded(level=0), "intent": "Neutral", "risk": False, "sympathy": 2}, {}),
    )
    found = relation.relate(source)
    assert {(one.output, one.label) for one in found.relations} == {
        ("explorations", "explorations"),
        ("intent", "Wishing"),
        ("intent", "Neutral"),
        ("risk", "yes"),
        ("risk", "no"),
    }
    assert one(found, "explorations", "sympathy").shown.mean == 4
    assert not found.correlations


def test_what_cannot_be_tested_has_no_p() -> None:
    found = relation.relate(rated(({"intent": "Wishing", "sympathy": 4}, {})))
    assert found.relations[0].p is None and found.relations[0].absent.mean is None
    same = relation.relate(rated(({"intent": "Wishing", "sympathy": 4}, {}), ({"intent": "Neutral", "sympathy": 4}, {})), test="welch")
    assert {one.corrected for one in same.relations} == {None}


def results(folder: Path, count: int = 8) -> Path:
    """Results of ours, in which turns that wish are given a better score by the user."""
    (line, *_) = SAMPLES["results"].files["results.jsonl"].splitlines()
    record = json.loads(line)
    lines = []
    for i in range(count):
        reply = record["turns"][1] | {"outcome": "given" if i % 2 else "missed", "metadata": {"csat": str(i)}}
        reply |= {
            "intent": {"label": "Wishing" if i % 2 else "Neutral", "scores": {"Wishing": i / 10, "Neutral": 1 - i / 10}},
            "sympathy": None,
        }
        lines.append(json.dumps(record | {"id": f"c{i}", "turns": [record["turns"][0], reply]}) + "\n")
    path = folder / "results.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_our_own_answers_are_told_and_what_is_made_of_the_outcome_is_left_out(tmp_path: Path) -> None:
    source = str(results(tmp_path))
    found = relation.relate(labelled.opened(source))
    assert {one.rating for one in found.relations} == {"outcome"}
    assert one(found, "Wishing", "outcome").effect == 1.0
    assert {one.output for one in found.relations} == {"intent", "service", "hope"}
    assert set(found.origins.values()) == {"ours"}
    text = printed(relations.table(found))
    assert "our own answers, not what people said: " in text and "direction" not in text


def test_our_answers_against_a_rating_of_the_user_and_against_scores(tmp_path: Path) -> None:
    source = str(results(tmp_path))
    found = relation.relate(labelled.opened(source), ratings=["csat", "intent:Wishing"])
    assert one(found, "given", "csat").effect == pytest.approx((10 - 6) / 16)
    assert found.origins["csat"] == "human" and found.origins["outcome"] == "ours"
    assert ("intent", "intent:Wishing") not in {(one.output, one.rating) for one in found.relations}
    with pytest.raises(UnknownName, match="Did you mean 'csat'"):
        relation.relate(labelled.opened(source), ratings=["csats"])


def test_turns_of_one_role() -> None:
    turns = [Turn(role=role, content="x", labels={"intent": label}) for role, label in (("a", "Negative"), ("b", "Wishing"))]
    rows = [Dialogue(id=str(i), turns=tuple(turns[: i % 2 + 1]), labels={"satisfaction": i}) for i in range(4)]
    assert {one.label for one in relation.relate(Labelled("here", rows)).relations} == {"Negative", "Wishing"}
    assert {one.label for one in relation.relate(Labelled("here", rows), role="b").relations} == {"Wishing"}
    with pytest.raises(UnknownName, match="role"):
        relation.relate(Labelled("here", rows), role="agent")


def test_a_source_without_ratings_says_what_there_is() -> None:
    with pytest.raises(InputError, match=r"both a label and a rating\. Name another of explorations"):
        relation.relate(rated(({"explorations": Graded(level=1)}, {})))
    with pytest.raises(UnknownName, match="Did you mean 'welch'"):
        relation.relate(CARE, test="welsh")  # type: ignore[arg-type]


def test_a_file_with_labels_is_read_as_it_was_written(tmp_path: Path) -> None:
    labels = {"service": ["ask"], "sympathy": 4, "risk": False, "explorations": {"level": 2, "rationales": [{"start": 0, "end": 3}]}}
    line = {
        "id": "c",
        "labels": {"satisfaction": 5},
        "messages": [{"role": "a", "content": "Hi?"}, {"role": "b", "content": "Yes", "labels": labels}],
    }
    path = tmp_path / "chats.jsonl"
    path.write_text(json.dumps(line) + "\n" + json.dumps(line | {"id": "d", "labels": {"x": None}}) + "\n", encoding="utf-8")
    first, problem, second = corpora.open_dialogues(path)
    assert isinstance(first, Dialogue) and first.labels == {"satisfaction": 5} and first.metadata == {"labels": {"satisfaction": 5}}
    assert first.turns[1].labels["service"] == ("ask",) and first.turns[1].labels["risk"] is False
    assert isinstance(first.turns[1].labels["explorations"], Graded)
    assert "no label" in getattr(problem, "reason", "") and isinstance(second, Dialogue) and not second.turns[1].labels


def printed(what: object) -> str:
    console = Console(width=100, no_color=True)
    with console.capture() as caught:
        console.print(what)
    return caught.get()


def test_table_json_and_picture() -> None:
    found = relation.relate(CARE)
    text = printed(relations.table(found))
    assert "4.50 ±0.50 (2)" in text and "human labels: service, sympathy, satisfaction" in text and "Correlation with satisfaction" in text
    assert json.loads(relations.as_json(found))["relations"][0]["rating"] == "sympathy"
    picture = relations.picture(found)
    assert picture.startswith("<svg") and picture.count("<circle") == 2 * len(found.relations)


def test_the_command_line(tmp_path: Path) -> None:
    results(tmp_path)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "empathia", "relate", *words], capture_output=True, text=True, cwd=tmp_path)

    done = run("results.jsonl", "--rating", "csat", "--role", "b", "--test", "welch", "--plot", "r.svg", "--json")
    assert json.loads(done.stdout)["effect"] == "Hedges' g" and (tmp_path / "r.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "our own answers" in run("results.jsonl").stdout
    for words, says in (
        (["results.jsonl", "--test", "t"], "Known: mann-whitney, welch"),
        (["nothing.jsonl"], "There is no file"),
        (["results.jsonl", "--role", "agent"], "Known: a, b"),
    ):
        bad = run(*words)
        assert bad.returncode == 1 and says in bad.stderr and "Traceback" not in bad.stderr


def test_the_real_corpus(data: Path) -> None:
    found = relation.relate(labelled.opened("care", data=data))
    assert found.turns > 700 and len(found.relations) == 16 * 5 and set(found.origins.values()) == {"silver"}
    assert found.relations[0].rating == "engagement"
    sorry = one(found, "express_sympathy", "sympathy")
    assert sorry.shown.rows + sorry.absent.rows == found.turns and (sorry.effect or 0) > 0.5 and (sorry.corrected or 1) < 0.001
    assert len(found.correlations) == 16 + 4
    with pytest.raises(InputError, match="--data"):
        labelled.opened("care")
    with pytest.raises(UnknownName, match="Did you mean 'care'"):
        labelled.opened("caree", data=data)
