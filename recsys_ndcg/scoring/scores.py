"""Scores: what lists collect under some measurements, user by user."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.arrays import Columns, Record, read_only
from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recsys_ndcg.arrays import Flags, Floats, Ids, Positions
    from recsys_ndcg.scoring.measurement import Measurement


_LARGEST = 1e300  # so that sums over many users fit a float64
_SMALLEST = 1e-305  # so that a share of it, as the mean of a tie is, has all its digits


@dataclass(frozen=True, eq=False)
class ListCounts(Columns):
    """What there is to count in each user's list: arrays of shape (n_users,).

    Where measurements see other items or other ties, it is as the first of them sees it.

    Parameters
    ----------
    n_items : array
        Items in the list that was ranked.
    n_relevant : float64 array
        Relevant items, in the list or not; NaN where no threshold says which.
    tied : bool array
        Whether two of its items have the same estimate.
    missing : bool array
        Whether there is no list, but labels.
    ratings, candidates, unlabelled, unlisted, impossible, repeats : arrays
        Rows as they came; the items that they were chosen from; rows without a true value; labels
        outside the list; predictions that the model could not make; rows that were merged into
        others.
    """

    n_items: Positions
    n_relevant: Floats
    tied: Flags
    missing: Flags
    ratings: Positions
    candidates: Positions
    unlabelled: Floats
    unlisted: Positions
    impossible: Floats
    repeats: Positions

    @property
    def activity(self) -> Floats:
        """How many items each user has labelled, in the list or not."""
        return np.asarray(self.ratings - self.unlabelled + self.unlisted, dtype=np.float64)


#: What there is of every user under every measurement.
PARTS = ("numerator", "denominator", "left_out")


@dataclass(frozen=True, eq=False)
class Scores(Record):
    """Numerators and denominators of every user under every measurement.

    Parameters
    ----------
    measurements : tuple of Measurement
        One per column.
    users : array, shape (n_users,)
        The ids.
    numerator, denominator : float64 arrays, shape (n_users, n_measurements)
        What was collected, and what there was to collect.
    left_out : bool array, same shape
        Users whom the convention leaves out of a metric: short lists, missing users.
    counts : ListCounts
        What there is to count in the users' lists.
    """

    measurements: tuple[Measurement, ...]
    users: Ids
    numerator: Floats
    denominator: Floats
    left_out: Flags
    counts: ListCounts

    @classmethod
    def concat(cls, parts: Sequence[Scores]) -> Scores:
        """Return the scores of the users of all parts, in their order.

        Raises
        ------
        InvalidInputError
            The parts were not measured alike.
        """
        first, *others = parts
        if any(one.measurements != first.measurements for one in others):
            msg = "Scores of different measurements cannot be joined; measure all parts alike."
            raise InvalidInputError(msg)
        if not others:
            return first
        return cls(
            first.measurements,
            users=np.concatenate([one.users for one in parts]),
            numerator=np.concatenate([one.numerator for one in parts]),
            denominator=np.concatenate([one.denominator for one in parts]),
            left_out=np.concatenate([one.left_out for one in parts]),
            counts=ListCounts.concat([one.counts for one in parts]),
        )

    def take(self, users: Any) -> Scores:
        """Return the scores of some users.

        Parameters
        ----------
        users : slice, or array of places or of flags
            As numpy indexes the first axis of an array.
        """
        return Scores(
            self.measurements,
            users=self.users[users],
            numerator=self.numerator[users],
            denominator=self.denominator[users],
            left_out=self.left_out[users],
            counts=self.counts.take(users),
        )

    def columns(self, places: slice) -> Scores:
        """Return the scores under some of the measurements."""
        return replace(
            self,
            measurements=self.measurements[places],
            numerator=self.numerator[:, places],
            denominator=self.denominator[:, places],
            left_out=self.left_out[:, places],
        )

    def same_as(self, other: Scores) -> bool:
        """Tell whether all numerators, denominators and users left out are the same."""
        return all(
            np.array_equal(getattr(self, name), getattr(other, name), equal_nan=name != "left_out")
            for name in PARTS
        )

    @property
    def names(self) -> list[str]:
        """The names of the metrics."""
        return [str(one) for one in self.measurements]

    @property
    def defined(self) -> Flags:
        """Users who have a score of their own."""
        return np.asarray((self.denominator != 0) & ~self.left_out)

    @property
    def undefined(self) -> Flags:
        """Users who have no score of their own: the denominator is 0."""
        return np.asarray((self.denominator == 0) & ~self.left_out)

    @lazy
    def per_user(self) -> Floats:
        """The score of each user, NaN where there is none: shape (n_users, n_measurements)."""
        defined, undefined = self.defined, self.undefined
        ratio = np.divide(
            self.numerator, self.denominator, where=defined, out=np.full(defined.shape, np.nan)
        )
        values = np.empty(ratio.shape)
        for place, one in enumerate(self.measurements):
            values[:, place] = one.metric.score(ratio[:, place])
            values[undefined[:, place], place] = one.undefined
        return read_only(values)

    @property
    def n_scored(self) -> list[int]:
        """How many users have a score, by measurement."""
        counted: list[int] = (~np.isnan(self.per_user)).sum(axis=0).tolist()
        return counted

    @property
    def median(self) -> Floats:
        """The median over the users who have a score: of all statistics, it alone needs them."""
        return np.array([_median(column[~np.isnan(column)]) for column in self.per_user.T])

    def objection(self) -> str:
        """Return whose parts are too large or too small, or who has no score and must have one."""
        for place, one in enumerate(self.measurements):
            parts = np.maximum(np.abs(self.numerator[:, place]), self.denominator[:, place])
            beyond = (parts > _LARGEST) & ~self.left_out[:, place]
            if beyond.any():
                first = self.users[beyond][0]
                return (
                    f"{one} collects {parts[beyond][0]:g} of user {shown(first)}, too much to be "
                    "added up. Rescale the grades or the estimates; a model that estimates such "
                    "numbers has diverged."
                )
            ideal = self.denominator[:, place]
            tiny = (ideal > 0) & (ideal < _SMALLEST) & ~self.left_out[:, place]
            if tiny.any():
                return (
                    f"{one} divides by {ideal[tiny][0]:g} for user {shown(self.users[tiny][0])}, "
                    "too little to be exact. Rescale the grades or the gains."
                )
            undefined = self.undefined[:, place]
            if one.convention.undefined == "raise" and undefined.any():
                users = ", ".join(repr(user) for user in self.users[undefined][:3].tolist())
                return (
                    f"{one} is undefined for {int(undefined.sum())} users, the first {users}: "
                    "nothing is relevant, recommended or listed there. "
                    "Choose undefined='skip', 0.0 or 1.0."
                )
        return ""


def _median(values: Floats) -> float:
    return float(np.median(values)) if len(values) else np.nan
