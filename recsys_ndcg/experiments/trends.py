"""Trends: how each model's scores change from cut to cut of one timeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError, escape_invisible
from recsys_ndcg.experiments.fold_scores import FoldScores, make_group_table, show_groups
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.rendering import (
    Charts,
    Choice,
    Document,
    Renderable,
    Section,
    ShownTable,
    describe_interval,
    format_p,
    format_size,
    format_times,
    join_names,
    list_first,
    plot,
    pluralise,
    show_columns,
)
from recsys_ndcg.report import build_signatures_section
from recsys_ndcg.significance import CORRECTIONS, fit_slopes

if TYPE_CHECKING:
    import altair as alt

    from recsys_ndcg.comparison import Comparison

_MAX_LINES = 6  # models with a sentence
_DIFFERENT_CHANCE = 0.01  # between the first and the last cut: worth a remark
_MAX_METRICS = 10  # on a page
_LEAD = (
    "At each cut the models are trained on the ratings before it, and tested on the ratings that "
    "follow. Unknown users and items have no rating before the cut. A slope is the change of the "
    "mean per cut, by least squares. Its interval is the longer of two: one for other users at the "
    "same cuts, and one for other cuts. p is corrected for the number of models (Holm)."
)


@dataclass(frozen=True, eq=False, repr=False)
class Trends(Renderable):
    """Scores at successive cuts of one timeline, as `ExperimentComparison.trends` returns them.

    Parameters
    ----------
    comparison : Comparison
        The models, compared over all cuts.
    folds : FoldScores
        The users' scores at each cut.

    Attributes
    ----------
    cuts : pandas.DataFrame
        A row per cut: its time (the first that is tested); train_ratings and test_ratings; users
        and items that are tested, and unknown_users and unknown_items, which have no training
        rating.
    table : pandas.DataFrame
        A row per metric, cut and model: time, users, mean, ci_low, ci_high, chance.
    slopes : pandas.DataFrame
        A row per metric and model: slope, the change of the mean per cut, with slope_low,
        slope_high, slope_p and slope_p_corrected; and change, the mean at the last cut minus the
        mean at the first one, with the same.
    """

    comparison: Comparison
    folds: FoldScores

    @property
    def cuts(self) -> pd.DataFrame:
        """The time of each cut, and the numbers of its ratings, users and items."""
        folds = self.folds
        of_fold = dict(zip(folds.folds, folds.counts, strict=True))
        rows = [of_fold[fold] for fold in sorted(of_fold)]
        table = pd.DataFrame(rows, pd.RangeIndex(1, len(rows) + 1, name="cut"))
        table.insert(0, "time", list(folds.cuts))
        return table

    @property
    def table(self) -> pd.DataFrame:
        """The scores in each metric, of each model, at each cut."""
        return self._table.copy()

    @lazy_property
    def _table(self) -> pd.DataFrame:
        times, groups = self.cuts["time"], self.folds.group_by_fold
        tables = {
            name: make_group_table(self.comparison, self.folds, name, groups, [*times.index])
            for name in self.comparison.metrics
        }
        table = pd.concat(tables, names=["metric", "cut", "model"])
        table.insert(0, "time", times.loc[table.index.get_level_values("cut")].to_numpy())
        return table

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """All tables, by name."""
        return {"cuts": self.cuts, "scores": self.table, "slopes": self.slopes}

    @property
    def slopes(self) -> pd.DataFrame:
        """The trend of each model in each metric."""
        return self._slopes.copy()

    @lazy_property
    def _slopes(self) -> pd.DataFrame:
        tables = {name: self._fit(name) for name in self.comparison.metrics}
        return pd.concat(tables, names=["metric", "model"])

    def _fit(self, metric: str) -> pd.DataFrame:
        """Return the slope over all cuts, and the change from the first cut to the last."""
        folds, alpha = self.folds, self.comparison._data.testing.alpha
        scores = folds.average_in_groups(self.comparison.users, metric, folds.group_by_fold)
        table = pd.DataFrame(index=pd.Index([*folds.models], name="model"))
        for name, part in (("slope", scores), ("change", scores[[0, -1]])):
            found = fit_slopes(part, alpha)
            table[name], table[f"{name}_low"], table[f"{name}_high"] = found[:3]
            table[f"{name}_p"] = found.p
            table[f"{name}_p_corrected"] = CORRECTIONS["holm"].correct(found.p)
        return table

    def write_findings(self, metric: str) -> list[str]:
        """Write each model's trend, who is better or worse at the last cut, and remarks.

        Parameters
        ----------
        metric : str
            The name of the metric.
        """
        if len(self.cuts) < 2:
            return ["There is only one cut, so there is no trend."]
        board = self.comparison.leaderboards[metric].index
        each = (self._write_slope(metric, name) for name in board if name in self.folds.models)
        lines = list_first(each, _MAX_LINES, "… and {} more models.")
        lines += [*self._compare_ends(metric), *self._compare_chance(metric)]
        return [escape_invisible(line) for line in lines]

    def _write_slope(self, metric: str, model: str) -> str:
        alpha, row = self.comparison._data.testing.alpha, self._slopes.loc[[(metric, model)]]
        slope, low, high, _, p = row.to_numpy()[0, :5].tolist()
        verb = "has no clear trend"
        if p <= alpha:
            verb = "falls" if slope < 0 else "rises"
        evidence = ""
        if not np.isnan(p):
            holm = "Holm " if len(self.folds.models) > 1 else ""
            evidence = f" ({describe_interval(low, high, alpha)}, {holm}{format_p(p)})"
        return f"{metric} of {model} {verb}: {format_size(slope)} per cut{evidence}."

    def _compare_ends(self, metric: str) -> Iterator[str]:
        """Yield which means are significantly better or worse at the last cut than at the first."""
        slopes, sign = self._slopes.loc[metric], self.comparison._data.by_metric[metric].sign
        is_clear = slopes["change_p_corrected"] <= self.comparison._data.testing.alpha
        ends = self._table["mean"].loc[metric].unstack("cut")  # noqa: PD010
        for word, way in (("Worse", -1), ("Better", 1)):
            names = slopes.index[is_clear & (np.sign(sign * slopes["change"]) == way)]
            texts = [
                f"{name} ({format_size(ends.loc[name].iloc[0])} to "
                f"{format_size(ends.loc[name].iloc[-1])})"
                for name in names
            ]
            if texts:
                yield (
                    f"{word} in {metric} at the last cut alone than at the first: "
                    f"{', '.join(list_first(texts, _MAX_LINES))}."
                )
        if not is_clear.any():
            yield f"No mean {metric} at the last cut differs clearly from the mean at the first."

    def _compare_chance(self, metric: str) -> Iterator[str]:
        """Yield a remark if random order scores differently at the last cut."""
        chance = self._table["chance"].loc[metric].groupby("cut").first()
        first, last = chance.iloc[0], chance.iloc[-1]
        change: Any = self._slopes.loc[metric]["change"]
        alike = change.index[np.sign(change) == np.sign(last - first)]
        if abs(last - first) > _DIFFERENT_CHANCE:
            part = ""
            if len(alike):
                names = join_names(alike, _MAX_LINES)
                part = f": lists of other lengths may explain a part of the trend of {names}"
            yield (
                f"Chance in {metric} is {format_size(first)} at the first cut and "
                f"{format_size(last)} at the last{part}."
            )

    def show_scores(self, metric: str) -> ShownTable:
        """Return the table of the scores in a metric, a row per cut."""
        cuts = self.cuts
        labels = {"cut": [*map(str, cuts.index)], "time": format_times(cuts["time"])}
        table = pd.DataFrame(self._table.loc[metric])
        shown = show_groups(self.comparison, metric, table, "Scores by cut", labels)
        unknown = pd.DataFrame({"unknown": cuts["unknown_users"] / cuts["users"]})
        shown.cells.insert(3, "unknown", show_columns(unknown)["unknown"])
        return shown

    def show_ratings(self) -> ShownTable:
        """Return the table of the numbers of ratings, users and items at each cut."""
        cuts = self.cuts.reset_index()
        cells = show_columns(cuts.assign(time=format_times(cuts["time"])))
        return ShownTable("Ratings by cut", cells, n_left_aligned=2)

    def plot(self, metric: str) -> alt.LayerChart:
        """Plot the mean scores in a metric at each cut.

        Raises
        ------
        InvalidInputError
            No user has a score.
        MissingExtraError
            Vega-Altair is not installed.
        """
        table, cuts = self._table.loc[metric].reset_index(), self.cuts
        if table["mean"].isna().all():
            msg = f"No user has a score in {metric}, so there is nothing to plot."
            raise InvalidInputError(msg)
        times = dict(zip(cuts.index, format_times(cuts["time"]), strict=True))
        renamed = {"users": "size", "ci_low": "low", "ci_high": "high"}
        table = table.rename(columns=renamed).assign(group=table["cut"].map(times))
        level = 1 - self.comparison._data.testing.alpha
        lower_is_better = self.comparison._data.by_metric[metric].sign < 0
        return plot("time", table, metric, level=level, lower_is_better=lower_is_better)

    def build_section(self, metrics: Sequence[str]) -> Section:
        """Return the section of a document: the scores by cut, and the trends."""
        parts = [
            part for name in metrics for part in (self.show_scores(name), self.write_findings(name))
        ]
        return Section("time", "Scores over time", _LEAD, parts)

    def build_page_section(self) -> Section:
        """Return the section of a page, with charts, for the first metrics."""
        options = []
        for name in self.comparison.metrics[:_MAX_METRICS]:
            charts: list[Any] = []
            with suppress(InvalidInputError):  # no scores
                charts.append(Charts(self.plot(name)))
            parts = [*charts, self.write_findings(name), self.show_scores(name)]
            options.append(Section.folded(name, parts))
        ratings = Section.folded("The ratings at each cut", [self.show_ratings()])
        parts = [Choice.folded("Metric", options), ratings]
        return Section("time", "Scores over time", _LEAD, parts)

    def _document(self, *, with_verdict: bool = False) -> Document:  # noqa: ARG002 - it has none
        """Return the document: for each metric the scores by cut and the trends."""
        section = self.build_section(self.comparison.metrics)
        models = pluralise(len(self.folds.models), "model")
        return Document(
            title="Scores over time",
            facts=f"{models} at {pluralise(len(self.cuts), 'cut')}",
            sections=[
                replace(section, parts=[*section.parts, self.show_ratings()]),
                build_signatures_section(self.comparison.signatures),
            ],
            names_to_shorten=[*self.comparison.models, *self.comparison.metrics],
        )
