"""What people marked in replies, and how well sentences that are like a seed agree with it."""

from collections.abc import Sequence

from empathia import metrics
from empathia.schema import Example, Graded, ScoredSpan

GRID = tuple(round(0.1 + 0.02 * i, 2) for i in range(44))  # thresholds that are tried
Shown = Sequence[Sequence[ScoredSpan]]  # for each row the sentences that may be rationales


def grade(example: Example, output: str) -> Graded:
    """What people said of a row."""
    found = example.turn.labels[output]
    assert isinstance(found, Graded)
    return found


def gold(rows: Sequence[Example], output: str) -> list[metrics.Marks]:
    """The words that people marked."""
    return [metrics.marks(row.turn.content, grade(row, output).rationales) for row in rows]


def iou(rows: Sequence[Example], output: str, shown: Shown, theta: float, variant: metrics.Variant) -> float:
    """The IOU-F1 of the sentences that are at least so like a seed."""
    said = [metrics.marks(row.turn.content, [s for s in spans if s.score >= theta]) for row, spans in zip(rows, shown, strict=True)]
    return metrics.iou_f1(gold(rows, output), said, variant=variant)


def threshold(rows: Sequence[Example], output: str, shown: Shown, variant: metrics.Variant) -> float | None:
    """How like a seed a sentence must be to be a rationale, by IOU-F1; nothing where people marked nothing."""
    if not any(grade(row, output).rationales for row in rows):
        return None
    return max(GRID, key=lambda theta: iou(rows, output, shown, theta, variant))


def trivial(rows: Sequence[Example], output: str, variants: Sequence[metrics.Variant]) -> dict[str, dict[str, float]]:
    """What marking nothing and marking everything reach."""
    wanted = gold(rows, output)
    guesses = {"mark nothing": metrics.mark_nothing(wanted), "mark everything": metrics.mark_everything(wanted)}
    return {name: {kind: metrics.iou_f1(wanted, said, variant=kind) for kind in variants} for name, said in guesses.items()}
