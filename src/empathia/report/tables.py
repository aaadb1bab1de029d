"""Results to a file, as they come: JSONL (one conversation a line), CSV or Parquet (one turn a row)."""

import csv
import importlib
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from empathia.errors import InputError, MissingExtra
from empathia.report.answers import answers
from empathia.schema import Analysis, Answer, ChoiceAnswer, ChoicesAnswer, FlagAnswer, LevelAnswer, SpansAnswer, TurnAnalysis
from empathia.task import Causes, Choice, Choices, Flag, Level, Output, Spans, Task

ROWS = 10_000  # of one Parquet row group, which is what is held in memory


def write(analyses: Iterable[Analysis], path: Path, *, tasks: Sequence[Task]) -> None:
    """Writes a stream of analyses in the format that the path's ending names.

    JSONL is written line by line, so that an interrupted run leaves whole lines. CSV and Parquet are written beside
    the path and moved there at the end, so that a file of that name is complete.
    """
    check_path(path)
    WRITERS[path.suffix.lower()](analyses, path, tasks)


def check_path(path: Path, *, sources: Iterable[Path] = ()) -> None:
    """Refuses, before any work is done, a path that `write` could not use or that would overwrite one of the `sources`."""
    suffix = path.suffix.lower()
    if suffix not in WRITERS:
        raise InputError(f"Results cannot be written to '{path.name}': the name must end in {', '.join(WRITERS)}.")
    if path.is_dir():
        raise InputError(f"Results cannot be written to '{path}': it is a folder. Name a file in it.")
    if not path.parent.is_dir():
        raise InputError(f"Results cannot be written to '{path}': the folder '{path.parent}' does not exist. Create it first.")
    if path.resolve() in {source.resolve() for source in sources}:
        raise InputError(f"Results cannot be written to '{path}': it is the input, which would be lost. Name another file.")
    if suffix == ".parquet":
        _pyarrow()


def columns(tasks: Sequence[Task]) -> dict[str, type]:
    """The columns of a table, each with the type of its values; which there are follows from the tasks alone."""
    found: dict[str, type] = {"id": str, "index": int, "role": str, "content": str, "english": bool, "outcome": str}
    for name, output in ((name, output) for task in tasks for name, output in task.outputs.items()):
        found |= _columns(name, output)
    return {**found, "metadata": str, "conversation_metadata": str}


def _columns(name: str, output: Output) -> dict[str, type]:
    match output:
        case Choice():
            return {name: str, **{f"{name}_{label}": float for label in output.labels}, f"{name}_evidence": str}
        case Choices():
            return {name: str, **{f"{name}_{label}": float for label in output.labels}}
        case Level():
            return {name: int, **{f"{name}_{level}": float for level in range(len(output.levels))}, f"{name}_rationales": str}
        case Flag():
            return {name: bool, f"{name}_score": float, f"{name}_evidence": str}
        case Spans() | Causes():
            return {name: str}
    return {name: float}


def rows(analyses: Iterable[Analysis], tasks: Sequence[Task]) -> Iterator[dict[str, Any]]:
    """One flat row per turn: nested values are JSON, and a question that was not asked of the turn has no value."""
    names = columns(tasks)
    for analysis in analyses:
        for turn in analysis.turns:
            row = {"id": analysis.id, "conversation_metadata": _json(analysis.metadata), **_row(turn, tasks)}
            yield {name: row.get(name) for name in names}


def _row(turn: TurnAnalysis, tasks: Sequence[Task]) -> dict[str, Any]:
    row: dict[str, Any] = turn.model_dump(include={"index", "role", "content", "english", "outcome"}) | {"metadata": _json(turn.metadata)}
    for given in answers(turn, tasks):
        row |= _cells(given.name, given.answer)
    return row


def _cells(name: str, answer: Answer) -> dict[str, Any]:
    match answer:
        case ChoiceAnswer():
            evidence = answer.evidence.model_dump_json() if answer.evidence else None
            return {
                name: answer.label,
                **{f"{name}_{label}": score for label, score in answer.scores.items()},
                f"{name}_evidence": evidence,
            }
        case ChoicesAnswer():
            return {name: _json(answer.labels), **{f"{name}_{label}": score for label, score in answer.scores.items()}}
        case LevelAnswer():
            rationales = _json([span.model_dump() for span in answer.rationales])
            scores = {f"{name}_{level}": score for level, score in enumerate(answer.scores)}
            return {name: answer.level, **scores, f"{name}_rationales": rationales}
        case FlagAnswer():
            evidence = answer.evidence.model_dump_json() if answer.evidence else None
            return {name: answer.flag, f"{name}_score": answer.score, f"{name}_evidence": evidence}
        case SpansAnswer():
            return {name: _json([span.model_dump() for span in answer.spans])}
        case tuple():
            return {name: _json([cause.model_dump() for cause in answer])}
    return {name: answer}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _write_jsonl(analyses: Iterable[Analysis], path: Path, _: Sequence[Task]) -> None:
    with path.open("w", encoding="utf-8", newline="\n", buffering=1) as file:
        file.writelines(f"{analysis.to_json()}\n" for analysis in analyses)


def _write_csv(analyses: Iterable[Analysis], path: Path, tasks: Sequence[Task]) -> None:
    with _moved_at_end(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(columns(tasks)))
        writer.writeheader()
        writer.writerows(rows(analyses, tasks))


def _write_parquet(analyses: Iterable[Analysis], path: Path, tasks: Sequence[Task]) -> None:
    arrow, parquet = _pyarrow()
    types = {str: arrow.string(), int: arrow.int32(), float: arrow.float64(), bool: arrow.bool_()}
    schema = arrow.schema([(name, types[kind]) for name, kind in columns(tasks).items()])
    stream = rows(analyses, tasks)
    with _moved_at_end(path) as part, parquet.ParquetWriter(part, schema) as writer:
        while batch := list(itertools.islice(stream, ROWS)):
            writer.write_table(arrow.Table.from_pylist(batch, schema=schema))


@contextmanager
def _moved_at_end(path: Path) -> Iterator[Path]:
    part = path.with_name(f".{path.name}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _pyarrow() -> tuple[ModuleType, ModuleType]:
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtra("Writing Parquet", "parquet") from None


WRITERS: Mapping[str, Callable[[Iterable[Analysis], Path, Sequence[Task]], None]] = {
    ".jsonl": _write_jsonl,
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}
