"""Lists per user without grades beside their scores: {user: items}, as labels or as results."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.input.labels import Labels, Results
from recsys_ndcg.input.rows import floats, listed, objects
from recsys_ndcg.input.shapes import all_rows, in_order, is_row, refuse_unranked

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Ids

_LABELS = "give {user: {item, ...}}, {user: [item, ...]} or {user: {item: grade}}"
_RESULTS = (
    "give {user: [item, ...]}, best first, {user: [(item, score), ...]} or {user: {item: score}}"
)


@dataclass(frozen=True)
class _Entries:
    """The entries of all users, one after the other."""

    users: list[Any]
    lengths: list[int]
    entries: list[Any]
    form: str

    @property
    def user(self) -> Ids:
        """The user of each entry."""
        return np.repeat(objects(self.users, "user"), self.lengths)

    def split(self, number: str) -> tuple[Ids, Any]:
        """Return the items, and their numbers; None where items stand alone."""
        if all_rows(self.entries, 2):
            items, numbers = ([*map(itemgetter(place), self.entries)] for place in (0, 1))
            self._refuse_estimates(items)
            return objects(items, "item"), floats(numbers, number)
        first = is_row(self.entries[0])
        for place, one in enumerate(self.entries):
            if is_row(one) != first or (first and len(one) != 2):
                self._refuse_entry(place)
        return objects(self.entries, "item"), None

    def _refuse_entry(self, place: int) -> None:
        """Refuse an entry that is no pair, or no item as the first one is."""
        one, first = shown(self.entries[place]), shown(self.entries[0])
        beside = f", and user {shown(self.user[0])} has {first}" if place else ""
        msg = (
            f"User {shown(self.user[place])} has the entry {one}{beside}; {self.form}, "
            "alike for all users."
        )
        raise InvalidInputError(msg)

    def _refuse_estimates(self, items: list[Any]) -> None:
        """Refuse pairs (estimated, true), whose first number is no id."""
        for place, one in enumerate(items):
            if isinstance(one, float) and one != round(one, 0):
                msg = (
                    f"User {shown(self.user[place])} has the entry {shown(self.entries[place])}, "
                    f"but {one} is no item; {self.form}. Pairs (estimated, true) have no item ids "
                    "to join on: give rows (user, item, estimated, true)."
                )
                raise InvalidInputError(msg)


def labels_per_user(lists: Mapping[Any, Any]) -> Labels:
    """Read {user: items that are relevant}, in any order, or {user: {item: grade}}.

    Examples
    --------
    >>> labels_per_user({"ann": {"x"}, "bob": ["x", "y"]}).true.tolist()
    [1.0, 1.0, 1.0]
    """
    found = _entries(
        {user: list(one) if isinstance(one, AbstractSet) else one for user, one in lists.items()},
        _LABELS,
    )
    item, true = found.split("true")
    return Labels(found.user, item, np.ones(len(item)) if true is None else true)


def results_per_user(lists: Mapping[Any, Any]) -> Results:
    """Read {user: items, best first}, {user: pairs (item, score)} or {user: {item: score}}.

    Examples
    --------
    >>> results_per_user({"ann": ["x", "y"]}).order_only
    True
    >>> results_per_user({"ann": {"x": 0.5}}).estimated.tolist()
    [0.5]
    """
    found = _entries(lists, _RESULTS)
    item, score = found.split("estimated")
    if score is not None:
        return Results(found.user, item, score)
    _refuse_filler(found.user, item)
    return Results(found.user, item, in_order(found.lengths), order_only=True)


def _entries(lists: Mapping[Any, Any], form: str) -> _Entries:
    """Return lists one after the other, those of dicts as pairs."""
    found: dict[Any, list[Any]] = {}
    for user, one in lists.items():
        if isinstance(one, Mapping):
            found[user] = list(one.items())
        else:
            refuse_unranked(one, f"User {shown(user)} has", form)
            found[user] = listed(one)
    flat = list(chain.from_iterable(found.values()))
    if not flat:
        msg = f"There are no items in any list; {form}."
        raise InvalidInputError(msg)
    return _Entries(list(found), [*map(len, found.values())], flat, form)


def _refuse_filler(user: Ids, item: Ids) -> None:
    """Refuse -1 in place of an item, with which implicit fills up what is short."""
    filler = np.array([isinstance(one, int | np.integer) and one == -1 for one in item.tolist()])
    if filler.any():
        msg = (
            f"User {shown(user[filler.argmax()])} has the item -1, with which short lists are "
            "filled up (implicit does so). Leave it out: {user: [one for one in items if one != "
            "-1]}; if it is an item of yours, give {user: [(item, score), ...]}."
        )
        raise InvalidInputError(msg)
