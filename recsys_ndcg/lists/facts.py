"""Facts: the little one must know of all lists to settle what is measured of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.input.ids import type_names

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from recsys_ndcg.arrays import Floats, Ids
    from recsys_ndcg.convention.convention import Convention
    from recsys_ndcg.lists.grouped_lists import GroupedLists


@dataclass(frozen=True)
class Grades:
    """The bounds of some true values.

    Parameters
    ----------
    lowest, highest : float
        NaN where nothing is labelled.
    zero_one : bool
        Whether all are 0 or 1.
    distinct : tuple of float, optional
        All that occur, in ascending order; None where nobody asked.
    """

    lowest: float
    highest: float
    zero_one: bool
    distinct: tuple[float, ...] | None = None

    @classmethod
    def of(cls, true: Floats, *, distinct: bool = False) -> Grades:
        """Look at true values, NaN where unlabelled."""
        lowest = float(np.fmin.reduce(true, initial=np.inf))
        highest = float(np.fmax.reduce(true, initial=-np.inf))
        if lowest > highest:
            return cls(np.nan, np.nan, zero_one=True, distinct=() if distinct else None)
        binary = lowest >= 0 and highest <= 1
        zero_one = binary and bool(((true == 0) | (true == 1) | np.isnan(true)).all())
        values = np.sort(pd.unique(true[~np.isnan(true)])) if distinct else None
        return cls(lowest, highest, zero_one, None if values is None else tuple(values.tolist()))

    def __or__(self, other: Grades) -> Grades:
        """Return those of both."""
        distinct = None
        if self.distinct is not None and other.distinct is not None:
            distinct = tuple(sorted({*self.distinct, *other.distinct}))
        lowest, highest = (
            float(pick(getattr(self, name), getattr(other, name)))
            for name, pick in (("lowest", np.fmin), ("highest", np.fmax))
        )
        return Grades(lowest, highest, self.zero_one and other.zero_one, distinct)

    @property
    def known(self) -> Floats:
        """All that occur if they were asked for, else the ends."""
        if self.distinct is not None:
            return np.array(self.distinct)
        return np.array([end for end in (self.lowest, self.highest) if not math.isnan(end)])


@dataclass(frozen=True)
class Facts:
    """What settles a plan: small, found for each part of the data, and merged.

    Parameters
    ----------
    users, ratings, unlabelled, missing, impossible, merged : int
        How many users and rows there are; rows without a true value; labelled users without a
        list; predictions that the model could not make; repeated rows that were merged.
    longest : int
        The items of the longest list, with the user's labelled items that are not in it.
    listed, unlisted : Grades
        The true values of items in the lists, and of labelled items in no list.
    largest_estimate : float
        Without its sign.
    protocol, duplicates : str
        As in the lists.
    order_only, has_items : bool
        Whether estimates are an order alone, and whether items have ids.
    id_kinds : frozenset of str
        Of what types the ids of the users are.
    placed_under : pair of Convention and float, optional
        By which choices, and which threshold, the lists hold places in place of items.
    possible : Facts, optional
        Those of the lists without impossible predictions; None where there are none.
    first_ties : mapping
        By how estimates are compared, the first rank at which any two are tied; only where a
        measurement hangs on it.
    """

    users: int
    ratings: int
    unlabelled: int
    missing: int
    impossible: int
    merged: int
    longest: int
    listed: Grades
    unlisted: Grades
    largest_estimate: float
    protocol: str
    duplicates: str
    order_only: bool
    has_items: bool
    id_kinds: frozenset[str]
    placed_under: tuple[Convention, float | None] | None = None
    possible: Facts | None = None
    first_ties: Mapping[Hashable, float] = field(default_factory=dict)

    @classmethod
    def of(cls, lists: GroupedLists, *, distinct: bool = False) -> Facts:
        """Look at lists.

        Parameters
        ----------
        lists : GroupedLists
            All of them, or a part.
        distinct : bool
            Whether to find every grade that occurs, which gains by a mapping or function need.

        Examples
        --------
        >>> from recsys_ndcg import RankedLists
        >>> facts = Facts.of(RankedLists.from_tuples({"ann": [(4.5, 5), (2.0, None)]}))
        >>> facts.unlabelled, facts.listed.highest
        (1, 5.0)
        """
        most = np.abs([lists.estimated.min(initial=0.0), lists.estimated.max(initial=0.0)])
        impossible = lists.n_impossible
        possible = None
        if lists.impossible is not None:
            possible = cls.of(lists.without_impossible(), distinct=distinct)
        return cls(
            users=len(lists),
            ratings=int(lists.n_items.sum()),
            unlabelled=lists.n_unlabelled,
            missing=int(lists.missing.sum()),
            impossible=impossible,
            merged=lists.merged,
            longest=int(lists.n_places.max(initial=1)),
            listed=Grades.of(lists.true, distinct=distinct),
            unlisted=Grades.of(lists.unlisted_true, distinct=distinct),
            largest_estimate=float(most.max()),
            protocol=lists.protocol,
            duplicates=lists.duplicates,
            order_only=lists.order_only,
            has_items=lists.item_codes is not None,
            id_kinds=_kinds(lists.users),
            placed_under=lists.placed_under,
            possible=possible,
        )

    @classmethod
    def merged_from(cls, parts: Iterable[Facts]) -> Facts:
        """Return the facts of all parts together, in whichever order they come.

        Raises
        ------
        InvalidInputError
            The parts were not read in the same way, or their ids can never meet.
        """
        return reduce(or_, parts)

    def __or__(self, other: Facts) -> Facts:
        """Return the facts of both parts together."""
        for name in ("protocol", "duplicates", "order_only", "has_items", "placed_under"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                msg = (
                    f"Parts of the data differ in {name}: {mine!r} and {theirs!r}. Read all alike."
                )
                raise InvalidInputError(msg)
        if self.id_kinds.isdisjoint(other.id_kinds):
            msg = (
                f"Parts of the data have users of type {'/'.join(sorted(self.id_kinds))} and "
                f"{'/'.join(sorted(other.id_kinds))}. Make them the same type."
            )
            raise InvalidInputError(msg)
        added = ("users", "ratings", "unlabelled", "missing", "impossible", "merged")
        possible = None
        if self.possible or other.possible:
            possible = (self.possible or self) | (other.possible or other)
        ties = {**self.first_ties, **other.first_ties}
        return replace(
            self,
            **{name: getattr(self, name) + getattr(other, name) for name in added},
            longest=max(self.longest, other.longest),
            listed=self.listed | other.listed,
            unlisted=self.unlisted | other.unlisted,
            largest_estimate=max(self.largest_estimate, other.largest_estimate),
            id_kinds=self.id_kinds | other.id_kinds,
            possible=possible,
            first_ties={
                key: min(facts.first_ties.get(key, np.inf) for facts in (self, other))
                for key in ties
            },
        )

    def seen_by(self, convention: Convention) -> Facts:
        """Return the facts of what a convention leaves of the lists."""
        return self.possible or self if convention.impossible == "drop" else self

    def grades(self, convention: Convention) -> Grades:
        """Return the true values that count under a convention."""
        seen = self.seen_by(convention)
        return seen.listed if convention.unlisted == "ignore" else seen.all_true

    @property
    def all_true(self) -> Grades:
        """The true values of all labelled items."""
        return self.listed | self.unlisted


def _kinds(ids: Ids) -> frozenset[str]:
    return frozenset(type_names(ids.tolist() if ids.dtype == object else ids[:1].tolist()))
