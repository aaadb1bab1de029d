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

from benchmarks.rows import Row, load, markdown

ROOT = Path(__file__).parent.parent
FILES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
BLOCK = re.compile(r"(<!-- table (\w+): (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(text: str) -> str:
    """The text with every table as the result files have it now."""
    return BLOCK.sub(lambda found: found[1] + markdown(_rows(found[2], found[3].split(","))) + found[4], text)


def _rows(name: str, patterns: Sequence[str]) -> list[Row]:
    return [one for pattern in patterns for one in load(name) if fnmatch(one["id"], pattern)]


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
