"""The rows of a training: whether they can teach anything, how they are split, and in which batches they come."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from empathia.errors import InputError
from empathia.evaluation import Split, split_alike
from empathia.models._labels import labels_of, level_of, rating_of
from empathia.schema import Example
from empathia.task import Choice, Choices, Flag, Level, Output, Rating, Task


def checked(task: Task, examples: list[Example]) -> list[Example]:
    """The examples, if they can teach anything: at least two labels, levels or ratings per output, each one that the task knows."""
    for name, output in task.outputs.items():
        if not (known := _known(output)):
            continue
        seen = {label: e.dialogue.id for e in examples if name in e.turn.labels for label in _labels(output, e, name)}
        for label in seen.keys() - known:
            raise InputError(f"Row {seen[label]}: '{label}' is no {name}. Known: {', '.join(sorted(known))}.")
        if len(seen) < 2:
            raise InputError(f"The rows of {', '.join(task.corpora)} hold {len(seen)} label(s) for {name}: a model needs at least 2.")
    return examples


def split_rows(task: Task, examples: list[Example], seed: int) -> Split:
    """The examples, checked and split by group; an error where a part would be empty."""
    rows = split_alike(checked(task, examples), seed=seed)
    if not (rows.train and rows.valid and rows.test):
        raise InputError(f"The {len(examples)} rows for {task.name} are too few to split by group: give at least 10 posts or dialogues.")
    return rows


def _known(output: Output) -> set[str]:
    match output:
        case Choice():
            return set(output.labels)
        case Choices():
            return {*output.labels, output.none}
        case Level():
            return {str(level) for level in range(len(output.levels))}
        case Rating():
            return {str(step) for step in range(output.low, output.high + 1)}
        case Flag():
            return {str(False), str(True)}
    return set()


def _labels(output: Output, example: Example, name: str) -> tuple[str, ...]:
    match output:
        case Level():
            return (str(level_of(example, name)),)
        case Rating():
            return (str(rating_of(example, name)),)
        case Choices():
            return labels_of(example, name) or (output.none,)
    return (str(example.turn.labels[name]),)


def drawn(examples: Sequence[Example], most: int | None, dice: random.Random, *, least: int = 0) -> Sequence[Example]:
    """At least `most` of the examples, if there are as many: those of dialogues drawn by chance. Few come more than once."""
    if most is None or len(examples) <= most:
        return [*examples] * (least // len(examples)) + dice.sample(examples, least % len(examples)) if least > len(examples) else examples
    found: list[Example] = []
    for some in _shuffled(examples, dice):
        found += some
        if len(found) >= most:
            break
    return found


def _shuffled(examples: Sequence[Example], dice: random.Random) -> list[list[Example]]:
    """The examples of each dialogue, the dialogues in an order of chance; those that come again stand apart."""
    apart: dict[tuple[str, int], list[Example]] = {}
    times = Counter[tuple[str, int]]()
    for example in examples:
        times[example.dialogue.id, example.index] += 1
        apart.setdefault((example.dialogue.id, times[example.dialogue.id, example.index]), []).append(example)
    order = list(apart.values())
    dice.shuffle(order)
    return order


def batches(examples: Sequence[Example], count: int, dice: random.Random) -> Iterator[list[Example]]:
    """`count` batches that hold every example once, those of like length together to save padding."""
    rows = list(examples)
    dice.shuffle(rows)
    size = len(rows) / count
    cuts = [round(i * size) for i in range(count + 1)]
    near = 8  # batches among which rows are sorted by length
    for at in range(0, count, near):
        rows[cuts[at] : cuts[min(at + near, count)]] = sorted(
            rows[cuts[at] : cuts[min(at + near, count)]], key=lambda e: len(e.turn.content)
        )
    made = [rows[low:high] or rows[-1:] for low, high in pairwise(cuts)]
    dice.shuffle(made)
    return iter(made)


def by_dialogue(examples: Sequence[Example], count: int, dice: random.Random) -> Iterator[list[Example]]:
    """`count` batches that hold every example once, those of one dialogue together, so that what they share is read once."""
    rows = [example for some in _shuffled(examples, dice) for example in some]
    cuts = [round(i * len(rows) / count) for i in range(count + 1)]
    return iter([rows[low:high] or rows[-1:] for low, high in pairwise(cuts)])
