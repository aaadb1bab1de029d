"""Tables of corpora: what there is, and what a folder holds."""

from collections.abc import Iterable, Mapping

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from empathia.schema import Card, Checked


def known(cards: Mapping[str, Card]) -> Table:
    """All corpora and formats: for which tasks, under which licence, from where."""
    shown = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    shown.add_column(no_wrap=True, style="bold")
    shown.add_column()
    for name, card in sorted(cards.items(), key=lambda pair: (pair[1].kind, pair[0])):
        silver = " Silver labels." if card.silver else ""
        if card.kind == "format":
            shown.add_row(name, Text(f"format: {card.title}"))
        else:
            tasks = f"for {', '.join(card.tasks)}; " if card.tasks else ""
            told = f"\n{tasks}licence: {card.licence}; from {card.source}.{silver}"
            shown.add_row(name, Text.assemble(card.title, (told, "dim")))
    return shown


def checked(found: Iterable[Checked]) -> Group:
    """What was found, file by file, beside the published count; below a file, what was skipped or noted and why."""
    lines: list[RenderableType] = []
    for one in found:
        count = (
            Text("not here", "dim")
            if one.missing
            else Text(f"{one.found:>9,} of {one.expected:,}", "" if one.found >= one.expected else "yellow")
        )
        lines.append(Text.assemble((f"{one.corpus:<21} ", "bold"), f"{one.file:<31} ", count))
        for what, reasons in (("skipped", one.skipped), ("noted", one.notes)):
            lines += [Padding(Text(f"{number:,} {what}: {reason}", "dim"), (0, 0, 0, 4)) for reason, number in reasons.items()]
    return Group(*lines)
