"""CSKB population: commonsense triples judged plausible or not by people.

Layout: `evaluation_set.csv`: `head,relation,tail,label,class,split` (1 plausible, 0 not; `dev` or `tst`). Some triples
stand in it twice.
Licence: MIT. Citation: Fang et al., "Benchmarking Commonsense Knowledge Base Population with an Effective Evaluation
Dataset", EMNLP 2021.
"""

from collections.abc import Iterator
from pathlib import Path

from empathia.corpora import Card, Found
from empathia.corpora._files import each, each_file
from empathia.corpora._rows import Row, rows
from empathia.corpora._text import Item
from empathia.schema import Inference

CARD = Card(
    title="CSKB population: plausible and implausible commonsense",
    tasks=(),
    licence="MIT",
    source="github.com/HKUST-KnowComp/CSKB-Population",
    folder="cskb",
    files={"evaluation_set.csv": 31731},
)
PLAUSIBLE = {"1": True, "0": False}
SPLITS = {"dev": "valid", "tst": "test"}


def read(path: Path) -> Iterator[Found]:
    """One inference per triple, with people's verdict."""
    needed = ("head", "relation", "tail", "label", "class", "split")
    return each_file(path, CARD.files, lambda file: each(rows(file, needed=needed), _triple))


def _triple(item: Item[Row]) -> Iterator[Found]:
    row = item.value
    about = {"split": SPLITS[row["split"]], "class": row["class"]}
    yield Inference(head=row["head"], relation=row["relation"], tail=row["tail"], plausible=PLAUSIBLE[row["label"]], metadata=about)
