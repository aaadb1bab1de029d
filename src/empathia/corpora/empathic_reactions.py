"""Empathic reactions: what readers wrote to a friend about a news article, with the empathy and distress that they reported.

Layout: `messages.csv`: `message_id,response_id,article_id,empathy,distress,empathy_bin,distress_bin,essay`; both scores
from 1 to 7 are the writer's own (means of several questions), not a reader's judgement of the text.
Licence: CC BY 4.0. Citation: Buechel et al., "Modeling Empathy and Distress in Reaction to News Stories", EMNLP 2018.
"""

from collections.abc import Iterator
from pathlib import Path

from empathia.corpora import Card, Found
from empathia.corpora._files import each, each_file
from empathia.corpora._rows import Row, rows
from empathia.corpora._text import Item
from empathia.schema import Dialogue, Turn

CARD = Card(
    title="Empathic reactions to news, with the writers' empathy and distress",
    tasks=(),
    licence="CC BY 4.0",
    source="github.com/wwbp/empathic_reactions",
    folder="empathic_reactions",
    files={"messages.csv": 1860},
)
SCORES = ("empathy", "distress")


def read(path: Path) -> Iterator[Found]:
    """One dialogue of one turn per message; the group is the article."""
    needed = ("message_id", "response_id", "article_id", *SCORES, "essay")
    return each_file(path, CARD.files, lambda file: each(rows(file, needed=needed), _message))


def _message(item: Item[Row]) -> Iterator[Found]:
    row = item.value
    turn = Turn(role="reader", content=row["essay"].strip(), labels={name: float(row[name]) for name in SCORES})
    yield Dialogue(id=row["message_id"], group=row["article_id"], turns=(turn,), metadata={"writer": row["response_id"]})
