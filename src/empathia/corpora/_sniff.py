"""Which format a file has, by its extension and its first value or its columns."""

import difflib
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from empathia.corpora._json import items
from empathia.corpora._messages import shown
from empathia.corpora._rows import header
from empathia.corpora._tables import pair_columns, turn_columns
from empathia.corpora._text import Item
from empathia.errors import InputError

SHARE = "conversations"


def sniff(path: Path) -> str:
    """The name of the format; an InputError says what came, what is allowed and what to do."""
    present(path)
    if path.is_dir():
        return _folder(path)
    if path.suffix.lower() not in BY_EXTENSION:
        raise InputError(f"'{path.name}' has none of the extensions {', '.join(BY_EXTENSION)}: rename it, or name its format.")
    with path.open("rb") as file:
        start = file.read(4096)
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"'{path.name}' is UTF-16: convert it, e.g. `iconv -f UTF-16 -t UTF-8`.")
    if not start.removeprefix(b"\xef\xbb\xbf").strip():
        raise InputError(f"'{path.name}' is empty: it should hold at least one conversation.")
    return BY_EXTENSION[path.suffix.lower()](path)


def present(path: Path) -> None:
    """An InputError that suggests the nearest name, if there is nothing at the path."""
    if not path.exists():
        raise InputError(f"There is no file '{path}'.{_nearest(path)}")


def task_turns(data: object) -> str | None:
    """The key of a Label Studio task's data under which the turns of a dialogue stand."""
    if not isinstance(data, dict):
        return None
    return next((key for key, value in data.items() if isinstance(value, list) and value and all(map(_is_turn, value))), None)


def _is_turn(value: object) -> bool:
    return isinstance(value, dict) and ({"author", "text"} <= value.keys() or {"role", "content"} <= value.keys())


def _folder(path: Path) -> str:
    if (path / "utterances.jsonl").is_file():
        return "convokit"
    raise InputError(f"'{path}' is a folder, but not a ConvoKit corpus (it has no utterances.jsonl): name one of its files, or a format.")


def _nearest(path: Path) -> str:
    beside = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
    near = difflib.get_close_matches(path.name, beside, n=1)
    return f" Did you mean '{near[0]}'?" if near else " Check the path."


def _json(path: Path) -> str:
    first: Any = next((item.value for item in islice(items(path), 20) if isinstance(item, Item) and isinstance(item.value, dict)), {})
    if "messages" in first:
        return "messages"
    if str(first.get("schema", "")).startswith("empathia/"):
        return "results"
    if SHARE in first:
        return "sharegpt"
    return "labelstudio" if isinstance(first.get("data"), dict) or task_turns(first) else "messages"


def _csv(path: Path) -> str:
    columns = header(path)
    if turn_columns(columns):
        return "turns_csv"
    if pair_columns(columns):
        return "pairs_csv"
    allowed = "conversation_id, role, content (one row per turn) or post, reply (one row per pair)"
    raise InputError(f"The columns of '{path.name}' ({shown(columns)}) are not known: name them {allowed}.")


BY_EXTENSION: dict[str, Callable[[Path], str]] = {
    ".jsonl": _json,
    ".ndjson": _json,
    ".json": _json,
    ".csv": _csv,
    ".tsv": _csv,
    ".parquet": lambda _: "parquet",
}
