"""Contender: one model's scores, user by user, and its parameters, as they are compared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Record
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.errors.visible import visible
from recsys_ndcg.input.ids import index_of
from recsys_ndcg.report.explanation import places_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Floats, Ids, Positions
    from recsys_ndcg.lists.grouped_lists import GroupedLists
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.report.report import Report
    from recsys_ndcg.scoring.audit import Audit
    from recsys_ndcg.scoring.scores import ListCounts
    from recsys_ndcg.scoring.signatures import Signature

Parameter = str | int | float | bool | None
_LARGEST = 2**53  # beyond, a whole number is not the same in all readers of JSON

#: The tables of a contender, users × metrics.
TABLES = ("scores", "numerator", "denominator", "chance", "best")


@dataclass(frozen=True, eq=False)
class Contender(Record):
    """One model's scores: tables of shape (n_users, n_metrics), a row for each user.

    Where a user was measured several times, in folds or with several seeds, scores are averaged
    within the user: users are independent of each other, the folds of one user are not.

    Parameters
    ----------
    names : tuple of str
        Of the metrics, as they are shown.
    metrics : tuple of Metric
        The same.
    signatures : tuple of Signature
        How each was computed.
    users : array, shape (n_users,)
        The ids.
    scores : float64 array
        NaN where a user has none.
    numerator, denominator : float64 arrays
        For the pooled score; 0 where a user has no score of their own.
    chance, best : float64 arrays
        What random order and the best order of the same lists score.
    truth : uint64 array
        The digest of what is known of each user, by metric.
    counts : ListCounts
        What there is to count in the lists; of folds, added up.
    runs : float64 array, shape (n_runs, n_metrics)
        The means of each fold or seed; one row if there is but one.
    report : Report, optional
        With the lists, if they are at hand.
    parameters : mapping of str
        Numbers, texts or None by name, in which the models of a search differ.
    """

    names: tuple[str, ...]
    metrics: tuple[Metric, ...]
    signatures: tuple[Signature, ...]
    users: Ids
    scores: Floats
    numerator: Floats
    denominator: Floats
    chance: Floats
    best: Floats
    truth: NDArray[np.uint64]
    counts: ListCounts
    runs: Floats
    report: Report | None = None
    parameters: Mapping[str, Parameter] = field(default_factory=dict)

    @classmethod
    def of(
        cls, audit: Audit, names: Sequence[str] | None = None, report: Report | None = None
    ) -> Contender:
        """Return what one evaluation found."""
        scores = audit.full_scores
        known = ~np.isnan(scores.per_user)
        own = scores.defined
        return cls(
            names=tuple(scores.names if names is None else names),
            metrics=tuple(one.metric for one in scores.measurements),
            signatures=tuple(audit.signatures[name] for name in scores.names),
            users=scores.users,
            scores=scores.per_user,
            numerator=np.where(own, scores.numerator, 0.0),
            denominator=np.where(own, scores.denominator, 0.0),
            chance=np.where(known, scores.roles["chance"], np.nan),
            best=np.where(known, scores.roles["best"], np.nan),
            truth=np.repeat(audit.truth.astype(np.uint64)[:, None], len(scores.names), axis=1),
            counts=scores.counts,
            runs=audit.totals.mean[None, :],
            report=report,
        )

    def take(self, users: Positions) -> Contender:
        """Return the same of some users, given by their places; the means of runs are of all."""
        tables: dict[str, Any] = {
            name: getattr(self, name)[users] for name in (*TABLES, "truth", "users")
        }
        counts = self.counts.take(users)
        return replace(
            self, **tables, counts=counts, signatures=over(self.signatures, tables["scores"])
        )

    def columns(self, names: Sequence[str]) -> Contender:
        """Return the same under some of the metrics."""
        places = [self.names.index(name) for name in names]
        tables: dict[str, Any] = {
            name: getattr(self, name)[:, places] for name in (*TABLES, "truth", "runs")
        }
        told: dict[str, Any] = {
            name: tuple(getattr(self, name)[place] for place in places)
            for name in ("names", "metrics", "signatures")
        }
        return replace(self, **tables, **told)

    def per_user(self) -> pd.DataFrame:
        """Return the scores by user, below what there is to count in the lists."""
        table = pd.DataFrame(self.scores, columns=[*self.names], copy=True)
        table.insert(0, "n_items", self.counts.n_items.copy())
        table.insert(1, "n_relevant", self.counts.n_relevant.copy())
        return table.set_index(index_of(self.users, "user"))

    def report_for(self, name: str) -> Report:
        """Return the report with its lists.

        Raises
        ------
        InvalidInputError
            There are none: the model was read from a file, or averaged over folds.
        """
        if self.report is None or self.report.audited.lists is None:
            msg = (
                f"{name!r} has no lists: files hold none, and neither do folds. Compare "
                "predictions, or reports of predictions."
            )
            raise InvalidInputError(msg)
        return self.report

    def lists_for(self, name: str) -> GroupedLists:
        """Return the lists of these users."""
        report = self.report_for(name)
        lists = report.audited.lists
        assert lists is not None, "said before"  # noqa: S101
        if len(report.users) == len(self.users):
            return lists
        return lists.take(places_of(report.users, self.users))

    def at(self, name: str) -> int:
        """Return the place of a metric."""
        return self.names.index(name)


def over(signatures: Sequence[Signature], scores: Floats) -> tuple[Signature, ...]:
    """Return signatures of the same numbers over the users who have a score."""
    counted = (~np.isnan(scores)).sum(axis=0).tolist()
    return tuple(one.over(count) for one, count in zip(signatures, counted, strict=True))


def parameters_of(given: Mapping[Any, Any], within: str = "") -> dict[str, Parameter]:
    """Return parameters as numbers and texts; those of a mapping stand under both names.

    Examples
    --------
    >>> parameters_of({"n_factors": 20, "sim_options": {"name": "msd"}, "init": (0, 1)})
    {'n_factors': 20, 'sim_options.name': 'msd', 'init': '(0, 1)'}
    """
    found: dict[str, Parameter] = {}
    for name, value in given.items():
        told = f"{within}{visible(str(name))}"
        if isinstance(value, Mapping):
            found |= parameters_of(value, f"{told}.")
        else:
            found[told] = _plain(value)
    return found


def _plain(value: Any) -> Parameter:
    value = value.item() if hasattr(value, "item") and not getattr(value, "ndim", 0) else value
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, int) and abs(value) <= _LARGEST:
        return int(value)
    return visible(value if isinstance(value, str) else repr(value))
