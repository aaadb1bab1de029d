"""The main job over files of any size: one pass, bounded memory; results, report and problems are written as it goes."""

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from empathia import corpora, explanation, models
from empathia.analysis import analyse_all, choose, speaking, with_seeds
from empathia.errors import InputError
from empathia.models import Model, prompted
from empathia.models.prompted import Prompted
from empathia.report import tables
from empathia.report.tally import Tally
from empathia.schema import Analysis, Dialogue, Problem


@dataclass(frozen=True)
class Job:
    """What to analyse and where to put it; `-` among the files is standard input."""

    files: tuple[Path, ...]
    output: Path | None = None
    report: Path | None = None
    errors: Path | None = None
    tasks: tuple[str, ...] | None = None
    model: Path | None = None
    format: str | None = None
    explain: bool = False  # the words behind each direction, in the report
    judge: Prompted | None = None  # an LLM in place of the model
    seeds: tuple[Path, ...] = ()  # files of seeds, each a question of its own


def run(job: Job, watch: Callable[[Tally], None] = lambda _: None) -> Tally:
    """Do the job; the tally of all that was found. `watch` is called after every conversation."""
    _check(job)
    model = _model(job)
    asked = choose(job.tasks, model)
    tally = Tally(asked)
    analyses = _watched(tally.watch(_problems_to(job.errors, stream(job, model))), tally, watch)
    if job.output:
        tables.write(analyses, job.output, tasks=asked)
    else:
        deque(analyses, maxlen=0)
    if job.report:
        from empathia.report import html

        words = explanation.explain_all(tally.examples, model=job.model) if job.explain else {}
        job.report.write_text(html.page(tally, title=", ".join(file.name for file in job.files), words=words), encoding="utf-8")
    return tally


def forecast(job: Job) -> str:
    """What the job takes with an LLM, in words; files are read once for it, standard input cannot be."""
    if job.judge is None or any(str(file) == "-" for file in job.files):
        return "What it will take cannot be told before standard input is read."
    _check(job)
    found = (one for file in job.files for one in corpora.open_dialogues(file, job.format))
    examples = [example for one in found if isinstance(one, Dialogue) for example in speaking(one)]
    return prompted.estimate(job.judge, examples, choose(job.tasks, job.judge)).told()


def _model(job: Job) -> Model:
    return with_seeds(job.judge or models.load(job.model), job.seeds)


def _check(job: Job) -> None:
    """Refuse, before any work is done, a file that cannot be read or written."""
    if job.format:
        corpora.card(job.format)  # an unknown format is an error that suggests the nearest
    for file in job.files:
        if not job.format and str(file) != "-":
            corpora.sniff(file)
    for path in (job.report, job.errors):
        if path and not path.parent.is_dir():
            raise InputError(f"'{path}' cannot be written: the folder '{path.parent}' does not exist. Create it first.")
    if job.output:
        tables.check_path(job.output, sources=job.files)


def stream(job: Job, model: Model | None = None) -> Iterator[Analysis | Problem]:
    """The analyses of all conversations in the files, in order, and the problems met on the way."""
    opened = [corpora.open_dialogues(sys.stdin.buffer if str(file) == "-" else file, job.format) for file in job.files]
    aside: deque[Problem] = deque()
    for analysis in analyse_all(_good(chain.from_iterable(opened), aside), tasks=job.tasks, model=model or _model(job)):
        yield from _taken(aside)
        yield analysis
    yield from _taken(aside)


def _good(found: Iterable[Dialogue | Problem], aside: deque[Problem]) -> Iterator[Dialogue]:
    for one in found:
        if isinstance(one, Problem):
            aside.append(one)
        else:
            yield one


def _taken(aside: deque[Problem]) -> Iterator[Problem]:
    while aside:
        yield aside.popleft()


def _problems_to(path: Path | None, found: Iterator[Analysis | Problem]) -> Iterator[Analysis | Problem]:
    """The same stream; its problems are also written to the path, one JSON line each."""
    if path is None:
        yield from found
        return
    with path.open("w", encoding="utf-8") as file:
        for one in found:
            if isinstance(one, Problem):
                file.write(one.model_dump_json() + "\n")
            yield one


def _watched(analyses: Iterator[Analysis], tally: Tally, watch: Callable[[Tally], None]) -> Iterator[Analysis]:
    for analysis in analyses:
        watch(tally)
        yield analysis
