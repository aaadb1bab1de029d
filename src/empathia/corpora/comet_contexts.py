"""COMET's inferences about the contexts of EmpatheticDialogues' test set, filtered by a fact linker.

Layout: `comet_test.jsonl`, one context per line: `Context` (the turns so far, lower-cased and tokenised), `Ref` (the
human reply), `Emotion`, and five relations, `x_intent`, `x_need`, `x_want`, `x_effect`, `x_react`, each a list of
inferences. The replies in the file are CEM's and are read by `peers`. Inferences are a machine's.
Licence: Apache-2.0. Citation: Hwang et al., "COMET-ATOMIC 2020", AAAI 2021; Sabour et al., "CEM: Commonsense-aware
Empathetic Response Generation", AAAI 2022.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from empathia.corpora import Card, Found
from empathia.corpora._files import each, each_file
from empathia.corpora._json import json_lines
from empathia.corpora._text import Item
from empathia.schema import Dialogue, Turn

CARD = Card(
    title="COMET inferences for the test contexts of EmpatheticDialogues (machine-made)",
    tasks=(),
    licence="Apache-2.0",
    source="github.com/Sahandfer/CEM",
    folder="empatheticdialogues",
    files={"comet_test.jsonl": 5255},
)
RELATIONS = {"x_intent": "xIntent", "x_need": "xNeed", "x_want": "xWant", "x_effect": "xEffect", "x_react": "xReact"}


def read(path: Path) -> Iterator[Found]:
    """One dialogue per context, closed by the human reply; `metadata["inferences"]` maps ATOMIC's relations to inferences."""
    return each_file(path, CARD.files, lambda file: each(json_lines(file), _context))


def _context(item: Item[Any]) -> Iterator[Found]:
    row = item.value
    texts = [*row["Context"], row["Ref"]]
    roles = ("speaker", "listener") * len(texts)
    turns = tuple(Turn(role=role, content=text.strip()) for role, text in zip(roles, texts, strict=False))
    inferences = {name: tuple(row[key]) for key, name in RELATIONS.items()}
    # the opening turn stands for the dialogue, whose id the file does not give
    metadata = {"split": "test", "inferences": inferences}
    yield Dialogue(id=f"comet-{row['idx']}", group=texts[0], turns=turns, labels={"emotion": row["Emotion"]}, metadata=metadata)
