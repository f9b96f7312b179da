"""Scores: what lists collect under some measurements, user by user."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.arrays import (
    Flags,
    Floats,
    Ids,
    Positions,
    Record,
    as_read_only,
    column_sums,
    concat_ids,
    divide,
)
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.input import index_of
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.lists import Facts
from recsys_ndcg.scoring.measurement import Measurement
from recsys_ndcg.scoring.signature import Signature

_LARGEST = 1e300  # so that sums over many users fit a float64
_SMALLEST = 1e-305  # so that a share of it, as the mean of a tie is, has all its digits
_SAME = 1e-12  # of the higher of two scores: less is the last digits of their sums


@dataclass(frozen=True, eq=False)
class ListCounts(Record):
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

    @classmethod
    def among(cls, columns: Mapping[str, NDArray[Any]]) -> Self:
        """Return the counts of the columns that have their names."""
        return cls(**{one.name: columns[one.name] for one in fields(cls)})

    @property
    def activity(self) -> Floats:
        """How many items each user has labelled, in the list or not."""
        return np.asarray(self.ratings - self.unlabelled + self.unlisted, dtype=np.float64)


#: What there is of every user under every measurement.
_PARTS = ("numerator", "denominator", "left_out")
#: The roles that other orders of the same lists give: the scores of random order and of the extreme
#: ones; mean and standard deviation of the numerator in random order, NaN of metrics that are not
#: linear.
ORDERS = ("chance", "worst", "best", "expected", "deviation")


@dataclass(frozen=True, eq=False)
class Means:
    """A mean for each column, that merges: arrays of shape (n_columns,).

    Parameters
    ----------
    count : int64 array
        How many numbers there are.
    total : float64 array
        Their sums.
    """

    count: Positions
    total: Floats

    @classmethod
    def of(cls, values: Floats, among: Flags | None = None) -> Means:
        """Sum up a table, NaN left out, and whatever is not `among` those that count."""
        there = ~np.isnan(values)
        if among is not None:
            there &= among
        return cls(there.sum(axis=0), column_sums(np.where(there, values, 0.0)))

    def __add__(self, other: Means) -> Means:
        """Return those of the numbers of both."""
        return Means(self.count + other.count, self.total + other.total)

    @property
    def mean(self) -> Floats:
        """The means, NaN of no numbers."""
        return divide(self.total, self.count)


class Measured:
    """What has a column for each of some measurements."""

    measurements: tuple[Measurement, ...]

    @property
    def names(self) -> list[str]:
        """The names of the metrics."""
        return [str(one) for one in self.measurements]

    @property
    def n_scored(self) -> Positions:
        """How many users have a score, by measurement."""
        raise NotImplementedError

    def sign(self, facts: Facts) -> dict[str, Signature]:
        """Return the signature of every metric, by its name."""
        users = zip(self.measurements, self.n_scored, strict=True)
        return {str(one): Signature.of(one, facts, count) for one, count in users}

    def scored(self, ratio: Floats) -> Floats:
        """Return what each metric makes of a numerator over a denominator, one of each."""
        own = zip(self.measurements, ratio, strict=True)
        return np.array([one.metric.score(np.array([value]))[0] for one, value in own])


@dataclass(frozen=True, eq=False)
class Scores(Measured, Record):
    """Numerators and denominators of every user under every measurement, and scores in other roles.

    Parameters
    ----------
    measurements : tuple of Measurement
        A column each.
    users : array, shape (n_users,)
        The ids.
    numerator, denominator : float64 arrays, shape (n_users, n_measurements)
        What was collected, and what there was to collect.
    left_out : bool array, same shape
        Users whom the convention leaves out of a metric: short lists, missing users.
    counts : ListCounts
        What there is to count in the users' lists.
    roles : mapping of str to float64 array, same shape
        What else is known of the same lists, NaN where there is no such number: ``"chance"``,
        ``"worst"``, ``"best"``, ``"expected"`` and ``"deviation"``, of other orders (`ORDERS`);
        ``"lowest"`` and ``"highest"``, with all ties in their worst and best order; ``"judged"``,
        the share of the first k that is labelled; ``"zero"`` and ``"top"``, if unlabelled items
        were irrelevant, or of the top grade; ``"own"``, where a score is not its numerator over
        its denominator but a mean of several.
    truth : uint32 array, shape (n_users,), optional
        A digest of what is known of each user.
    """

    measurements: tuple[Measurement, ...]
    users: Ids
    numerator: Floats
    denominator: Floats
    left_out: Flags
    counts: ListCounts
    roles: Mapping[str, Floats] = field(default_factory=dict)
    truth: NDArray[np.unsignedinteger[Any]] | None = None

    @classmethod
    def concat(cls, parts: Sequence[Scores]) -> Scores:
        """Return the scores of the users of all parts, measured alike, in their order."""
        if len(parts) == 1:
            return parts[0]
        tables = [one.columns() for one in parts]
        joined = {
            name: np.concatenate([one[name] for one in tables])
            for name in tables[0]
            if all(name in one for one in tables)
        }
        joined["user"] = concat_ids([one.users for one in parts])
        return cls.from_columns(parts[0].measurements, joined)

    def table(self) -> pd.DataFrame:
        """Return n_items, n_relevant and a column per metric, indexed by user."""
        counts = self.counts
        known = not np.isnan(counts.n_relevant).any()  # what is relevant
        table = pd.DataFrame(self.per_user, columns=self.names, copy=True)
        table.insert(0, "n_items", counts.n_items.copy())
        table.insert(1, "n_relevant", counts.n_relevant.astype(int if known else float))
        return table.set_index(index_of(self.users, "user"))

    def take(self, users: Any) -> Self:
        """Return the scores of some users.

        Parameters
        ----------
        users : slice, or array of places or of flags
            As numpy indexes the first axis of an array.
        """
        return self.with_columns({name: one[users] for name, one in self.columns().items()})

    def places_of(self, wanted: Iterable[Any]) -> Positions:
        """Return the places of some users, ascending; an id of another type is told apart.

        Raises
        ------
        InvalidInputError
            There is no such user, one is given twice, or none is.
        """
        if isinstance(wanted, str | bytes) or not isinstance(wanted, Iterable):
            msg = f"Give the users as a list of their ids, not {quote(wanted)}."
            raise InvalidInputError(msg)
        place_of = {user: place for place, user in enumerate(self.users.tolist())}
        asked = wanted.tolist() if hasattr(wanted, "tolist") else list(wanted)
        for user in asked:
            if not isinstance(user, Hashable) or user not in place_of:
                raise InvalidInputError(self._unknown(user))
        places = sorted({place_of[user] for user in asked})
        if len(places) < len(asked) or not asked:
            msg = "Some users are given twice." if asked else "Name at least one user."
            raise InvalidInputError(msg)
        return np.array(places, dtype=np.int64)

    def _unknown(self, user: Any) -> str:
        ids = self.users.tolist()
        names = [str(one) for one in ids]
        if str(user) in names:
            own = type(ids[names.index(str(user))]).__name__
            hint = f"There is one whose id is of type {own}, not {type(user).__name__}."
        else:
            hint = f"The users run from {ids[0]!r} to {ids[-1]!r}."
        return f"There is no user {quote(user)} among the {len(ids)} of this report. {hint}"

    def select(self, places: slice | Sequence[int]) -> Self:
        """Return the scores under some of the measurements."""
        chosen = np.arange(len(self.measurements))[places].tolist()
        return replace(
            self,
            measurements=tuple(self.measurements[place] for place in chosen),
            **{name: getattr(self, name)[:, places] for name in _PARTS},
            roles={role: table[:, places] for role, table in self.roles.items()},
        )

    def with_roles(self, roles: Mapping[str, Floats]) -> Scores:
        """Return the same scores with these roles, and no others."""
        found = replace(self, roles=roles)
        if "own" not in roles and "own" not in self.roles:
            vars(found)["per_user"] = self.per_user  # which is the same, and not worked out again
        return found

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return all but the measurements as columns with a row per user, to be saved.

        Returns
        -------
        dict of str to array
            ``"user"``; ``"n_items"`` and the other counts; ``"truth"`` if it is known; and tables
            with a column per measurement: ``"numerator"``, ``"denominator"``, ``"left_out"``, and
            each role by its name.
        """
        truth = {} if self.truth is None else {"truth": self.truth}
        return {"user": self.users, **vars(self.counts), **truth, **self.parts, **self.roles}

    @classmethod
    def from_columns(
        cls, measurements: tuple[Measurement, ...], columns: Mapping[str, NDArray[Any]]
    ) -> Scores:
        """Return the scores that `columns` took apart, whichever roles they hold."""
        counts = ListCounts.among(columns)
        others = {"user", "truth", *vars(counts), *_PARTS}
        return cls(
            measurements,
            columns["user"],
            **{name: columns[name] for name in _PARTS},
            counts=counts,
            roles={name: table for name, table in columns.items() if name not in others},
            truth=columns.get("truth"),
        )

    def with_columns(self, columns: Mapping[str, NDArray[Any]]) -> Self:
        """Return these scores with all arrays taken from `columns`, of other users perhaps."""
        return replace(self, **vars(Scores.from_columns(self.measurements, columns)))

    def same_as(self, other: Scores) -> bool:
        """Tell whether all numerators, denominators and users left out are the same."""
        return all(
            np.array_equal(table, other.parts[name], equal_nan=name != "left_out")
            for name, table in self.parts.items()
        )

    @property
    def parts(self) -> dict[str, NDArray[Any]]:
        """The numerators, the denominators, and who is left out, by their names."""
        return {name: getattr(self, name) for name in _PARTS}

    @property
    def defined(self) -> Flags:
        """Users who have a score of their own."""
        return np.asarray((self.denominator != 0) & ~self.left_out)

    @property
    def undefined(self) -> Flags:
        """Users who have no score of their own: the denominator is 0."""
        return np.asarray((self.denominator == 0) & ~self.left_out)

    @lazy_property
    def per_user(self) -> Floats:
        """The score of each user, NaN where there is none: shape (n_users, n_measurements)."""
        if "own" in self.roles:
            return self.roles["own"]
        undefined = self.undefined
        ratio = divide(self.numerator, self.denominator, self.defined)
        values = np.empty(ratio.shape)
        for place, one in enumerate(self.measurements):
            values[:, place] = one.metric.score(ratio[:, place])
            values[undefined[:, place], place] = one.undefined
        return as_read_only(values)

    @property
    def n_scored(self) -> Positions:
        """How many users have a score, by measurement."""
        return np.asarray((~np.isnan(self.per_user)).sum(axis=0))

    def mean(self, among: Flags | None = None) -> Floats:
        """Return the mean over the users who have a score, and are among some."""
        return Means.of(self.per_user, among).mean

    @property
    def median(self) -> Floats:
        """The median over the users who have a score: of all statistics, it alone needs them."""
        there = [column[~np.isnan(column)] for column in self.per_user.T]
        return np.array([np.median(some) if len(some) else np.nan for some in there])

    @lazy_property
    def fixed(self) -> Flags:
        """Whose list scores the same in every order: shape (n_users, n_measurements)."""
        return same(self.roles["worst"], self.roles["best"])

    @property
    def trivial(self) -> Flags:
        """The same, of the users who have a score."""
        return np.asarray(self.fixed & ~np.isnan(self.per_user))

    @lazy_property
    def adjusted(self) -> Floats:
        """Each score less chance, over what the best order has more; NaN of trivial users."""
        return adjusted(self.per_user, self.roles["chance"], self.roles["best"])

    @property
    def moving(self) -> Flags:
        """Whose numerator varies in random order, and has a mean."""
        varies = ~np.isnan(self.roles["deviation"]) & ~self.fixed & ~np.isnan(self.roles["best"])
        return np.asarray(varies & self.defined)

    @property
    def excess(self) -> Floats:
        """How much more each list collects than in random order."""
        return self.numerator - self.roles["expected"]

    @lazy_property
    def z(self) -> Floats:
        """Each numerator less its mean in random order, over its standard deviation."""
        return divide(self.excess, self.roles["deviation"], self.moving)

    def objection(self) -> str:
        """Return whose parts are too large or too small, or who has no score and must have one."""
        for place, one in enumerate(self.measurements):
            parts = np.maximum(np.abs(self.numerator[:, place]), self.denominator[:, place])
            beyond = (parts > _LARGEST) & ~self.left_out[:, place]
            if beyond.any():
                first = self.users[beyond][0]
                return (
                    f"{one} collects {parts[beyond][0]:g} of user {quote(first)}, too much to be "
                    "added up. Rescale the grades or the estimates; a model that estimates such "
                    "numbers has diverged."
                )
            ideal = self.denominator[:, place]
            tiny = (ideal > 0) & (ideal < _SMALLEST) & ~self.left_out[:, place]
            if tiny.any():
                return (
                    f"{one} divides by {ideal[tiny][0]:g} for user {quote(self.users[tiny][0])}, "
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


def same(low: Floats, high: Floats) -> Flags:
    """Tell which scores differ by the last digits of a sum alone; NaN is not the same."""
    with np.errstate(invalid="ignore"):  # infinite scores are refused as soon as all are known
        return np.asarray(np.abs(high - low) <= _SAME * np.abs(high))


def adjusted(score: Floats, chance: Floats, best: Floats) -> Floats:
    """Return (score - chance) / (best - chance), NaN where that is 0 (Hubert & Arabie 1985).

    Examples
    --------
    >>> adjusted(np.array([0.75, 1.0]), np.array([0.5, 1.0]), np.array([1.0, 1.0]))
    array([0.5, nan])
    """
    open_ = ~same(chance, best) & ~np.isnan(best - chance)
    return divide(score - chance, best - chance, open_)
