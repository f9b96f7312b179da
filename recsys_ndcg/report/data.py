"""What a report is made of, and the tables that its parts share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats, divide
from recsys_ndcg.errors import InvalidInputError, check_choice, check_level
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.report.remarks import find_remarks, join_tables, judge_report
from recsys_ndcg.scoring import ITEM_COUNTS, Audit, Scores, find_metric_name
from recsys_ndcg.significance import (
    BOOTSTRAPS,
    Moments,
    bootstrap_intervals,
    clip_ends,
    find_adjusted_interval,
)

if TYPE_CHECKING:
    from recsys_ndcg.findings import Finding
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.scoring import Totals


class UnknownKeyError(InvalidInputError, KeyError):
    """A report has no such metric, or no such segment."""

    __str__ = ValueError.__str__


@dataclass(frozen=True, eq=False)
class ReportData:
    """The value that a `Report` shows; other rooms of this package read it, users do not.

    Parameters
    ----------
    audit : Audit
        Everything that was measured; all tables come from it: the scores of every user, chance,
        ties, counts, signatures, and the lists if they were kept.
    baselines : pandas.DataFrame, optional
        The means of other models on the same users, a row per model.
    inputs : mapping of str
        Python for the arguments of `evaluate` that are files, or for the report if it was loaded;
        for the code on a page.
    weights : mapping of str, optional
        `Report.label_weights`, if the lists are not known.
    """

    audit: Audit
    baselines: pd.DataFrame | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    weights: Mapping[str, float] | None = None

    @property
    def scores(self) -> Scores:
        """The numerators and denominators of every user."""
        return self.audit.scores

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics, in the order in which they were requested."""
        return [str(one) for one in self.audit.measurements]

    @property
    def metrics_of_users(self) -> list[str]:
        """The names of the metrics that have a score per user."""
        return [str(one) for one in self.audit.measurements if one.metric.per_user]

    def find_column(
        self, metric: str | Metric | None, of_users: Sequence[str] | None = None
    ) -> int:
        """Return the position of a metric, by default the only one.

        Raises
        ------
        InvalidInputError
            There is no such metric, or `of_users` is given and does not have it.
        """
        return self.metrics.index(find_metric_name(metric, self.metrics, "This report", of_users))

    def find_column_of_users(self, metric: str | Metric | None = None) -> int:
        """Return the position of a metric that has a score per user, by default the first such one.

        Raises
        ------
        InvalidInputError
            There is no such metric, or it is a number of all lists together.
        """
        chosen = (self.metrics_of_users or self.metrics)[0] if metric is None else metric
        return self.find_column(chosen, self.metrics_of_users)

    @property
    def counts(self) -> dict[str, int]:
        """`Report.counts`."""
        totals, protocol = self.audit.totals_with_orders, self.audit.protocol
        counts = dict(totals.counts)
        users, ratings, candidates = map(counts.pop, ("users", "ratings", "candidates"))
        rows = {"ratings" if protocol == "rated" else "recommended": ratings}
        if protocol not in ("rated", "supplied"):
            rows = (rows if ratings < candidates else {}) | {"candidates": candidates}
        counts = {name: n for name, n in counts.items() if n or name not in ITEM_COUNTS}
        counts = {"users": users, **rows, **counts}
        by_metric = {"undefined": totals.n_without_value, "trivial": totals.trivial}
        for name, numbers in by_metric.items():
            by_name = zip(totals.names, numbers.tolist(), strict=True)
            counts |= {f"{name} {metric}": number for metric, number in by_name}
        return counts

    @property
    def summary(self) -> pd.DataFrame:
        """`Report.summary`."""
        totals, intervals = self.audit.totals_with_orders, self.compute_intervals()
        columns = {
            "mean": totals.mean,
            "ci_low": intervals["mean_low"].to_numpy(),
            "ci_high": intervals["mean_high"].to_numpy(),
            "pooled": totals.pooled,
            "median": self.audit.median,
            "users": totals.n_scored,
            "undefined": totals.n_without_value,
            **self._compare_with_chance(totals),
            "tie_low": totals.mean_of("lowest"),
            "tie_high": totals.mean_of("highest"),
        }
        return pd.DataFrame(columns, index=pd.Index(totals.names, name="metric"))

    @property
    def label_weights(self) -> pd.Series[float] | None:
        """`Report.label_weights`."""
        source = self.audit.source
        facts = None if source is None else source.facts.weights
        numbers = self.weights if facts is None else facts.numbers
        return None if numbers is None else pd.Series(numbers, name="label_weights")

    @property
    def baseline_table(self) -> pd.DataFrame:
        """`Report.baselines`: the means of other models, and of chance."""
        chance = self.audit_table[["chance"]].T
        return chance if self.baselines is None else pd.concat([self.baselines, chance])

    @property
    def audit_table(self) -> pd.DataFrame:
        """`Report.audit`: reference values for each score."""
        totals = self.audit.totals_with_all_roles
        counts, best = totals.counts, totals.mean_of("best")
        zero, top = totals.mean_of("zero"), totals.mean_of("top")
        if not counts["unlabelled"] and "zero" in totals.roles:
            zero = top = totals.mean
        columns: dict[str, Any] = {
            **self._compare_with_chance(totals),
            "z": totals.z,
            "worst": totals.mean_of("worst"),
            "best": best,
            "trivial": divide(totals.trivial, np.where(np.isnan(best), 0, totals.n_scored)),
            "tie_low": totals.mean_of("lowest"),
            "tie_high": totals.mean_of("highest"),
            "decided_by_ties": totals.mean_of("decided_by_ties"),
            "short": totals.n_short / counts["users"],
            "skipped": 1 - totals.n_scored / counts["users"],
            "unlabelled": counts["unlabelled"] / max(counts["ratings"], 1),
            "judged": totals.mean_of("judged"),
            "unlabelled_zero": zero,
            "unlabelled_top": top,
        }
        return pd.DataFrame(columns, index=totals.names)

    def _compare_with_chance(self, totals: Totals) -> dict[str, Any]:
        """Return chance, and the adjusted score with its 95 % interval, by metric."""
        ends: Any = (np.nan, np.nan)  # if chance is unknown
        if totals.room_moments is not None:
            moments, best = (totals.room_moments, totals.score_moments), totals.mean_of("best")
            bounded = totals.kinds["bounded"]
            ends = find_adjusted_interval(*moments, totals.adjusted, best, bounded=bounded)
        columns = {"chance": totals.mean_of("chance"), "adjusted": totals.adjusted}
        return {**columns, "adjusted_low": ends[0], "adjusted_high": ends[1]}

    def compute_intervals(
        self, level: float = 0.95, *, method: str = "t", progress: bool = True, **options: Any
    ) -> pd.DataFrame:
        """Return `Report.intervals`; `options` are draws and the seed."""
        totals = self.audit.totals
        if method == "t":
            check_level("level", level, such_as=0.95)
            low, high = totals.mean_interval(level)
            ratios: Iterable[Any] = totals.ratio_moments.find_interval(level, **totals.kinds)
        else:
            check_choice("method", method, ("t", *BOOTSTRAPS))
            scores = self.scores
            parts_of_ratio = (scores.numerator, scores.denominator)
            tables = (np.where(scores.is_defined, part, 0.0) for part in parts_of_ratio)
            options |= {"level": level, "method": method, "progress": progress}
            low, high, *ratios = bootstrap_intervals(scores.per_user, *tables, **options)
        if totals.is_over_lists.any():
            over_lists = self._find_intervals_over_lists(level)
            low, high = np.where(totals.is_over_lists, over_lists, (low, high))
        columns = ["mean_low", "mean_high", "pooled_low", "pooled_high"]
        ends = [low, high, *map(totals.scores_from_ratios, ratios)]
        return pd.DataFrame(dict(zip(columns, ends, strict=True)), index=self.metrics)

    def _find_intervals_over_lists(self, level: float) -> Floats:
        """Return the jackknife's intervals of numbers of all lists together, NaN for others."""
        if self.audit.by_user is None:
            return np.full((2, len(self.metrics)), np.nan)
        values = self.audit.pseudo_values
        ends = Moments.of(None, values, ~np.isnan(values)).find_interval(level)
        return clip_ends(ends, **self.audit.totals.kinds)

    @lazy_property
    def _joined_tables(self) -> pd.DataFrame:
        return join_tables(self.audit, self.summary, self.audit_table)

    @property
    def verdict(self) -> list[Finding]:
        """Whether the order is better than chance: first the headline."""
        return judge_report(self._joined_tables, self.baseline_table, self.audit.signatures)

    @property
    def remarks(self) -> list[Finding]:
        """The reasons to be careful with the numbers."""
        tables = self._joined_tables, self.baseline_table, self.counts, self.label_weights
        return find_remarks(self.audit, *tables)

    def audit_users(self, column: int) -> pd.DataFrame:
        """Return `Report.per_user_audit` of the metric in a column."""
        scores = self.audit.scores_with_orders
        counts = scores.table()[["n_items", "n_relevant"]].set_axis(["items", "relevant"], axis=1)
        columns = {
            "score": scores.per_user[:, column],
            **{role: scores.roles[role][:, column] for role in ("chance", "worst", "best")},
            "adjusted": scores.adjusted[:, column],
            "z": scores.z[:, column],
        }
        return counts.assign(**columns)
