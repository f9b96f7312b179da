"""The comparison of an experiment's models: what is known of its folds, besides their results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from recsys_ndcg.comparison import Comparison
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.experiments.fold_scores import (
    FoldScores,
    build_cold_start_document,
    build_cold_start_section,
    make_cold_start_table,
)
from recsys_ndcg.experiments.trends import Trends
from recsys_ndcg.files import to_json_value
from recsys_ndcg.findings import Finding
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.rendering import Document, ReadableTable, show_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    import altair as alt

    from recsys_ndcg.metrics import Metric

_STEPS = ("fit", "predict", "measure")  # each has its seconds in the table of runs


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ExperimentComparison(Comparison):
    """The models of an experiment, compared, as `experiment` returns them.

    It has the files and tables of a `Comparison`; `load` reads a `Comparison` without folds.

    Parameters
    ----------
    _runs : pandas.DataFrame
        Time, memory and scores of each fold run.
    _folds : FoldScores
        The scores in each fold.
    split_checks : pandas.DataFrame
        What `check_split` finds in each fold, by seed, fold and check.
    """

    _runs: pd.DataFrame
    _folds: FoldScores
    _more_plots = ("time",)
    split_checks: pd.DataFrame

    @property
    def runs(self) -> pd.DataFrame:
        """Time, memory and scores of each fold run: a row per model, seed and fold.

        Columns: fit_seconds, predict_seconds and measure_seconds, peak_memory_mb, users, and every
        measure. Together the seconds are nearly all the time of the experiment in one process;
        splitting the ratings and comparing the models take the rest.
        """
        return self._runs.copy()

    @lazy_property
    def trends(self) -> Trends:
        """How the scores change from cut to cut, in an experiment with `RollingTime`.

        Raises
        ------
        InvalidInputError
            The folds do not follow each other in time.
        """
        if not self._folds.cuts:
            msg = (
                "Only the comparison that rn.experiment(..., splits=RollingTime()) returns has "
                "trends. Import RollingTime from recsys_ndcg.folds."
            )
            raise InvalidInputError(msg)
        return Trends(self, self._folds)

    def cold_start(self) -> pd.DataFrame:
        """Return the scores by number of training ratings of user and item, unknown ones apart.

        Returns
        -------
        pandas.DataFrame
            Indexed by side (``"user"`` or ``"item"``), metric, training_ratings (a bin such as
            ``"2–4"``) and model: users, mean, ci_low, ci_high, chance. The number of a user's
            training ratings may differ between folds: the user counts in each of these bins, with
            the mean score of the folds in it. Bins with fewer than ten lists are merged with their
            neighbours, except ``"0 (unknown)"``. By item: the mean score if only test ratings of
            these items counted (`Report.by_items`), over users and folds, for metrics that are sums
            over labels; without interval and chance.
        """
        table = make_cold_start_table(self, self._folds)
        return ReadableTable.of(table, partial(build_cold_start_document, self, self._folds))

    @property
    def _findings(self) -> list[Finding]:
        """As of a `Comparison`, and then the trends of an experiment with `RollingTime`."""
        return [*super()._findings, *(self.trends._findings if self._folds.cuts else ())]

    def plot(
        self, kind: str = "tiers", *, metric: str | Metric | None = None, **options: Any
    ) -> alt.LayerChart:
        """Return a plot for a notebook, with a description in words.

        Parameters
        ----------
        kind : str
            ``"time"``, the mean scores at each cut of `RollingTime`, or as in `Comparison.plot`.
        metric : str or Metric, optional
            By default the first.
        **options
            As in `Comparison.plot`.

        Raises
        ------
        InvalidInputError
            The folds do not follow each other in time, or as in `Comparison.plot`.
        MissingExtraError
            Vega-Altair is not installed.
        """
        if kind == "time":
            return self.trends.plot(self._find_metric(metric, of_users=True))
        return super().plot(kind, metric=metric, **options)

    def _document(
        self,
        metric: str | Metric | None = None,
        kinds: Sequence[str] = ("leaderboard",),
        *,
        with_verdict: bool = True,
    ) -> Document:
        """Return the document in one metric, as of a `Comparison`, with the scores by cut."""
        document = super()._document(metric, kinds, with_verdict=with_verdict)
        if kinds[0] != "leaderboard" or not self._folds.cuts:
            return document
        first, *others = document.sections
        section = self.trends.build_section([self._find_metric(metric)])
        return replace(document, sections=[first, section, *others])

    def _page(self, command: str | None = None) -> Document:
        """Return the document of the HTML page, with scores by cut, the cold start and costs."""
        # imported here, because it imports all plots
        from recsys_ndcg.comparison import build_comparison_page  # noqa: PLC0415

        metrics = self._data.metrics_of_users[:1]
        cold_start = build_cold_start_section(self, self._folds, metrics)
        trends = [self.trends.build_page_section()] if self._folds.cuts else []
        costs = sum_costs(self._runs)
        return build_comparison_page(self._data, command, [*trends, cold_start], costs)

    def to_dict(self) -> dict[str, Any]:
        """Return the tables, the verdict and the remarks as values for JSON; NaN becomes None."""
        tables = self.trends.tables if self._folds.cuts else {}
        trends = {name: to_json_value(table.reset_index()) for name, table in tables.items()}
        return {
            **super().to_dict(),
            "trends": trends or None,
            "cold_start": to_json_value(self.cold_start().reset_index()),
        }


def find_bad_folds(checks: pd.DataFrame) -> Iterator[Finding]:
    """Find the errors, and the warnings, that the checks of folds found."""
    *fold, _ = checks.index.names
    for verdict in ("error", "warning"):
        bad = checks[checks["verdict"] == verdict]
        if len(bad):
            some, every = (table.groupby(level=fold).ngroups for table in (bad, checks))
            names = {"checks": bad.index.unique("check").tolist()}
            yield Finding(f"{verdict}s_in_folds", {"bad": some, "folds": every}, names)


def sum_costs(runs_table: pd.DataFrame) -> pd.DataFrame:
    """Return each model's number of folds, seconds and memory as text."""
    runs = runs_table.groupby(level="model", sort=False)
    costs = {"folds": runs.size()}
    costs |= {step: runs[f"{step}_seconds"].sum() for step in _STEPS}
    costs["memory"] = runs["peak_memory_mb"].max()
    return show_columns(pd.DataFrame(costs)).set_axis([*runs.groups], axis=0)
