"""report, leaderboard, presets, metrics: what was measured, and what there is."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recsys_ndcg.cli.options import FORMATS, Choices, MetricOptions, argument, metric_of, option
from recsys_ndcg.cli.output import Page, Style, table_document
from recsys_ndcg.cli.reading import DataOptions, Scale, Written, escape_surrogates
from recsys_ndcg.errors import InvalidInputError, escape_invisible

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.rendering import Document
    from recsys_ndcg.scoring import Signature

_FORM = option(f"{', '.join(FORMATS)}.", "--format", default="text", words="format")
_SHORT = {"fit_time": "fit_s", "test_time": "test_s", "peak_memory_mb": "MB"}


def report(  # noqa: PLR0913 - one parameter per option
    *,
    source: DataOptions,
    scale: Scale,
    written: Written,
    measured: MetricOptions,
    choices: Choices,
    page: Page,
    style: Style,
) -> None:
    """Show a report, or write it as a page.

    FILE is a saved report or comparison, or predictions, which are measured.

    Examples
    --------
    recsys-ndcg report predictions.csv --threshold 4 --html page.html
    recsys-ndcg report report.json
    recsys-ndcg report comparison.json --html page.html
    """
    from recsys_ndcg.comparison import Comparison
    from recsys_ndcg.report import Report

    files = {**source.files, **scale.files}
    page.check(files)
    late = (scale, written, choices, measured)
    found = source.load([Report, Comparison], *late, beside=", --html and --format")
    if found is None:
        plan = choices.plan(measured.names, measured.ks)
        found = source.evaluate(written, plan, scale, progress=not style.quiet)
    if page.write(found):
        return
    if isinstance(found, Report):
        style.show_report(found)
    else:
        segments = [] if found.groups is None else ["segments"]
        style.show_comparison(found, ["leaderboard", *segments])


def leaderboard(  # noqa: PLR0913 - one parameter per option
    *,
    source: DataOptions,
    more: list[Path] | None = argument("More folders of experiments.", "RUNS"),
    written: Written,
    metric: str | None = option(
        "Such as precision@5.  [default: ndcg@10, or the first of a saved report]", words="metric"
    ),
    by: str = option(
        "score; adjusted: how far from chance to the best order of the list; z: how "
        "surely that is no chance.",
        "--sort",
        default="score",
        words="sort",
    ),
    n: int = option("How many users.", "-n", default=20),
    ascending: bool = option("The worst first.", "--ascending", default=False),
    choices: Choices,
    style: Style,
) -> None:
    """Show the users whose lists are ranked best.

    FILE may be a saved report, too. Users for whom every order is the same are left out. Of
    folders of experiments, runs/today runs/monday, it is the models that are shown.

    Examples
    --------
    recsys-ndcg leaderboard predictions.csv --sort z --ascending -n 5
    recsys-ndcg leaderboard report.json --metric precision@10
    recsys-ndcg leaderboard runs/today runs/yesterday
    """
    if source.file is not None and (more or source.file.is_dir()):
        if (choices, written, by, n, ascending) != (Choices(), Written(), "score", 20, False):
            msg = "Runs are measured already: give their folders, --metric and --format alone."
            raise InvalidInputError(msg)
        _show_runs([source.file, *(more or ())], metric, style)
        return
    from recsys_ndcg.report import Report

    name = None if metric is None else str(metric_of(metric, "--metric", [10]))
    report = source.load([Report], choices, written, beside=" and --metric")
    if report is None:
        report = source.evaluate(written, choices.plan([name or "ndcg@10"], [10]))
    name = report.metrics[0] if name is None else name
    board = report.leaderboard(name, n, by=by, ascending=ascending)
    board = board.set_axis(escape_surrogates(board.index)).rename_axis("user")
    document = leaderboard_document(board, f"{name} by {by}", report.signature(name))
    values = board.reset_index()
    values.insert(0, "rank", values.pop("rank"))
    style.show(document, values, tables_only=True)


def leaderboard_document(board: pd.DataFrame, title: str, signature: Signature) -> Document:
    """Return what `Report.leaderboard` says of the users."""
    from recsys_ndcg.report import format_cells

    cells = format_cells(board.reset_index().set_index("rank")).map(escape_invisible)
    trivial = board.attrs["trivial"]
    left_out = [f"{trivial} users for whom every order is the same are left out."]
    return table_document(title, cells, left_out if trivial else (), signature, left=2, note=title)


def _show_runs(paths: list[Path], metric: str | None, style: Style) -> None:
    """Print the models of some runs, the best of each group first."""
    from recsys_ndcg.experiments import load_runs
    from recsys_ndcg.report import format_cells

    runs = load_runs(*paths)
    table = runs.sorted_by(metric).reset_index()
    folds = [f"{done}/{of}" for done, of in zip(table["done"], table["of"], strict=True)]
    brief = table.assign(done=folds, begun=table["begun"].str[:10]).drop(
        columns=["of", "failed", "data", "how"]
    )
    cells = format_cells(brief.set_index("run")).map(escape_invisible)
    shown = cells.rename(columns=_SHORT) if style.form == "text" else cells
    style.show(table_document("Models", shown, runs.remarks, left=2), table, tables_only=True)


def presets(*, form: str = _FORM) -> None:
    """List the libraries whose numbers --preset reproduces.

    Examples
    --------
    recsys-ndcg presets --format markdown
    """
    from recsys_ndcg.convention import PRESETS

    rows = [
        {
            "preset": name,
            "as computed by": one.library,
            "metrics": one.metrics.replace(" ", ", "),
            "to be known": one.caveat,
        }
        for name, one in PRESETS.items()
    ]
    _show(rows, "Presets", form)


def metrics(*, form: str = _FORM) -> None:
    """List the metrics, and what else they are called.

    Examples
    --------
    recsys-ndcg metrics --format json
    """
    from recsys_ndcg.metrics import METRICS

    rows = [
        {
            "metric": _named(kind),
            "what it is": (vars(kind).get("__doc__") or "").strip().partition("\n")[0],
            "also called": ", ".join(kind.also_called),
        }
        for _, kind in sorted(METRICS.items())
    ]
    _show(rows, "Metrics", form)


def _show(rows: list[dict[str, Any]], title: str, form: str) -> None:
    import pandas as pd

    table = pd.DataFrame(rows)
    document = table_document(title, table, left=len(table.columns), numeric=())
    Style(form).show(document, table, tables_only=True)


def _named(kind: type[Metric]) -> str:
    """Return a metric's name as it may be typed, with its options and cutoff."""
    given = ",".join(f"{one.name}={one.default!r}" for one in fields(kind) if one.name != "k")
    return f"{kind.name}{f'({given})' if given else ''}{'' if kind.cutoff == 'none' else '@k'}"
