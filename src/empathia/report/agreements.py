"""How far annotators agree: a table, or JSON."""

from rich.console import Group
from rich.table import Table
from rich.text import Text

from empathia.findings import Agreed, Agreement, Estimate
from empathia.report.palette import counted, title

COLUMNS = {"agreement": "%", "kappa": "kappa", "alpha": "alpha", "token_f1": "token F1 %"}
PERCENT = ("agreement", "token_f1")


def table(agreed: Agreed) -> Group:
    """The agreements for the terminal, each figure with its 95 % interval, and what could not be compared."""
    used = [name for name in COLUMNS if any(name in one.figures for one in agreed.agreements)]
    shown = Table("", "items", *(COLUMNS[name] for name in used), box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for column in shown.columns[1:]:
        column.justify = "right"
    for one in agreed.agreements:
        shown.add_row(_name(one), f"{one.rows:,}", *(_figure(name, one.figures.get(name)) for name in used))
    told = f"{' · '.join(agreed.annotators)}: {counted(agreed.matched, 'item')} that two or more labelled"
    return Group(Text(told), *_unmatched(agreed), Text(), shown, Text("in brackets: 95 % interval, bootstrap over dialogues", "dim"))


def as_json(agreed: Agreed) -> str:
    """All as one JSON object."""
    return agreed.model_dump_json(indent=1)


def _unmatched(agreed: Agreed) -> list[Text]:
    return [
        Text(f"{who}: {counted(count, 'item')} not compared: {reason}", "dim")
        for who, reasons in agreed.unmatched.items()
        for reason, count in reasons.items()
    ]


def _name(one: Agreement) -> Text:
    return Text(title(one.output), "bold") if one.label is None else Text(f"  {title(one.label)}")


def _figure(name: str, found: Estimate | None) -> str:
    if found is None or found.value is None:
        return "" if found is None else "-"
    scale, digits = (100, 0) if name in PERCENT else (1, 2)
    value = f"{scale * found.value:.{digits}f}"
    if found.low is None or found.high is None:
        return value
    low, high = (f"{scale * end:.{digits}f}".replace("0.", ".") for end in (found.low, found.high))
    return f"{value} [{low} {high}]"
