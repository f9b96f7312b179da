"""Trends: how each model's scores change from cut to cut of one timeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.experiments.fold_scores import FoldScores, make_group_table, show_groups
from recsys_ndcg.findings import Finding, HasFindings, write_sentences
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.rendering import (
    Charts,
    Choice,
    Document,
    Renderable,
    Section,
    ShownTable,
    format_times,
    plots,
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
class Trends(HasFindings, Renderable):
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
    findings : pandas.DataFrame
        A row per finding: which means rise or fall, and who is better or worse at the last cut.
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

    @property
    def _findings(self) -> list[Finding]:
        return [finding for name in self.comparison.metrics for finding in self._find(name)]

    def _find(self, metric: str) -> list[Finding]:
        """Return the findings in a metric, the best models first."""
        if len(self.cuts) < 2:
            return [Finding("one_cut", names={"metric": metric})]
        alpha = self.comparison._data.testing.alpha
        sign = self.comparison._data.by_metric[metric].sign
        slopes, table = (pd.DataFrame(each.loc[metric]) for each in (self._slopes, self._table))
        board = self.comparison.leaderboards[metric].index
        ranked = slopes.loc[board[board.isin(slopes.index)]]
        ends = table["mean"].unstack("cut").iloc[:, [0, -1]]  # noqa: PD010
        chance = table["chance"].groupby("cut").first().iloc[[0, -1]]
        return [
            *_find_slopes(metric, ranked, alpha),
            *_compare_ends(metric, slopes, ends, alpha, sign),
            *_compare_chance(metric, slopes["change"], *chance.tolist()),
        ]

    def _write(self, metric: str) -> list[str]:
        return write_sentences(self._find(metric), _MAX_LINES)

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
        return plots.plot_score_by_cut(table, metric, level=level, lower_is_better=lower_is_better)

    def build_section(self, metrics: Sequence[str]) -> Section:
        """Return the section of a document: the scores by cut, and the trends."""
        parts = [part for name in metrics for part in (self.show_scores(name), self._write(name))]
        return Section("time", "Scores over time", _LEAD, parts)

    def build_page_section(self) -> Section:
        """Return the section of a page, with charts, for the first metrics."""
        options = []
        for name in self.comparison.metrics[:_MAX_METRICS]:
            charts: list[Any] = []
            with suppress(InvalidInputError):  # no scores
                charts.append(Charts(self.plot(name)))
            parts = [*charts, self._write(name), self.show_scores(name)]
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


def _find_slopes(metric: str, slopes: pd.DataFrame, alpha: float) -> Iterator[Finding]:
    """Find whether the mean of each model rises or falls."""
    correction = "Holm" if len(slopes) > 1 else None
    for model, row in slopes.to_dict("index").items():
        p, slope = row["slope_p_corrected"], row["slope"]
        kind = "no_clear_trend"
        if p <= alpha:
            kind = "falling_score" if slope < 0 else "rising_score"
        numbers = {name: row[name] for name in ("slope", "slope_low", "slope_high")}
        names = {"metric": metric, "model": model, "correction": correction}
        yield Finding(kind, {**numbers, "p": p, "alpha": alpha}, names)


def _compare_ends(
    metric: str, slopes: pd.DataFrame, ends: pd.DataFrame, alpha: float, sign: int
) -> Iterator[Finding]:
    """Find which means are significantly better or worse at the last cut than at the first."""
    is_clear = slopes["change_p_corrected"] <= alpha
    for kind, way in (("worse_at_last_cut", -1), ("better_at_last_cut", 1)):
        models = slopes.index[is_clear & (np.sign(sign * slopes["change"]) == way)]
        if len(models):
            first, last = ends.loc[models].to_numpy().T.tolist()
            names = {"metric": metric, "models": models.tolist()}
            yield Finding(kind, {"first": first, "last": last}, names)
    if not is_clear.any():
        yield Finding("no_clear_change", names={"metric": metric})


def _compare_chance(
    metric: str, change: pd.Series[float], first: float, last: float
) -> Iterator[Finding]:
    """Find whether random order scores differently at the last cut."""
    if abs(last - first) > _DIFFERENT_CHANCE:
        alike = change.index[np.sign(change) == np.sign(last - first)]
        names = {"metric": metric, "models": alike.tolist()}
        yield Finding("changing_chance", {"first": first, "last": last}, names)
