"""report: a page of predictions, or of what was saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recsys_ndcg.cli.commands.compare import show_comparison
from recsys_ndcg.cli.commands.evaluate import show_report
from recsys_ndcg.cli.data import DataOptions, Scale, Written, files_of, saved_in
from recsys_ndcg.cli.options import (
    Choices,
    MetricOptions,
    Style,
    checked_form,
    plan_of,
)
from recsys_ndcg.cli.output import Html, check_apart, check_page, write_page
from recsys_ndcg.cli.process import told

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from recsys_ndcg.comparison import Comparison
    from recsys_ndcg.report import Report


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
    with told(quiet=style.quiet):
        form, files = checked_form(style.form), {**files_of(source), **scale.files}
        check_apart(files, {"--html": html})
        check_page(html)
        given = (scale, written, choices, measured)
        usual = given == (Scale(), Written(), Choices(), MetricOptions())
        found = saved_in(source, _kinds(), usual=usual, beside=", --html and --format")
        if found is None:
            plan = plan_of(choices, measured.names, measured.ks)
            found, _ = scale.measured(source, written, plan, quiet=style.quiet)
        if not write_page(html, found):
            _show(found, form, style)


def _kinds() -> dict[str, Callable[[Path], Report | Comparison]]:
    """Return what loads saved files, by what is saved in them."""
    from recsys_ndcg.comparison import Comparison
    from recsys_ndcg.report import Report

    return {"report": Report.load, "comparison": Comparison.load}


def _show(found: Report | Comparison, form: str, style: Style) -> None:
    from recsys_ndcg.report import Report

    if isinstance(found, Report):
        show_report(found, form, style)
        return
    segments = ["segments"] * (found.compared.groups is not None)
    kinds = ["leaderboard", *(() if form == "csv" else segments)]
    show_comparison(found, form, style, kinds)
