"""Gaps between the mean scores of groups of users, with intervals that hold for all at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats, Positions, divide
from recsys_ndcg.errors import InvalidInputError, check_choice, check_integer, check_level
from recsys_ndcg.progress import progress_bar
from recsys_ndcg.scoring import find_metric_name
from recsys_ndcg.significance import clip_ends, find_t_quantile

if TYPE_CHECKING:
    from recsys_ndcg.lists import GroupedLists
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.scoring import Scores

#: The tables of `Report.gaps`.
TABLES = ("metrics", "pairs", "groups")
#: A variance below the variance of all groups is moderated, as if the group had as many more users
#: with the variance of all: else a small group of equal scores would differ from all others.
_PRIOR_USERS = 10
_ROUNDING = 1e-12  # relative to the highest score: smaller differences are rounding errors


@dataclass(frozen=True)
class GapOptions:
    """How gaps are tested.

    Parameters
    ----------
    level : float
        The probability that all intervals of a table hold.
    draws, seed : int
        The number of random permutations of the users, and their seed.

    Raises
    ------
    InvalidInputError
        An option is out of range.
    """

    level: float = 0.95
    draws: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the options."""
        check_level("level", self.level, such_as=0.95)
        check_integer("draws", self.draws, 1)
        check_integer("seed", self.seed, 0)
        if self.place > self.draws:
            needed = math.ceil(self.level / (1 - self.level) * (1 - _ROUNDING))
            msg = (
                f"draws={self.draws} is too few for level={self.level:g}: no gap could be found. "
                f"Use draws={needed} or more."
            )
            raise InvalidInputError(msg)

    @property
    def place(self) -> int:
        """The place of the critical value among the draws in ascending order, from 1."""
        return math.ceil(self.level * (self.draws + 1) * (1 - _ROUNDING))


@dataclass(frozen=True, eq=False)
class GroupMeans:
    """The mean score of each group of users, and its error.

    Parameters
    ----------
    count : int64 array, shape (n_groups,)
        The number of users with a score.
    mean, error : float64 arrays, shape (n_groups,)
        The mean, NaN without users, and its standard error, with moderated variances (Smyth 2004).
    """

    count: Positions
    mean: Floats
    error: Floats

    @classmethod
    def of(cls, values: Floats, codes: Positions, count: Positions) -> GroupMeans:
        """Return the means of values, which are near 0, by group."""
        n_groups = len(count)
        mean = divide(np.bincount(codes, weights=values, minlength=n_groups), count)
        rest = values - mean[codes]
        squares = np.bincount(codes, weights=rest * rest, minlength=n_groups)
        freedom = len(values) - int((count > 0).sum())
        if freedom < 1:
            return cls(count, mean, np.full(n_groups, np.nan))
        own = squares / np.maximum(count - 1, 1)
        moderated = (_PRIOR_USERS * squares.sum() / freedom + squares) / (_PRIOR_USERS + count - 1)
        variance = np.maximum(own, moderated)  # larger variances are not taken for chance
        return cls(count, mean, np.sqrt(divide(variance, count)))

    def find_ends(self) -> tuple[int, int] | None:
        """Return the first groups with the lowest and the highest mean; None without users."""
        if not self.count.any():
            return None
        slack = _ROUNDING * np.nanmax(np.abs(self.mean))
        lowest = self.mean <= np.nanmin(self.mean) + slack
        highest = self.mean >= np.nanmax(self.mean) - slack
        return int(lowest.argmax()), int(highest.argmax())

    def compute_gaps(self, pairs: tuple[Positions, Positions]) -> tuple[Floats, Floats]:
        """Return the gap of each pair of groups, and its error."""
        one, other = pairs
        squares = self.error * self.error
        return self.mean[one] - self.mean[other], np.sqrt(squares[one] + squares[other])


