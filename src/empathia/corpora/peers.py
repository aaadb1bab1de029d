"""Replies of published systems on EmpatheticDialogues' test set: Transformer, MoEL, MIME, EmpDG, KEMP, CEM.

Layout: one text file per source, each in its own layout of `Name: value` lines, each item opened by the emotion:
`Transformer.txt` and `EmpDG.txt` (first turns only), `KEMP.txt`, `MIME.txt` and `CEM.txt` (several decodings),
`MoEL.txt` (four systems per item). The reply is the greedy one where there are several; the others are in the metadata.
Counts are replies.
Licence: MIT; none stated for EmpDG and CEM. Citation: Lin et al. (MoEL), EMNLP 2019; Majumder et al. (MIME), EMNLP
2020; Li et al. (EmpDG), COLING 2020; Li et al. (KEMP), AAAI 2022; Sabour et al. (CEM), AAAI 2022.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from empathia.corpora import Card, Found
from empathia.corpora._files import each, each_file
from empathia.corpora._text import Item, lines
from empathia.errors import InputError
from empathia.schema import Problem, SystemReply

CARD = Card(
    title="Replies of six published sources on the test set of EmpatheticDialogues",
    tasks=(),
    licence="MIT; none stated for EmpDG and CEM",
    source="the repositories of the systems: github.com/HLTCHKUST/MoEL, declare-lab/MIME, qtli/EmpDG, qtli/KEMP, Sahandfer/CEM",
    folder="empatheticdialogues/peers",
    files={"Transformer.txt": 2713, "MoEL.txt": 21020, "MIME.txt": 5255, "EmpDG.txt": 2713, "KEMP.txt": 5255, "CEM.txt": 5255},
)
SYSTEMS = {
    "Transformer": {"pred": "Transformer"},
    "EmpDG": {"pred": "EmpDG"},
    "KEMP": {"pred": "KEMP"},
    "MIME": {"greedy": "MIME"},
    "CEM": {"greedy": "CEM"},
    "MoEL": {
        "trs": "Transformer (MoEL)",
        "trs+multitask": "Multi-Transformer (MoEL)",
        "moe": "MoEL",
        "moe+oracle": "MoEL with the true emotion",
    },
}
FIELD = re.compile(r"([A-Za-z_+ -]+):(.*)")
RULE = "---"
KEPT = {"beam": "beam", "topk": "topk", "pred emotions": "predicted_emotion", "predicted_emotion": "predicted_emotion"}


def read(path: Path) -> Iterator[Found]:
    """One reply per system and test item, with its context and the human reply."""
    return each_file(path, CARD.files, _file)


def _file(path: Path) -> Iterator[Found]:
    def replies(item: Item[dict[str, str]]) -> Iterator[Found]:
        fields = item.value
        if lacking := [key for key in ("emotion", "context", "ref", *SYSTEMS[path.stem]) if key not in fields]:
            raise InputError(f"the item has no {', '.join(lacking)}")
        context = tuple(text.strip() for text in ast.literal_eval(fields["context"]))
        metadata = {"split": "test", "item": item.number} | {name: fields[key] for key, name in KEPT.items() if key in fields}
        for key, system in SYSTEMS[path.stem].items():
            reply, reference, emotion = fields[key], fields["ref"], fields["emotion"]
            yield SystemReply(system=system, context=context, reply=reply, reference=reference, emotion=emotion, metadata=metadata)

    if path.stem not in SYSTEMS:
        raise InputError(f"'{path.name}' is none of {', '.join(CARD.files)}.")
    return each(_items(path), replies)


def _items(path: Path) -> Iterator[Item[dict[str, str]] | Problem]:
    item: Item[dict[str, str]] | None = None
    for line in lines(path):
        if isinstance(line, Problem):
            yield line
            continue
        opens = line.value.lower().startswith("emotion:")
        if opens:
            if item:
                yield item
            item = Item(line.place, item.number + 1 if item else 1, {})
        if item is None:  # before the first item stand the system's scores
            continue
        for part in line.value.split("\t") if opens else [line.value]:
            if match := FIELD.fullmatch(part):
                item.value[match[1].strip().lower()] = match[2].strip()
            elif part.strip() and not part.startswith(RULE):
                yield Problem(place=line.place, reason="a line that is no field of an item")
    if item:
        yield item
