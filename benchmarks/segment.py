"""Which sentence splitter suits forum text: `python -m benchmarks.segment [--quick] [--resume]`.

Every library gets the text line by line, so that each is judged on what it does inside a line; `NAME-plain` is the same
library on the plain spelling of `empathia.segment`, and `empathia` is what the package uses. Beside them stand two floors:
`lines` (line breaks only) and `punctuation` (a full stop, question or exclamation mark and white space).

- gold: precision, recall, F1 of boundaries in the posts of `sentences.txt`, with intervals over posts, and the share of posts
  without any mistake. Only the part `fresh` was written after the rules of `empathia.segment`; `test` and `tuning` helped to
  choose (the file says how), so they flatter `empathia` and `-plain`.
- epitome: the share of human rationales whose start (end) falls on a start (end) of a sentence, give or take marks without
  a letter or digit; a proxy of recall, for it never punishes a boundary too many: the mean number of sentences stands beside. The
  rules were written after a look at places in this corpus where splitters differ, so here too `empathia` is at home.
- speed: characters per second over the same responses. install: megabytes added to the core install.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module, metadata
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import typer
from packaging.requirements import Requirement
from rich.console import Console
from rich.table import Table

from benchmarks.rows import DATA, Row, load, row, save
from empathia import corpora, metrics, segment
from empathia.schema import Graded, Span

HERE = Path(__file__).parent
CORE = ("numpy", "onnxruntime", "tokenizers", "pydantic", "typer", "rich", "jinja2")

Splitter = Callable[[str], Sequence[Span]]
Marked = tuple[str, tuple[Span, ...]]


def lines() -> segment.Starts:
    """No boundary inside a line."""
    return lambda line: ()


def punctuation() -> segment.Starts:
    """A boundary after every mark that white space follows."""
    return lambda line: [found.end() for found in re.finditer(r"[.!?]+\s+", line)]


def sentencex() -> segment.Starts:
    """sentencex: rules and abbreviations for many languages, in Rust."""
    found = import_module("sentencex").get_sentence_boundaries
    return lambda line: [one["start_index"] for one in found("en", line)]


def syntok() -> segment.Starts:
    """syntok: the successor of segtok."""
    process = import_module("syntok.segmenter").process
    return lambda line: [sentence[0].offset for paragraph in process(line) for sentence in paragraph]


def segtok() -> segment.Starts:
    """segtok: rules for European languages."""
    split = import_module("segtok.segmenter").split_single
    return lambda line: _located(line, split(line))


def spacy() -> segment.Starts:
    """spaCy's sentencizer, without a trained model."""
    nlp = import_module("spacy").blank("en")
    nlp.add_pipe("sentencizer")
    return lambda line: [sentence.start_char for sentence in nlp(line).sents]


def blingfire() -> segment.Starts:
    """Bling Fire: finite-state machines in C++."""
    split = import_module("blingfire").text_to_sentences_and_offsets
    return lambda line: [start for start, _ in split(line)[1]]


def icu4py() -> segment.Starts:
    """ICU: the Unicode standard's rules, with its suppressions for English."""
    breaker = import_module("icu4py.breakers").SentenceBreaker
    return lambda line: _located(line, breaker(line, "en_US@ss=standard"))


def sentencesplit() -> segment.Starts:
    """sentencesplit: pySBD's rules, revised and with offsets."""
    split = import_module("sentencesplit").Segmenter(language="en").segment_spans
    return lambda line: [one.start for one in split(line)]


def pysbd() -> segment.Starts:
    """pySBD: no longer maintained; a point of reference."""
    split = import_module("pysbd").Segmenter(language="en", clean=False).segment
    return lambda line: _located(line, split(line))


FLOORS = (lines, punctuation)
LIBRARIES = (sentencex, syntok, segtok, spacy, blingfire, icu4py, sentencesplit, pysbd)


def _located(line: str, parts: Iterable[str]) -> Iterator[int]:
    """Where the parts that a splitter gave stand in the line."""
    at = 0
    for part in filter(None, map(str.strip, parts)):
        at = line.index(part, at)
        yield at
        at += len(part)


def in_lines(starts: segment.Starts) -> Splitter:
    """A library as it is, line by line."""

    def split(text: str) -> list[Span]:
        found, offset = [], 0
        for line in text.splitlines(keepends=True):
            cuts = sorted({0, *starts(line), len(line)})
            found += [_trimmed(text, offset + a, offset + b) for a, b in pairwise(cuts)]
            offset += len(line)
        return [span for span in found if span.start < span.end]

    return split


def _trimmed(text: str, start: int, end: int) -> Span:
    part = text[start:end]
    start += len(part) - len(part.lstrip())
    return Span(start=start, end=max(start, start + len(part.strip())))


