"""What annotators said of a turn, in the terms of the answers."""

from typing import Any

from empathia.schema import Example, Graded


def labels_of(example: Example, name: str) -> tuple[str, ...]:
    """The labels of a turn that may have any number."""
    found: Any = example.turn.labels[name]
    return tuple(found) if isinstance(found, tuple) else (str(found),)


def level_of(example: Example, name: str) -> int:
    """The level of a turn."""
    found: Any = example.turn.labels[name]
    return int(found.level if isinstance(found, Graded) else found)


def quotes_of(example: Example, name: str) -> list[str]:
    """The words of a turn that show its level."""
    found = example.turn.labels[name]
    return [example.turn.content[span.start : span.end] for span in found.rationales] if isinstance(found, Graded) else []


def rating_of(example: Example, name: str) -> int:
    """The rating of a turn, as the nearest whole number."""
    found: Any = example.turn.labels[name]
    return int(found + 0.5)
