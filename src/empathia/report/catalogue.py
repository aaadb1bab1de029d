"""Tables of corpora: what there is, and what a folder holds."""

from collections.abc import Iterable, Mapping

from rich.table import Table

from empathia.schema import Card, Checked


def known(cards: Mapping[str, Card]) -> Table:
    """All corpora and formats: for which tasks, under which licence, from where."""
    shown = Table("name", "what", "tasks", "licence", "where to get it", box=None, padding=(0, 2, 0, 0))
    for name, card in sorted(cards.items(), key=lambda pair: (pair[1].kind, pair[0])):
        what = f"{card.title} (silver labels)" if card.silver else card.title
        shown.add_row(name, what, ", ".join(card.tasks), card.licence, card.source)
    return shown


def checked(found: Iterable[Checked]) -> Table:
    """What was found, file by file, beside the published count; below a file, what was skipped or noted and why."""
    shown = Table("corpus", "file", "found", "published", "", box=None, padding=(0, 2, 0, 0))
    for column in shown.columns[2:4]:
        column.justify = "right"
    for one in found:
        told = (
            "not here"
            if one.missing
            else "complete"
            if one.found >= one.expected
            else f"{one.found / one.expected:.0%} of the published count"
        )
        shown.add_row(one.corpus, one.file, f"{one.found:,}", f"{one.expected:,}", told)
        for what, reasons in (("skipped", one.skipped), ("noted", one.notes)):
            for reason, count in reasons.items():
                shown.add_row("", "", f"{count:,}", "", f"{what}: {reason}")
    return shown
