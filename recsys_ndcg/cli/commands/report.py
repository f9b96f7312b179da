"""report: a page of predictions, or of what was saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recsys_ndcg.cli.commands.compare import show_comparison
from recsys_ndcg.cli.commands.evaluate import show_report
from recsys_ndcg.cli.options import Choices, MetricOptions, Style, plan_of
from recsys_ndcg.cli.output import Html, check_apart, check_page, write_page
from recsys_ndcg.cli.reading import DataOptions, Scale, Written, evaluate_files, saved_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def report(  # noqa: PLR0913 - one parameter per option
    *,
    source: DataOptions,
    scale: Scale,
    written: Written,
    measured: MetricOptions,
    choices: Choices,
    html: Html = None,
    style: Style,
) -> None:
    """Show a report, or write it as a page.

    FILE is a saved report or comparison, or predictions, which are measured.
    """
    from recsys_ndcg.comparison import Comparison
    from recsys_ndcg.report import Report

    files = {**source.files, **scale.files}
    check_apart(files, {"--html": html})
    check_page(html)
    kinds: dict[str, Callable[[Path], Report | Comparison]] = {
        "report": Report.load,
        "comparison": Comparison.load,
    }
    late = (scale, written, choices, measured)
    found = saved_in(source, kinds, *late, beside=", --html and --format")
    if found is None:
        plan = plan_of(choices, measured.names, measured.ks)
        found = evaluate_files(source, written, plan, scale, progress=not style.quiet)
    if write_page(html, found):
        return
    if isinstance(found, Report):
        show_report(found, style)
        return
    segments = found.groups is not None and style.form != "csv"
    show_comparison(found, style, ["leaderboard", *(["segments"] * segments)])
