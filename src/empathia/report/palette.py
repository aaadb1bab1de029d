"""How things look and are called in every report: a colour, a short code and a title per name."""

import itertools
from collections.abc import Iterable, Sequence

# A hue is a name that each kind of report turns into its own colours: a style here, a CSS class in the page.
TERMINAL = {
    "teal": "green",
    "orange": "red",
    "ochre": "yellow",
    "slate": "bright_black",
    "rose": "magenta",
    "violet": "bright_blue",
    "sky": "cyan",
    "indigo": "blue",
}
KNOWN = {
    "given": "teal",
    "missed": "orange",
    "not_needed": "slate",
    "seek": "ochre",
    "provide": "teal",
    "none": "slate",
    "emotional_reactions": "rose",
    "interpretations": "violet",
    "explorations": "sky",
}
CODES = {"emotional_reactions": "ER", "interpretations": "IP", "explorations": "EX"}


def hues(names: Sequence[str]) -> dict[str, str]:
    """A hue for each name: its own where it has one, else the next that no other of them uses."""
    own = {name: KNOWN[name] for name in names if name in KNOWN}
    free = [hue for hue in TERMINAL if hue not in own.values() and hue != "slate"] or list(TERMINAL)
    others = zip((name for name in names if name not in own), itertools.cycle(free), strict=False)
    return {**own, **dict(others)}


def codes(names: Iterable[str]) -> dict[str, str]:
    """A short code for each name, no two alike."""
    found: dict[str, str] = {}
    for name in names:
        words = name.upper().split("_")
        initials = "".join(word[:1] for word in words) if len(words) > 1 else name[:2].upper()
        candidates = itertools.chain((CODES.get(name, initials),), (f"{initials}{i}" for i in itertools.count(2)))
        found[name] = next(code for code in candidates if code not in found.values())
    return found


def title(name: str) -> str:
    """A name as a person writes it."""
    return name.replace("_", " ")


def counted(count: int, one: str, many: str = "") -> str:
    """A number with its noun."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"
