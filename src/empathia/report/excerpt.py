"""The turns of a long conversation that are worth showing."""

from collections.abc import Iterator
from dataclasses import dataclass

from empathia.schema import Analysis, Dialogue, Turn, TurnAnalysis


@dataclass(frozen=True)
class Gap:
    """So many turns that are not shown."""

    turns: int


def excerpt(analysis: Analysis, limit: int) -> tuple[TurnAnalysis | Gap, ...]:
    """At most `limit` turns, in order: missed replies and what they answer first, then given ones, then the beginning."""
    turns = analysis.turns
    chosen = set(range(len(turns)))
    if len(turns) > limit:
        chosen = set()
        for index in _by_interest(analysis):
            if len(chosen) == limit:
                break
            chosen.add(index)
    shown: list[TurnAnalysis | Gap] = []
    before = -1
    for index in (*sorted(chosen), len(turns)):
        if index - before > 1:
            shown.append(Gap(index - before - 1))
        if index < len(turns):
            shown.append(turns[index])
        before = index
    return tuple(shown)


def _by_interest(analysis: Analysis) -> Iterator[int]:
    dialogue = Dialogue(id=analysis.id, turns=tuple(Turn(role=turn.role, content=turn.content) for turn in analysis.turns))
    for outcome in ("missed", "given"):
        for index, turn in enumerate(analysis.turns):
            if turn.outcome == outcome:
                yield index
                yield from reversed(dialogue.answered(index))
    yield from range(len(analysis.turns))
