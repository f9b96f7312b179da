"""Labels and results: as rows, lists per user, or predictions, to be joined."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.errors import InvalidInputError, shown, warn
from recsys_ndcg.input.arrow.text import coded_text
from recsys_ndcg.input.ids import (
    Coded,
    check_same_ids,
    encode_together,
)
from recsys_ndcg.input.row_checks import all_rows, check_rows, in_order, is_row
from recsys_ndcg.input.rows import Rows, floats, listed, objects
from recsys_ndcg.input.tuples import read_tuples
from recsys_ndcg.parallel import in_threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recsys_ndcg.arrays import Codes, Ids


_PAIR, _TRIPLE = 2, 3
_LABELS = "(user, item) or (user, item, true); lists per user are {user: [item, ...]}"
_RESULTS = (
    "(user, item, score); lists per user, best first, are {user: [item, ...]}, and two arrays "
    "{user: list(zip(items, scores)) for user, items, scores in zip(users, *arrays)}"
)
_LABELS_PER_USER = "give {user: {item, ...}}, {user: [item, ...]} or {user: {item: grade}}"
_RESULTS_PER_USER = (
    "give {user: [item, ...]}, best first, {user: [(item, score), ...]} or {user: {item: score}}"
)
#: With which implicit marks what it does not recommend.
LOWEST = float(np.finfo(np.float32).min)


def labels_of(data: Any) -> Rows:
    """Read rows (user, item) or (user, item, true), lists per user, or predictions.

    Examples
    --------
    >>> labels_of([("ann", "x"), ("bob", "x")]).true.tolist()
    [1.0, 1.0]
    """
    if isinstance(data, Mapping):
        return labels_per_user(data)
    rows = list(data)
    if _are_predictions(rows):
        found = read_tuples(rows)
        return Rows(_ids_of(found) | {"true": found.true}, "labels")
    check_rows(rows, {_PAIR, _TRIPLE}, _LABELS)
    width = len(rows[0]) if rows else _TRIPLE
    check_rows(rows, {width}, f"as the first one, {_LABELS}")
    true = np.ones(len(rows)) if width == _PAIR else floats(map(itemgetter(2), rows), "true")
    return Rows(_ids_in(rows) | {"true": true}, "labels")


def results_of(data: Any) -> Rows:
    """Read rows (user, item, score), lists per user, or predictions.

    Examples
    --------
    >>> results_of([("ann", "x", 0.5)]).estimated.tolist()
    [0.5]
    """
    if isinstance(data, Mapping):
        return results_per_user(data)
    rows = list(data)
    if _are_predictions(rows):
        found = read_tuples(rows)
        columns = {name: found.columns.get(name) for name in ("estimated", "impossible")}
        return Rows(_ids_of(found) | columns, "results", order_only=found.order_only)
    check_rows(rows, {_TRIPLE}, _RESULTS)
    score = floats(map(itemgetter(2), rows), "estimated")
    return Rows(_ids_in(rows) | {"estimated": score}, "results")


def without_fillers(results: Rows) -> Rows:
    """Return results without those that implicit did not recommend, and say so.

    It fills up short lists, and lists what it was told to filter, with the lowest float32 of all.

    Warns
    -----
    DataWarning
        There are such.
    """
    fillers = results.estimated == LOWEST
    if results.order_only or not fillers.any():
        return results
    warn_of_fillers(int(fillers.sum()), len(fillers), results.score)
    return results.only(~fillers)


def warn_of_fillers(count: int, among: int, column: str) -> None:
    """Warn of results that are none, and refuse them if they are all.

    Raises
    ------
    InvalidInputError
        There are no others.

    Warns
    -----
    DataWarning
        There are others.
    """
    if count == among:
        msg = f"Every {column} is {LOWEST}: the model recommends nothing. Check it."
        raise InvalidInputError(msg)
    msg = (
        f"{count} of {among} results have the score {LOWEST:.7g}, with which "
        "implicit marks what it does not recommend: left out. To silence this, leave them out."
    )
    warn(msg)


def _are_predictions(rows: Sequence[Any]) -> bool:
    """Tell rows with an estimate and a true value, which make sense as either."""
    return bool(rows) and all_rows(rows[:1], 4, 5)


def _ids_in(rows: Sequence[Any]) -> dict[str, Any]:
    """Return the first two fields of all rows."""
    names = enumerate(("user", "item"))
    return {name: Coded.of(map(itemgetter(place), rows), name, len(rows)) for place, name in names}


def _ids_of(rows: Rows) -> dict[str, Any]:
    return {"user": rows.user, "item": rows.item}


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


def labels_per_user(lists: Mapping[Any, Any]) -> Rows:
    """Read {user: items that are relevant}, in any order, or {user: {item: grade}}.

    Examples
    --------
    >>> labels_per_user({"ann": {"x"}, "bob": ["x", "y"]}).true.tolist()
    [1.0, 1.0, 1.0]
    """
    found = _entries(
        {user: list(one) if isinstance(one, AbstractSet) else one for user, one in lists.items()},
        _LABELS_PER_USER,
    )
    item, true = found.split("true")
    true = np.ones(len(item)) if true is None else true
    return Rows({"user": found.user, "item": item, "true": true}, "labels")


def results_per_user(lists: Mapping[Any, Any]) -> Rows:
    """Read {user: items, best first}, {user: pairs (item, score)} or {user: {item: score}}.

    Examples
    --------
    >>> results_per_user({"ann": ["x", "y"]}).order_only
    True
    >>> results_per_user({"ann": {"x": 0.5}}).estimated.tolist()
    [0.5]
    """
    found = _entries(lists, _RESULTS_PER_USER)
    item, score = found.split("estimated")
    if score is not None:
        return Rows({"user": found.user, "item": item, "estimated": score}, "results")
    _refuse_filler(found.user, item)
    columns = {"user": found.user, "item": item, "estimated": in_order(found.lengths)}
    return Rows(columns, "results", order_only=True)


def _entries(lists: Mapping[Any, Any], form: str) -> _Entries:
    """Return lists one after the other, those of dicts as pairs."""
    found: dict[Any, list[Any]] = {}
    for user, one in lists.items():
        if isinstance(one, Mapping):
            found[user] = list(one.items())
        else:
            found[user] = listed(one, f"User {shown(user)} has", form)
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


def encode_both(labels: Rows, results: Rows) -> list[tuple[Ids, Codes]]:
    """Return the distinct users, and items, of both tables with the codes of the rows of both.

    Raises
    ------
    InvalidInputError
        An id is missing, or the ids of the two can never meet.

    Warns
    -----
    DataWarning
        They have none in common.
    """
    columns = [one.columns[name] for name in ("user", "item") for one in (labels, results)]
    n_rows = len(labels.user) + len(results.user)
    user, other_user, item, other_item = in_threads(_by_distinct, columns, n_rows)
    ids = {"user": (user, other_user), "item": (item, other_item)}
    if len(labels.user) and len(results.user):
        check_same_ids(ids, ("the labels", "the results"))
    pairs = [(*pair, name) for name, pair in ids.items()]
    return in_threads(lambda pair: encode_together(*pair), pairs, n_rows)


def _by_distinct(ids: Ids | Coded) -> Ids | Coded:
    """Return a column of text by its distinct values, and any other as it is."""
    return ids if isinstance(ids, Coded) else coded_text(ids) or ids
