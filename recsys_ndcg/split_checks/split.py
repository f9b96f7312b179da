"""A split, what a check finds in it, and the registry of checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Flags, Floats, add_fields
from recsys_ndcg.findings import Finding
from recsys_ndcg.input import EncodedIds
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.ratings import Interactions

#: From this share of the test rows or users on, a finding changes what a score means.
MANY = 0.2
#: Popularity is compared for items with at least this number of rows: counts are nearly normal.
_MIN_ROWS = 10
_UNKNOWN = pd.Series([np.nan])
#: What a row of each part is called.
ROW_NAMES = {
    "train": "training row",
    "test": "test row",
    "validation": "validation row",
    "lists": "listed item",
}


@dataclass(frozen=True, eq=False)
class TrainSummary:
    """What the checks need to know of the training rows.

    Parameters
    ----------
    users, items : pandas.DataFrame
        By id: ``rows``, and if there are times ``last`` of a user, ``first`` of an item; of an item
        also the sums of `_sum_moments`.
    first_repeats : tuple of str
        The first repeated pairs.
    in_train : mapping of str to bool array
        For each row of the other parts, whether its pair is in training.
    sums : pandas.Series
        Over rows with a rating: their number, the sum of ratings and of squares, and of ratings of
        at least the threshold. The numbers of rows with a time, of rows later than the median row
        of each other part, and of rows whose pair of user and item was there before.
    """

    users: pd.DataFrame
    items: pd.DataFrame
    first_repeats: tuple[str, ...]
    in_train: Mapping[str, Flags]
    sums: pd.Series[float]

    @classmethod
    def of(
        cls, train: Interactions, others: Mapping[str, Interactions], threshold: float | None
    ) -> TrainSummary:
        """Summarise training rows, with all rows of each of their users.

        Parameters
        ----------
        train : Interactions
            The rows.
        others : mapping of str to Interactions
            The other parts, whose pairs are looked up.
        threshold : float, optional
            The least rating of a relevant item.
        """
        by_user: dict[str, Any] = {"rows": train.user.counts}
        by_item: dict[str, Any] = {"rows": train.item.counts}
        test = others["test"].user
        places = test.index.get_indexer(train.user.index)
        n_tested = np.append(test.counts, 0)[places]
        by_item |= _sum_moments(train, n_tested / (n_tested + by_user["rows"]))
        if train.time is not None:
            by_user["last"] = find_ends(train.user, train.time, np.fmax)
            by_item["first"] = find_ends(train.item, train.time, np.fmin)
        again = train.is_repeated
        later = {f"later than {name}": _count_later(train, one) for name, one in others.items()}
        return cls(
            users=pd.DataFrame(by_user, index=train.user.index),
            items=pd.DataFrame(by_item, index=train.item.index),
            first_repeats=train.name_rows(again),
            in_train={name: train.contains(one) for name, one in others.items()},
            sums=pd.Series(
                _sum_rows(train, threshold) | later | {"repeats": again.sum()}, dtype=np.float64
            ),
        )

    def __add__(self, other: TrainSummary) -> TrainSummary:
        """Return the summary of the rows of both; no user is in both."""
        items = pd.concat([self.items, other.items]).groupby(level=0)
        return add_fields(  # a sum of flags is their or
            self,
            other,
            users=pd.concat([self.users, other.users]),
            items=items.agg({name: "min" if name == "first" else "sum" for name in self.items}),
            first_repeats=(self.first_repeats + other.first_repeats)[:3],
        )

    @property
    def period(self) -> tuple[float, float]:
        """The first and the last time; NaN without times."""
        first, last = self.items.get("first", _UNKNOWN), self.users.get("last", _UNKNOWN)
        return float(first.min()), float(last.max())

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self.users["rows"].sum())


def _sum_moments(part: Interactions, shares: Floats) -> dict[str, Floats]:
    """Return by item, over the rows of a part, what is needed if tested rows were drawn by user.

    The sums of their probabilities, variances and fourth cumulants: of a user of n rows, m of them
    tested, each row is tested with the probability m/n.

    Parameters
    ----------
    part : Interactions
        The rows.
    shares : float64 array
        That probability for each distinct user.
    """
    p = shares[part.user.codes]
    spread = p * (1 - p)
    moments = {"expected": p, "variance": spread, "fourth": spread * (1 - 6 * spread)}
    codes, size = part.item.codes, len(part.item.ids)
    return {name: np.bincount(codes, one, size).astype(np.float64) for name, one in moments.items()}


def find_ends(ids: EncodedIds, time: Floats, end: np.ufunc) -> Floats:
    """Return the first (`np.fmin`) or last time of each distinct id, NaN if it has none."""
    found = np.full(len(ids.ids), np.nan)
    end.at(found, ids.codes, time)
    return found


def _count_later(train: Interactions, part: Interactions) -> int:
    """Return the number of training rows that are later than the median row of a part."""
    if train.time is None or part.time is None or np.isnan(part.time).all():
        return 0
    return int((train.time > np.nanmedian(part.time)).sum())


def _sum_rows(train: Interactions, threshold: float | None) -> dict[str, float]:
    rating = train.rated
    time = np.zeros(0) if train.time is None else train.time
    relevant = rating >= threshold if threshold is not None else np.zeros(0)
    return {
        "rated": float(len(rating)),
        "rating": rating.sum(),
        "square": (rating**2).sum(),
        "relevant": float(relevant.sum()),
        "timed": float((~np.isnan(time)).sum()),
    }


@dataclass(frozen=True, eq=False)
class Profile:
    """How the rows of a part relate to the training rows.

    Parameters
    ----------
    name : {'test', 'validation', 'lists'}
        The part.
    part : Interactions
        The rows.
    train : TrainSummary
        The training rows.
    """

    name: str
    part: Interactions
    train: TrainSummary

    @lazy_property
    def by_user(self) -> pd.DataFrame:
        """What is known from training of each distinct user of this part, NaN of unknown ones."""
        return self.train.users.reindex(self.part.user.index)

    @lazy_property
    def by_item(self) -> pd.DataFrame:
        """What is known from training of each distinct item of this part, NaN of unknown ones."""
        return self.train.items.reindex(self.part.item.index)

    @property
    def in_train(self) -> Flags:
        """Whether the pair of each row is in training."""
        return self.train.in_train[self.name]

    @property
    def is_known_user(self) -> Flags:
        """Whether each distinct user has a training row."""
        return self.by_user["rows"].notna().to_numpy()

    @property
    def is_unknown_user(self) -> Flags:
        """Whether the user of each row has no training row."""
        return ~self.is_known_user[self.part.user.codes]

    @property
    def is_unknown_item(self) -> Flags:
        """Whether the item of each row has no training row."""
        return self.by_item["rows"].isna().to_numpy()[self.part.item.codes]

    def count_users(self, rows: Flags) -> int:
        """Return the number of users who have any of some rows."""
        return int(np.count_nonzero(np.bincount(self.part.user.codes[rows])))

    def align(self, name: str, here: Any) -> tuple[Floats, Floats]:
        """Return a column of the training items and numbers of this part's, of the items of both.

        0 for an item that is only in the other; unknown items come last.
        """
        known, found = self.train.items[name], pd.Series(here, self.part.item.index)
        items = known.index.union(found.index, sort=False)
        in_train, in_part = (one.reindex(items, fill_value=0) for one in (known, found))
        return in_train.to_numpy(np.float64), in_part.to_numpy(np.float64)

    @lazy_property
    def moments_by_item(self) -> tuple[Floats, ...] | None:
        """The mean, variance and fourth cumulant of each item's rows here, if drawn by user.

        None if users do not have the same number of rows here, or no other rows.
        """
        n_rows = self.part.user.counts
        n_train = self.by_user["rows"].fillna(0).to_numpy()
        if n_rows.min() < n_rows.max() or not n_train.any():
            return None
        here = _sum_moments(self.part, n_rows / (n_rows + n_train))
        return tuple(np.add(*self.align(name, one)) for name, one in here.items())

    @property
    def has_times(self) -> bool:
        """Whether rows of both parts have times, and not all the same."""
        ends = np.array([*self.train.period, *self.part.period])
        return not np.isnan(ends).any() and bool(ends.min() < ends.max())

    @property
    def is_earlier_than_training(self) -> Flags:
        """Whether the same user has a training row later than each row."""
        last = self.by_user["last"].to_numpy()[self.part.user.codes]
        return np.asarray(last > np.asarray(self.part.time))

    @property
    def is_before_item(self) -> Flags:
        """Whether the first training row of each row's item is later than the row."""
        first = self.by_item["first"].to_numpy()[self.part.item.codes]
        return np.asarray(first > np.asarray(self.part.time))

    @property
    def n_late(self) -> int:
        """The number of training rows that are later than the median row."""
        return int(self.train.sums[f"later than {self.name}"])

    @lazy_property
    def late_share(self) -> float:
        """The share of the training rows that are later than the median row."""
        n_timed = self.train.sums["timed"]
        return float(self.n_late / n_timed) if n_timed else np.nan

    @lazy_property
    def popularity_shift(self) -> tuple[float, float, int]:
        r"""The mean z² of items, its p-value, and the number of items with enough rows.

        .. math:: \frac{\sum_i z_i^2}{\sum_i \frac{N - n_i}{N - 1}}, \qquad
            z_i = \frac{t_i - n_i p}{\sqrt{n_i p (1 - p)}}

        with n_i the rows of item i in both parts, t_i those of this part, N all rows and p the
        part's share of them: Pearson's statistic over its expectation if as many rows were chosen
        at random, so that it is 1 on average. If all users have equally many rows here, as many
        rows of each user: then the mean and variance of t_i are sums over the users of the item,
        and the divisor is the number of items. The p-value is of a gamma distribution with the
        statistic's mean and variance (which is exact for many rows; for few, the fourth moments of
        binomial counts are added).
        """
        in_train, here = self.align("rows", self.part.item.counts)
        n_rows = len(self.part) + len(self.train)
        p = len(self.part) / n_rows
        both = in_train + here
        is_frequent = both >= _MIN_ROWS
        expected, spread = both * p, both * p * (1 - p)
        fourth, share = spread * (1 - 6 * p * (1 - p)), both / n_rows
        means = (1 - share) * n_rows / (n_rows - 1)
        if self.moments_by_item:
            expected, spread, fourth = self.moments_by_item
            is_frequent &= spread > 0
            share, means = np.zeros(len(both)), np.ones(len(both))
        n_items, share = int(is_frequent.sum()), share[is_frequent]
        usual = float(means[is_frequent].sum())
        if not usual:  # no item, or just one
            return np.nan, np.nan, n_items
        squares = spread[is_frequent]
        total = float(((here - expected)[is_frequent] ** 2 / squares).sum())
        few = float((fourth[is_frequent] / squares**2).sum())
        variance = 2 * (n_items - 2 * share.sum() + share.sum() ** 2) + few
        from scipy.special import gammaincc  # noqa: PLC0415 - scipy takes longer than pandas

        p_value = float(gammaincc(usual**2 / variance, total * usual / variance))
        return total / usual, p_value, n_items

    @property
    def shares(self) -> dict[str, float]:
        """The shares by which a validation part is compared with the test part."""
        found = {
            "rows of unknown users": self.is_unknown_user.mean(),
            "rows of unknown items": self.is_unknown_item.mean(),
            "users with one row": (self.part.user.counts == 1).mean(),
        }
        if self.has_times:
            found["rows with later training rows of the user"] = (
                self.is_earlier_than_training.mean()
            )
            found["training rows later than the median"] = self.late_share
        return {name: float(one) for name, one in found.items()}


