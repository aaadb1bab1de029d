"""Scores as a table or as JSON: each figure with its interval and the trivial baselines."""

import json
from collections.abc import Iterable

from rich.table import Table

from empathia.findings import Score

AS_THEY_ARE = ("quadratic_kappa", "spearman")  # everything else is shown in percent


def table(scores: Iterable[Score], *, title: str = "") -> Table:
    """The scores for the terminal, in percent where they are shares."""
    shown = Table("output", "metric", "score", "95 % interval", "trivial", "rows", title=title or None, box=None, title_justify="left")
    for column in shown.columns[2:]:
        column.justify = "right"
    for score in scores:
        interval = "" if score.low is None or score.high is None else f"{_figure(score, score.low)} to {_figure(score, score.high)}"
        trivial = ", ".join(f"{name} {_figure(score, value)}" for name, value in score.baselines.items())
        name = f"{score.output} (silver)" if score.silver else score.output
        shown.add_row(name, score.metric, _figure(score, score.value), interval, trivial, _rows(score))
    return shown


def _rows(score: Score) -> str:
    asked = score.rows + score.unanswered
    return f"{score.rows:,} of {asked:,}" if score.unanswered else f"{asked:,}"


def as_json(scores: Iterable[Score]) -> str:
    """The scores as a JSON list."""
    return json.dumps([score.model_dump() for score in scores], indent=1)


def _figure(score: Score, value: float) -> str:
    return f"{value:.3f}" if score.metric in AS_THEY_ARE else f"{100 * value:.1f}"
