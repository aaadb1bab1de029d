"""Agreement between annotators: hand-computed cases, other implementations, properties, and what matches nothing."""

import json
import math
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from corpora_samples import SAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]

from empathia import agreement, labelled
from empathia.errors import InputError
from empathia.findings import Agreed, Agreement
from empathia.report import agreements
from empathia.schema import Cause, Dialogue, Graded, Label, Span, Turn

LABELS = st.lists(st.sampled_from("abc"), min_size=2, max_size=12)


def annotator(*labels: dict[str, Label], text: str = "I am so sorry.") -> list[Dialogue]:
    """One dialogue of one labelled turn for each."""
    return [Dialogue(id=str(i), turns=(Turn(role="b", content=text, labels=given),)) for i, given in enumerate(labels)]


def said(name: str, values: Sequence[Label]) -> list[Dialogue]:
    return annotator(*({name: value} for value in values))


def figure(found: Agreed, output: str, what: str, label: str | None = None) -> float | None:
    return one(found, output, label).figures[what].value


def one(found: Agreed, output: str, label: str | None = None) -> Agreement:
    (agreement,) = [one for one in found.agreements if (one.output, one.label) == (output, label)]
    return agreement


def test_a_choice_by_hand() -> None:
    found = agreement.agree({"ann": said("intent", ["x", "x", "y", "y"]), "ben": said("intent", ["x", "y", "y", "y"])})
    assert figure(found, "intent", "agreement") == 0.75
    assert figure(found, "intent", "kappa") == pytest.approx(0.5)  # (0.75 - 0.5) / (1 - 0.5)
    # Of 8 values 3 are x: expected disagreement 2 * 3 * 5 / (8 * 7) = 30 / 56, observed 0.25.
    assert figure(found, "intent", "alpha") == pytest.approx(1 - 0.25 * 56 / 30)
    assert figure(found, "intent", "kappa", "y") == pytest.approx(0.5) and found.matched == 4


def test_levels_count_by_distance() -> None:
    levels = ([0, 1, 2, 2], [0, 2, 2, 1])
    given_by = [said("explorations", [Graded(level=level) for level in some]) for some in levels]
    found = agreement.agree(dict(zip("ab", given_by, strict=True)))
    assert figure(found, "explorations", "kappa") == pytest.approx(cohen_kappa_score(*levels, weights="quadratic"))
    assert figure(found, "explorations", "agreement") == 0.5


def test_several_labels_are_a_question_each() -> None:
    found = agreement.agree({"a": said("service", [("x",), ("x", "y"), ()]), "b": said("service", [("x",), ("y",), ("y",)])})
    assert figure(found, "service", "agreement", "x") == pytest.approx(2 / 3)
    assert figure(found, "service", "agreement", "y") == pytest.approx(2 / 3)
    kappas = [figure(found, "service", "kappa", label) or 0 for label in "xy"]
    assert figure(found, "service", "kappa") == pytest.approx(sum(kappas) / 2)


def test_marked_words() -> None:
    first = said("explorations", [Graded(level=1, rationales=(Span(start=0, end=7),)), Graded(level=0)])  # I am so
    second = said("explorations", [Graded(level=2, rationales=(Span(start=5, end=14),)), Graded(level=0)])  # so sorry.
    found = one(agreement.agree({"a": first, "b": second}), "explorations")
    assert found.figures["token_f1"].value == pytest.approx(2 * 1 / (3 + 2)) and found.rows == 2


def test_causes_are_marked_words_too() -> None:
    found = agreement.agree({who: said("causes", [(Cause(turn=0, start=0, end=end),)]) for who, end in (("a", 1), ("b", 4))})
    assert figure(found, "causes", "token_f1") == pytest.approx(2 * 1 / (1 + 2)) and set(one(found, "causes").figures) == {"token_f1"}


def test_three_annotators_and_gaps() -> None:
    sources = {"a": said("intent", ["x", "y", "x"]), "b": said("intent", ["x", "y", "y"]), "c": said("intent", ["x", "y"])}
    found = one(agreement.agree(sources, rounds=20), "intent")
    assert found.rows == 3 and found.figures["agreement"].value == pytest.approx((2 / 3 + 1 + 1) / 3)
    assert found.figures["kappa"].value == pytest.approx((cohen_kappa_score([0, 1, 0], [0, 1, 1]) + 1 + 1) / 3)


def test_what_matches_nothing_is_counted() -> None:
    more = [Dialogue(id="other", turns=(Turn(role="b", content="x", labels={"intent": "x"}),))]
    first = said("intent", ["x", "y", "y"])
    second = [*said("intent", ["x", "y"]), *more, *more]
    changed = [Dialogue(id="2", turns=(Turn(role="b", content="Another text.", labels={"intent": "y"}),))]
    items, unmatched = agreement.matched({"a": first, "b": [*second, *changed]})
    assert len(items) == 2
    assert unmatched == {"a": {agreement.ALONE: 1}, "b": {agreement.TWICE: 1, agreement.OTHER_TEXT: 1, agreement.ALONE: 1}}
    with pytest.raises(InputError, match="Nothing matches"):
        agreement.agree({"a": first, "b": more})
    with pytest.raises(InputError, match="two annotators"):
        agreement.agree({"a": first})


