"""EPITOME: how replies on Reddit communicate empathy, by three mechanisms, with rationales.

Layout: one file per mechanism, `emotional-reactions-reddit.csv`, `interpretations-reddit.csv`,
`explorations-reddit.csv`: `sp_id,rp_id,seeker_post,response_post,level,rationales` (`|` between rationales); the files
are row-aligned, but some responses differ slightly between them. The text is the first file's; rationales of the others
are aligned to it by ignoring white space, case and HTML entities, and one that cannot be found is reported. Some pairs
stand in the files twice.
Licence: academic use only. Citation: Sharma et al., "A Computational Approach to Understanding Empathy Expressed in
Text-Based Mental Health Support", EMNLP 2020.
"""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from empathia.corpora import Card, Found, align
from empathia.corpora._files import each, each_file
from empathia.corpora._rows import Row, rows
from empathia.corpora._text import Item
from empathia.errors import InputError
from empathia.schema import Dialogue, Graded, Problem, Turn

MECHANISMS = {
    "emotional_reactions": "emotional-reactions-reddit.csv",
    "interpretations": "interpretations-reddit.csv",
    "explorations": "explorations-reddit.csv",
}
COLUMNS = ("sp_id", "rp_id", "seeker_post", "response_post", "level", "rationales")
CARD = Card(
    title="EPITOME: mechanisms of empathy in peer support on Reddit, with rationales",
    tasks=("mechanisms",),
    licence="academic use only",
    source="github.com/behavioral-data/Empathy-Mental-Health",
    folder="epitome",
    files=dict.fromkeys(MECHANISMS.values(), 3084),
)


def read(path: Path) -> Iterator[Found]:
    """One dialogue of two turns per pair of seeker's post and response; the group is the post."""
    folder = path if path.is_dir() else path.parent
    return each_file(folder, (MECHANISMS["emotional_reactions"],), lambda _: each(_aligned(folder), _pair))


def _aligned(folder: Path) -> Iterator[Item[list[Row]] | Problem]:
    for together in zip_longest(*(rows(folder / file, needed=COLUMNS) for file in MECHANISMS.values())):
        yield from (found for found in together if isinstance(found, Problem))
        items = [found for found in together if isinstance(found, Item)]
        if len(items) == len(MECHANISMS):
            yield Item(items[0].place, items[0].number, [item.value for item in items])
        elif None in together:
            yield Problem(
                place=items[0].place if items else folder.name, reason="the three files differ in length: they must be row-aligned"
            )


def _pair(item: Item[list[Row]]) -> Iterator[Found]:
    first = item.value[0]
    if len({(row["sp_id"], row["rp_id"]) for row in item.value}) > 1:
        raise InputError("the three files name different posts here: they must be row-aligned")
    labels = {}
    for (mechanism, file), row in zip(MECHANISMS.items(), item.value, strict=True):
        spans = [align(part, first["response_post"]) for part in row["rationales"].split("|") if part.strip()]
        labels[mechanism] = Graded(level=int(row["level"]), rationales=tuple(span for span in spans if span))
        for _ in range(spans.count(None)):
            yield Problem(place=f"{file}:{item.number}", reason="a rationale does not stand in the response", kind="note")
    post = Turn(role="seeker", content=first["seeker_post"])
    reply = Turn(role="supporter", content=first["response_post"], labels=labels)
    yield Dialogue(id=f"{first['sp_id']}-{first['rp_id']}", group=first["sp_id"], turns=(post, reply))