@dataclass(frozen=True, eq=False)
class Split:
    """The parts of a split.

    Parameters
    ----------
    train : TrainSummary
        The training rows.
    parts : mapping of str to Profile
        ``"test"``; perhaps ``"validation"``, and ``"lists"``: the recommended items, or the
        candidates, of users.
    retyped : tuple of Finding
        What was found when the types of ids were made the same.
    k : int
        The cutoff.
    threshold : float, optional
        The least rating of a relevant item.
    """

    train: TrainSummary
    parts: Mapping[str, Profile]
    retyped: tuple[Finding, ...] = ()
    k: int = 10
    threshold: float | None = None

    @property
    def test(self) -> Profile:
        """The test rows."""
        return self.parts["test"]

    def count_rows_by(self, side: str) -> Floats:
        """Return the number of rows in all parts of each user, or of each item."""
        known = self.train.users if side == "user" else self.train.items
        rated = [one.part for name, one in self.parts.items() if name != "lists"]
        encoded = [getattr(one, side) for one in rated]
        counts = [pd.Series(one.counts, one.index) for one in encoded]
        rows = pd.concat([known["rows"], *counts]).groupby(level=0, sort=False).sum()
        return np.asarray(rows, dtype=np.float64)

    @lazy_property
    def has(self) -> frozenset[str]:
        """What the split has, of what checks need."""
        n_rated = len(self.test.part.rated)
        values = {
            "times": self.test.has_times,
            "ratings": n_rated and self.train.sums["rated"],
            "threshold": n_rated and self.threshold is not None,
        }
        return frozenset(name for name, one in values.items() if one).union(self.parts)


