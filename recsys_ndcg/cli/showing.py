"""report, leaderboard, presets, metrics: what was measured, and what there is."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recsys_ndcg.cli.gates import metric_of
from recsys_ndcg.cli.options import (
    FORMATS,
    Choices,
    MetricOptions,
    Style,
    argument,
    complete,
    option,
    plan_of,
)
from recsys_ndcg.cli.output import Page, show_comparison, show_document, show_report
from recsys_ndcg.cli.reading import (
    DataOptions,
    Scale,
    Written,
    escape_surrogates,
    evaluate_files,
    saved_in,
)
from recsys_ndcg.errors import InvalidInputError, visible

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.rendering import Document
    from recsys_ndcg.report import Report
    from recsys_ndcg.scoring import Signature

_FORM = option(
    f"{', '.join(FORMATS)}.", "--format", default="text", autocompletion=complete("format")
)
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
    found = saved_in(source, [Report, Comparison], *late, beside=", --html and --format")
    if found is None:
        plan = plan_of(choices, measured.names, measured.ks)
        found = evaluate_files(source, written, plan, scale, progress=not style.quiet)
    if page.write(found):
        return
    if isinstance(found, Report):
        show_report(found, style)
    else:
        segments = found.groups is not None and style.form != "csv"
        show_comparison(found, style, ["leaderboard", *(["segments"] * segments)])


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
    report, name = _measured(source, written, choices, metric)
    board = report.leaderboard(name, n, by=by, ascending=ascending)
    board = board.set_axis(escape_surrogates(board.index)).rename_axis("user")
    document = leaderboard_document(board, f"{name} by {by}", report.signature(name))
    values = board.reset_index()
    values.insert(0, "rank", values.pop("rank"))
    show_document(document, values, style, tables_only=True)


def leaderboard_document(board: pd.DataFrame, title: str, signature: Signature) -> Document:
    """Return what `Report.leaderboard` says of the users."""
    from recsys_ndcg.rendering import Document, Section, ShownTable
    from recsys_ndcg.report import signatures_section, text_cells

    cells = text_cells(board.reset_index().set_index("rank")).map(visible)
    shown = ShownTable(title, cells, left=2, note=title)
    trivial = board.attrs["trivial"]
    left_out = f"{trivial} users for whom every order is the same are left out."
    return Document(
        facts=f"{len(board)} users",
        sections=[
            Section("users", "Users", "", [shown, [left_out] if trivial else []]),
            signatures_section([signature]),
        ],
    )


def _measured(
    source: DataOptions, written: Written, choices: Choices, metric: str | None
) -> tuple[Report, str]:
    """Return a report, and the name of the metric in it."""
    from recsys_ndcg.report import Report

    name = None if metric is None else str(metric_of(metric, "--metric", [10]))
    report = saved_in(source, [Report], choices, written, beside=" and --metric")
    if report is not None:
        return report, report.metrics[0] if name is None else name
    plan = plan_of(choices, [name or "ndcg@10"], [10])
    return evaluate_files(source, written, plan), plan.names[0]


def _show_runs(paths: list[Path], metric: str | None, style: Style) -> None:
    """Print the models of some runs, the best of each group first."""
    from recsys_ndcg.experiments import load_runs
    from recsys_ndcg.rendering import Document, Section, ShownTable
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
    section = Section("runs", "Runs", "", [models, runs.remarks])
    document = Document(facts="", sections=[section])
    show_document(document, table, style, tables_only=True)


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

    from recsys_ndcg.rendering import Document, Section, ShownTable

    table = pd.DataFrame(rows)
    shown = ShownTable(title, table, left=len(table.columns), numeric=())
    document = Document(facts=title, sections=[Section("list", title, "", [shown])])
    show_document(document, table, Style(form), tables_only=True)


def _named(kind: type[Metric]) -> str:
    """Return a metric's name as it may be typed, with its options and cutoff."""
    given = ",".join(f"{one.name}={one.default!r}" for one in fields(kind) if one.name != "k")
    return f"{kind.name}{f'({given})' if given else ''}{'' if kind.cutoff == 'none' else '@k'}"
