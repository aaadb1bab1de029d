"""To Label Studio and back: what is exported and accepted comes back as the same labels."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from corpora_samples import SAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st

from empathia import annotation, corpora, labelled, tasks
from empathia.corpora import labelstudio
from empathia.corpora._annotations import labels, offset, units
from empathia.labelled import Labelled
from empathia.schema import Dialogue, Graded, Label, Problem, Span, Turn
from empathia.task import Causes

TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=20).map(lambda text: f"{text}.")
NUMBERS = st.integers(1, 5) | st.floats(1, 5)


@st.composite
def turns(draw: st.DrawFn) -> Turn:
    """A turn with any labels."""
    text = draw(TEXTS)
    ends = draw(st.lists(st.tuples(st.integers(0, len(text)), st.integers(0, len(text))), max_size=2))
    spans = tuple(Span(start=min(pair), end=max(pair)) for pair in ends if pair[0] != pair[1])
    given_: dict[str, st.SearchStrategy[Label]] = {
        "direction": st.sampled_from(["none", "seek", "provide"]),
        "service": st.sets(st.sampled_from(["ask details", "<answer>", "x & y"])).map(tuple),
        "explorations": st.integers(0, 2).map(lambda level: Graded(level=level, rationales=spans)),
        "sympathy": st.integers(1, 5),
        "warmth": NUMBERS,
        "risk": st.booleans(),
    }
    chosen = draw(st.sets(st.sampled_from(sorted(given_))))
    return Turn(role=draw(st.sampled_from("ab")), content=text, labels={name: draw(given_[name]) for name in chosen})


def accepted(made: annotation.Project, folder: Path) -> Path:
    """What Label Studio exports when the predictions are accepted as they are."""
    done = [
        {"id": 100 + i, **task, "annotations": [{"id": i, "completed_by": 1, "result": task["predictions"][0]["result"]}]}
        for i, task in enumerate(made.tasks)
    ]
    path = folder / "export.json"
    path.write_text(json.dumps(done), encoding="utf-8")
    return path


def back(path: Path) -> list[Dialogue]:
    return [one for one in corpora.open_dialogues(path, "labelstudio") if isinstance(one, Dialogue)]


def said(dialogue: Dialogue) -> list[dict[str, Any]]:
    """All labels; the order of several is of no meaning."""
    whole = [dialogue.labels, *(turn.labels for turn in dialogue.turns)]
    return [
        {name: set(label) if isinstance(label, tuple) else label for name, label in some.items() if name != "outcome"} for some in whole
    ]


@given(st.lists(turns(), min_size=1, max_size=3), st.none() | NUMBERS)
@settings(max_examples=60, deadline=None)
def test_accepted_predictions_come_back_as_the_same_labels(some: list[Turn], satisfaction: float | None) -> None:
    import tempfile

    whole: dict[str, Label] = {} if satisfaction is None else {"satisfaction": satisfaction}
    before = Dialogue(
        id="c 1", turns=(*some, Turn(role="a", content="Bye.", labels={"direction": "none"})), labels=whole, metadata={"page": 2}
    )
    made = annotation.project(Labelled("here", [before]))
    with tempfile.TemporaryDirectory() as folder:
        (after,) = annotation.annotated(back(accepted(made, Path(folder))))
    assert said(after) == said(before) and after.id == "c 1" and after.metadata == {"page": 2}
    assert [(turn.role, turn.content) for turn in after.turns] == [(turn.role, turn.content) for turn in before.turns]
    (line,) = annotation.as_lines([after]).splitlines()
    assert json.loads(line)["id"] == "c 1"


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(0, 40))
def test_offsets_go_there_and_back(text: str, at: int) -> None:
    at = min(at, len(text))
    assert offset(text, units(text, at)) == at
    assert units("😢 a", 2) == 3


def test_our_answers_are_predictions_with_version_and_score(tmp_path: Path) -> None:
    chats = tmp_path / "chats.jsonl"
    line = {
        "id": "g",
        "topic": "t",
        "messages": [{"role": "a", "content": "I feel so alone 😢."}, {"role": "b", "content": "😢 I am so sorry to hear that."}],
    }
    chats.write_text(json.dumps(line), encoding="utf-8")
    made = annotation.project(labelled.opened(str(chats)))
    (prediction,) = made.tasks[0]["predictions"]
    assert prediction["model_version"].startswith("default") and 0 < prediction["score"] <= 1
    (after,) = annotation.annotated(back(accepted(made, tmp_path)))
    from empathia import analyse
    from empathia.corpora import results

    asked = tuple(name for name in tasks.DEFAULT if name != "causes")  # which are in other turns and not exported
    before = results.dialogue(analyse(line["messages"], tasks=asked))  # type: ignore[arg-type]
    assert said(after)[1:] == said(before)[1:]  # the satisfaction with the whole is that of the last reply
    assert after.metadata == {"topic": "t"}
    grade = after.turns[1].labels["emotional_reactions"]
    assert isinstance(grade, Graded) and grade.rationales and "outcome" not in after.turns[1].labels


def test_the_configuration_has_a_control_for_every_output_of_the_registry() -> None:
    dialogue = Dialogue(
        id="1", turns=(Turn(role="a", content="x", labels={"service": ("<ask>",), "sympathy": 4}),), labels={"satisfaction": 2.5}
    )
    view = ElementTree.fromstring(annotation.project(Labelled("here", [dialogue])).config)
    controls = {one.get("name"): one for one in view.iter() if one.get("toName") == "dialogue"}
    outputs = {name: output for task in map(tasks.load, tasks.names()) for name, output in task.outputs.items()}
    declared = {name for name, output in outputs.items() if not isinstance(output, Causes)}  # which stand in other turns
    assert len(controls) == len([one for one in view.iter() if one.get("toName") == "dialogue"])
    assert declared | {"service", "sympathy", "satisfaction", "regions"} == set(controls)
    assert [one.get("alias") for one in controls["service"]] == ["<ask>", labelstudio.NONE]
    assert [one.get("alias") for one in controls["explorations"]] == ["0", "1", "2"]
    assert controls["sympathy"].tag == "Rating" and controls["sympathy"].get("perRegion") == "true"
    assert controls["satisfaction"].tag == "Number" and controls["satisfaction"].get("perRegion") is None
    assert [one.get("value") for one in controls["regions"]] == ["turn", "emotional_reactions", "interpretations", "explorations"]


def test_results_are_exported_as_they_are(tmp_path: Path) -> None:
    path = SAMPLES["results"].write(tmp_path) / "results.jsonl"
    source = labelled.opened(str(path))
    made = annotation.project(source)
    assert made.tasks[0]["predictions"][0]["model_version"] == "m 1" and "set aside" in source.told()
    (after,) = annotation.annotated(back(accepted(made, tmp_path)))
    assert after.turns[1].labels["hope"] == Graded(level=1, rationales=(Span(start=0, end=6),))
    assert after.turns[1].labels["sympathy"] == 3.5 and after.turns[1].metadata == {"csat": "4"}


REGION = {"start": "0", "end": "1", "startOffset": 2, "endOffset": 1}


def test_a_configuration_of_ones_own() -> None:
    result = [
        {"from_name": "tone", "value": {**REGION, "choices": ["warm"]}},
        {"from_name": "tags", "value": {**REGION, "choices": ["a", "b"]}},
        {"from_name": "words", "value": {**REGION, "paragraphlabels": ["thanks"]}},
        {"from_name": "overall", "value": {"rating": 4}},
        {"from_name": "note", "value": {"text": ["free text"]}},
        {"from_name": "regions", "value": {"start": "2", "end": "2", "startOffset": 0, "endOffset": 1, "paragraphlabels": ["turn"]}},
    ]
    turns, whole = labels(result, ["Hello", "Thank you", "."], {"hope": "spans"})
    assert turns[0] == {"tone": "warm", "tags": ("a", "b"), "thanks": Graded(level=1, rationales=(Span(start=2, end=5),))}
    assert turns[1] == {"thanks": Graded(level=1, rationales=(Span(start=0, end=1),))}  # the region goes over two turns
    assert turns[2] == {"hope": Graded(level=0)} and whole == {"overall": 4}


@pytest.mark.parametrize(
    "result",
    [
        [{"from_name": "x", "value": {"start": "9", "choices": ["a"]}}],
        [{"value": {}}],
        ["x"],
        [{"from_name": "x", "value": {"paragraphlabels": ["y"]}}],
    ],
)
def test_a_broken_annotation_is_a_note(result: list[Any], tmp_path: Path) -> None:
    task = {"id": 1, "data": {"dialogue": [{"author": "a", "text": "Hi."}]}, "annotations": [{"result": result}]}
    path = tmp_path / "e.json"
    path.write_text(json.dumps([task]), encoding="utf-8")
    found = list(corpora.open_dialogues(path))
    assert [one.reason for one in found if isinstance(one, Problem) and "layout" in one.reason] == [labelstudio.BROKEN]
    assert [one.turns[0].labels for one in found if isinstance(one, Dialogue)] == [{}]


def test_the_ground_truth_comes_first_and_cancelled_annotations_do_not_count(tmp_path: Path) -> None:
    def chose(label: str, **more: object) -> dict[str, Any]:
        return {"result": [{"from_name": "tone", "value": {"start": "0", "choices": [label]}}], **more}

    annotations = [
        chose("right", completed_by=1, ground_truth=True),
        chose("other", completed_by={"id": 2}),
        chose("no", completed_by=3, was_cancelled=True),
    ]
    path = tmp_path / "e.json"
    path.write_text(
        json.dumps([{"id": 1, "data": {"dialogue": [{"author": "a", "text": "Hi."}]}, "annotations": annotations}]), encoding="utf-8"
    )
    (dialogue,) = back(path)
    assert dialogue.turns[0].labels == {"tone": "right"} and set(labelstudio.by_annotator(dialogue)) == {"1", "2"}


def test_the_command_line(tmp_path: Path) -> None:
    def run(*words: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "empathia", "annotate", *words], capture_output=True, text=True, check=True, cwd=tmp_path
        ).stdout

    SAMPLES["results"].write(tmp_path)
    assert "1 tasks in tasks.json, labelling configuration in tasks.xml" in run("export", "results.jsonl", "--out", "tasks.json")
    made = annotation.Project(json.loads((tmp_path / "tasks.json").read_text(encoding="utf-8")), "")
    accepted(made, tmp_path)
    assert "1 of 1 tasks are annotated" in run("import", "export.json", "--out", "labelled.jsonl")
    (dialogue,) = [one for one in corpora.open_dialogues(tmp_path / "labelled.jsonl") if isinstance(one, Dialogue)]
    assert dialogue.turns[0].labels == {"direction": "seek"} and dialogue.turns[1].labels["service"] == ("ask_details",)


@pytest.mark.parametrize("name", ["care", "epitome", "esconv", "empathic_reactions"])
def test_real_corpora_go_there_and_back(name: str, data: Path, tmp_path: Path) -> None:
    before = corpora.dialogues(name, data)[:100]
    after = list(annotation.annotated(back(accepted(annotation.project(Labelled(name, before)), tmp_path))))
    assert [said(one) for one in after] == [said(one) for one in before]
