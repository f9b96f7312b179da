"""leaderboard: the users whose lists are ranked best, or worst; or the models of runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from recsys_ndcg.cli.gates import metric_of
from recsys_ndcg.cli.options import Choices, Style, argument, complete, option, plan_of
from recsys_ndcg.cli.output import show_document
from recsys_ndcg.cli.reading import (
    DataOptions,
    Written,
    escape_surrogates,
    evaluate_files,
    saved_in,
)
from recsys_ndcg.errors import InvalidInputError, visible

if TYPE_CHECKING:
    from recsys_ndcg.report import Report

_SHORT = {"fit_time": "fit_s", "test_time": "test_s", "peak_memory_mb": "MB"}


def leaderboard(  # noqa: PLR0913 - one parameter per option
    *,
    source: DataOptions,
    more: list[Path] | None = argument("More folders of experiments.", "RUNS"),
    written: Written,
    metric: str | None = option(
        "Such as precision@5.  [default: ndcg@10, or the first of a saved report]",
        autocompletion=complete("metric"),
    ),
    by: str = option(
        "score; adjusted: how far from chance to the best order of the list; z: how "
        "surely that is no chance.",
        "--sort",
        default="score",
        autocompletion=complete("sort"),
    ),
    n: int = option("How many users.", "-n", default=20),
    ascending: bool = option("The worst first.", "--ascending", default=False),
    choices: Choices,
    style: Style,
) -> None:
    """Show the users whose lists are ranked best.

    FILE may be a saved report, too. Users for whom every order is the same are left out. Of
    folders of experiments, runs/today runs/monday, it is the models that are shown.
    """
    from recsys_ndcg.report import leaderboard_document

    if source.file is not None and (more or source.file.is_dir()):
        if (choices, written, by, n, ascending) != (Choices(), Written(), "score", 20, False):
            msg = "Runs are measured already: give their folders, --metric and --format alone."
            raise InvalidInputError(msg)
        _show_runs([source.file, *(more or ())], metric, style)
        return
    report, name = _measured(source, written, choices, metric)
    board = report.leaderboard(name, n, by=by, ascending=ascending)
    board = board.set_axis(escape_surrogates(board.index)).rename_axis("user")
    document = leaderboard_document(board, f"{name} by {by}", report.signature(name))
    values = board.reset_index()
    values.insert(0, "rank", values.pop("rank"))
    show_document(document, values, style, tables_only=True)


def _measured(
    source: DataOptions, written: Written, choices: Choices, metric: str | None
) -> tuple[Report, str]:
    """Return a report, and the name of the metric in it."""
    from recsys_ndcg.report import Report

    name = None if metric is None else str(metric_of(metric, "--metric", [10]))
    kinds = {"report": Report.load}
    report = saved_in(source, kinds, choices, written, beside=" and --metric")
    if report is not None:
        return report, report.metrics[0] if name is None else name
    plan = plan_of(choices, [name or "ndcg@10"], [10])
    return evaluate_files(source, written, plan), plan.names[0]


def _show_runs(paths: list[Path], metric: str | None, style: Style) -> None:
    """Print the models of some runs, the best of each group first."""
    from recsys_ndcg.experiments import load_runs
    from recsys_ndcg.rendering import Document, Section, Sentences, ShownTable
    from recsys_ndcg.report import text_cells

    runs = load_runs(*paths)
    table = runs.sorted_by(metric).reset_index()
    folds = [f"{done}/{of}" for done, of in zip(table["done"], table["of"], strict=True)]
    brief = table.assign(done=folds, begun=table["begun"].str[:10]).drop(
        columns=["of", "failed", "data", "how"]
    )
    cells = text_cells(brief.set_index("run")).map(visible)
    shown = cells.rename(columns=_SHORT) if style.form == "text" else cells
    models = ShownTable("Models", shown, left=2)
    section = Section("runs", "Runs", "", [models, Sentences(runs.remarks)])
    document = Document(facts="", sections=[section])
    show_document(document, table, style, tables_only=True)
