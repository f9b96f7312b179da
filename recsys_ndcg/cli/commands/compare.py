"""compare: several models on the same users."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recsys_ndcg.cli.data import DataOptions, Written
from recsys_ndcg.cli.gates import Gates, Limits, close, gated_plan
from recsys_ndcg.cli.models import Entries, Statistics, read_entry
from recsys_ndcg.cli.options import Choices, MetricOptions, Style
from recsys_ndcg.cli.output import (
    Html,
    check_apart,
    check_page,
    show_document,
    signatures_by_metric,
    write_page,
)
from recsys_ndcg.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from recsys_ndcg.cli.gates import Limit
    from recsys_ndcg.comparison import Comparison, Gate
    from recsys_ndcg.metrics import Metric


@dataclass(frozen=True)
class Models:
    """The files of the models, and what is known apart from them."""

    models: Annotated[
        list[str],
        typer.Argument(
            metavar="FILES...",
            help="One per model: predictions, of any kind that 'evaluate' reads, or a saved "
            "report. NAME=FILE gives it a name.",
            show_default=False,
        ),
    ]
    labels: Annotated[
        Path | None,
        typer.Option(help="What is known (user, item, true): every file then holds results."),
    ] = None
    qrels: Annotated[
        Path | None, typer.Option(help="Judgements of TREC: every file is then a run.")
    ] = None
    n_items: Annotated[
        int | None,
        typer.Option("--n-items", help="The size of the catalogue that results were chosen from."),
    ] = None

    def entries(self, written: Written) -> Entries:
        """Return the files, and how they are read."""
        source = DataOptions(labels=self.labels, qrels=self.qrels, n_items=self.n_items)
        return Entries(tuple(map(read_entry, self.models)), source, written)


@dataclass(frozen=True)
class TableOptions:
    """What else is shown, and written."""

    pairs: Annotated[bool, typer.Option("--pairs", help="The pairs of models, too.")] = False
    save: Annotated[
        Path | None, typer.Option(help="Write the comparison to this file, as JSON.")
    ] = None
    html: Html = None

    def kinds(self, form: str, *, segments: bool) -> list[str]:
        """Return which tables are shown; CSV holds one.

        Raises
        ------
        InvalidInputError
            It would hold two.
        """
        more = ["pairs"] * self.pairs + ["segments"] * segments
        if form == "csv" and len(more) > 1:
            msg = "--format csv holds one table: the one of --pairs, or that of --by. Leave one."
            raise InvalidInputError(msg)
        return more if form == "csv" and more else ["leaderboard", *more]


def compare(  # noqa: PLR0913 - one parameter per option
    *,
    models: Models,
    written: Written,
    measured: MetricOptions,
    choices: Choices,
    statistics: Statistics,
    limits: Limits,
    gate: Gates,
    tables: TableOptions,
    style: Style,
) -> None:
    """Compare models user by user.

    Which is better, for whom, and how sure that is.
    """
    from recsys_ndcg.comparison import compare as comparison_of

    ks, names = measured.ks, measured.names
    kinds = tables.kinds(style.form, segments=statistics.by is not None)
    entries, other = models.entries(written).and_also(gate.fail_if_worse)
    means, worse = limits.read(ks), gate.read(statistics.margin, ks)
    asked = statistics.asked(entries.files, other)
    entries.check(choices)
    check_apart(entries.files, {"--save": tables.save, "--html": tables.html})
    check_page(tables.html)
    gated = [one.metric for one in means] + ([worse] if worse else [])
    plan = gated_plan(choices, names, ks, gated)
    reports = entries.reports(plan, gated, progress=not style.quiet)
    shown = None if names is None else [*names, *map(str, gated)]
    found = comparison_of(reports, metrics=shown, k=ks, **asked, progress=not style.quiet)
    if tables.save is not None:
        found.save(tables.save)
    if not write_page(tables.html, found):
        show_comparison(found, style, kinds)
    judged = [name for name in entries.files if name != other]
    close(_gates(found, judged, means, other, worse), quiet=style.quiet)


def _gates(
    found: Comparison,
    models: list[str],
    limits: list[Limit],
    other: str | None,
    metric: Metric | None,
) -> Iterator[Gate]:
    """Say of each model whether its means are good enough, and it is not worse than another."""
    for limit in limits:
        board = found.leaderboards[str(limit.metric)]
        for model in models:
            yield limit.gate(board["mean"][model], board["users"][model], f" of {model}")
    for model in models if other is not None else ():
        yield found.not_worse(model, other, metric=metric)


def show_comparison(found: Comparison, style: Style, kinds: Sequence[str] | None = None) -> None:
    """Print a comparison: the leaderboard, if no tables are named."""
    from recsys_ndcg.comparison import comparison_document

    kinds = kinds or ["leaderboard"]
    document = comparison_document(found, found.metrics[0], kinds)
    values = found.to_dict() if style.form == "json" else _values(found, kinds[0], style)
    show_document(document, values, style)


def _values(found: Comparison, kind: str, style: Style) -> pd.DataFrame:
    """Return the numbers of a table, of all metrics."""
    if kind == "pairs":
        return found.pairwise
    if kind == "segments":
        return found.segments.reset_index()
    values = found.to_frame().reset_index()
    signed = signatures_by_metric(found, full=style.full_signature)
    return values.assign(signature=values["metric"].map(signed))
