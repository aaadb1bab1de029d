"""Neutral exchanges that carry inserted sentences in the probe of context: small talk and computer help.

Layout: `personachat.jsonl`, `ubuntu.jsonl`, one pair per line: `context`, `response`. No labels.
Licence: none stated (PersonaChat), CC BY 4.0 (Ubuntu). Citation: Zhang et al., "Personalizing Dialogue Agents: I have a
dog, do you have pets too?", ACL 2018; Lowe et al., "The Ubuntu Dialogue Corpus", SIGDIAL 2015.
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
    title="Neutral exchanges from PersonaChat and Ubuntu for the probe of context",
    tasks=(),
    licence="none stated (PersonaChat), CC BY 4.0 (Ubuntu)",
    source="parl.ai and the Ubuntu Dialogue Corpus",
    folder="probe",
    files={"personachat.jsonl": 1000, "ubuntu.jsonl": 1000},
)


def read(path: Path) -> Iterator[Found]:
    """One dialogue of two turns per pair; the group is the context."""
    return each_file(path, CARD.files, lambda file: each(json_lines(file), lambda item: _pair(item, file.stem)))


def _pair(item: Item[Any], source: str) -> Iterator[Found]:
    context, response = item.value["context"], item.value["response"]
    turns = (Turn(role="first", content=context), Turn(role="second", content=response))
    yield Dialogue(id=f"{source}-{item.number}", group=context, turns=turns, metadata={"source": source})
