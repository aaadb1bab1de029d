"""To Label Studio and back: conversations as tasks whose predictions people correct, and labels from what they exported."""

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from empathia.analysis import analyse_all
from empathia.corpora import labelstudio, results
from empathia.errors import InputError
from empathia.labelled import Labelled, declared, inferred, names, number, outputs
from empathia.labelling import NUMBER, OBJECT, REGIONS, STARS, config
from empathia.models import Model
from empathia.schema import (
    NOT_PARTICIPANTS,
    Analysis,
    Answer,
    ChoiceAnswer,
    ChoicesAnswer,
    Dialogue,
    Graded,
    Label,
    LevelAnswer,
    Problem,
    Span,
    Turn,
)
from empathia.task import Causes, Choice, Choices, Flag, Level, Output, Rating, Spans

KINDS: Mapping[type[Output], str] = {Choice: "choice", Choices: "choices", Level: "level", Rating: STARS, Spans: "spans"}
DERIVED = ("outcome",)  # follows from other answers: nobody annotates it
LEFT_OUT = ("annotations", "predictions", "labels")  # metadata that are labels of before


@dataclass(frozen=True)
class Project:
    """What Label Studio needs: the tasks, and the labelling configuration."""

    tasks: list[dict[str, Any]]
    config: str


def project(source: Labelled, *, tasks: Sequence[str] | None = None, model: Model | None = None) -> Project:
    """A Label Studio project of a source. Its labels or answers are the predictions; a source without any is analysed first."""
    records = list(source.records)
    if not any(isinstance(one, Analysis) or one.labels or any(turn.labels for turn in one.turns) for one in records):
        records = list(analyse_all((one for one in records if isinstance(one, Dialogue)), tasks=tasks, model=model))
    dialogues = [results.dialogue(one) if isinstance(one, Analysis) else one for one in records]
    turns = _values(turn.labels for one in dialogues for turn in one.turns)
    whole = {name: found for name, found in _values(one.labels for one in dialogues).items() if name not in turns}
    known = {name: inferred(name, [True, False]) if isinstance(one, Flag) else one for name, one in declared().items()}
    asked = {name: one for name, one in {**known, **outputs(turns)}.items() if name not in whole and not isinstance(one, Causes)}
    kinds = {name: _kind(output, (turns | whole).get(name, ())) for name, output in {**asked, **outputs(whole)}.items()}
    made = [_task(_with_only(dialogue, whole), kinds, _prediction(one)) for dialogue, one in zip(dialogues, records, strict=True)]
    return Project(made, config(asked, outputs(whole), kinds))


def write(made: Project, out: Path) -> Path:
    """Write the tasks, and the configuration beside them; the path of the configuration."""
    if not out.parent.is_dir():
        raise InputError(f"'{out}' cannot be written: the folder '{out.parent}' does not exist. Create it first.")
    out.write_text(json.dumps(made.tasks, ensure_ascii=False, indent=1), encoding="utf-8")
    beside = out.with_suffix(".xml")
    beside.write_text(made.config, encoding="utf-8")
    return beside


def annotated(found: Iterable[Dialogue | Problem]) -> Iterator[Dialogue]:
    """The dialogues of a Label Studio export that carry labels, with the metadata that they had before the export."""
    for one in found:
        if isinstance(one, Dialogue) and (one.labels or any(turn.labels for turn in one.turns)):
            data = one.metadata.get("data")
            kept = data if isinstance(data, dict) else {}
            yield one.model_copy(update={"metadata": kept.get("metadata", {}) if labelstudio.ID in kept else kept})


def as_lines(dialogues: Iterable[Dialogue]) -> str:
    """Labelled dialogues as JSON Lines in the canonical format, with `labels` beside what they are about."""
    return "".join(json.dumps(_line(dialogue), ensure_ascii=False) + "\n" for dialogue in dialogues)


def _line(dialogue: Dialogue) -> dict[str, Any]:
    messages = [{**turn.metadata, "role": turn.role, "content": turn.content, **_given(turn)} for turn in dialogue.turns]
    return {**dialogue.metadata, "id": dialogue.id, "messages": messages, **_given(dialogue)}


def _given(one: Turn | Dialogue) -> dict[str, Any]:
    return {"labels": one.model_dump(mode="json", include={"labels"})["labels"]} if one.labels else {}


