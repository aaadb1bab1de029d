"""Which labels go with which ratings: tables, JSON, or a picture with a dot and an interval each."""

from collections.abc import Iterator
from html import escape

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from empathia.findings import Related, Relation, Side
from empathia.report.palette import counted, title

ORIGINS = {
    "human": "human labels",
    "silver": "silver labels, made by a language model under guidelines",
    "ours": "our own answers, not what people said",
}
MARKS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
TESTS = {"mann-whitney": "Mann-Whitney test", "welch": "Welch's t test"}
HIGHER, LOWER, NEITHER = "#0d6e66", "#b53a08", "#5a6170"
WIDTH, STEP, TOP = 150, 22, 96
KEY = "Filled: with the label; hollow: without; coloured: p < 0.05 after correction."


def table(related: Related) -> Group:
    """The relations for the terminal: means with their standard errors, effect and corrected p; then the correlations."""
    stars = ", ".join(f"{mark} < {p}" for p, mark in MARKS)
    told = f"{TESTS[related.test]}; effect: {related.effect}; p after Holm's correction over all tests: {stars}"
    parts: list[RenderableType] = [*(Text(line) for line in _heading(related)), Text(told, "dim"), Text(), _relations(related)]
    if related.correlations:
        parts += [Text(), _correlations(related)]
    return Group(*parts)


def as_json(related: Related) -> str:
    """All as one JSON object."""
    return related.model_dump_json(indent=1)


def picture(related: Related) -> str:
    """An SVG picture: a panel per rating, a row per label, the means with (filled) and without it (hollow) and 95 % intervals."""
    labels = list(dict.fromkeys((one.output, one.label) for one in related.relations))
    ratings = list(dict.fromkeys(one.rating for one in related.relations))
    names = {label: _name(related, *label) for label in labels}
    rows = {label: TOP + STEP * row for row, label in enumerate(labels)}
    left = 30 + 7 * max(map(len, names.values()), default=0)
    height, width = TOP + STEP * len(labels) + 34, max(720, left + (WIDTH + 24) * len(ratings) + 10)
    origins = "; ".join(dict.fromkeys(ORIGINS[origin] for origin in related.origins.values()))
    lines = [
        f'<text x="10" y="28" font-size="17" font-weight="600">Ratings with and without each label: {escape(related.source)}</text>',
        f'<text x="10" y="49" fill="{NEITHER}">{escape(origins)}. {escape(KEY)}</text>',
    ]
    lines += [f'<text x="{left - 14}" y="{rows[label] + 4}" text-anchor="end">{escape(names[label])}</text>' for label in labels]
    for column, rating in enumerate(ratings):
        lines += _panel([one for one in related.relations if one.rating == rating], rows, left + (WIDTH + 24) * column)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">'
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="white"/>', *lines, "</svg>"]) + "\n"


def _heading(related: Related) -> list[str]:
    first = f"{related.source}: {counted(related.turns, 'labelled turn')} of {counted(related.dialogues, 'conversation')}"
    names: dict[str, list[str]] = {}
    for name, origin in related.origins.items():
        names.setdefault(origin, []).append(title(name))
    return [first, *(f"{ORIGINS[origin]}: {', '.join(some)}" for origin, some in names.items())]


def _relations(related: Related) -> Table:
    shown = Table("", "with it (n)", "without (n)", related.effect.split()[-1], "p", "", box=None, pad_edge=False)
    for column in shown.columns[1:5]:
        column.justify = "right"
    for rating, unit in dict.fromkeys((one.rating, one.unit) for one in related.relations):
        shown.add_row(Text.assemble((title(rating), "bold"), (" per dialogue" if unit == "dialogue" else " per turn", "dim")))
        for one in (one for one in related.relations if (one.rating, one.unit) == (rating, unit)):
            effect = "-" if one.effect is None else f"{one.effect:+.2f}"
            name = f"  {_name(related, one.output, one.label)}"
            shown.add_row(name, _side(one.shown), _side(one.absent), effect, _p(one.corrected), mark(one))
    return shown


def _correlations(related: Related) -> Table:
    target = title(related.correlations[0].rating)
    shown = Table("", "Spearman", "95 % interval", "n", box=None, pad_edge=False, title=f"Correlation with {target}", title_justify="left")
    for column in shown.columns[1:]:
        column.justify = "right"
    for one in sorted(related.correlations, key=lambda one: (one.label is not None, -(one.value or 0))):
        interval = "" if one.low is None or one.high is None else f"{one.low:+.2f} to {one.high:+.2f}"
        shown.add_row(_name(related, one.output, one.label), "-" if one.value is None else f"{one.value:+.2f}", interval, f"{one.rows:,}")
    return shown


def _name(related: Related, output: str, label: str | None) -> str:
    """The label, with its output before it where the labels are of several outputs."""
    if label is None:
        return f"{title(output)} (rating)"
    several = len({one.output for one in related.relations}) > 1 and label != output
    return f"{title(output)}: {title(label)}" if several else title(label)


def _side(one: Side) -> str:
    if one.mean is None:
        return f"- ({one.rows:,})"
    return f"{one.mean:.2f}{'' if one.error is None else f' ±{one.error:.2f}'} ({one.rows:,})"


def _p(value: float | None) -> str:
    return "-" if value is None else "< 0.001" if value < 0.001 else f"{value:.3f}"


def mark(one: Relation) -> str:
    """Stars for a difference that chance hardly makes, after correction."""
    return next((mark for limit, mark in MARKS if one.corrected is not None and one.corrected < limit), "")


def _panel(relations: list[Relation], rows: dict[tuple[str, str], int], left: int) -> Iterator[str]:
    ends = [end for one in relations for side in (one.shown, one.absent) if side.mean is not None for end in _interval(side)]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    scale = WIDTH / (high - low or 1)
    last = max(rows.values(), default=TOP)
    yield f'<text x="{left}" y="{TOP - 20}" font-weight="600">{escape(title(relations[0].rating))}</text>'
    yield f'<rect x="{left - 6}" y="{TOP - 12}" width="{WIDTH + 12}" height="{last - TOP + 24}" fill="#f6f5f1"/>'
    for one in relations:
        y, colour = rows[one.output, one.label], _colour(one)
        for side, move, fill in ((one.absent, 4, "white"), (one.shown, -3, colour)):
            if side.mean is not None:
                start, end = (left + scale * (end - low) for end in _interval(side))
                at = left + scale * (side.mean - low)
                yield f'<line x1="{start:.1f}" x2="{end:.1f}" y1="{y + move}" y2="{y + move}" stroke="{colour}" stroke-width="1.5"/>'
                yield (
                    f'<circle cx="{at:.1f}" cy="{y + move}" r="3.5" fill="{fill}" stroke="{colour}">'
                    f"<title>{escape(_side(side))}</title></circle>"
                )
    for end, anchor, x in ((low, "start", left), (high, "end", left + WIDTH)):
        yield f'<text x="{x}" y="{last + 28}" text-anchor="{anchor}" fill="{NEITHER}">{end:.1f}</text>'


def _interval(side: Side) -> tuple[float, float]:
    half = 1.96 * (side.error or 0)
    return (side.mean or 0) - half, (side.mean or 0) + half


def _colour(one: Relation) -> str:
    return (HIGHER if (one.effect or 0) > 0 else LOWER) if mark(one) else NEITHER
