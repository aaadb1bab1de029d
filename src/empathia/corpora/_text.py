"""Text as items, each with its place. A line that cannot be decoded is a problem, and the others go on."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from empathia.schema import Problem

T = TypeVar("T")
U = TypeVar("U")
NOT_UTF8 = "not UTF-8: save the file as UTF-8 or convert it, e.g. `iconv -f WINDOWS-1252 -t UTF-8`"


class Item(NamedTuple, Generic[T]):
    """A value, with its place in words and the number of its line, row or element."""

    place: str
    number: int
    value: T

    def to(self, value: U) -> "Item[U]":
        """Another value at the same place."""
        return Item(self.place, self.number, value)


def lines(source: Path | Iterable[str | bytes], *, name: str = "stdin") -> Iterator[Item[str] | Problem]:
    """The lines of a UTF-8 file, or of a stream of that name, without their ends."""
    if not isinstance(source, Path):
        yield from _decoded(source, name)
        return
    with source.open("rb") as file:
        yield from _decoded(file, source.name)


def _decoded(stream: Iterable[str | bytes], name: str) -> Iterator[Item[str] | Problem]:
    for number, line in enumerate(stream, 1):
        place = f"{name}:{number}"
        try:
            text = line if isinstance(line, str) else line.decode("utf-8")
        except UnicodeDecodeError:
            yield Problem(place=place, reason=NOT_UTF8)
            continue
        yield Item(place, number, (text.removeprefix("\ufeff") if number == 1 else text).rstrip("\r\n"))
