"""report, leaderboard, explain-number, presets, metrics: commands that show or list something."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from recsys_ndcg.cli.options import (
    ConventionOptions,
    Flag,
    Format,
    Integer,
    MetricName,
    MetricOptions,
    list_changed_options,
    option,
    parse_metric,
)
from recsys_ndcg.cli.output import OutputOptions, PageOptions, build_table_document
from recsys_ndcg.cli.sources import (
    DataOptions,
    FormatOptions,
    ManyFilesOptions,
    Predictions,
    escape_surrogates,
)
from recsys_ndcg.errors import InvalidInputError

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.rendering import Document
    from recsys_ndcg.scoring import Signature


def report(  # noqa: PLR0913 - one parameter per group of options
    *files: Predictions,
    source: ManyFilesOptions = ManyFilesOptions(),
    text_format: FormatOptions = FormatOptions(),
    metric_options: MetricOptions = MetricOptions(),
    convention: ConventionOptions = ConventionOptions(),
    page: PageOptions = PageOptions(),
    output: OutputOptions = OutputOptions(),
) -> None:
    """Show a report, or write it as an HTML page.

    FILE is a saved report, a saved comparison, or predictions to evaluate.

    Examples
    --------
    recsys-ndcg report predictions.csv --threshold 4 --html page.html
    recsys-ndcg report report.json
    recsys-ndcg report comparison.json --html page.html
    """
    from recsys_ndcg.comparison import Comparison
    from recsys_ndcg.report import Report

    source = source.take(*files)
    page.check(source.all_files)
    late = (text_format, convention, metric_options)
    found = source.load_saved([Report, Comparison], *late, allowed=", --html and --format")
    if found is None:
        plan = convention.plan(metric_options.names, metric_options.read_cutoffs(convention.preset))
        found = source.evaluate(text_format, plan, progress=not output.quiet)
    if page.write(found):
        return
    if isinstance(found, Report):
        output.show_report(found)
    else:
        segments = [] if found._data.segment_of_user is None else ["segments"]
        output.show_comparison(found, ["leaderboard", *segments])


def leaderboard(  # noqa: PLR0913 - one parameter per option
    file: Predictions | None = None,
    /,
    *more: Annotated[Path, Parameter(name="RUN")],
    source: DataOptions = DataOptions(),
    text_format: FormatOptions = FormatOptions(),
    metric: MetricName | None = None,
    by: Annotated[str, option("COLUMN", "--sort")] = "score",
    n: Annotated[Integer, option("N", "-n")] = 20,
    ascending: Flag = False,
    convention: ConventionOptions = ConventionOptions(),
    output: OutputOptions = OutputOptions(),
) -> None:
    """Show the users with the best scores.

    Users for whom every order has the same score are left out. FILE may also be a saved report,
    or the folder of an experiment: then its models are shown.

    Parameters
    ----------
    more : Path
        Further folders of experiments.
    metric : str, optional
        Metric, such as precision@5.  [default: ndcg, or the first of a saved report]
    by : str
        score, adjusted (0 is chance, 1 the best order of the list) or z (distance from chance in
        standard deviations).
    n : int
        Number of users.
    ascending : bool
        Show the worst users first.

    Examples
    --------
    recsys-ndcg leaderboard predictions.csv --sort z --ascending -n 5
    recsys-ndcg leaderboard report.json --metric precision@10
    recsys-ndcg leaderboard runs/today runs/yesterday
    """
    # Path.is_dir() raises for a name that is too long
    if file is not None and (more or os.path.isdir(file)):  # noqa: PTH112
        is_changed = (by, n, ascending) != ("score", 20, False)
        if is_changed or list_changed_options(convention, text_format):
            msg = "Saved runs cannot be evaluated again. Pass only folders, --metric and --format."
            raise InvalidInputError(msg)
        _print_runs([file, *more], metric, output)
        return
    from recsys_ndcg.report import Report

    source = source.take(file)
    ks = MetricOptions().read_cutoffs(convention.preset)
    asked = str(parse_metric(metric or "ndcg", "--metric", ks))
    report = source.load_saved([Report], convention, text_format, allowed=", --metric and --format")
    if report is None:
        report, metric = source.evaluate(text_format, convention.plan([asked], None)), asked
    name = report.metrics[report._data.find_column_of_users(metric)]
    board = report.leaderboard(name, n, by=by, ascending=ascending)
    board = board.set_axis(escape_surrogates(board.index)).rename_axis("user")
    document = build_leaderboard_document(board, f"{name} by {by}", report.signature(name))
    values = board.reset_index()
    values.insert(0, "rank", values.pop("rank"))
    output.show(document, values, tables_only=True)


def build_leaderboard_document(
    board: pd.DataFrame, title: str, signature: Signature | None = None
) -> Document:
    """Return a leaderboard of users as a document, with the number of those it leaves out."""
    from recsys_ndcg.rendering import pluralise, show_columns

    cells = show_columns(board.reset_index().set_index("rank").reset_index())
    trivial = board.attrs["trivial"]
    note = f"Without {pluralise(trivial)} for whom every order has the same score."
    notes = [note] if trivial else ()
    return build_table_document(title, cells, notes, signature, n_left_aligned=2, note=title)


def _print_runs(paths: list[Path], metric: str | None, output: OutputOptions) -> None:
    """Print the models of some runs, the best first."""
    from recsys_ndcg import load_runs
    from recsys_ndcg.rendering import build_document

    runs = load_runs(*paths)
    document = build_document(runs, measure=metric)
    output.show(document, runs.sort_by(metric).reset_index(), tables_only=True)


def explain_number(
    *text: Annotated[str, Parameter(required=True)],
    items: Integer | None = None,
    form: Format = "text",
) -> None:
    """List the protocols that allow a published number.

    TEXT is a metric and its value, then any of these, separated by commas: leave-one-out or
    '5 relevant', '100 negatives' or '1 in 100', 'full ranking', 'rated items', and '3706 items' or
    a data set such as ML-1M.

    Parameters
    ----------
    text : str
        A metric and its value, then what is known about it.
    items : int, optional
        Number of items in the catalogue.
    form : str
        Output format: text, markdown, latex, csv, json.

    Examples
    --------
    recsys-ndcg explain-number "HR@10 0.69, leave-one-out, 100 negatives, ML-1M"
    """
    from recsys_ndcg import explain_number as explain

    found = explain(" ".join(text), items=items)
    values = found.to_dict() if form == "json" else found.table
    OutputOptions(form).show(found, values)


def presets(*, form: Format = "text") -> None:
    """List the presets: libraries and published examples.

    Parameters
    ----------
    form : str
        Output format: text, markdown, latex, csv, json.

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
            "note": one.remarks,
        }
        for name, one in PRESETS.items()
    ]
    _print_rows(rows, "Presets", form)


def metrics(*, form: Format = "text") -> None:
    """List the metrics and their other names.

    Parameters
    ----------
    form : str
        Output format: text, markdown, latex, csv, json.

    Examples
    --------
    recsys-ndcg metrics --format json
    """
    from recsys_ndcg.metrics import METRICS

    rows = [
        {
            "metric": _format_metric(kind),
            "what it is": (vars(kind).get("__doc__") or "").strip().partition("\n")[0],
            "also called": ", ".join(kind.also_called),
        }
        for _, kind in sorted(METRICS.items())
    ]
    _print_rows(rows, "Metrics", form)


def _print_rows(rows: list[dict[str, Any]], title: str, form: Format) -> None:
    import pandas as pd

    table = pd.DataFrame(rows)
    document = build_table_document(title, table, n_left_aligned=len(table.columns), numeric=())
    OutputOptions(form).show(document, table, tables_only=True)


def _format_metric(kind: type[Metric]) -> str:
    """Return a metric's name as users type it, with its options and cutoff."""
    given = ",".join(f"{one.name}={one.default!r}" for one in fields(kind) if one.name != "k")
    return f"{kind.name}{f'({given})' if given else ''}{'' if kind.cutoff == 'none' else '@k'}"