@dataclass(frozen=True, eq=False)
class MetricGaps:
    """The gaps of one metric.

    Parameters
    ----------
    means : GroupMeans
        The mean scores.
    pairs : pair of int64 arrays, shape (n_pairs,)
        The positions of both groups of each pair.
    gap, low, high, p_corrected : float64 arrays, shape (n_pairs,)
        The differences of the means, their simultaneous intervals, and their corrected p-values.
    by_chance : float
        The mean absolute gap of random groups of the same sizes.
    """

    means: GroupMeans
    pairs: tuple[Positions, Positions]
    gap: Floats
    low: Floats
    high: Floats
    p_corrected: Floats
    by_chance: float

    @classmethod
    def of(
        cls,
        scores: Floats,
        codes: Positions,
        n_groups: int,
        options: GapOptions,
        show: Callable[[float], None],
    ) -> MetricGaps:
        """Test all pairs of groups with the largest |t| over all permutations of the users."""
        kept = ~np.isnan(scores) & (codes >= 0)
        codes, values = codes[kept], scores[kept]
        center = values.mean() if len(values) else 0.0
        slack = _ROUNDING * np.abs(values).max(initial=0.0)
        values = _drop_rounding(values - center, slack)
        means = GroupMeans.of(values, codes, np.bincount(codes, minlength=n_groups))
        pairs = np.triu_indices(n_groups, 1)
        gap, error = means.compute_gaps(pairs)
        gap = _drop_rounding(gap, slack)
        size, draws = _divide_errors(gap, error), options.draws
        largest, by_chance = np.full(draws, np.nan), np.nan
        if not np.isnan(size).all():
            largest, by_chance = _draw_largest(values, codes, means.count, options, show)
        critical = largest[options.place - 1]
        half = critical * error if np.isfinite(critical) else error + np.inf
        n_above = draws - np.searchsorted(largest, size * (1 - _ROUNDING), side="left")
        p = np.where(np.isnan(size), np.nan, (1 + n_above) / (1 + draws))
        means = replace(means, mean=means.mean + center)
        return cls(means, pairs, gap, gap - half, gap + half, p, by_chance)

    def to_row(self, labels: Sequence[Any]) -> dict[str, Any]:
        """Return the mean and the largest absolute gap of all pairs, as a row of a table."""
        # an interval that contains 0 allows an absolute gap of 0
        low, high = np.maximum(self.low, -self.high), np.maximum(self.high, -self.low)
        ends = pd.DataFrame({"gap": np.abs(self.gap), "low": np.maximum(low, 0.0), "high": high})
        places = self.means.find_ends()
        return {
            "groups": int((self.means.count > 0).sum()),
            "users": int(self.means.count.sum()),
            **ends.mean().add_prefix("mean_"),
            **ends.max().add_prefix("largest_"),
            "by_chance": self.by_chance,
            "lowest": labels[places[0]] if places else None,
            "highest": labels[places[1]] if places else None,
            "p_corrected": pd.Series(self.p_corrected).min(),
        }

    def to_pairs(self, labels: Sequence[Any]) -> dict[str, Any]:
        """Return a column for each fact about the pairs."""
        one, other = self.pairs
        return {
            "group": [labels[code] for code in one],
            "other": [labels[code] for code in other],
            "gap": self.gap, "low": self.low, "high": self.high,
            "p_corrected": self.p_corrected,
        }  # fmt: skip

    def to_groups(self, labels: Sequence[Any], level: float, *, bounded: bool) -> dict[str, Any]:
        """Return a column for each fact about the groups, which are independent."""
        means = self.means
        one = level ** (1 / max(int((means.count > 0).sum()), 1))
        counts = np.maximum(means.count, 1) + _PRIOR_USERS
        half = means.error * np.array([find_t_quantile(one, n) for n in counts.tolist()])
        half = np.where(half > 0, half, np.nan)  # scores that do not vary have no interval
        low, high = clip_ends([means.mean - half, means.mean + half], bounded)
        columns = {"users": means.count, "mean": means.mean, "low": low, "high": high}
        return {"group": [*labels], **columns}


