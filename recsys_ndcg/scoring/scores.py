"""Scores: numerators and denominators per user and measurement."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.arrays import (
    Flags,
    Floats,
    Ids,
    Positions,
    ReadOnlyArrays,
    add_fields,
    are_equal,
    column_counts,
    column_sums,
    concat_along,
    concat_ids,
    divide,
    make_read_only,
    take_along,
)
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.input import make_index
from recsys_ndcg.lazy import Cache, lazy_property
from recsys_ndcg.lists import Facts
from recsys_ndcg.ranking import Exposures, ItemTotals
from recsys_ndcg.scoring.measurement import Measurement
from recsys_ndcg.scoring.signature import Signature, sign

_LARGEST = 1e300  # sums over many users must fit a float64
_SMALLEST = 1e-305  # smaller sums may have denormal parts, which have fewer digits
_TOLERANCE = 1e-12  # relative to the higher score: sums differ in their last digits


@dataclass(frozen=True, eq=False)
class ListCounts(ReadOnlyArrays):
    """Counts of each user's list: arrays of shape (n_users,).

    If measurements rank different items or have different ties, these are the counts under the
    first measurement.

    Parameters
    ----------
    n_items : array
        Items in the list that was ranked.
    n_relevant : float64 array
        Relevant items, in the list or not; NaN without a threshold.
    tied : bool array
        Whether two items of the list have the same estimate.
    missing : bool array
        Whether the user has labels but no list.
    ratings : array
        Rows as read.
    candidates : array
        Items that these rows were chosen from.
    unlabelled : array
        Rows without a true value.
    unlisted : array
        Labels of items outside the list.
    impossible : array
        Predictions that the model could not make.
    repeats : array
        Rows merged into others: ``"duplicates"`` in `Totals.counts`, ``"repeats"`` in files.
    cold, outside, seen : arrays
        Listed items without training rows, outside the catalogue, and that the user had in
        training; 0 if that is unknown.
    """

    _axes: ClassVar = {"users": "*"}

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
    cold: Floats
    outside: Floats
    seen: Floats

    @classmethod
    def from_columns(cls, columns: Mapping[str, NDArray[Any]]) -> Self:
        """Return the counts from the columns with their names."""
        return cls(**{each.name: columns[each.name] for each in fields(cls)})

    @property
    def activity(self) -> Floats:
        """The number of items that each user has labelled, in the list or not."""
        return np.asarray(self.ratings - self.unlabelled + self.unlisted, dtype=np.float64)


#: The tables from which scores are computed, of shape (n_users, n_measurements).
_TABLES_BEHIND_SCORES = ("numerator", "denominator", "left_out")
#: Roles with other orders of the same lists: random order and the extreme orders.
ORDER_ROLES = ("chance", "worst", "best")
#: All tables from other orders: the scores in these roles, and the mean and standard deviation of
#: the numerator (not of the score) in random order, NaN for non-linear metrics. Keys in files.
ORDER_TABLES = (*ORDER_ROLES, "expected", "deviation")


@dataclass(frozen=True, eq=False)
class Means:
    """A mergeable mean for each column: arrays of shape (n_columns,).

    Parameters
    ----------
    count : int64 array
        The number of values.
    total : float64 array
        The sum of the values.
    """

    count: Positions
    total: Floats

    @classmethod
    def of(cls, values: Floats, mask: Flags | None = None) -> Means:
        """Sum up the cells of a table that are not NaN, and for which `mask` is true."""
        is_counted = ~np.isnan(values)
        if mask is not None:
            is_counted &= mask
        return cls(column_counts(is_counted), column_sums(np.where(is_counted, values, 0.0)))

    def __add__(self, other: Means) -> Means:
        """Return the means of both sets of values."""
        return add_fields(self, other)

    @property
    def mean(self) -> Floats:
        """The means, NaN without values."""
        return divide(self.total, self.count)


class MetricColumns:
    """Base of `Scores` and `Totals`: a column for each measurement."""

    measurements: tuple[Measurement, ...]

    @property
    def names(self) -> list[str]:
        """The names of the metrics."""
        return [str(one) for one in self.measurements]

    @property
    def n_scored(self) -> Positions:
        """The number of users with a score, by measurement."""
        raise NotImplementedError

    def make_signatures(self, facts: Facts) -> dict[str, Signature]:
        """Return the signature of every metric by name."""
        counted = zip(self.measurements, self.n_scored, strict=True)
        return {str(one): sign(one, facts, n_users) for one, n_users in counted}

    def scores_from_ratios(self, ratios: Floats) -> Floats:
        """Turn each metric's ratio of numerator to denominator into a score (RMSE: its root)."""
        pairs = zip(self.measurements, ratios, strict=True)
        return np.array([one.metric.score(np.array([ratio]))[0] for one, ratio in pairs])


