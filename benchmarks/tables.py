"""The tables in README and docs come from the result files: `python -m benchmarks.tables [--check]`.

A file says `<!-- table NAME: PATTERN,PATTERN -->` where a table of the rows of `results/NAME.json` whose id matches one of
the patterns stands, up to `<!-- end -->`; this command writes what is between.
"""

import re
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.rows import Row, load

ROOT = Path(__file__).parent.parent
FILES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
BLOCK = re.compile(r"(<!-- table (\w+): (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
COLUMNS = {
    "ours": "ours",
    "low": "lowest",
    "high": "highest",
    "before_quantisation": "before quantisation",
    "baseline": "trivial",
    "published": "published",
}


def filled(text: str) -> str:
    """The text with every table as the result files have it now."""
    return BLOCK.sub(lambda found: found[1] + table(_rows(found[2], found[3].split(","))) + found[4], text)


def _rows(name: str, patterns: Sequence[str]) -> list[Row]:
    return [one for pattern in patterns for one in load(name) if fnmatch(one["id"], pattern)]


def table(rows: Sequence[Row]) -> str:
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


def main(check: Annotated[bool, typer.Option("--check", help="Only say whether the files are up to date.")] = False) -> None:
    """Write the tables, or check them."""
    old = [file for file in FILES if filled(file.read_text(encoding="utf-8")) != file.read_text(encoding="utf-8")]
    for file in old:
        if not check:
            file.write_text(filled(file.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"{file.relative_to(ROOT)}: {'differs from the results' if check else 'written'}")
    raise typer.Exit(1 if check and old else 0)


if __name__ == "__main__":
    typer.run(main)
