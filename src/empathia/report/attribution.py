"""Words that speak for a label, drawn as highlights: the darker, the more a word adds."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from empathia.findings import Attribution
from empathia.report.highlight import visible

SHADES = ("", "underline", "bold underline", "bold reverse")  # from a quarter of the strongest word on
LEAST = 0.02  # words that move the score by less are not drawn


def drawn(found: Sequence[Attribution], *, labels: int = 3) -> Group:
    """The likeliest labels of each explanation, each with the text and the words that speak for it."""
    return Group(*(line for one in found for line in _one(one, labels)))


def _one(found: Attribution, labels: int) -> Iterator[RenderableType]:
    yield Text(f"{found.output}, {found.method}: how much a word adds to the score of a label", "dim")
    for label in sorted(found.scores, key=found.scores.__getitem__, reverse=True)[:labels]:
        agrees = f"  rank correlation with occlusion {found.agreement[label]:.2f}" if label in found.agreement else ""
        yield Text.assemble(
            (f"{label} {found.scores[label]:.2f}  ", "bold"), _highlighted(found.words, found.weights[label]), (agrees, "dim")
        )


def shades(found: Attribution, label: str) -> list[tuple[str, float, float]]:
    """Each word with what it adds to the score of a label, and that beside the strongest word (-1 to 1)."""
    weights = found.weights[label]
    strongest = max(max(map(abs, weights), default=0), LEAST)
    return [(word, weight, weight / strongest) for word, weight in zip(found.words, weights, strict=True)]


def _highlighted(words: Sequence[str], weights: Sequence[float]) -> Text:
    strongest = max(max(weights, default=0), LEAST)
    text = Text()
    for word, weight in zip(words, weights, strict=True):
        told = f"{weight:+.2f}" if abs(weight) >= LEAST else ""
        shade = SHADES[min(3, int(4 * weight / strongest))] if weight > 0 else ""
        text.append(visible(word), shade)
        text.append(f"({told}) " if told else " ", "dim")
    return text
