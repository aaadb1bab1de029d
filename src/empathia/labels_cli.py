"""The commands on labels: how they go with ratings, what causes look like, how far annotators agree, and to Label Studio and back."""

from pathlib import Path
from typing import Annotated

import typer

annotate = typer.Typer(no_args_is_help=True, help="To Label Studio and back: tasks with our answers to correct, and labels from exports.")

Data = Annotated[Path | None, typer.Option("--data", envvar="EMPATHIA_DATA", help="Folder of the corpora, for a corpus by its name.")]
Format = Annotated[str | None, typer.Option("--format", help="Format of the file, where it cannot be told from it.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def relate(
    source: Annotated[str, typer.Argument(help="Labelled conversations: a corpus by name, a file with labels, or results .jsonl.")],
    data: Data = None,
    test: Annotated[str, typer.Option(help="mann-whitney (with Cliff's delta) or welch (with Hedges' g).")] = "mann-whitney",
    rating: Annotated[
        list[str] | None,
        typer.Option(help="Only this rating (may come again): a label or key of yours, outcome, a level, or a score: direction:provide."),
    ] = None,
    target: Annotated[str | None, typer.Option(help="Correlate all with this rating; by default satisfaction.")] = None,
    role: Annotated[str | None, typer.Option(help="Only turns of this role, such as agent.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw means and intervals to this SVG file.")] = None,
    format: Format = None,  # noqa: A002
    as_json: Json = False,
) -> None:
    """Which intents and strategies go with better ratings? Means with and without each, tests, effect sizes, correlations."""
    from typing import cast

    from empathia import comparison, labelled, relation
    from empathia.report import relations, terminal

    opened = labelled.opened(source, data=data, format=format)
    found = relation.relate(opened, test=cast(comparison.Test, test), ratings=rating or (), target=target, role=role)
    if plot:
        plot.write_text(relations.picture(found), encoding="utf-8")
    terminal.show(relations.as_json(found) if as_json else relations.table(found))
    _tell(opened.told())


def corpus(
    source: Annotated[str, typer.Argument(metavar="FILE", help="Conversations: a corpus by name, any file, or results .jsonl.")],
    data: Data = None,
    role: Annotated[str | None, typer.Option(help="Only sentences of this role, such as seeker.")] = None,
    topics: Annotated[int, typer.Option(min=0, help="How many topics to look for; 0 for none.")] = 5,
    top: Annotated[int, typer.Option(min=1, help="How many words and pairs of words to list of each kind.")] = 10,
    report: Annotated[Path | None, typer.Option(help="Also as one HTML file, with plots.")] = None,
    format: Format = None,  # noqa: A002
    as_json: Json = False,
) -> None:
    """What do sentences look like that cause empathy? Words, sentiment, emotions, topics and lengths beside the other sentences."""
    from empathia import corpus as sentences
    from empathia import labelled
    from empathia.report import described, described_page, progress, terminal

    opened = labelled.opened(source, data=data, format=format)
    with progress.phases("Describing") as watch:
        found = sentences.describe(opened, topics=topics, top=top, role=role, watch=watch)
    if report:
        report.write_text(described_page.page(found), encoding="utf-8")
    terminal.show(described.as_json(found) if as_json else described.table(found))
    _tell(opened.told())


def agree(
    sources: Annotated[list[str], typer.Argument(metavar="A B …", help="Labelled files, results .jsonl or corpora, one per annotator.")],
    data: Data = None,
    rounds: Annotated[int, typer.Option(min=0, help="Rounds of bootstrap for the intervals; 0 for none.")] = 500,
    as_json: Json = False,
) -> None:
    """How far do annotators agree, or a model and people? A Label Studio export of several annotators may stand alone."""
    from empathia import agreement, labelled
    from empathia.report import agreements, terminal

    opened = [labelled.opened(source, data=data) for source in sources]
    found = agreement.agree(labelled.annotators(opened), rounds=rounds)
    terminal.show(agreements.as_json(found) if as_json else agreements.table(found))
    for source in opened:
        _tell(source.told())


@annotate.command("export")
def annotate_export(
    source: Annotated[str, typer.Argument(metavar="FILE", help="Conversations, labelled ones, or results .jsonl.")],
    out: Annotated[Path, typer.Option(help="Tasks to import into Label Studio (.json); the configuration is written beside, as .xml.")],
    data: Data = None,
    tasks: Annotated[str | None, typer.Option(help="Only these tasks, with commas between, where the file is analysed first.")] = None,
    model: Annotated[Path | None, typer.Option(help="Model folder; without it, the default model.")] = None,
    format: Format = None,  # noqa: A002
) -> None:
    """Write Label Studio tasks: dialogues with our answers, or the labels that they carry, as predictions to correct."""
    from empathia import annotation, labelled, models
    from empathia.report import terminal

    opened = labelled.opened(source, data=data, format=format)
    asked = [name.strip() for name in tasks.split(",")] if tasks else None
    made = annotation.project(opened, tasks=asked, model=models.load(model) if model else None)
    terminal.show(f"{len(made.tasks):,} tasks in {out}, labelling configuration in {annotation.write(made, out)}")
    _tell(opened.told())


@annotate.command("import")
def annotate_import(
    export: Annotated[Path, typer.Argument(help="What Label Studio exported (JSON, not JSON-MIN).")],
    out: Annotated[Path, typer.Option(help="File to write: JSON Lines of conversations with labels.")],
) -> None:
    """Read a Label Studio export back: conversations with labels, to train, compare (`agree`) or `relate`."""
    from empathia import annotation, labelled
    from empathia.report import terminal

    opened = labelled.opened(str(export), format="labelstudio")
    tasks = list(opened.dialogues())
    found = list(annotation.annotated(tasks))
    out.write_text(annotation.as_lines(found), encoding="utf-8")
    terminal.show(f"{len(found):,} of {len(tasks):,} tasks are annotated: labels in {out}")
    _tell(opened.told())


def _tell(problem: str) -> None:
    if problem:
        typer.echo(f"empathia: {problem}", err=True)
