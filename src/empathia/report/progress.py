"""Progress beside the results: on standard error."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from empathia.report.tally import Tally

QUIET = 60  # seconds between two lines of a training in a log


class Trained(Protocol):
    """Where a training stands."""

    @property
    def done(self) -> tuple[int, int]:
        """Steps done, and in all."""
        ...

    @property
    def told(self) -> str:
        """Epoch, loss and the last validation scores."""
        ...


@contextmanager
def counting(what: str) -> Iterator[Callable[[Tally], None]]:
    """A counter of conversations and turns, for a stream whose end is not known."""
    with phases(what) as tell:
        yield lambda tally: tell(f"{tally.conversations:,} conversations · {tally.turns:,} turns")


@contextmanager
def phases(what: str) -> Iterator[Callable[[str], None]]:
    """What is being done now, in a few words, for work in several parts."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        line = bar.add_task(what, total=None)
        yield lambda now: bar.update(line, description=f"{what} · {now}")


@contextmanager
def steps(what: str) -> Iterator[Callable[[Trained], None]]:
    """A bar over the steps of a training, with its loss, its last validation scores and the time left; in a log a line now and then."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(compact=True))
    console, last = Console(stderr=True), time.monotonic()
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        line = bar.add_task(what, total=None)

        def watch(now: Trained) -> None:
            nonlocal last
            (done, total), told = now.done, f"{what} · {now.told}"
            bar.update(line, completed=done, total=total, description=told)
            if not console.is_terminal and (done == total or time.monotonic() - last > QUIET):
                last = time.monotonic()
                console.print(f"{told} · {done}/{total}", soft_wrap=True)

        yield watch
