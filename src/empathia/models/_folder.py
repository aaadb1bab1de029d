"""A model folder on disk: `model.json` with the sums of all other files; written last, it says that the model is complete."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from empathia.errors import ModelError

FORMAT = "empathia-model/1"
PARTS = {".onnx", ".safetensors", ".json"}


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


def write_card(folder: Path, card: Mapping[str, Any]) -> None:
    """Write `model.json` with the sums of the files beside it; written last, it says that the model is complete."""
    files = {file.name: sha256(file) for file in sorted(folder.iterdir()) if file.suffix in PARTS and file.name != "model.json"}
    (folder / "model.json").write_text(json.dumps({**card, "files": files}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def sha256(file: Path) -> str:
    """The sha256 of a file, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
