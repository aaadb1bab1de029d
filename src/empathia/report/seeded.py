"""Seeds for people: which there are, what they find, how many are needed."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

from rich.console import Group
from rich.table import Table
from rich.text import Text

from empathia.findings import Curve, Hit
from empathia.report.highlight import visible
from empathia.report.palette import counted, title
from empathia.seeds import SeedSet

CELLS = 30
MOST = 1000  # hits that are kept for the table
WIDTH, HEIGHT, LEFT, TOP = 420, 220, 50, 40  # of a panel of the picture
LOOK = {"micromodels": ("#0d6e66", "all replies"), "positives-only": ("#b53a08", "replies with a rationale")}


def written(files: Sequence[Path]) -> str:
    """What was written where."""
    return "\n".join(f"{file}: {counted(sum(not line.startswith('#') for line in file.open(encoding='utf-8')), 'seed')}" for file in files)


def listed(sets: Iterable[SeedSet], uses: Mapping[str, Mapping[str, int]]) -> Group:
    """The seeds of each set; where their uses are known, the most used first."""
    return Group(*(part for some in sets for part in _set(some, uses.get(some.name))))


def _set(seeds: SeedSet, uses: Mapping[str, int] | None) -> tuple[Text, Table]:
    told = f"  {counted(len(seeds.seeds), 'seed')}, threshold {seeds.threshold:g}  {seeds.question}"
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for seed in sorted(seeds.seeds, key=lambda seed: -(uses or {}).get(seed, 0)):
        table.add_row(*([str(uses.get(seed, 0))] if uses is not None else []), Text(visible(seed)))
    return Text.assemble((title(seeds.name), "bold"), (told, "dim")), table


def found(hits: Iterable[Hit], *, most: int = 50) -> Table | str:
    """The sentences that are most like a seed."""
    some = sorted(itertools.islice(hits, MOST), key=lambda hit: -hit.score)
    if not some:
        return "No sentence is like a seed. A lower threshold (`# threshold: 0.6` in the file) finds more."
    table = Table("where", "set", "likeness", "sentence", "seed", box=None, header_style="dim")
    for hit in some[:most]:
        table.add_row(
            visible(hit.place), title(hit.name), f"{hit.score:.2f}", Text(visible(hit.sentence)), Text(visible(hit.seed), "italic")
        )
    if len(some) > most:
        table.caption = f"{len(some) - most:,} more" + (f", and those after the first {MOST:,}" if len(some) == MOST else "")
    return table


def curves(found: Iterable[Curve]) -> Group:
    """For the terminal: IOU-F1 in percent against the number of seeds, with bars."""
    return Group(*(part for one in found for part in (Text(title(one.name), "bold"), _curve(one))))


def _curve(found: Curve) -> Table:
    variants = list(found.points[0].scores)
    table = Table("seeds", *itertools.chain.from_iterable((LOOK[name][1], "") for name in variants), box=None, header_style="dim")
    rows = {str(point.seeds): point.scores for point in found.points} | dict(found.trivial)
    for name, scores in rows.items():
        bars = (cell for variant in variants for cell in (f"{100 * scores[variant]:.1f}", "█" * round(CELLS * scores[variant])))
        table.add_row(name, *bars, style="dim" if name in found.trivial else "")
    return table


def picture(found: Sequence[Curve]) -> str:
    """The same as an SVG picture, a panel per set; thin lines are the best trivial answer."""
    panels = "".join(_panel(one, i * (WIDTH + LEFT + 20)) for i, one in enumerate(found))
    legend = "".join(
        f'<text x="{LEFT + 190 * i}" y="{TOP + HEIGHT + 45}" fill="{colour}">{escape(told)}</text>'
        for i, (colour, told) in enumerate(LOOK.values())
    )
    size = f"0 0 {len(found) * (WIDTH + LEFT + 20)} {TOP + HEIGHT + 60}"
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" font-family="sans-serif" font-size="13">{panels}{legend}</svg>\n'


def _panel(curve: Curve, left: int) -> str:
    last = max(1, len(curve.points) - 1)
    across = [LEFT + WIDTH * i / last for i in range(len(curve.points))]
    parts = [f'<text x="{LEFT}" y="20" font-size="15" font-weight="600">{escape(title(curve.name))}: IOU-F1 by number of seeds</text>']
    for share in (0, 25, 50, 75, 100):
        parts.append(f'<text x="{LEFT - 8}" y="{_y(share / 100) + 4:.1f}" text-anchor="end">{share}</text>')
        parts.append(f'<line x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{_y(share / 100):.1f}" y2="{_y(share / 100):.1f}" stroke="#e3e0d8"/>')
    for x, point in zip(across, curve.points, strict=True):
        parts.append(f'<text x="{x:.1f}" y="{TOP + HEIGHT + 20}" text-anchor="middle">{point.seeds}</text>')
    for variant, (colour, _) in LOOK.items():
        line = " ".join(f"{x:.1f},{_y(point.scores[variant]):.1f}" for x, point in zip(across, curve.points, strict=True))
        trivial = _y(max(scores[variant] for scores in curve.trivial.values()))
        parts.append(
            f'<line x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{trivial:.1f}" y2="{trivial:.1f}" stroke="{colour}" stroke-dasharray="3 4"/>'
        )
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
    return f'<g transform="translate({left} 0)">{"".join(parts)}</g>'


def _y(share: float) -> float:
    return TOP + HEIGHT * (1 - share)
