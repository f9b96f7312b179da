"""Contender: one model's scores, user by user, as they are compared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Record
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.input.ids import encode, index_of
from recsys_ndcg.report.explanation import places_of
from recsys_ndcg.scoring.scores import ListCounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Floats, Ids, Positions
    from recsys_ndcg.lists.grouped_lists import GroupedLists
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.report.audit import Audit
    from recsys_ndcg.report.report import Report
    from recsys_ndcg.report.signatures import Signature

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

    @classmethod
    def of(
        cls, audit: Audit, names: Sequence[str] | None = None, report: Report | None = None
    ) -> Contender:
        """Return what one evaluation found."""
        scores, orders = audit.scores, audit.levels.orders
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
            chance=np.where(known, orders.chance, np.nan),
            best=np.where(known, orders.best, np.nan),
            truth=np.repeat(audit.truth.astype(np.uint64)[:, None], len(scores.names), axis=1),
            counts=scores.counts,
            runs=audit.totals.mean[None, :],
            report=report,
        )

    def take(self, users: Positions) -> Contender:
        """Return the same of some users, given by their places; the means of runs are of all."""
        tables = {name: getattr(self, name)[users] for name in (*TABLES, "truth", "users")}
        signatures = tuple(
            one.over(int(count))
            for one, count in zip(
                self.signatures, (~np.isnan(tables["scores"])).sum(axis=0), strict=True
            )
        )
        return replace(self, **tables, counts=self.counts.take(users), signatures=signatures)

    def columns(self, names: Sequence[str]) -> Contender:
        """Return the same under some of the metrics."""
        places = [self.names.index(name) for name in names]
        tables = {name: getattr(self, name)[:, places] for name in (*TABLES, "truth", "runs")}
        told = {
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


def beside(parts: Sequence[Contender]) -> Contender:
    """Return the metrics of all parts side by side, over the users of any."""
    users, places = _all_users(parts)
    spread = [_spread(one, len(users), place) for one, place in zip(parts, places, strict=True)]
    first = spread[0]
    return replace(
        first,
        users=users,
        names=sum((one.names for one in spread), ()),
        metrics=sum((one.metrics for one in spread), ()),
        signatures=sum((one.signatures for one in spread), ()),
        **{
            name: np.hstack([getattr(one, name) for one in spread])
            for name in (*TABLES, "truth", "runs")
        },
    )


def averaged(parts: Sequence[Contender]) -> Contender:
    """Return the scores of several runs, averaged within each user; sums are added up.

    Folds are parts of what is known of a user, seeds are measured on the same: their digests are
    one.
    """
    if len(parts) == 1:
        return parts[0]
    users, places = _all_users(parts)
    spread = [_spread(one, len(users), place) for one, place in zip(parts, places, strict=True)]
    same = all(
        len(one.users) == len(users) and np.array_equal(one.truth, spread[0].truth)
        for one in spread
    )
    counts = [one.counts for one in spread]
    scores = _mean_within([one.scores for one in spread])
    return replace(
        spread[0],
        users=users,
        scores=scores,
        **{
            name: sum(getattr(one, name) for one in spread) for name in ("numerator", "denominator")
        },
        **{
            name: _mean_within([getattr(one, name) for one in spread])
            for name in ("chance", "best")
        },
        truth=spread[0].truth if same else _together([one.truth for one in spread]),
        counts=counts[0] if same else _counts_of_all(counts),
        signatures=tuple(
            one.over(int(count))
            for one, count in zip(parts[0].signatures, (~np.isnan(scores)).sum(axis=0), strict=True)
        ),
        runs=np.concatenate([one.runs for one in parts]),
        report=None,
    )


def _all_users(parts: Sequence[Contender]) -> tuple[Ids, list[Positions]]:
    """Return the users of any part in their order, and where each part's stand there."""
    lengths = [len(one.users) for one in parts]
    users, codes = encode(np.concatenate([one.users for one in parts]), "user")
    return users, np.split(codes, np.cumsum(lengths)[:-1])


def _spread(one: Contender, size: int, places: Positions) -> Contender:
    """Return tables with rows for other users, who have nothing."""
    if len(places) == size:
        return one

    def rows(table: NDArray[Any], fill: float) -> NDArray[Any]:
        wide = np.full((size, *table.shape[1:]), fill, dtype=table.dtype)
        wide[places] = table
        return wide

    fills = {"scores": np.nan, "chance": np.nan, "best": np.nan}
    tables = {name: rows(getattr(one, name), fills.get(name, 0)) for name in (*TABLES, "truth")}
    counts = {name: rows(values, 0) for name, values in vars(one.counts).items()}
    return replace(one, **tables, counts=ListCounts(**counts))


def _mean_within(tables: Sequence[Floats]) -> Floats:
    """Return the mean of what is there, NaN where nothing is."""
    there = sum((~np.isnan(one)).astype(np.int64) for one in tables)
    total = reduce(np.add, [np.nan_to_num(one, nan=0.0) for one in tables])
    mean: Floats = np.divide(total, there, where=there > 0, out=np.full(total.shape, np.nan))
    return mean


def _together(truths: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """Return a digest of what is known of a user fold by fold, in any order of the folds.

    Folds are mixed before they are added up: the same ratings in other folds are other lists.
    """
    mixed = [
        pd.util.hash_array(one.ravel(), categorize=False).reshape(one.shape) * (one != 0)
        for one in truths
    ]
    total: NDArray[np.uint64] = reduce(np.add, mixed)
    return total


def _counts_of_all(counts: Sequence[ListCounts]) -> ListCounts:
    """Return what there is to count in all folds: flags of any, numbers added up."""
    return ListCounts(
        **{
            name: reduce(np.logical_or if values.dtype == bool else np.add, columns)
            for name, values in vars(counts[0]).items()
            for columns in [[getattr(one, name) for one in counts]]
        }
    )
