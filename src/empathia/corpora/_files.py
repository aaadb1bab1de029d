"""The files of a corpus, one after the other, and their items turned into records."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from empathia.corpora._text import Item
from empathia.errors import InputError
from empathia.schema import Dialogue, Inference, Problem, SystemReply

T = TypeVar("T")
Found = Dialogue | Inference | SystemReply | Problem


def each_file(path: Path, names: Iterable[str], read: Callable[[Path], Iterator[Found]]) -> Iterator[Found]:
    """What `read` finds in one file, or in those of the files that a folder holds; ids that come again are numbered."""
    names = tuple(names)
    if not path.is_dir():
        path, names = path.parent, (path.name,)
    if not any((path / name).is_file() for name in names):
        raise InputError(f"Nothing to read in '{path}': it should hold {', '.join(names)}.")
    seen: Counter[str] = Counter()
    for name in names:
        if not (path / name).is_file():
            yield Problem(place=name, reason="the file is not in the folder", kind="note")
            continue
        for found in read(path / name):
            if isinstance(found, Dialogue):
                seen[found.id] += 1
                if (times := seen[found.id]) > 1:
                    yield Problem(place=f"{name} {found.id}", reason="the id came before: this record's is numbered", kind="note")
                    found = found.model_copy(update={"id": f"{found.id}#{times}"})
            yield found


def each(items: Iterable[Item[T] | Problem], build: Callable[[Item[T]], Iterable[Found]]) -> Iterator[Found]:
    """What `build` makes of each item; one that is not in the layout of the corpus is a problem, and the others go on."""
    for item in items:
        if isinstance(item, Problem):
            yield item
            continue
        try:
            found = tuple(build(item))
        except InputError as error:
            found = (Problem(place=item.place, reason=str(error)),)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            found = (Problem(place=item.place, reason=f"not in the layout of this corpus ({type(error).__name__})"),)
        yield from found
