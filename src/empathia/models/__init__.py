"""Ways to answer tasks. `load` opens a model folder; every model answers examples through the same call."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from empathia.errors import ModelError
from empathia.schema import Answer, Example, ModelId, Score
from empathia.task import Task

DEFAULT = Path(__file__).parent.parent / "weights"
FORMAT = "empathia-model/1"
PARTS = {".onnx", ".safetensors", ".json"}


class Model(Protocol):
    """What analysis, evaluation and all that follows ask of a model."""

    @property
    def id(self) -> ModelId:
        """Which model this is, for the results."""
        ...

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that it answers."""
        ...

    def answer(self, examples: Sequence[Example], tasks: Sequence[Task]) -> list[dict[str, Answer]]:
        """For each example its answers by output name; an output that does not apply is left out."""
        ...


@lru_cache(maxsize=4)
def load(folder: Path | None = None) -> Model:
    """The model of a folder, checked against its sha256 sums; without a folder, the default model."""
    from empathia.models.shared import Shared

    folder = folder or DEFAULT
    return Shared.load(folder, read_card(folder))


def read_card(folder: Path) -> Mapping[str, Any]:
    """The `model.json` of a model folder, after checking that every file it names is there and whole."""
    remedy = "Copy or train the model again, or leave out --model to use the default one."
    path = folder / "model.json"
    if not folder.is_dir():
        raise ModelError(f"There is no model folder '{folder}'. {remedy}")
    try:
        card: Mapping[str, Any] = json.loads(path.read_bytes())
        files, form = card["files"], card["format"]
    except FileNotFoundError:
        raise ModelError(f"'{folder}' is not a model folder: it has no model.json. {remedy}") from None
    except (ValueError, KeyError, TypeError):
        raise ModelError(f"'{path}' is damaged: it is not the JSON of a model card. {remedy}") from None
    if form != FORMAT:
        raise ModelError(f"'{path}' has format '{form}', this version reads '{FORMAT}'. Install a matching version of empathia.")
    for name, expected in files.items():
        file = folder / name
        if not file.is_file():
            raise ModelError(f"The model folder '{folder}' lacks {name}. {remedy}")
        if sha256(file) != expected:
            raise ModelError(f"'{file}' is damaged: its sha256 differs from the one in model.json. {remedy}")
    return card


def scores(folder: Path | None = None) -> list[Score]:
    """The scores on test rows that a model's card tells, after quantisation."""
    told = read_card(folder or DEFAULT)["scores"]["after_quantisation"]
    return [Score(**score) for found in told.values() for score in found]


def recipe(folder: Path | None = None) -> dict[str, Any]:
    """How a model was trained, as its card tells; its `seed` is also that of the split, so its test rows can be found again."""
    return dict(read_card(folder or DEFAULT)["recipe"])


def write_card(folder: Path, card: Mapping[str, Any]) -> None:
    """Write `model.json` with the sums of the files beside it; written last, it says that the model is complete."""
    files = {file.name: sha256(file) for file in sorted(folder.iterdir()) if file.suffix in PARTS and file.name != "model.json"}
    (folder / "model.json").write_text(json.dumps({**card, "files": files}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def sha256(file: Path) -> str:
    """The sha256 of a file, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