@dataclass(frozen=True, eq=False)
class Scores(MetricColumns, ReadOnlyArrays):
    """Numerators and denominators of every user and measurement, and scores in other roles.

    Parameters
    ----------
    measurements : tuple of Measurement
        One for each column.
    users : array, shape (n_users,)
        The ids.
    numerator, denominator : float64 arrays, shape (n_users, n_measurements)
        The two parts of each score.
    left_out : bool array, same shape
        Users whom the convention leaves out of a metric: short lists, missing users.
    counts : ListCounts
        Counts of the users' lists.
    roles : mapping of str to float64 array, same shape
        Scores of the same lists in other roles, NaN if there is none: ``"chance"``, ``"worst"``
        and ``"best"``, from other orders (`ORDER_ROLES`); ``"lowest"`` and ``"highest"``, with all
        ties in their worst and best order; ``"judged"``, the share of the first k that is labelled;
        ``"zero"`` and ``"top"``, if unlabelled items were irrelevant, or of the top grade;
        ``"own"``, the scores themselves, in `ModelScores`, where a mean over several runs is not
        numerator over denominator. And two tables that are no scores: ``"expected"`` and
        ``"deviation"``, the numerator's mean and standard deviation in random order.
    label_digests : uint32 array, shape (n_users,), optional
        A digest of each user's labels.
    exposures : tuple of Exposures or None
        For each measurement of all lists together, who was shown what; None for others. Empty if
        there is no such measurement.
    """

    _axes: ClassVar = {
        "users": "users counts label_digests",
        "metrics": "measurements exposures",
        "users metrics": "numerator denominator left_out roles",
    }

    measurements: tuple[Measurement, ...]
    users: Ids
    numerator: Floats
    denominator: Floats
    left_out: Flags
    counts: ListCounts
    roles: Mapping[str, Floats] = field(default_factory=dict)
    label_digests: NDArray[np.unsignedinteger[Any]] | None = None
    exposures: tuple[Exposures | None, ...] = ()

    @classmethod
    def concat(cls, parts: Sequence[Scores]) -> Scores:
        """Join the scores of several parts with the same measurements."""
        if len(parts) == 1:
            return parts[0]
        exposures = _map_shared(zip(*(part.exposures for part in parts), strict=True))
        users = concat_ids([part.users for part in parts])
        return replace(concat_along(parts, "users"), users=users, exposures=exposures)

    def table(self) -> pd.DataFrame:
        """Return n_items, n_relevant and a column per metric of users, indexed by user."""
        counts = self.counts
        has_threshold = not np.isnan(counts.n_relevant).any()
        n_relevant = counts.n_relevant.astype(int if has_threshold else float)
        columns = {"n_items": counts.n_items, "n_relevant": n_relevant}
        scored = zip(self.measurements, self.per_user.T, strict=True)
        columns |= {str(one): scores for one, scores in scored if one.metric.per_user}
        return pd.DataFrame(columns, index=make_index(self.users, "user"))

    def take(self, users: Any) -> Self:
        """Return the scores of some users.

        Parameters
        ----------
        users : slice, or array of positions or flags
            A NumPy index for the first axis of an array.
        """
        shared = {id(one): one.take(users) for one in self.exposures if one is not None}
        exposures = tuple(shared.get(id(one)) for one in self.exposures)
        return replace(take_along(self, "users", users), exposures=exposures)

    def positions_of(self, users: Iterable[Any]) -> Positions:
        """Return the positions of some users, ascending.

        Parameters
        ----------
        users : iterable
            The ids.

        Raises
        ------
        InvalidInputError
            A user does not exist or is given twice, or no user is given. The message mentions a
            similar id of another type, such as 1 for "1".
        """
        if isinstance(users, str | bytes) or not isinstance(users, Iterable):
            msg = f"Give the users as a list of their ids, not {quote(users)}."
            raise InvalidInputError(msg)
        position_of = {user: position for position, user in enumerate(self.users.tolist())}
        ids = users.tolist() if hasattr(users, "tolist") else list(users)
        for user in ids:
            if not isinstance(user, Hashable) or user not in position_of:
                raise InvalidInputError(self._describe_unknown(user))
        positions = sorted({position_of[user] for user in ids})
        if len(positions) < len(ids) or not ids:
            msg = "Some users are given twice." if ids else "Name at least one user."
            raise InvalidInputError(msg)
        return np.array(positions, dtype=np.int64)

    def _describe_unknown(self, user: Any) -> str:
        ids = self.users.tolist()
        texts = [str(each) for each in ids]
        if str(user) in texts:
            type_name = type(ids[texts.index(str(user))]).__name__
            hint = f"There is one whose id is of type {type_name}, not {type(user).__name__}."
        else:
            hint = f"The users are {', '.join(map(repr, ids[:3]))}{' …' if ids[3:] else ''}."
        return f"This report has {len(ids)} users, but no user {quote(user)}. {hint}"

    def replace_roles(self, roles: Mapping[str, Floats]) -> Scores:
        """Return the same scores with these roles, and no others."""
        scores = replace(self, roles=roles)
        if "own" not in roles and "own" not in self.roles:
            vars(scores)["per_user"] = self.per_user  # roles do not change it: fill its cache
        return scores

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return all arrays by name, for saving: a row per user.

        Returns
        -------
        dict of str to array
            ``"user"``; ``"n_items"`` and the other counts; ``"truth"``, the digests of the labels
            if they are known; and tables with a column per measurement: ``"numerator"``,
            ``"denominator"``, ``"left_out"``, and each role.
        """
        digests = {} if self.label_digests is None else {"truth": self.label_digests}
        return {
            "user": self.users,
            **vars(self.counts),
            **digests,
            **self.tables_behind_scores,
            **self.roles,
        }

    @classmethod
    def from_columns(
        cls, measurements: tuple[Measurement, ...], columns: Mapping[str, NDArray[Any]]
    ) -> Scores:
        """Return the scores from the result of `columns`, with all roles in it."""
        counts = ListCounts.from_columns(columns)
        tables: dict[str, Any] = {name: columns[name] for name in _TABLES_BEHIND_SCORES}
        not_roles = {"user", "truth", *vars(counts), *tables}
        return cls(
            measurements,
            columns["user"],
            **tables,
            counts=counts,
            roles={name: table for name, table in columns.items() if name not in not_roles},
            label_digests=columns.get("truth"),
        )

    def equals(self, other: Scores) -> bool:
        """Return whether numerators, denominators and users left out are equal."""
        return are_equal(self.tables_behind_scores, other.tables_behind_scores)

    @property
    def tables_behind_scores(self) -> dict[str, NDArray[Any]]:
        """The tables of numerators, denominators and users left out, by name."""
        return {name: getattr(self, name) for name in _TABLES_BEHIND_SCORES}

    @property
    def is_defined(self) -> Flags:
        """Whether the denominator is not 0 and the user is not left out.

        Under ``undefined=0.0`` users whose denominator is 0 have a score, too.
        """
        has_parts = (self.denominator != 0) & ~np.isnan(self.denominator)
        return np.asarray(has_parts & ~self.left_out)

    @property
    def is_undefined(self) -> Flags:
        """Whether the denominator is 0 and the user is not left out."""
        return np.asarray((self.denominator == 0) & ~self.left_out)

    @lazy_property
    def per_user(self) -> Floats:
        """The score of each user, NaN if there is none: shape (n_users, n_measurements)."""
        if "own" in self.roles:
            return self.roles["own"]
        is_undefined = self.is_undefined
        ratio = divide(self.numerator, self.denominator, self.is_defined)
        values = np.empty(ratio.shape)
        for column, one in enumerate(self.measurements):
            values[:, column] = one.metric.score(ratio[:, column])
            values[is_undefined[:, column], column] = one.score_if_undefined
        return make_read_only(values)

    @property
    def n_scored(self) -> Positions:
        """The number of users with a score, by measurement, or of lists that were shown."""
        counts = column_counts(~np.isnan(self.per_user))
        for column, one in enumerate(self.exposures):
            if one is not None:
                counts[column] = ((one.n_shown > 0) & ~self.left_out[:, column]).sum()
        return counts

    def sum_exposures(self) -> tuple[ItemTotals | None, ...]:
        """Return the sums by item of each measurement of all lists together; None for others."""
        shared = Cache()

        def add_up(one: Exposures | None, kept: Flags) -> ItemTotals | None:
            key = id(one), kept.tobytes()
            return shared.get_or_compute(key, lambda: None if one is None else one.sum(kept))

        return tuple(map(add_up, self.exposures, ~self.left_out.T))

    def mean(self, mask: Flags | None = None) -> Floats:
        """Return the mean score of all users, or of the users for whom `mask` is true."""
        return Means.of(self.per_user, mask).mean

    @property
    def median(self) -> Floats:
        """The median score: the only statistic that `Totals` cannot have."""
        columns = [column[~np.isnan(column)] for column in self.per_user.T]
        return np.array([np.median(column) if len(column) else np.nan for column in columns])

    @lazy_property
    def order_independent(self) -> Flags:
        """Whether every order of the list scores the same: shape (n_users, n_measurements)."""
        return nearly_equal(self.roles["worst"], self.roles["best"])

    @property
    def trivial(self) -> Flags:
        """Whether a user has a score, and every order of the list scores the same."""
        return np.asarray(self.order_independent & ~np.isnan(self.per_user))

    @lazy_property
    def adjusted(self) -> Floats:
        """(score - chance) / (best - chance) of each user; NaN for trivial users."""
        return adjust_for_chance(self.per_user, self.roles["chance"], self.roles["best"])

    @property
    def has_z(self) -> Flags:
        """Whether the user has a z: the deviation in random order is known and not 0."""
        is_known = ~np.isnan(self.roles["deviation"]) & ~np.isnan(self.roles["best"])
        return np.asarray(is_known & ~self.order_independent & self.is_defined)

    @property
    def excess(self) -> Floats:
        """Each numerator minus its mean in random order."""
        return self.numerator - self.roles["expected"]

    @lazy_property
    def z(self) -> Floats:
        """Each numerator minus its mean in random order, over its standard deviation."""
        return divide(self.excess, self.roles["deviation"], self.has_z)

    def objection(self) -> str:
        """Return why the scores of a user cannot be used; "" if all can."""
        for column, one in enumerate(self.measurements):
            denominator, is_kept = self.denominator[:, column], ~self.left_out[:, column]
            larger = np.maximum(np.abs(self.numerator[:, column]), denominator)
            is_huge = (larger > _LARGEST) & is_kept
            if is_huge.any():
                return (
                    f"{one} of user {quote(self.users[is_huge][0])} has a numerator or denominator "
                    f"of {larger[is_huge][0]:g}, too large to add up. Rescale the grades or the "
                    "estimates; a model that estimates such numbers has diverged."
                )
            is_tiny = (denominator > 0) & (denominator < _SMALLEST) & is_kept
            if is_tiny.any():
                return (
                    f"{one} of user {quote(self.users[is_tiny][0])} divides by "
                    f"{denominator[is_tiny][0]:g}, too little to be exact. Rescale the grades or "
                    "the gains."
                )
            is_undefined = (denominator == 0) & is_kept
            if one.convention.undefined == "raise" and is_undefined.any():
                users = ", ".join(repr(user) for user in self.users[is_undefined][:3].tolist())
                return (
                    f"{one} is undefined for {int(is_undefined.sum())} users, the first {users}: "
                    "each has no relevant item, no recommended item, or an empty list. "
                    "Choose `undefined='skip'`, 0.0 or 1.0."
                )
        return ""


def _map_shared(groups: Iterable[tuple[Exposures | None, ...]]) -> tuple[Exposures | None, ...]:
    """Join the exposures of several parts, those that measurements share once."""
    shared = Cache()

    def concat(parts: tuple[Exposures | None, ...]) -> Exposures | None:
        known = [part for part in parts if part is not None]
        return Exposures.concat(known) if known else None

    return tuple(
        shared.get_or_compute(tuple(map(id, parts)), partial(concat, parts)) for parts in groups
    )


def nearly_equal(low: Floats, high: Floats) -> Flags:
    """Return whether scores differ at most in the last digits of a sum; NaN equals nothing."""
    with np.errstate(invalid="ignore"):  # `objection` reports infinite scores
        return np.asarray(np.abs(high - low) <= _TOLERANCE * np.abs(high))


def subtract_scores(scores: Floats, others: Floats) -> Floats:
    """Return the differences, 0 if two scores differ at most in the last digits of a sum.

    Examples
    --------
    >>> subtract_scores(np.array([0.1 + 0.2, 0.5]), np.array([0.3, 0.25])).tolist()
    [0.0, 0.25]
    """
    return np.where(nearly_equal(others, scores), 0.0, scores - others)


def adjust_for_chance(score: Floats, chance: Floats, best: Floats) -> Floats:
    """Return (score - chance) / (best - chance), NaN if best equals chance (Hubert & Arabie 1985).

    Examples
    --------
    >>> adjust_for_chance(np.array([0.75, 1.0]), np.array([0.5, 1.0]), np.array([1.0, 1.0]))
    array([0.5, nan])
    """
    has_room = ~nearly_equal(chance, best) & ~np.isnan(best - chance)
    return divide(score - chance, best - chance, has_room)