Check = Callable[[Split], Finding]
#: The checks with what they need (`Split.has`), in the order in which they are reported.
CHECKS: dict[str, tuple[Check, frozenset[str]]] = {}


def register(kind: str, *needs: str) -> Callable[[Check], Check]:
    """Register a check under the kind of its findings."""

    def add(check: Check) -> Check:
        CHECKS[kind] = check, frozenset(needs)
        return check

    return add


def name_check(kind: str) -> str:
    """Return the name that people read: ``"pairs in both parts"``."""
    return kind.replace("_", " ")


def count_rows(
    kind: str,
    part: Interactions,
    rows: Flags,
    severity: str = "warning",
    *,
    least: float = 0,
    **numbers: float,
) -> Finding:
    """Return a finding about some rows: only a fact if their share is at most `least`.

    Parameters
    ----------
    kind : str
        The kind of the finding.
    part : Interactions
        The rows that were checked.
    rows : bool array
        Which of them are at fault.
    severity : str
        How bad that is.
    least : float
        The share up to which they are only counted.
    **numbers
        Further numbers.
    """
    counts = count_flags(rows)
    names = {"rows": part.name_rows(rows)}
    severity = severity if counts["share"] > least else "fact"
    return Finding(kind, counts | numbers, names, severity)


def count_flags(flags: Flags) -> dict[str, float]:
    """Return how many are set, of how many, and their share."""
    return {"count": int(flags.sum()), "total": len(flags), "share": float(flags.mean())}
