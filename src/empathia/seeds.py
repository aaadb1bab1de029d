"""Seeds: sentences that show something. A seed set is a plain text file that a person can read and edit.

One seed a line; lines that begin with `#` are comments. The first comment is the question that the set answers, and
`# threshold: 0.75` says how like a seed a sentence must be. The file's name without its ending is the name of the set.
A line `[2]` begins seeds that show it strongly, `[1]` weakly, `[0]` sentences that do not show it: what a new one is told from.
"""

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from empathia.errors import InputError
from empathia.schema import Example, Graded
from empathia.segment import sentences

THRESHOLD = 0.7  # with eight seeds per kind of reply and the default encoder, 42 % of what it finds is right, and 55 % is found
_THRESHOLD = re.compile(r"#\s*threshold\s*:(.*)", re.IGNORECASE)
_LEVEL = re.compile(r"\[(\d)\]")
PLAIN = 1  # the level of seeds that stand under none


@dataclass(frozen=True)
class SeedSet:
    """The seeds of one phenomenon, the question that they answer, and how like one of them a sentence must be.

    `levels` says of each seed how strongly it shows the phenomenon; left empty, all do alike.
    """

    name: str
    seeds: tuple[str, ...]
    question: str = ""
    threshold: float = THRESHOLD
    levels: tuple[int, ...] = ()

    @property
    def graded(self) -> tuple[int, ...]:
        """The level of each seed."""
        return self.levels or (PLAIN,) * len(self.seeds)

    @property
    def shown(self) -> tuple[int, ...]:
        """The places of the seeds that show the phenomenon."""
        return tuple(place for place, level in enumerate(self.graded) if level)

    def plain(self) -> "SeedSet":
        """The seeds that show the phenomenon, without levels."""
        return replace(self, seeds=tuple(dict.fromkeys(self.seeds[place] for place in self.shown)), levels=())


def tidy(text: str) -> str:
    """A text as a seed: one line, one space between words, no `#` before it."""
    return " ".join(text.split()).lstrip("# ")


def read(file: Path) -> SeedSet:
    """The seed set of a text file."""
    question, threshold, seeds, number, level = "", THRESHOLD, dict[tuple[str, int], None](), 0, PLAIN
    for number, line in enumerate(_text(file).splitlines(), 1):
        if found := _THRESHOLD.fullmatch(line.strip()):
            threshold = _number(found[1], f"{file.name}:{number}")
        elif line.lstrip().startswith("#"):
            question = question or tidy(line)
        elif heading := _LEVEL.fullmatch(line.strip()):
            level = int(heading[1])
        elif tidy(line):
            seeds[tidy(line), level] = None
    if not any(level for _, level in seeds):
        told = f"only {number} lines of comments or white space" if number else "nothing"
        raise InputError(f"'{file}' holds {told}, no seeds: write one sentence a line; lines that begin with # are comments.")
    return _graded(file.stem, seeds, question, threshold)


def _graded(name: str, seeds: Iterable[tuple[str, int]], question: str, threshold: float = THRESHOLD) -> SeedSet:
    texts, levels = zip(*seeds, strict=True)
    return SeedSet(name, texts, question, threshold, () if set(levels) == {PLAIN} else levels)


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
        out.writelines(f"{line}\n" for line in (*head, *_lines(seeds)))


def _lines(seeds: SeedSet) -> Iterator[str]:
    for level in sorted(set(seeds.graded), reverse=True):
        if seeds.levels:
            yield f"[{level}]"
        yield from (tidy(seed) for seed, its in zip(seeds.seeds, seeds.graded, strict=True) if its == level)


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


def make_graded(examples: Iterable[Example], output: str, question: str, *, against: int = 2000) -> SeedSet:
    """A seed set of the sentences of labelled rows: those that people marked, by level, and some that they did not."""
    found = dict.fromkeys((seed, level) for seed, level, _ in _sentences(examples, output))
    if not any(level for _, level in found):
        raise InputError(f"None of the rows has a rationale for {output}: no seeds can be made of them.")
    others = [key for key in found if not key[1]]
    kept = set(random.Random(0).sample(others, min(against, len(others))))
    return _graded(output, [key for key in found if key[1] or key in kept], question)


def own(seeds: SeedSet, examples: Sequence[Example]) -> dict[str, list[int]]:
    """For the group (post) of each row the places of the seeds that come from rows of that group alone.

    A row that is compared with these is compared with itself.
    """
    origins: dict[str, set[str]] = {}
    marked = ((seed, post) for seed, _, post in _sentences(examples, seeds.name))
    for seed, post in chain(_rationales(examples, seeds.name), marked):
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


def _sentences(examples: Iterable[Example], output: str) -> Iterator[tuple[str, int, str]]:
    """Each sentence of the replies, the level that people marked at least half of it with, and the post."""
    for example in examples:
        grade = example.turn.labels.get(output)
        if not isinstance(grade, Graded):
            continue
        for span in sentences(example.turn.content):
            marked = sum(max(0, min(span.end, one.end) - max(span.start, one.start)) for one in grade.rationales)
            if seed := tidy(example.turn.content[span.start : span.end]):
                yield seed, grade.level if 2 * marked >= span.end - span.start else 0, group(example)


def prune(seeds: SeedSet, keep: int, wins: Mapping[str, int]) -> SeedSet:
    """The seeds that most often were the best match; among equals, those that stand first. What does not show it stays."""
    if keep < 1:
        raise InputError(f"Keep at least 1 seed, not {keep}.")
    ranked = sorted(seeds.shown, key=lambda place: -wins.get(seeds.seeds[place], 0))
    places = [*ranked[:keep], *(place for place, level in enumerate(seeds.graded) if not level)]
    levels = tuple(seeds.levels[place] for place in places) if seeds.levels else ()
    return replace(seeds, seeds=tuple(seeds.seeds[place] for place in places), levels=levels)


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
