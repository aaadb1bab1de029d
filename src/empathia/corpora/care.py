"""Customer care: public exchanges of customers and agents, with the agent's intents and how the customer would take it. Silver.

Layout: `care_silver.jsonl`, one agent's message per line: `id`, `turns` (`role`, `text`), `target` (which turn),
`intents` (of 16), `perceived` (`engagement`, `understanding`, `sympathy`, `helpfulness`, 1-5) and `satisfaction` (1-5).
An exchange may stand in several lines, with another target. Labels are by language-model annotators under written
guidelines (silver). Counts are targets.
Licence: Apache-2.0 for the texts. Citation: none; the labels were made for this project.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from empathia.corpora import Card, Found
from empathia.corpora._files import each, each_file
from empathia.corpora._json import json_lines
from empathia.corpora._text import Item
from empathia.schema import Dialogue, Label, Turn

CARD = Card(
    title="Customer care: intents of agents and perceived empathy (silver)",
    tasks=("service", "perceived"),
    licence="Apache-2.0",
    source="made for this project from public customer-care exchanges",
    folder="care",
    files={"care_silver.jsonl": 753},
    silver=True,
)


def read(path: Path) -> Iterator[Found]:
    """One dialogue per target; `service` and the four ratings are on the target's turn, `satisfaction` on the dialogue."""
    return each_file(path, CARD.files, lambda file: each(json_lines(file), _target))


def _target(item: Item[Any]) -> Iterator[Found]:
    row = item.value
    asked: dict[str, Label] = {"service": tuple(row["intents"]), **row["perceived"]}
    turns = tuple(
        Turn(role=turn["role"], content=turn["text"], labels=asked if index == row["target"] else {})
        for index, turn in enumerate(row["turns"])
    )
    labels = {"satisfaction": row["satisfaction"]}
    yield Dialogue(id=row["id"], group=row["id"].partition(":")[0], turns=turns, labels=labels, metadata={"target": row["target"]})
