"""leaderboard: the users whose lists are ranked best, or worst; or the models of runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recsys_ndcg.cli.commands.experiment import show_runs
from recsys_ndcg.cli.entries import check_there
from recsys_ndcg.cli.gates import metric_of
from recsys_ndcg.cli.output import show_document
from recsys_ndcg.cli.parameters import (
    METRIC_NAMES,
    Choices,
    Source,
    Style,
    Written,
    beginning,
    checked_form,
    plan_of,
)
from recsys_ndcg.cli.process import told
from recsys_ndcg.cli.source import files_of, lists_of
from recsys_ndcg.errors import InvalidInputError, nearest
from recsys_ndcg.errors.visible import escape_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recsys_ndcg.report.report import Report


def _orders() -> Iterable[str]:
    from recsys_ndcg.report.leaderboard import BY

    return BY


def leaderboard(  # noqa: PLR0913 - one parameter per option
    *,
    source: Source,
    more: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RUNS", help="More folders of experiments.", show_default=False),
    ] = None,
    written: Written,
    metric: Annotated[
        str | None,
        typer.Option(
            help="Such as precision@5.  [default: ndcg@10, or the first of a saved report]",
            autocompletion=METRIC_NAMES,
        ),
    ] = None,
    sort: Annotated[
        str,
        typer.Option(
            help="score; adjusted: how far from chance to the best order of the list; z: how "
            "surely that is no chance.",
            autocompletion=beginning(_orders),
        ),
    ] = "score",
    n: Annotated[int, typer.Option("-n", help="How many users.")] = 20,
    ascending: Annotated[bool, typer.Option("--ascending", help="The worst first.")] = False,
    choices: Choices,
    style: Style,
) -> None:
    """Show the users whose lists are ranked best.

    FILE may be a saved report, too. Users for whom every order is the same are left out. Of
    folders of experiments, runs/today runs/monday, it is the models that are shown.
    """
    from recsys_ndcg.report.document import leaderboard_document

    with told(quiet=style.quiet):
        form = checked_form(style.form)
        if source.file is not None and (more or source.file.is_dir()):
            _refuse_late((choices, written, sort, n, ascending))
            show_runs([source.file, *(more or ())], form, metric, style)
            return
        _check(sort, n)
        report, name = _measured(source, written, choices, metric)
        board = report.leaderboard(name, n, by=sort, ascending=ascending)
        board = board.set_axis(escape_surrogates(board.index)).rename_axis("user")
        document = leaderboard_document(board, f"{name} by {sort}", report.signature(name))
        values = board.reset_index()
        values.insert(0, "rank", values.pop("rank"))
        show_document(document, values, form, style, tables_only=True)


def _refuse_late(given: tuple[object, ...]) -> None:
    """Refuse what would change nothing of runs."""
    if given != (Choices(), Written(), "score", 20, False):
        msg = "Runs are measured already: give their folders, --metric and --format alone."
        raise InvalidInputError(msg)


def _check(sort: str, n: int) -> None:
    if sort not in _orders():
        msg = f"--sort: there is no {sort!r}. {nearest(sort, _orders())}"
        raise InvalidInputError(msg)
    if n < 1:
        msg = f"-n must be at least 1, not {n}."
        raise InvalidInputError(msg)


def _measured(
    source: Source, written: Written, choices: Choices, metric: str | None
) -> tuple[Report, str]:
    """Return a report, and the name of the metric in it."""
    from recsys_ndcg.evaluation import measured
    from recsys_ndcg.report.report import Report
    from recsys_ndcg.report.saved_files import is_saved

    name = None if metric is None else str(metric_of(metric, "--metric", [10]))
    files = files_of(source)
    for path in files.values():
        check_there(path)
    if source.file is not None and is_saved(source.file):
        if (choices, written) != (Choices(), Written()) or len(files) > 1:
            msg = (
                f"{source.file} is a saved report, in which all is measured: give it and --metric "
                "alone."
            )
            raise InvalidInputError(msg)
        report = Report.load(source.file)
        return report, report.metrics[0] if name is None else name
    plan = plan_of(choices, [name or "ndcg@10"], [10])
    return measured(lists_of(source, written, plan.duplicates), plan), plan.names[0]
