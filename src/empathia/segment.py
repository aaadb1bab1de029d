"""Text to sentences with exact offsets: sentencex inside each line, on a reading of the line that it understands.

sentencex (MIT, no dependencies) was chosen by `python -m benchmarks.segment`. It was made for encyclopaedias; forum posts
have habits of their own, so it reads each line in a plain spelling of the same length, and its boundaries hold for both:

- a number or letter that opens a list item ("1. Breathe out") ends no sentence;
- emoji and smileys belong to the sentence before them, and end it where a capital follows;
- "?!", "!!!", "?." and ".." are one mark, and so are longer dots before a capital;
- "me", "no", "ok" and "op" before a full stop are words, and so is "etc" before a capital: not abbreviations.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

import sentencex  # type: ignore[import-untyped]

from empathia.schema import Span, Turn

Starts = Callable[[str], Iterable[int]]

# The library takes quadratic time on some lines (open quotes): a window at a time keeps it linear.
_WINDOW = 10_000

# Quantifiers are possessive (`*+`) and no run is read twice, for the same reason; groups are atomic, since `++` after one
# fails in Python before 3.11.5.
_SMILEY = r"(?<!\w)(?:[:;=]['o^-]?[()\[\]DPpOo3/\\|cx]++|[xX]D++|<3++|\^_?\^)(?!\w)"
_EMOJI = "[\u2600-\u27bf\u2b05-\u2b55\U0001f1e6-\U0001f1ff\U0001f300-\U0001faff][\u200d\ufe0f]*+"
_ITEM = re.compile(r"^\s*+\(?(?:\d{1,3}|[A-Za-z])[.)](?=\s)")
_FACES = re.compile(rf"(?:(?P<mark>[.!?…])\s*+|\s)?(?>(?:(?:{_SMILEY}|{_EMOJI})\s*+)+)(?=(?P<next>.?))")
_MARKS = re.compile(r"[.!?…]++(?=(?P<gap>\s*+)(?P<next>.?))")
_WORDS = re.compile(r"\b(?i:(?:me|no|ok|op)(?=\.\s++[^\W\d])|etc(?=\.\s++(?-i:[A-Z])))")
_SURROGATE = re.compile("[\ud800-\udfff]")  # half a character, which the library cannot take
_INK = re.compile(r"\S")


def sentences(text: str, *, starts: Starts | None = None) -> tuple[Span, ...]:
    """The sentences of a text in order, without the white space around them; a line break always ends one.

    Every other character is in exactly one span. `starts` puts another splitter in place of sentencex: it gets one line
    in the plain spelling and gives the offsets at which sentences start.
    """
    return tuple(_spans(text, starts)) if starts else _cut(text)


def sentences_of(turn: Turn) -> tuple[Span, ...]:
    """The sentences of a turn as annotators saw them, where its corpus tells (`metadata["sentences"]`), or as we split them."""
    told = turn.metadata.get("sentences")
    if isinstance(told, tuple) and told and all(isinstance(one, Span) for one in told):
        return told
    return sentences(turn.content)


@lru_cache(maxsize=1024)
def _cut(text: str) -> tuple[Span, ...]:
    """Every task asks for the sentences of a turn."""
    return tuple(_spans(text, _starts))


def _spans(text: str, starts: Starts) -> Iterator[Span]:
    offset = 0
    for whole in text.splitlines(keepends=True):
        line = whole.rstrip() + "\n"  # whatever ends a line, or nothing at the end of the text: it is read the same
        plain = _plain(line)
        # What the plain spelling blanks before a start belongs to the sentence before it; nothing stands before the first.
        found = {_ink(plain, start) for start in starts(plain)} - {_ink(plain, 0)}
        cuts = sorted(found | {0, len(line)})
        for start, end in pairwise(cuts):
            part = line[start:end]
            if body := part.strip():
                start += len(part) - len(part.lstrip())
                yield Span(start=offset + start, end=offset + start + len(body))
        offset += len(whole)


def _starts(line: str) -> Iterator[int]:
    at = 0
    while at < len(line):
        found = [at + boundary["start_index"] for boundary in sentencex.get_sentence_boundaries("en", line[at : at + _WINDOW])]
        yield from found[1:]
        at = found[-1] if len(found) > 1 and at + _WINDOW < len(line) else at + _WINDOW


def _ink(line: str, start: int) -> int:
    """The first character from `start` on that is not white space, or the end."""
    found = _INK.search(line, start)
    return found.start() if found else len(line)


def _plain(line: str) -> str:
    """The line as the library understands it: same length, same words, the marks of edited text."""
    line = _ITEM.sub(lambda found: " " * len(found[0]), _SURROGATE.sub("\ufffd", line))
    line = _MARKS.sub(_mark, _FACES.sub(_face, line))
    return _WORDS.sub(lambda found: "it".ljust(len(found[0])), line)


def _face(found: re.Match[str]) -> str:
    ends = found["next"].isupper() and found.start() > 0  # at the start of a line it is a bullet
    mark = found["mark"] or ("." if ends else "")
    return mark.ljust(len(found[0])) if mark else found[0]


def _mark(found: re.Match[str]) -> str:
    run = found[0]
    ends = "!" in run or "?" in run or run == ".." or found["next"].isupper()
    return run[0].replace("…", ".").ljust(len(run)) if ends and found["gap"] else run
