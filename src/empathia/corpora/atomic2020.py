"""ATOMIC 2020: commonsense about everyday events, as head, relation and tail.

Layout: the official `train.tsv`, `dev.tsv` and `test.tsv` have `head`, `relation`, `tail` between tabs; the shorter
`test.tsv` of the paper's evaluation has `head @@ relation`, a tab, and the tails between `| `, for 5,000 queries. Both
are read, whatever the file's name. A tail `none` (nothing follows) is kept. Counts are inferences, one per tail; for
`test.tsv` the shorter file's.
Licence: CC BY. Citation: Hwang et al., "COMET-ATOMIC 2020: On Symbolic and Neural Commonsense Knowledge Graphs", AAAI
2021.
"""

from collections.abc import Iterator
from pathlib import Path

from empathia.corpora import Card, Found
from empathia.corpora._files import each, each_file
from empathia.corpora._text import Item, lines
from empathia.errors import InputError
from empathia.schema import Inference

CARD = Card(
    title="ATOMIC 2020: a graph of commonsense about events",
    tasks=(),
    licence="CC BY",
    source="github.com/allenai/comet-atomic-2020",
    folder="atomic2020",
    files={"train.tsv": 1076880, "dev.tsv": 102024, "test.tsv": 20699},
)


def read(path: Path) -> Iterator[Found]:
    """One inference per head, relation and tail."""
    return each_file(path, CARD.files, lambda file: each(lines(file), lambda line: _inferences(line, file.stem)))


def _inferences(line: Item[str], split: str) -> Iterator[Found]:
    fields = [field.strip() for field in line.value.split("\t")]
    if fields == [""]:
        return
    if len(fields) == 2 and " @@ " in fields[0]:
        head, relation = fields[0].rsplit(" @@ ", 1)
        tails = [tail.strip() for tail in fields[1].split("|")]
    elif len(fields) == 3:
        head, relation, *tails = fields
    else:
        raise InputError("neither `head`, `relation`, `tail` between tabs nor `head @@ relation`, a tab and tails")
    for tail in tails:
        yield Inference(head=head, relation=relation, tail=tail, metadata={"split": split})
