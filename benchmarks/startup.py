"""How light the main job is: `python -m benchmarks.startup [--install]`.

Times are medians of several fresh processes; memory is the peak of a fresh process that analyses two turns. With
`--install`, a new virtual environment is made and the size of the core install measured.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.rows import Row, load, row, save, show

TWO = (
    '{"messages": [{"role": "a", "content": "I lost my job and I feel awful."}, {"role": "b", "content": "I am so sorry to hear that."}]}\n'
)
ROOT = Path(__file__).parent.parent
COMMAND = [sys.executable, "-m", "empathia"]


def seconds(*words: str, times: int = 7) -> float:
    """The median time of a fresh process."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        subprocess.run([*COMMAND, *words], input=TWO, text=True, capture_output=True, check=True)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def megabytes(*words: str) -> float:
    """The peak memory of a fresh process."""
    code = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], capture_output=True, stdin=0, check=True); "
    code += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    done = subprocess.run([sys.executable, "-c", code, *COMMAND, *words], input=TWO, text=True, capture_output=True, check=True)
    return int(done.stdout) * (1 if sys.platform == "darwin" else 1024) / 1e6


def installed() -> float:
    """The size of a new virtual environment with the core install, beyond an empty one."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        before = _size(Path(folder))
        subprocess.run([f"{folder}/bin/pip", "install", "--quiet", str(ROOT)], check=True)
        return (_size(Path(folder)) - before) / 1e6


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink() and file.suffix != ".pyc")


def rows(install: bool) -> Iterator[Row]:
    """All rows."""
    told = {"system": "empathia", "data": "two turns", "split": "none"}
    yield row("startup/core/help/seconds/default", seconds("--help"), **told)
    yield row("startup/core/two_turns/seconds/default", seconds("analyse", "-"), **told)
    yield row("startup/core/two_turns/megabytes/default", megabytes("analyse", "-"), **told)
    if install:
        yield row("startup/core/install/megabytes/default", installed(), **told)
    else:
        yield from (old for old in load("startup") if "/install/" in old["id"])


def main(install: Annotated[bool, typer.Option(help="Also measure the size of a fresh core install.")] = False) -> None:
    """Measure and save."""
    found = list(rows(install))
    save("startup", found)
    show(found, "id", "ours")


if __name__ == "__main__":
    typer.run(main)
