"""What a report is made of: what was measured, and what was given besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from recsys_ndcg.metrics import Metric
from recsys_ndcg.scoring import Audit, Scores, find_metric_name


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

    @property
    def bounded(self) -> pd.Series[bool]:
        """Whether each metric is always between 0 and 1."""
        bounded = [one.is_bounded for one in self.audit.measurements]
        return pd.Series(bounded, index=self.metrics, dtype=bool)

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
