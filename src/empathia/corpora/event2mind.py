"""Event2Mind: why people do things and how they and others feel about it.

Layout: `train.csv`, `dev.csv`, `test.csv`: `Source,Event,Xintent,Xemotion,Otheremotion,Xsent,Osent`; the three in the
middle are JSON lists. The relations are given ATOMIC's names: `xIntent`, `xReact`, `oReact`. Counts are inferences, one
per element of a list; the published 46,472, 5,401 and 5,221 are rows, whose number is in the metadata.
Licence: MIT. Citation: Rashkin et al., "Event2Mind: Commonsense Inference on Events, Intents, and Reactions", ACL 2018.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from empathia.corpora import Card, Found
from empathia.corpora._files import each, each_file
from empathia.corpora._rows import Row, rows
from empathia.corpora._text import Item
from empathia.schema import Inference

CARD = Card(
    title="Event2Mind: intents and reactions to events",
    tasks=(),
    licence="MIT",
    source="github.com/uwnlp/event2mind",
    folder="event2mind",
    files={"train.csv": 175401, "dev.csv": 20373, "test.csv": 19692},
)
RELATIONS = {"Xintent": "xIntent", "Xemotion": "xReact", "Otheremotion": "oReact"}


def read(path: Path) -> Iterator[Found]:
    """One inference per event, relation and element of its list."""
    return each_file(path, CARD.files, _file)


def _file(path: Path) -> Iterator[Found]:
    def inferences(item: Item[Row]) -> Iterator[Found]:
        about = {"split": path.stem, "row": item.number - 1, "source": item.value["Source"]}
        for column, relation in RELATIONS.items():
            for tail in json.loads(item.value[column]):
                yield Inference(head=item.value["Event"], relation=relation, tail=tail, metadata=about)

    return each(rows(path, needed=("Source", "Event", *RELATIONS)), inferences)