def build_gaps(  # noqa: PLR0913 - all are inputs
    scores: Scores,
    segment_of_user: pd.Series[Any],
    metric: str | Metric | None,
    of: str,
    options: GapOptions,
    *,
    progress: bool,
) -> pd.DataFrame:
    """Return one of the tables of `Report.gaps`, for the groups from `assign_segments`.

    Raises
    ------
    InvalidInputError
        There is no such table, no such metric, or only one group.
    """
    check_choice("of", of, TABLES)
    labels = segment_of_user.cat.categories.tolist()
    if len(labels) < 2:
        msg = (
            f"All users are in the group {labels[0]!r} of {segment_of_user.name!r}. A gap needs at "
            "least two groups. Give each user a group, such as groups={'ann': 'new', 'bob': 'old'}."
        )
        raise InvalidInputError(msg)
    codes = segment_of_user.cat.codes.to_numpy().astype(np.int64)
    names = _find_metrics(scores, metric)
    found: dict[str, MetricGaps] = {}
    with progress_bar(enabled=progress) as show:
        for place, name in enumerate(names):
            column = scores.per_user[:, scores.names.index(name)]

            def show_share(share: float, place: int = place) -> None:
                show("Permuting users", (place + share) / len(names))

            found[name] = MetricGaps.of(column, codes, len(labels), options, show_share)
    if of == "metrics":
        rows = [one.to_row(labels) for one in found.values()]
        return pd.DataFrame(rows, index=pd.Index(names, name="metric"))
    bounded = {str(one): one.is_bounded for one in scores.measurements}
    tables = {
        name: one.to_pairs(labels)
        if of == "pairs"
        else one.to_groups(labels, options.level, bounded=bounded[name])
        for name, one in found.items()
    }
    return pd.concat(
        [pd.DataFrame({"metric": name, **columns}) for name, columns in tables.items()],
        ignore_index=True,
    )


def find_known_groups(lists: GroupedLists | None) -> dict[Any, Any]:
    """Return the groups of users that were given to the evaluation.

    Raises
    ------
    InvalidInputError
        There are none.
    """
    known = None if lists is None else lists.background
    if lists is None or known is None or known.group_of is None:
        msg = (
            "gaps needs groups of users, and none were given to evaluate(). Write "
            "report.gaps({'ann': 'new', 'bob': 'old'}), or evaluate(..., groups=...)."
        )
        raise InvalidInputError(msg)
    places = np.asarray(lists.background_users)
    codes = np.append(known.group_of, -1)[places]
    pairs = zip(lists.users.tolist(), codes.tolist(), strict=True)
    return {user: known.groups[code] for user, code in pairs if code >= 0}


def _find_metrics(scores: Scores, metric: str | Metric | None) -> list[str]:
    """Return the names of the metrics that have a score per user."""
    without = [str(one) for one in scores.measurements if not one.metric.per_user]
    names = [name for name in scores.names if name not in without]
    if metric is not None:
        names = [find_metric_name(metric, scores.names, "This report")]
    if not names or names[0] in without:
        msg = (
            f"{(names or without)[0]} is a number of all lists together: no user has a score of "
            "it. Evaluate a metric with scores, such as 'ndcg@10', or compare the groups with "
            "report.by()."
        )
        raise InvalidInputError(msg)
    return names


def _divide_errors(gap: Floats, error: Floats) -> Floats:
    """Return |t|: 0 for 0/0, infinite if only the error is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((gap == 0) & (error == 0), 0.0, np.abs(gap) / error)


def _drop_rounding(values: Floats, slack: float) -> Floats:
    """Return 0 for values that are rounding errors."""
    return np.where(np.abs(values) <= slack, 0.0, values)


def _draw_largest(
    values: Floats,
    codes: Positions,
    count: Positions,
    options: GapOptions,
    show: Callable[[float], None],
) -> tuple[Floats, float]:
    """Return the largest |t| of all pairs in each permutation, ascending, and the mean |gap|."""
    generator = np.random.default_rng(options.seed)
    one, other = np.triu_indices(len(count), 1)
    has_both = (count[one] > 0) & (count[other] > 0)
    pairs = one[has_both], other[has_both]
    largest, total = np.empty(options.draws), 0.0
    for draw in range(options.draws):
        means = GroupMeans.of(generator.permutation(values), codes, count)
        gap, error = means.compute_gaps(pairs)
        largest[draw] = _divide_errors(gap, error).max()
        total += float(np.abs(gap).mean())
        show((draw + 1) / options.draws)
    return np.sort(largest), total / options.draws
