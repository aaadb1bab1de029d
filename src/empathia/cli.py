"""The command line: parse, call, print."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from empathia import labels_cli, seeds_cli

app = typer.Typer(name="empathia", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
data_app = typer.Typer(no_args_is_help=True, help="Corpora: what there is, where it comes from, what a folder holds.")
app.add_typer(data_app, name="data")
app.add_typer(seeds_cli.app, name="seeds")
app.add_typer(labels_cli.annotate, name="annotate")

Folder = Annotated[Path | None, typer.Option("--model", help="Model folder; without it, the default model.")]
Data = Annotated[Path, typer.Option("--data", envvar="EMPATHIA_DATA", help="Folder of the corpora (see `empathia data list`).")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Llm = Annotated[str | None, typer.Option("--llm", help="Ask an LLM instead: llamacpp:FILE.gguf, openai:MODEL, openai:MODEL@URL, echo.")]
Cache = Annotated[Path | None, typer.Option("--cache", help="With --llm: file that keeps its answers, so that no call is made twice.")]
Name = Annotated[str, typer.Argument(metavar="TASK", help="A task, such as direction or mechanisms.")]


def main() -> None:
    """Run the command line; an error that the user can act on is one message and exit status 1."""
    from empathia.errors import EmpathiaError, MissingExtra

    try:
        app()
    except EmpathiaError as error:
        problem = error
    except ModuleNotFoundError as error:
        problem = MissingExtra.of(error)
    typer.echo(f"empathia: {problem}", err=True)
    sys.exit(1)


@app.callback(invoke_without_command=True)
def _top(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Measure, explain and improve empathy in text conversations, offline."""
    if version:
        from empathia import __version__

        typer.echo(__version__)


@app.command()
def analyse(
    files: Annotated[list[Path], typer.Argument(help="Conversations: JSONL, CSV, Parquet, ConvoKit and more; - is standard input.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Results as .jsonl, .csv or .parquet.")] = None,
    report: Annotated[Path | None, typer.Option(help="Report as one HTML file.")] = None,
    errors: Annotated[Path | None, typer.Option(help="Write what was set aside to this file, as JSON lines.")] = None,
    tasks: Annotated[str | None, typer.Option(help="Only these tasks, with commas between.")] = None,
    model: Folder = None,
    format: Annotated[str | None, typer.Option(help="Format of the files, where it cannot be told from them.")] = None,  # noqa: A002
    explain: Annotated[bool, typer.Option("--explain", help="With --report: also which words decided the direction of each turn.")] = False,
    llm: Llm = None,
    cache: Cache = None,
    seeds: Annotated[
        list[Path] | None, typer.Option(help="Find sentences like these seeds too: a .txt file, one a line, or a folder.")
    ] = None,
) -> None:
    """Analyse conversations: who seeks empathy, was it given, how, with which words.

    Exit status 0: all was analysed. 3: some lines were set aside (see --errors). 1: nothing could be analysed.
    """
    from empathia import analysis, batch
    from empathia.report import progress, terminal

    asked = tuple(name.strip() for name in tasks.split(",")) if tasks else None
    if llm and explain:
        raise typer.BadParameter("--explain asks a model folder about every word: it does not go with --llm.")
    judge = analysis.judge(llm, tasks=asked, cache=cache) if llm else None
    job = batch.Job(tuple(files), output, report, errors, asked, model, format, explain, judge, tuple(seeds or ()))
    if judge:
        typer.echo(batch.forecast(job), err=True)
    with progress.counting("Analysing") as watch:
        tally = batch.run(job, watch)
    terminal.show(terminal.summary(tally))
    if judge:
        typer.echo(judge.told(), err=True)
    raise typer.Exit(tally.status)


@app.command()
def train(
    task: Annotated[str, typer.Argument(metavar="TASK", help="A task, several with commas between, or `default` for all.")],
    data: Data,
    encoder: Annotated[str, typer.Option(help="Folder or Hugging Face id of the encoder to start from.")],
    out: Annotated[Path, typer.Option(help="Model folder to write.")],
    seed: Annotated[int, typer.Option(help="Seed of the split and of all chance.")] = 0,
    epochs: Annotated[int | None, typer.Option(help="At most so many passes over the rows.")] = None,
    head: Annotated[str | None, typer.Option(help="Another head than the task's own: plain, bigru, dcrnet, cogat …")] = None,
    half: Annotated[bool, typer.Option("--half", help="Multiply in 16 bits: faster on processors that can.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint in --out.")] = False,
) -> None:
    """Train a model on labelled corpora and score it on rows that it never saw."""
    from empathia import models, training
    from empathia.report import progress, scores, terminal

    recipe = replace(training.JOINT if task == "default" else training.Recipe(), seed=seed, half=half)
    recipe = recipe if epochs is None else replace(recipe, epochs=epochs)
    asked = training.named(task)
    with progress.steps("Training") as watch:
        folder = training.train(asked, training.Plan(data, encoder, out, recipe, resume, head), watch)
    terminal.show(scores.table(models.scores(folder), title=f"{folder}, on test rows"))


