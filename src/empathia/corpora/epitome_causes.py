"""Empathy causes on EPITOME: which sentences of a seeker's post the empathic parts of a reply react to. Silver labels.

Layout: `causes_silver.jsonl`, one pair per line: `post_id`, `reply_id`, `sentences` (the post), `labels` (1 for a
cause, one per sentence), `reply`. AcnEmpathize-Cause can be read in the same layout. The post is its sentences joined
by spaces; their spans are kept in its metadata. Labels are by language-model annotators under written guidelines
(silver).
Licence: the posts are EPITOME's, academic use only. Citation: Sharma et al., EMNLP 2020, for the posts.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from empathia.corpora import Card, Found
from empathia.corpora._files import each, each_file
from empathia.corpora._json import json_lines
from empathia.corpora._text import Item
from empathia.errors import InputError
from empathia.schema import Cause, Dialogue, Span, Turn

CARD = Card(
    title="Empathy causes in the posts of EPITOME (silver)",
    tasks=("causes",),
    licence="academic use only",
    source="made for this project from github.com/behavioral-data/Empathy-Mental-Health",
    folder="epitome_causes",
    files={"causes_silver.jsonl": 1166},
    silver=True,
)


def read(path: Path) -> Iterator[Found]:
    """One dialogue of two turns per pair; the causes are on the reply, the group is the post."""
    return each_file(path, CARD.files, lambda file: each(json_lines(file), _pair))


def _pair(item: Item[Any]) -> Iterator[Found]:
    row = item.value
    if len(row["sentences"]) != len(row["labels"]):
        raise InputError(f"{len(row['sentences'])} sentences, but {len(row['labels'])} labels")
    spans = tuple(_spans(row["sentences"]))
    causes = tuple(Cause(turn=0, start=span.start, end=span.end) for span, label in zip(spans, row["labels"], strict=True) if label)
    post = Turn(role="seeker", content=" ".join(row["sentences"]), metadata={"sentences": spans})
    reply = Turn(role="supporter", content=row["reply"], labels={"causes": causes})
    yield Dialogue(id=f"{row['post_id']}-{row['reply_id']}", group=row["post_id"], turns=(post, reply))


def _spans(sentences: list[str]) -> Iterator[Span]:
    start = 0
    for sentence in sentences:
        yield Span(start=start, end=start + len(sentence))
        start += len(sentence) + 1
