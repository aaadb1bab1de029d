"""What a head is given at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from empathia.models._numbers import Floats


@dataclass(frozen=True)
class Unit:
    """The arrays that a head reads at once, each (rows, width), and what they are about."""

    arrays: Mapping[str, Floats]
    about: Any = None