def test_labels_of_whole_dialogues() -> None:
    sources = {
        who: [d.model_copy(update={"labels": {"satisfaction": i + shift}}) for i, d in enumerate(said("x", ["a"] * 3))]
        for who, shift in (("a", 1), ("b", 2))
    }
    found = agreement.agree(sources)
    assert figure(found, "satisfaction", "agreement") == 0
    assert figure(found, "satisfaction", "kappa") == pytest.approx(
        cohen_kappa_score([1, 2, 3], [2, 3, 4], weights="quadratic", labels=[1, 2, 3, 4])
    )
    assert figure(found, "x", "kappa") is None and figure(found, "x", "alpha") is None  # one label throughout


@given(LABELS, st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_who_comes_first_does_not_matter(values: list[str], dice: object) -> None:
    other = [dice.choice([value, "a"]) for value in values]  # type: ignore[attr-defined]
    one, two = said("intent", values), said("intent", other)
    there, back = (agreement.agree(sources, rounds=0) for sources in ({"a": one, "b": two}, {"b": two, "a": one}))
    assert [(a.output, a.label) for a in there.agreements] == [(a.output, a.label) for a in back.agreements]
    for first, second in zip(there.agreements, back.agreements, strict=True):
        for name, estimate in first.figures.items():
            assert estimate.value == pytest.approx(second.figures[name].value, abs=1e-9)


@given(LABELS)
@settings(max_examples=30, deadline=None)
def test_with_oneself_one_agrees_throughout(values: list[str]) -> None:
    found = agreement.agree({"a": said("intent", values), "b": said("intent", values)}, rounds=5)
    for figures in (every.figures for every in found.agreements):
        assert figures["agreement"].value == 1 and figures["kappa"].value in (1, None) and figures["alpha"].value in (1, None)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=30), st.sampled_from(["nominal", "ordinal"]))
def test_kappa_is_that_of_scikit_learn(pairs: list[tuple[int, int]], scale: agreement.Scale) -> None:
    first, second = (np.array(values, dtype=float) for values in zip(*pairs, strict=True))
    found = agreement.kappa(first, second, scale)
    if math.isnan(found):
        assert len({*first, *second}) == 1
    else:
        weights = "quadratic" if scale == "ordinal" else None
        assert found == pytest.approx(cohen_kappa_score(first.astype(int), second.astype(int), weights=weights, labels=range(5)))


def test_intervals_draw_whole_dialogues() -> None:
    turns = tuple(Turn(role="b", content=str(i), labels={"intent": "xy"[i % 2]}) for i in range(6))
    other = tuple(turn.model_copy(update={"labels": {"intent": "x"}}) for turn in turns)
    found = agreement.agree({"a": [Dialogue(id="1", turns=turns)], "b": [Dialogue(id="1", turns=other)]}, rounds=30)
    estimate = one(found, "intent").figures["agreement"]
    assert (estimate.low, estimate.value, estimate.high) == (0.5, 0.5, 0.5)  # one dialogue: every draw is the same


def exported(folder: Path, name: str, *annotators: str) -> Path:
    """A Label Studio export of two tasks, in which each annotator chose a label for the first turn."""
    tasks = [
        {
            "id": i,
            "data": {"dialogue": [{"author": "a", "text": "Hello."}]},
            "annotations": [
                {
                    "completed_by": who,
                    "result": [
                        {
                            "from_name": "intent",
                            "to_name": "d",
                            "type": "choices",
                            "value": {"start": "0", "end": "0", "choices": [label[i]]},
                        }
                    ],
                }
                for who, label in enumerate(annotators, 1)
            ],
        }
        for i in range(2)
    ]
    path = folder / name
    path.write_text(json.dumps(tasks), encoding="utf-8")
    return path


def test_annotators_inside_one_export_and_in_two(tmp_path: Path) -> None:
    both = labelled.annotators([labelled.opened(str(exported(tmp_path, "both.json", "xy", "xx")))])
    assert list(both) == ["both.json 1", "both.json 2"]
    (tmp_path / "other").mkdir()
    paths = exported(tmp_path, "e.json", "xy"), exported(tmp_path / "other", "e.json", "xx")
    assert list(labelled.annotators([labelled.opened(str(path)) for path in paths])) == ["e.json", "e.json (2)"]
    assert figure(agreement.agree(both), "intent", "agreement") == 0.5


def test_the_command_line(tmp_path: Path) -> None:
    first, second = exported(tmp_path, "a.json", "xy"), exported(tmp_path, "b.json", "xx")
    run = [sys.executable, "-m", "empathia", "agree", str(first), str(second)]
    done = subprocess.run([*run, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["annotators"] == ["a.json", "b.json"]
    table = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert "2 items that two or more labelled" in table and "50 [" in table
    alone = subprocess.run(run[:-1], capture_output=True, text=True)
    assert alone.returncode == 1 and "two annotators" in alone.stderr


def test_results_against_labels(tmp_path: Path) -> None:
    path = SAMPLES["results"].write(tmp_path) / "results.jsonl"
    (ours,) = list(labelled.opened(str(path)).dialogues())
    theirs = ours.model_copy(
        update={"turns": (ours.turns[0], ours.turns[1].model_copy(update={"labels": {"explorations": Graded(level=1)}}))}
    )
    found = agreement.agree({"ours": [ours], "theirs": [theirs]}, rounds=5)
    assert figure(found, "explorations", "agreement") == 1 and figure(found, "explorations", "token_f1") == 0
    assert found.unmatched == {"ours": {}, "theirs": {}} and found.matched == 2
    assert "explorations" in agreements.as_json(found)