def gold(path: Path = HERE / "sentences.txt") -> dict[str, list[Marked]]:
    """The posts of each part with their sentences; the form of the file is described at its top."""
    parts: dict[str, list[Marked]] = {}
    rows = [row for row in path.read_text(encoding="utf-8").splitlines() if not row.startswith("#")]
    for block in "\n".join(rows).strip("\n").split("\n\n"):
        if block.strip("\n").startswith("== "):
            posts = parts.setdefault(block.strip("\n").removeprefix("== "), [])
        elif block.strip("\n"):
            posts.append(_post(block.strip("\n")))
    return parts


def _post(block: str) -> Marked:
    pieces = re.split(r"(?<=\n)|\|", re.sub(r"(?m)^\\$", "", block))
    text, spans = "".join(pieces), []
    offset = 0
    for piece in pieces:
        spans.append(_trimmed(text, offset, offset + len(piece)))
        offset += len(piece)
    return text, tuple(span for span in spans if span.start < span.end)


def boundaries(spans: Iterable[Span]) -> frozenset[int]:
    """Where sentences after the first start."""
    return frozenset(sorted(span.start for span in spans)[1:])


def agreement(wanted: Sequence[frozenset[int]], found: Sequence[frozenset[int]], *, of: str = "f1") -> float:
    """Precision, recall or F1 of boundaries over all posts together."""
    both = sum(len(a & b) for a, b in zip(wanted, found, strict=True))
    precise, complete = sum(map(len, found)), sum(map(len, wanted))
    total = {"f1": (precise + complete) / 2, "precision": precise, "recall": complete}[of]
    return both / total if total else 0.0


def on_gold(split: Splitter, posts: Sequence[Marked]) -> dict[str, tuple[float, float | None, float | None]]:
    """Boundary scores in percent, each with its interval."""
    found = [tuple(split(text)) for text, _ in posts]
    wanted, got = [boundaries(spans) for _, spans in posts], [boundaries(spans) for spans in found]
    scores: dict[str, tuple[float, float | None, float | None]] = {}
    for name in ("f1", "precision", "recall"):
        metric = partial(agreement, of=name)
        low, high = metrics.interval(metric, wanted, got, range(len(posts)))
        scores[name] = 100 * metric(wanted, got), 100 * low, 100 * high
    exact = sum(spans == tuple(mine) for (_, spans), mine in zip(posts, found, strict=True))
    return scores | {"exact": (100 * exact / len(posts), None, None)}


def rationales(data: Path) -> list[Marked]:
    """The responses of EPITOME with the human rationales of all three mechanisms."""
    found = []
    for dialogue in corpora.dialogues("epitome", data):
        turn = dialogue.turns[1]
        grades = [grade for grade in turn.labels.values() if isinstance(grade, Graded)]
        found.append((turn.content, tuple(span for grade in grades for span in grade.rationales)))
    return found


def on_rationales(split: Splitter, responses: Sequence[Marked]) -> dict[str, float]:
    """Shares of rationale edges on a boundary (percent), sentences per response, characters per second."""
    began = time.perf_counter()
    found = [tuple(split(text)) for text, _ in responses]
    seconds = time.perf_counter() - began
    pairs = [(text, spans, one) for (text, wanted), spans in zip(responses, found, strict=True) for one in wanted]
    starts = sum(_meets(text, (span.start for span in spans), one.start) for text, spans, one in pairs)
    ends = sum(_meets(text, (span.end for span in spans), one.end) for text, spans, one in pairs)
    return {
        "starts": 100 * starts / len(pairs),
        "ends": 100 * ends / len(pairs),
        "sentences": sum(map(len, found)) / len(found),
        "speed": sum(len(text) for text, _ in responses) / seconds,
    }


def _meets(text: str, edges: Iterable[int], wanted: int) -> bool:
    return any(not re.search(r"\w", text[min(edge, wanted) : max(edge, wanted)]) for edge in edges)


def megabytes(library: str) -> float:
    """The installed size of a library and of what it needs beyond the core install."""
    return sum(_size(name) for name in _needs(library) - set().union(*map(_needs, CORE))) / 1e6


def _size(name: str) -> int:
    paths = [Path(str(file.locate())) for file in metadata.files(name) or ()]
    return sum(path.stat().st_size for path in paths if path.is_file() and path.suffix != ".pyc")


def _needs(name: str, known: frozenset[str] = frozenset()) -> set[str]:
    """The distribution and all it requires, as far as installed."""
    found = {name}
    for line in metadata.requires(name) or ():
        wanted = Requirement(line)
        other = re.sub(r"[-_.]+", "-", wanted.name).lower()
        if other not in known | found and (wanted.marker is None or wanted.marker.evaluate({"extra": ""})):
            try:
                found |= _needs(other, known | found)
            except metadata.PackageNotFoundError:
                continue
    return found


