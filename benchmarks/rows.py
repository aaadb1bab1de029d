"""The form of a result row, and where rows are kept: `benchmarks/results/NAME.json`."""

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from statistics import mean
from typing import Any

from rich.console import Console
from rich.table import Table

Row = dict[str, Any]
RESULTS = Path(__file__).parent / "results"
DATA = Path(os.environ.get("EMPATHIA_DATA", Path(__file__).parents[2] / "shared" / "data"))
COLUMNS = {
    "ours": "ours",
    "low": "lowest",
    "high": "highest",
    "shipped": "shipped",
    "shared": "in the default model",
    "before_quantisation": "before quantisation",
    "baseline": "trivial",
    "published": "published",
}


def row(id: str, ours: float | None, **told: Any) -> Row:  # noqa: A002
    """A row of the benchmarks' contract; what is not told is null. The id is `paper/setting/task/metric/model`."""
    empty = dict.fromkeys(("table", "system", "data", "split", "published", "low", "high", "baseline", "seconds"))
    command = " ".join(["python", "-m", f"benchmarks.{Path(sys.argv[0]).stem}", *sys.argv[1:]])
    made = {"id": id, **empty, "metric": id.split("/")[3], "ours": ours, "silver": False, "command": command}
    return made | {"date": date.today().isoformat()} | told


def command(name: str, **options: Any) -> str:
    """The command that makes a row: a benchmark and its options, those without a value left out."""
    return " ".join([f"python -m benchmarks.{name}", *(f"--{key} {value}" for key, value in options.items() if value is not None)])


def save(name: str, rows: Iterable[Row]) -> Path:
    """Write the rows of one benchmark, as JSON and as a Markdown table beside it."""
    RESULTS.mkdir(exist_ok=True)
    path, told = RESULTS / f"{name}.json", list(rows)
    path.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    path.with_suffix(".md").write_text(markdown(told), encoding="utf-8")
    return path


def load(name: str) -> list[Row]:
    """The rows of an earlier run, if there was one."""
    path = RESULTS / f"{name}.json"
    found: list[Row] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return found


def kept(name: str, recipe: str) -> dict[str, dict[str, dict[str, float]]]:
    """What the results of a benchmark tell of each seed, by the id of the row, as far as they come from this recipe."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for one in load(name):
        if one.get("recipe") == recipe:
            for seed, told in one["seeds"].items():
                found.setdefault(seed, {})[one["id"]] = told
    return found


def over_seeds(each: Mapping[str, Mapping[str, float]]) -> Row:
    """What a row tells of figures by seed: their means, the lowest and highest of ours, and the figures themselves."""
    ours = [told["ours"] for told in each.values()]
    means = {key: mean(told[key] for told in each.values()) for key in next(iter(each.values()))}
    return {"low": min(ours), "high": max(ours), **means, "seeds": dict(each)}


def show(rows: Sequence[Row], *columns: str) -> None:
    """Print the rows, by default id, ours, interval, published and baseline."""
    wanted = columns or ("id", "ours", "low", "high", "published", "baseline")
    table = Table(*wanted, box=None)
    for one in rows:
        table.add_row(*(_shown(one.get(column)) for column in wanted))
    Console().print(table)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1 else f"{value:.1f}"
    return "" if value is None else str(value)


def markdown(rows: Sequence[Row]) -> str:
    """Rows as Markdown, with the columns that any of them fills."""
    shown = [column for column in COLUMNS if any(one.get(column) is not None for one in rows)]
    lines = ["| " + " | ".join(["", *(COLUMNS[column] for column in shown)]) + " |", "|---|" + "---:|" * len(shown)]
    for one in rows:
        silver = " (silver)" if one["silver"] else ""
        name = one["id"].partition("/")[2].replace("/", " · ").replace("_", " ")
        lines.append("| " + " | ".join([f"{name}{silver}", *(_figure(one.get(column)) for column in shown)]) + " |")
    return "\n".join(lines) + "\n"


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}" if abs(value) < 1000 else f"{value:,.0f}"
