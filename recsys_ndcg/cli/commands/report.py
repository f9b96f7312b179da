"""report: a page of predictions, or of what was saved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from recsys_ndcg.cli import options
from recsys_ndcg.cli.commands.compare import show_comparison
from recsys_ndcg.cli.commands.evaluate import show_report
from recsys_ndcg.cli.entries import check_there
from recsys_ndcg.cli.output import Files, Html, check_apart, check_page, write_page
from recsys_ndcg.cli.parameters import (
    METRIC_NAMES,
    Choices,
    Cutoffs,
    Source,
    Style,
    Written,
    checked_form,
    plan_of,
)
from recsys_ndcg.cli.process import told
from recsys_ndcg.cli.scale import Scale
from recsys_ndcg.cli.source import files_of
from recsys_ndcg.errors import InvalidInputError

if TYPE_CHECKING:
    from recsys_ndcg.comparison.comparison import Comparison
    from recsys_ndcg.report.report import Report


def report(  # noqa: PLR0913 - one parameter per option
    *,
    source: Source,
    scale: Scale,
    written: Written,
    k: Cutoffs = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(help="Such as ndcg,precision@5,rr.", autocompletion=METRIC_NAMES),
    ] = None,
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
        names = options.names_of(metrics) if metrics else None
        usual = (scale, written, choices, k, names) == (Scale(), Written(), Choices(), None, None)
        found = _saved(source, usual=usual)
        if found is None:
            plan = plan_of(choices, names, options.cutoffs(k or ["10"]))
            found, _ = scale.measured(source, written, plan, Files(), quiet=style.quiet)
        if not write_page(html, found):
            _show(found, form, style)


def _show(found: Report | Comparison, form: str, style: Style) -> None:
    from recsys_ndcg.comparison.document import LEADERBOARD, SEGMENTS
    from recsys_ndcg.report.report import Report

    if isinstance(found, Report):
        show_report(found, form, style)
        return
    segments = [SEGMENTS] * (found.field.groups is not None)
    kinds = [LEADERBOARD, *(() if form == "csv" else segments)]
    show_comparison(found, form, style, kinds)


def _saved(source: Source, *, usual: bool) -> Report | Comparison | None:
    """Return what was saved, if it is that.

    Raises
    ------
    InvalidInputError
        There is no such file, or options come too late to change what is in it.
    """
    from recsys_ndcg.comparison.comparison import Comparison
    from recsys_ndcg.report.report import Report
    from recsys_ndcg.report.saved_files import is_saved

    given = files_of(source)
    for path in given.values():
        check_there(path)
    if source.file is None:
        return None
    kinds: dict[str, type[Report | Comparison]] = {"report": Report, "comparison": Comparison}
    for kind, one in kinds.items():
        if is_saved(source.file, kind):
            if not usual or len(given) > 1:
                msg = (
                    f"{source.file} is a saved {kind}, in which all is measured: give it, --html "
                    "and --format alone."
                )
                raise InvalidInputError(msg)
            return one.load(source.file)
    return None