def measure(name: str, split: Splitter, posts: Mapping[str, Sequence[Marked]], responses: Sequence[Marked]) -> Iterator[Row]:
    """The rows of one splitter, without what only the whole table knows."""
    for part, setting in {"fresh": "gold", "test": "gold-test", "tuning": "gold-tuning"}.items():
        for metric, (ours, low, high) in on_gold(split, posts[part]).items():
            data = f"{len(posts[part])} invented forum posts (benchmarks/sentences.txt)"
            yield _row(f"{setting}/boundaries/{metric}", name, ours, data=data, split=part) | {"low": low, "high": high}
    data = f"epitome, {len(responses)} responses"
    if not responses:
        yield _row("epitome/rationales/starts", name, None, data="epitome") | {"reason": "the corpus is not in the data folder"}
        return
    for metric, value in on_rationales(split, responses).items():
        setting = "speed/text/characters_per_second" if metric == "speed" else f"epitome/rationales/{metric}"
        yield _row(setting, name, value, data=data)


def _row(setting: str, name: str, ours: float | None, *, data: str = "", split: str = "") -> Row:
    told = {"table": "our choice of a sentence splitter", "system": name, "data": data, "split": split or "all"}
    return row(f"segment/{setting}/{name}", ours, **told, command="python -m benchmarks.segment")


def rows(posts: Mapping[str, Sequence[Marked]], responses: Sequence[Marked], done: Sequence[Row]) -> Iterator[Row]:
    """All rows; those of a splitter that is `done` are taken as they are."""
    for name, make, size in _systems():
        if old := [row for row in done if row["system"] == name]:
            yield from old
            continue
        began = time.perf_counter()
        try:
            split = make()
        except ImportError as error:
            yield _row("gold/boundaries/f1", name, None) | {"reason": f"not installed: {error}"}
            continue
        mine = list(measure(name, split, posts, responses))
        if size:
            mine.append(_row("install/package/megabytes", name, megabytes(size)))
        yield from (row | {"seconds": round(time.perf_counter() - began, 2)} for row in mine)


def _systems() -> Iterator[tuple[str, Callable[[], Splitter], str]]:
    """(name, how to make it, distribution to weigh)."""
    for floor in FLOORS:
        yield floor.__name__, partial(_as_is, floor), ""
    for library in LIBRARIES:
        yield library.__name__, partial(_as_is, library), library.__name__
    for library in LIBRARIES[1:]:
        yield f"{library.__name__}-plain", partial(_plain, library), ""
    yield "empathia", lambda: segment.sentences, "sentencex"


def _as_is(make: Callable[[], segment.Starts]) -> Splitter:
    return in_lines(make())


def _plain(make: Callable[[], segment.Starts]) -> Splitter:
    return partial(segment.sentences, starts=make())


def with_baseline(found: Sequence[Row]) -> list[Row]:
    """Every score beside that of `lines` on the same data."""
    floor = {row["id"].rsplit("/", 1)[0]: row["ours"] for row in found if row["system"] == "lines"}
    return [row | {"baseline": floor.get(row["id"].rsplit("/", 1)[0])} for row in found]


def table(found: Sequence[Row]) -> Table:
    """One line per splitter, in the order of F1 on the fresh posts."""
    columns = {
        "F1 fresh": "gold/boundaries/f1",
        "P": "gold/boundaries/precision",
        "R": "gold/boundaries/recall",
        "exact": "gold/boundaries/exact",
        "F1 test": "gold-test/boundaries/f1",
        "F1 tuning": "gold-tuning/boundaries/f1",
        "starts": "epitome/rationales/starts",
        "ends": "epitome/rationales/ends",
        "sentences": "epitome/rationales/sentences",
        "chars/s": "speed/text/characters_per_second",
        "MB": "install/package/megabytes",
    }
    values = {row["id"]: row["ours"] for row in found}
    drawn = Table(title="Sentence splitters on forum text", caption="`-plain`: on the plain spelling of empathia.segment")
    drawn.add_column("splitter")
    for column in columns:
        drawn.add_column(column, justify="right")
    names = list(dict.fromkeys(row["system"] for row in found))
    for name in sorted(names, key=lambda name: values.get(f"segment/gold/boundaries/f1/{name}") or 0):
        cells = (values.get(f"segment/{setting}/{name}") for setting in columns.values())
        drawn.add_row(name, *("" if cell is None else f"{cell:,.0f}" if cell > 1000 else f"{cell:.1f}" for cell in cells))
    return drawn


def main(
    quick: Annotated[bool, typer.Option(help="200 responses instead of all.")] = False,
    resume: Annotated[bool, typer.Option(help="Keep the rows of splitters already measured.")] = False,
) -> None:
    """Compare sentence splitters, print the table, write the rows."""
    responses = rationales(DATA) if (DATA / "epitome").is_dir() else []
    done = load("segment") if resume else []
    found = with_baseline(list(rows(gold(), responses[: 200 if quick else None], done)))
    Console(width=140).print(table(found))
    if not quick:
        save("segment", found)


if __name__ == "__main__":
    typer.run(main)
