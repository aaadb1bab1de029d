"""The tables in README and docs come from the result files: `python -m benchmarks.tables [--check]`.

A file says `<!-- table NAME: PATTERN -->` where a table of the rows of `results/NAME.json` whose id matches the pattern
stands, up to `<!-- end -->`; this command writes what is between.
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
    return BLOCK.sub(lambda found: found[1] + table([one for one in load(found[2]) if fnmatch(one["id"], found[3])]) + found[4], text)


def table(rows: Sequence[Row]) -> str:
    """Rows as Markdown, with the columns that any of them fills."""
    shown = [column for column in COLUMNS if any(one.get(column) is not None for one in rows)]
    lines = ["| " + " | ".join(["", *(COLUMNS[column] for column in shown)]) + " |", "|---|" + "---:|" * len(shown)]
    for one in rows:
        silver = " (silver)" if one["silver"] else ""
        lines.append("| " + " | ".join([f"`{one['id']}`{silver}", *(_figure(one.get(column)) for column in shown)]) + " |")
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
