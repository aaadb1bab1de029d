"""JSON as items: lines, the elements of an array of any size, or the members of an object."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from empathia.corpora._text import Item, lines
from empathia.schema import Problem

DECODER = json.JSONDecoder()
BETWEEN = re.compile(r"[\s,]*")
CHUNK = 1 << 20


def items(path: Path) -> Iterator[Item[Any] | Problem]:
    """The values of a JSON file: the elements of its array, its one object, or one value per line."""
    if is_array(path):
        return _elements(path)
    return _whole(path) if _spread(path) else json_lines(path)


def json_lines(source: Path | Iterable[str | bytes], *, name: str = "stdin") -> Iterator[Item[Any] | Problem]:
    """One value per line; blank lines are passed over."""
    for item in lines(source, name=name):
        if isinstance(item, Problem):
            yield item
        elif item.value.strip():
            yield _parsed(item)


def members(path: Path) -> Iterator[Item[tuple[str, Any]] | Problem]:
    """The keys of a JSON object with their values."""
    for item in _whole(path):
        if isinstance(item, Problem):
            yield item
        elif not isinstance(item.value, dict):
            yield Problem(place=item.place, reason="not a JSON object")
        else:
            for number, member in enumerate(item.value.items(), 1):
                yield Item(f"{path.name} {member[0]}", number, member)


def is_array(path: Path) -> bool:
    """Whether a file is one JSON array; a file of lines may hold arrays, each complete on its line."""
    first, _ = _opening(path)
    return first.startswith("[") and (path.suffix.lower() == ".json" or _spread(path))


def _spread(path: Path) -> bool:
    """Whether the first value goes on after its first line; a broken first line of JSON Lines does not count."""
    first, second = _opening(path)
    opens = first.startswith(("{", "[")) and first.endswith(("{", "[", ","))
    return opens and (len(first) == 1 or not second.startswith(("{", "[")))


def _opening(path: Path) -> tuple[str, str]:
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        first, _, rest = file.read(CHUNK).lstrip().partition("\n")
    return first.rstrip(), rest.partition("\n")[0]


def _parsed(item: Item[str]) -> Item[Any] | Problem:
    try:
        return Item(item.place, item.number, json.loads(item.value))
    except json.JSONDecodeError as error:
        return Problem(place=item.place, reason=f"not JSON: {error.msg} at character {error.pos + 1}")
    except (ValueError, RecursionError):
        return Problem(place=item.place, reason="not JSON that can be used: a number is too long or the nesting too deep")


def _whole(path: Path) -> Iterator[Item[Any] | Problem]:
    yield _parsed(Item(path.name, 1, path.read_text(encoding="utf-8-sig", errors="surrogateescape")))


def _elements(path: Path) -> Iterator[Item[Any] | Problem]:
    with path.open(encoding="utf-8-sig", errors="surrogateescape") as file:
        text, number = file.read(CHUNK), 1
        at = text.index("[") + 1
        while True:
            at = BETWEEN.match(text, at).end()  # type: ignore[union-attr]  # the pattern matches anything
            if text.startswith("]", at):
                return
            try:
                value, end = DECODER.raw_decode(text, at)
            except (ValueError, RecursionError):
                value, end = None, len(text)
            if end < len(text):
                yield Item(f"{path.name} item {number}", number, value)
                at, number = end, number + 1
                continue
            more = file.read(max(CHUNK, len(text) - at))  # twice as much each time, so a long element stays cheap
            if not more:
                yield Problem(
                    place=f"{path.name} item {number}", reason="not JSON from here on: mend or remove this element, or close the array"
                )
                return
            text, at = text[at:] + more, 0