@app.command()
def evaluate(
    task: Name,
    data: Data,
    model: Folder = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the split; by default the one that the model was trained with.")] = None,
    as_json: Json = False,
    folds: Annotated[int | None, typer.Option(help="Cross-validate the model's recipe on so many folds.")] = None,
    encoder: Annotated[str | None, typer.Option(help="With --folds: the encoder to start from.")] = None,
    out: Annotated[Path | None, typer.Option(help="With --folds: folder for the models; complete ones are used again.")] = None,
    llm: Llm = None,
    shots: Annotated[int, typer.Option(help="With --llm: worked examples per label, from training rows.")] = 0,
    limit: Annotated[int | None, typer.Option(min=1, help="With --llm: at most so many test rows.")] = None,
    cache: Cache = None,
) -> None:
    """Score a model on test rows of a task, with intervals and trivial baselines."""
    from empathia import evaluation, models
    from empathia.report import progress, scores, terminal

    if llm:
        trial = evaluation.Trial(llm, shots, limit, cache)
        found = evaluation.of_llm(trial, task, data, seed=seed or 0, tell=lambda told: typer.echo(told, err=True))
    elif folds is None:
        found = evaluation.on_test_rows(models.load(model), task, data, seed=models.recipe(model)["seed"] if seed is None else seed)
    elif encoder is None or out is None:
        raise typer.BadParameter("--folds trains models: give --encoder to start from and --out to keep them in.")
    else:
        from empathia import training

        plan = training.Plan(data, encoder, out, training.Recipe(**models.recipe(model)), resume=True)
        with progress.steps("Training") as watch:
            found = training.cross_validate(task, plan, folds, watch)
    terminal.show(scores.as_json(found) if as_json else scores.table(found))


@app.command()
def explain(
    task: Name,
    text: Annotated[str, typer.Argument(help="The text of a turn.")],
    model: Folder = None,
    gradients: Annotated[bool, typer.Option("--gradients", help="Integrated gradients too; needs a model with torch weights.")] = False,
    report: Annotated[Path | None, typer.Option(help="Also as one HTML file.")] = None,
    context: Annotated[str | None, typer.Option(help="What the text answers; tasks on replies, such as mechanisms, need it.")] = None,
) -> None:
    """Which words of a turn speak for which label; with a glass box (`empathia seeds fit`), every reason for its levels."""
    from empathia import explanation
    from empathia.report import glass, terminal

    reasons = explanation.reasons(task, text, model=model, context=context)
    found = reasons or explanation.explain(task, text, model=model, gradients=gradients, context=context)
    if report:
        report.write_text(glass.page(found), encoding="utf-8")
    terminal.show(glass.drawn(found))


@app.command()
def probe(
    model: Folder = None,
    data: Annotated[Path | None, typer.Option(envvar="EMPATHIA_DATA", help="Folder of the corpora, for the probes that need them.")] = None,
    llm: Annotated[str | None, typer.Option(help="An LLM as judge instead of a model: llamacpp:FILE.gguf, openai:MODEL@URL, echo.")] = None,
    limit: Annotated[int | None, typer.Option(help="At most so many items of each probe.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw the findings to this SVG file.")] = None,
    as_json: Json = False,
) -> None:
    """Does a model heed the context? Stock sentences in neutral exchanges, swapped posts, and a contrast set."""
    from empathia import analysis, models, probing
    from empathia.report import probes, terminal

    found = probing.probe(analysis.judge(llm) if llm else models.load(model), data, limit=limit)
    if plot:
        plot.write_text(probes.picture(found), encoding="utf-8")
    terminal.show(probes.as_json(found) if as_json else probes.table(found))


app.command()(labels_cli.relate)
app.command()(labels_cli.corpus)
app.command()(labels_cli.agree)


@data_app.command("list")
def data_list() -> None:
    """All corpora and formats: what for, under which licence, from where."""
    from empathia import corpora
    from empathia.report import catalogue, terminal

    terminal.show(catalogue.known({name: corpora.card(name) for name in corpora.names()}))


@data_app.command("check")
def data_check(folder: Annotated[Path, typer.Argument(help="Folder of one corpus, or of many.")]) -> None:
    """What a folder holds: counts beside the published ones, what was skipped and why."""
    from empathia import corpora
    from empathia.report import catalogue, terminal

    terminal.show(catalogue.checked(corpora.check(folder)))
