"""What a Label Studio annotation says of the turns of a dialogue, as labels.

A region with the label `turn` stands for a whole turn: choices and ratings of one turn are given on it. Other regions
mark words and are named after the output that they show. Label Studio counts UTF-16 units, Python characters.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from empathia.schema import Graded, Label, Span

TURN = "turn"  # the label of the region that stands for a whole turn
NONE = "(none)"  # the choice that none of several labels applies
YES, NO = "yes", "no"
Labels = dict[str, Label]


def units(text: str, offset: int) -> int:
    """A Python offset as Label Studio counts."""
    return len(text[:offset].encode("utf-16-le")) // 2


def offset(text: str, at: int) -> int:
    """An offset of Label Studio as Python counts."""
    return len(text.encode("utf-16-le")[: 2 * at].decode("utf-16-le", errors="ignore"))


def labels(result: Iterable[Mapping[str, Any]], texts: Sequence[str], kinds: Mapping[str, str]) -> tuple[dict[int, Labels], Labels]:
    """The labels of each turn, and those of the whole dialogue; `kinds` says what an output is where its choices do not show it."""
    turns: dict[int, Labels] = defaultdict(dict)
    whole: Labels = {}
    marked: dict[tuple[int, str], list[Span]] = defaultdict(list)
    for one in result:
        value, name = one["value"], str(one["from_name"])
        for label in value.get("paragraphlabels", ()):
            for turn, span in _spans(value, texts):
                marked[turn, label].append(span)
        if (said := _said(value, kinds.get(name, ""))) is not None:
            (turns[int(value["start"])] if "start" in value else whole)[name] = said
    _mark(turns, marked, kinds)
    return dict(turns), whole


def _said(value: Mapping[str, Any], kind: str) -> Label | None:
    number: float | None = value.get("rating", value.get("number"))
    chosen = [str(choice) for choice in value.get("choices", ())]
    if number is not None or not chosen:
        return number
    match kind:
        case "level":
            return Graded(level=int(chosen[0]))
        case "flag":
            return chosen[0] == YES
        case "choice":
            return chosen[0]
        case "choices":
            return tuple(choice for choice in chosen if choice != NONE)
    return chosen[0] if len(chosen) == 1 else tuple(chosen)


def _spans(value: Mapping[str, Any], texts: Sequence[str]) -> Iterator[tuple[int, Span]]:
    """The region's part of each turn that it goes over."""
    first, last = int(value["start"]), int(value["end"])
    for turn in range(first, last + 1):
        text = texts[turn]
        start = offset(text, value["startOffset"]) if turn == first else 0
        end = offset(text, value["endOffset"]) if turn == last else len(text)
        if start < end:
            yield turn, Span(start=start, end=end)


def _mark(turns: dict[int, Labels], marked: Mapping[tuple[int, str], Sequence[Span]], kinds: Mapping[str, str]) -> None:
    """Put the marked words to the level that they show; words that show no level say that there is something (level 1)."""
    for (turn, name), spans in marked.items():
        given = turns[turn].get(name)
        if name != TURN:
            turns[turn][name] = Graded(level=given.level if isinstance(given, Graded) else 1, rationales=tuple(spans))
            continue
        for output in (output for output, kind in kinds.items() if kind == "spans" and (turn, output) not in marked):
            turns[turn][output] = Graded(level=0)
