"""One corpus or file format per file: `CARD` says what it is, `read(path)` gives its records and problems, lazily."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from empathia import parts
from empathia.corpora._align import align
from empathia.corpora._files import Found
from empathia.corpora._json import json_lines
from empathia.corpora._messages import dialogue
from empathia.corpora._messages import dialogues as _dialogues
from empathia.corpora._sniff import present, sniff
from empathia.errors import InputError
from empathia.schema import Card, Checked, Dialogue, Problem

__all__ = ["Card", "Checked", "Found", "align", "card", "check", "dialogue", "dialogues", "names", "open_dialogues", "read", "sniff"]


PACKAGE = Path(__file__).parent.parent


def names(kind: Literal["corpus", "format"] | None = None) -> tuple[str, ...]:
    """All readers, or only those of one kind."""
    found = parts.names("corpora")
    return found if kind is None else tuple(n for n in found if card(n).kind == kind)


def card(name: str) -> Card:
    """What is known about a corpus."""
    found: Card = parts.load("corpora", name).CARD
    return found


def read(name: str, path: Path) -> Iterator[Found]:
    """The records of a corpus in its original layout, and the problems met, in the order of the file."""
    found: Iterator[Found] = parts.load("corpora", name).read(path)
    return found


def dialogues(name: str, data: Path) -> list[Dialogue]:
    """The dialogues of a corpus that lies in its own folder below `data`; a row that cannot be used is an error, not left out."""
    found = list(read(name, (PACKAGE if card(name).shipped else data) / card(name).folder))
    if bad := [one for one in found if isinstance(one, Problem) and one.kind == "skipped"]:
        raise InputError(f"{name}, {bad[0].place}: {bad[0].reason}. Mend or remove the row ({len(bad)} such rows).")
    return [one for one in found if isinstance(one, Dialogue)]


def open_dialogues(source: Path | Iterable[str | bytes], format: str | None = None) -> Iterator[Dialogue | Problem]:  # noqa: A002
    """The conversations of a file in any known format, or of a stream of JSON lines, and the problems met."""
    if not isinstance(source, Path):
        if format not in (None, "messages"):
            raise InputError(f"A stream is read as JSON lines with `messages`, not as {format}: save it to a file first.")
        yield from _dialogues(json_lines(source))
        return
    present(source)
    name = format or sniff(source)
    if source.is_dir() and name not in (*names("corpus"), "convokit"):
        raise InputError(f"'{source}' is a folder, but the format {name} is read from one file: name the file.")
    for found in read(name, source):
        if not isinstance(found, Dialogue | Problem):
            raise InputError(f"The corpus {name} holds no conversations, but {type(found).__name__} records.")
        yield found


def check(data: Path) -> Iterator[Checked]:
    """What a folder holds of every corpus that is in it, file by file; it may also be the folder of one corpus."""
    here = [(name, folder) for name in names("corpus") if (folder := _folder(data, card(name)))]
    if not here:
        folders = sorted({card(name).folder for name in names("corpus")})
        raise InputError(f"No corpus found in '{data}': it should hold one or more of the folders {', '.join(folders)}.")
    for name, folder in here:
        for file, expected in card(name).files.items():
            exists = (folder / file).is_file()
            yield _checked(name, folder / file, expected) if exists else Checked(corpus=name, file=file, expected=expected, missing=True)


def _folder(data: Path, known: Card) -> Path | None:
    below = data / known.folder
    if any((below / file).is_file() for file in known.files):
        return below
    alone = data.name == Path(known.folder).name or all((data / file).is_file() for file in known.files)
    return data if alone and any((data / file).is_file() for file in known.files) else None


def _checked(name: str, path: Path, expected: int) -> Checked:
    found, problems = 0, Counter[tuple[str, str]]()
    try:
        for record in read(name, path):
            if not isinstance(record, Problem):
                found += 1
            elif record.place.startswith(path.name):  # files that are read together report each their own problems
                problems[record.kind, record.reason] += 1
    except InputError as error:
        problems["skipped", str(error)] += 1
    skipped, notes = ({why: n for (kind, why), n in problems.items() if kind == wanted} for wanted in ("skipped", "note"))
    return Checked(corpus=name, file=path.name, expected=expected, found=found, skipped=skipped, notes=notes)
