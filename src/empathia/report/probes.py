"""What the probes of context found: a table with bars, JSON, or a picture."""

import json
from collections.abc import Iterable, Sequence
from html import escape

from rich.table import Table

from empathia.findings import Finding
from empathia.report.palette import title

CELLS = 20
MEANING = {
    "contrast": "the same response is rated higher after a fitting than after a clashing context (higher is better)",
    "stock": "neutral exchanges called empathic once a stock sentence stands in the response (lower is better)",
    "swap": "replies rated higher after their own post than after another one (higher is better)",
}


def table(findings: Iterable[Finding]) -> Table:
    """The findings for the terminal, in percent."""
    shown = Table("probe", "part", "", "%", "beside", "items", box=None, title="Does the model heed the context?", title_justify="left")
    shown.columns[3].justify = shown.columns[5].justify = "right"
    for found in findings:
        beside = ", ".join(f"{name} {100 * value:.1f}" for name, value in found.beside.items())
        bar = "█" * round(CELLS * found.value)
        shown.add_row(f"{found.probe} {found.measure}", _part(found), bar, f"{100 * found.value:.1f}", beside, f"{found.rows:,}")
    return shown


def as_json(findings: Iterable[Finding]) -> str:
    """The findings as a JSON list."""
    return json.dumps([found.model_dump() for found in findings], indent=1)


def picture(findings: Sequence[Finding]) -> str:
    """The findings as an SVG picture: a bar each, and a tick for what stands beside it."""
    left, width, step, lines = (
        260,
        420,
        26,
        [f'<text x="10" y="28" font-size="17" font-weight="600">{"Does the model heed the context?"}</text>'],
    )
    y = 44
    for probe in dict.fromkeys(found.probe for found in findings):
        y += 26
        lines.append(f'<text x="10" y="{y}" fill="#5a6170">{escape(MEANING.get(probe, probe))}</text>')
        for found in (one for one in findings if one.probe == probe):
            y += step
            lines.append(f'<text x="10" y="{y}">{escape(_part(found))}</text>')
            lines.append(f'<rect x="{left}" y="{y - 13}" width="{width}" height="16" fill="#f1f0eb"/>')
            colour = "#b53a08" if probe == "stock" else "#0d6e66"
            lines.append(f'<rect x="{left}" y="{y - 13}" width="{width * found.value:.1f}" height="16" fill="{colour}"/>')
            for name, value in found.beside.items():
                at = left + width * value
                lines.append(
                    f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{y - 16}" y2="{y + 6}" stroke="#23272f"><title>{escape(name)}</title></line>'
                )
            lines.append(f'<text x="{left + width + 10}" y="{y}">{100 * found.value:.1f} %</text>')
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 80} {y + 24}" font-family="sans-serif" font-size="13">'
    return "\n".join([head, *lines, "</svg>"]) + "\n"


def _part(found: Finding) -> str:
    return title(found.part) + (f" · {title(found.output)}" if found.output else "")
