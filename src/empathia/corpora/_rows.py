"""CSV as items: one dictionary per row. A row that cannot be read is a problem, and the others go on."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from empathia.corpora._text import NOT_UTF8, Item, T
from empathia.errors import InputError
from empathia.schema import Problem

Row = dict[str, str]
UNDECODED = re.compile("[\udc80-\udcff]")  # what `surrogateescape` makes of a byte that is no character
csv.field_size_limit(2**31 - 1)  # the csv module's own limit of 131,072 characters is too short for messages


def rows(path: Path, *, needed: Sequence[str] = (), encoding: str = "utf-8-sig") -> Iterator[Item[Row] | Problem]:
    """The rows below the header, between commas, semicolons or tabs; a file without the `needed` columns is an error."""
    if not path.is_file():
        raise InputError(f"'{path.name}' is missing beside the other files of its corpus.")
    names = header(path, encoding=encoding)
    if lacking := [name for name in needed if name not in names]:
        raise InputError(f"{path.name} lacks the columns {', '.join(lacking)}. It needs: {', '.join(needed)}.")
    with path.open(encoding=encoding, errors="surrogateescape", newline="") as file:
        reader = csv.reader(file, delimiter=_delimiter(file.readline()), strict=True)
        while True:
            number = reader.line_num + 2  # the header is the file's first line, but not the reader's
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield Problem(place=f"{path.name}:{number}", reason=f"not readable as CSV ({error}): check the quotes from here on")
                continue
            if fields:
                yield _row(fields, names, f"{path.name}:{number}", number)


def _row(fields: list[str], names: list[str], place: str, number: int) -> Item[Row] | Problem:
    if UNDECODED.search("".join(fields)):
        return Problem(place=place, reason=NOT_UTF8)
    if len(fields) != len(names):
        reason = f"{len(fields)} fields where the header has {len(names)}: put text that holds the separator between double quotes"
        return Problem(place=place, reason=reason)
    return Item(place, number, dict(zip(names, fields, strict=True)))


def header(path: Path, *, encoding: str = "utf-8-sig") -> list[str]:
    """The names of the columns."""
    with path.open(encoding=encoding, errors="surrogateescape", newline="") as file:
        line = file.readline()
    return [name.strip() for name in next(csv.reader([line], delimiter=_delimiter(line)), [])]


def _delimiter(line: str) -> str:
    return max(",;\t", key=line.count)


def blocks(found: Iterable[Item[T] | Problem], key: Callable[[T], object]) -> Iterator[Item[list[T]] | Problem]:
    """Neighbours with one key as one item, at the place of the first of them."""
    first: Item[T] | None = None
    block: list[T] = []
    for item in found:
        if isinstance(item, Problem):
            yield item
            continue
        if first is not None and key(item.value) != key(first.value):
            yield Item(first.place, first.number, block)
            first, block = None, []
        first = first or item
        block.append(item.value)
    if first is not None:
        yield Item(first.place, first.number, block)
