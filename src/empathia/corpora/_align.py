"""Where a part stands in a text, whatever the white space, case and HTML entities of the two."""

import html
import re
from collections.abc import Iterator

from empathia.schema import Span


def align(part: str, text: str) -> Span | None:
    """The span of `part` in `text`, or nothing."""
    needle = "".join(char for char, _, _ in _plain(part))
    if not needle:
        return None
    plain = list(_plain(text))
    at = "".join(char for char, _, _ in plain).find(needle)
    return None if at < 0 else Span(start=plain[at][1], end=plain[at + len(needle) - 1][2])


def _plain(text: str) -> Iterator[tuple[str, int, int]]:
    """The characters that count, lower-cased, each with its offsets in `text`."""
    for match in re.finditer(r"&#?\w+;|\S", text):
        for char in html.unescape(match.group()).lower():
            if not char.isspace():
                yield char, match.start(), match.end()
