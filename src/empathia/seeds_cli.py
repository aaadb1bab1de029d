"""The commands on seeds: parse, call, print."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, help="Seeds: sentences that show something. Make, see, try and prune them; fit the glass box.")

Data = Annotated[Path, typer.Option("--data", envvar="EMPATHIA_DATA", help="Folder of the corpora (see `empathia data list`).")]
Encoder = Annotated[str, typer.Option("--encoder", help="Folder or Hugging Face id of an encoder; without it, the default model's.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the split into training, validation and test rows.")]
Sets = Annotated[list[Path], typer.Argument(metavar="SEEDS", help="Seed files (.txt), or folders of them.")]


@app.command()
def make(data: Data, out: Annotated[Path, typer.Option(help="Folder to write, a file per mechanism.")], seed: Seed = 0) -> None:
    """Make seeds of the rationales of training rows, a file per mechanism."""
    from empathia import seeding, seeds
    from empathia.report import seeded, terminal

    terminal.show(seeded.written(seeds.write_all(seeding.make(seeding.rows(data, seed).train), out)))


@app.command()
def show(paths: Sets) -> None:
    """List seeds; those of a model folder with how often each was the best match in validation rows."""
    from empathia import seeds
    from empathia.models import micromodels
    from empathia.report import seeded, terminal

    uses = {name: counts for path in paths for name, counts in micromodels.uses(path).items()}
    terminal.show(seeded.listed(seeds.read_all(paths), uses))


@app.command()
def prune(
    paths: Sets,
    keep: Annotated[int, typer.Option("--keep", "-k", min=1, help="So many seeds of each file.")],
    data: Data,
    out: Annotated[Path, typer.Option(help="Folder to write.")],
    encoder: Encoder = "default",
    seed: Seed = 0,
) -> None:
    """Keep the seeds that most often are the best match in validation rows."""
    from empathia import seeding, seeds
    from empathia.report import seeded, terminal

    kept = seeding.kept(seeds.read_all(paths), data, keep, encoder=encoder, seed=seed)
    terminal.show(seeded.written(seeds.write_all(kept, out)))


@app.command()
def test(
    paths: Sets,
    text: Annotated[str | None, typer.Option(help="Which sentences of this text are like a seed?")] = None,
    chats: Annotated[Path | None, typer.Option(help="Which sentences of these conversations are like a seed?")] = None,
    data: Annotated[
        Path | None, typer.Option(help="Score the seeds of mechanisms on test rows of these corpora, against their number.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="With --data: also draw the scores to this SVG file.")] = None,
    encoder: Encoder = "default",
    seed: Seed = 0,
) -> None:
    """Try seeds: on a text, on conversations, or against what people marked."""
    from empathia import seeds
    from empathia.report import seeded, terminal

    if sum(given is not None for given in (text, chats, data)) != 1:
        raise typer.BadParameter("Give one of --text, --chats and --data to try the seeds on.")
    sets = seeds.read_all(paths)
    if data is None:
        from empathia import analysis
        from empathia.models.seeded import Finder

        texts = analysis.texts(chats) if chats else [("text", text or "")]
        terminal.show(seeded.found(Finder.of(sets, encoder).hits(texts)))
        return
    from empathia import seeding

    free = plot and seeds.refuse_to_overwrite(plot)
    curves = seeding.scored(sets, data, encoder=encoder, seed=seed)
    if free:
        free.write_text(seeded.picture(curves), encoding="utf-8")
    terminal.show(seeded.curves(curves))


@app.command()
def fit(
    data: Data,
    out: Annotated[Path, typer.Option(help="Model folder to write.")],
    paths: Annotated[list[Path] | None, typer.Option("--seeds", help="Own seeds instead of all rationales: files or a folder.")] = None,
    encoder: Encoder = "default",
    seed: Seed = 0,
) -> None:
    """Fit the glass box for mechanisms on seeds, and score it on rows that it never saw."""
    from empathia import seeding, seeds
    from empathia.report import scores, terminal

    given = seeds.read_all(paths) if paths else ()
    found = seeding.train(data, out, given=given, encoder=encoder, seed=seed)
    terminal.show(scores.table(found, title=f"{out}, on test rows"))
