"""Seeds: sentences that show something. A seed set is a plain text file that a person can read and edit.

One seed a line; lines that begin with `#` are comments. The first comment is the question that the set answers, and
`# threshold: 0.75` says how like a seed a sentence must be. The file's name without its ending is the name of the set.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from empathia.errors import InputError
from empathia.schema import Example, Graded

THRESHOLD = 0.7  # with eight seeds per kind of reply and the default encoder, 42 % of what it finds is right, and 55 % is found
_THRESHOLD = re.compile(r"#\s*threshold\s*:(.*)", re.IGNORECASE)


@dataclass(frozen=True)
class SeedSet:
    """The seeds of one phenomenon, the question that they answer, and how like one of them a sentence must be."""

    name: str
    seeds: tuple[str, ...]
    question: str = ""
    threshold: float = THRESHOLD


def tidy(text: str) -> str:
    """A text as a seed: one line, one space between words, no `#` before it."""
    return " ".join(text.split()).lstrip("# ")


def read(file: Path) -> SeedSet:
    """The seed set of a text file."""
    question, threshold, seeds, number = "", THRESHOLD, dict[str, None](), 0
    for number, line in enumerate(_text(file).splitlines(), 1):
        if found := _THRESHOLD.fullmatch(line.strip()):
            threshold = _number(found[1], f"{file.name}:{number}")
        elif line.lstrip().startswith("#"):
            question = question or tidy(line)
        elif tidy(line):
            seeds[tidy(line)] = None
    if not seeds:
        told = f"only {number} lines of comments or white space" if number else "nothing"
        raise InputError(f"'{file}' holds {told}, no seeds: write one sentence a line; lines that begin with # are comments.")
    return SeedSet(file.stem, tuple(seeds), question, threshold)


def read_all(paths: Iterable[Path]) -> list[SeedSet]:
    """The seed sets of files, and of all .txt files of folders; no two may have one name."""
    files = [file for path in paths for file in (_inside(path) if path.is_dir() else [path])]
    for name, count in Counter(file.stem for file in files).items():
        if count > 1:
            raise InputError(f"Two seed files are called '{name}': rename one, for the name is the key of the answers.")
    return [read(file) for file in files]


def write(seeds: SeedSet, file: Path) -> None:
    """Write a seed set as a text file; one that is there already is never overwritten."""
    head = ([f"# {tidy(seeds.question)}"] if tidy(seeds.question) else []) + [f"# threshold: {seeds.threshold:g}"]
    with refuse_to_overwrite(file).open("x", encoding="utf-8", newline="\n") as out:
        out.writelines(f"{line}\n" for line in (*head, *map(tidy, seeds.seeds)))


def write_all(sets: Iterable[SeedSet], folder: Path) -> list[Path]:
    """Write seed sets into a folder, a file each; all or none, and never over files that are there."""
    files = {refuse_to_overwrite(folder / f"{some.name}.txt"): some for some in sets}
    folder.mkdir(parents=True, exist_ok=True)
    for file, some in files.items():
        write(some, file)
    return list(files)


def refuse_to_overwrite(file: Path) -> Path:
    """The path, if nothing is there yet."""
    if file.exists():
        raise InputError(f"'{file}' is there already and would be lost. Name another place, or delete it first.")
    return file


def make(examples: Iterable[Example], output: str, question: str) -> SeedSet:
    """A seed set of the rationales of labelled rows: give training rows alone."""
    spelled: dict[str, str] = {}
    for seed, _ in _rationales(examples, output):
        spelled.setdefault(seed.casefold(), seed)
    if not spelled:
        raise InputError(f"None of the rows has a rationale for {output}: no seeds can be made of them.")
    return SeedSet(output, tuple(spelled.values()), question)


def own(seeds: SeedSet, examples: Sequence[Example]) -> dict[str, list[int]]:
    """For the group (post) of each row the places of the seeds that come from rows of that group alone.

    A row that is compared with these is compared with itself.
    """
    origins: dict[str, set[str]] = {}
    for seed, post in _rationales(examples, seeds.name):
        origins.setdefault(seed.casefold(), set()).add(post)
    places: dict[str, list[int]] = {}
    for place, seed in enumerate(seeds.seeds):
        if len(posts := origins.get(seed.casefold(), ())) == 1:
            places.setdefault(next(iter(posts)), []).append(place)
    return places


def _rationales(examples: Iterable[Example], output: str) -> Iterator[tuple[str, str]]:
    for example in examples:
        grade = example.turn.labels.get(output)
        for span in grade.rationales if isinstance(grade, Graded) else ():
            if seed := tidy(example.turn.content[span.start : span.end]):
                yield seed, group(example)


def prune(seeds: SeedSet, keep: int, wins: Mapping[str, int]) -> SeedSet:
    """The seeds that most often were the best match; among equals, those that stand first."""
    if keep < 1:
        raise InputError(f"Keep at least 1 seed, not {keep}.")
    ranked = sorted(seeds.seeds, key=lambda seed: -wins.get(seed, 0))
    return replace(seeds, seeds=tuple(ranked[:keep]))


def group(example: Example) -> str:
    """What an example must not share with the seeds that it is compared with: its post."""
    return example.dialogue.group or example.dialogue.id


def check_names(sets: Sequence[SeedSet], taken: Iterable[str]) -> None:
    """Refuse a seed set with the name of something else in the results."""
    for seeds in sets:
        if seeds.name in set(taken) or not re.fullmatch(r"\w[\w .-]*", seeds.name):
            raise InputError(
                f"A seed file cannot be called '{seeds.name}': the name is a key of the results, and this one is taken "
                f"or has strange characters. Taken: {', '.join(sorted(taken))}."
            )


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"There is no seed file '{file}'.") from None
    except IsADirectoryError:
        raise InputError(f"'{file}' is a folder: name a file in it.") from None
    except UnicodeDecodeError as error:
        line = file.read_bytes()[: error.start].count(b"\n") + 1
        raise InputError(f"{file.name}:{line}: not UTF-8. Save the file with the encoding UTF-8.") from None


def _number(text: str, place: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 <= value <= 1:
        raise InputError(f"{place}: the threshold '{text.strip()}' is no number between 0 and 1, such as {THRESHOLD}.")
    return value


def _inside(folder: Path) -> list[Path]:
    if not (files := sorted(folder.glob("*.txt"))):
        raise InputError(f"The folder '{folder}' holds no seed files (.txt).")
    return files