def _values(labels: Iterable[Mapping[str, Label]]) -> dict[str, list[Label]]:
    found: dict[str, list[Label]] = {}
    for given in labels:
        for name, label in given.items():
            elsewhere = isinstance(declared().get(name), Causes) or (isinstance(label, tuple) and label and not isinstance(label[0], str))
            if name not in DERIVED and not elsewhere:  # causes are in other turns: they are not exported
                found.setdefault(name, []).append(label)
    return found


def _with_only(dialogue: Dialogue, names: Container[str]) -> Dialogue:
    return dialogue.model_copy(update={"labels": {name: label for name, label in dialogue.labels.items() if name in names}})


def _kind(output: Output, values: Sequence[Label]) -> str:
    if any(isinstance(value, bool) for value in values):
        return "flag"
    if isinstance(output, Rating) and (output.low < 1 or not all(isinstance(value, int) and 1 <= value <= 10 for value in values)):
        return NUMBER
    return KINDS[type(output)]


def _task(dialogue: Dialogue, kinds: Mapping[str, str], prediction: dict[str, Any]) -> dict[str, Any]:
    paragraphs = [{**_kept(turn.metadata), "author": turn.role, "text": turn.content} for turn in dialogue.turns]
    data = {labelstudio.ID: dialogue.id, OBJECT: paragraphs, labelstudio.KINDS: dict(kinds), "metadata": _kept(dialogue.metadata)}
    result = [one for index, turn in enumerate(dialogue.turns) for one in _turn(index, turn, kinds)]
    result += [_result(f"whole-{name}", name, _value(label, kinds[name]), {}) for name, label in dialogue.labels.items()]
    return {"data": data, "predictions": [{**prediction, "result": result}]}


def _kept(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in metadata.items() if name not in LEFT_OUT}


def _turn(index: int, turn: Turn, kinds: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """A region for the turn, with its labels on it, and one for each stretch of marked words."""
    if turn.role in NOT_PARTICIPANTS or not turn.content.strip():
        return
    here = _region(index, turn.content, Span(start=0, end=len(turn.content)))
    yield _result(f"turn-{index}", REGIONS, {"paragraphlabels": [labelstudio.TURN]}, here)
    for name, label in turn.labels.items():
        if name not in kinds:
            continue
        if kinds[name] != "spans":
            yield _result(f"turn-{index}", name, _value(label, kinds[name]), here)
        for at, span in enumerate(label.rationales if isinstance(label, Graded) else ()):
            words = _region(index, turn.content, span)
            yield _result(f"turn-{index}-{name}-{at}", REGIONS, {"paragraphlabels": [name]}, words)


def _region(index: int, text: str, span: Span) -> dict[str, Any]:
    start, end = (labelstudio.units(text, at) for at in (span.start, span.end))
    return {"start": str(index), "end": str(index), "startOffset": start, "endOffset": end, "text": text[span.start : span.end]}


def _result(name: str, control: str, value: Mapping[str, Any], region: Mapping[str, Any]) -> dict[str, Any]:
    kind = next(iter(value))
    return {"id": name, "from_name": control, "to_name": OBJECT, "type": kind, "value": {**region, **value}}


def _value(label: Label, kind: str) -> dict[str, Any]:
    if isinstance(label, Graded):
        return {"choices": [str(label.level)]}
    if (rating := number(label)) is not None:
        return {kind: rating}
    return {"choices": list(names(label)) or [labelstudio.NONE]}


def _prediction(record: Dialogue | Analysis) -> dict[str, Any]:
    """Who says it, and how sure they are: the mean probability of what a model answered."""
    if isinstance(record, Dialogue):
        return {"model_version": "labels"}
    sure = [one for turn in record.turns for _, answer in results.answers(turn) for one in _sure(answer)]
    version = {"model_version": f"{record.model.name} {record.model.version}"}
    return version | {"score": round(sum(sure) / len(sure), 4)} if sure else version


def _sure(answer: Answer) -> Iterator[float]:
    match answer:
        case ChoiceAnswer():
            yield answer.scores.get(answer.label, 0.0)
        case LevelAnswer():
            yield answer.scores[answer.level]
        case ChoicesAnswer():
            yield from (score if label in answer.labels else 1 - score for label, score in answer.scores.items())
