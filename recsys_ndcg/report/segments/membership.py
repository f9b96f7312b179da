"""Who is in which group, as somebody says it: a Series, a mapping, what a function returns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError, is_encodable, shown
from recsys_ndcg.input import (
    ascending_order,
    encode,
    factorized,
    in_common,
    index_of,
    objects,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recsys_ndcg.arrays import Codes, Ids, Positions

#: What groups may be, beside the built-in ones; for messages.
FORMS = (
    "Give {user: group}, {group: [users]}, a Series indexed by user, a table of users and their "
    "groups or the path of such a file, or a function of per_user"
)
_NAME = "segment"
_TABLES = ("the users evaluated", "those of the groups")


@dataclass(frozen=True)
class Membership:
    """Rows of a user and the group that the user is in.

    Parameters
    ----------
    user : array
        The ids, one per row; a user may stand in several rows.
    group : array of objects
        What the group is called; None or NaN is no group.
    name : str
        What all groups together are called.
    order : sequence, optional
        Labels in an order of their own, those that nobody has among them.
    by_writing : bool
        Whether the ids are text that stands for ids of any type, as in CSV.
    """

    user: Ids
    group: Ids
    name: str = _NAME
    order: Sequence[Any] | None = None
    by_writing: bool = False

    def among(self, users: Ids) -> pd.Series[Any]:
        """Return the group of each user: categories in order, NaN for none.

        Raises
        ------
        InvalidInputError
            None of them is in a group, or one is in two.
        """
        if not len(self.user):
            msg = "The groups have no rows. Check the filter or the file that they came from."
            raise InvalidInputError(msg)
        ids, rows = encode(self.like(users), "user")
        if not self._n_common(ids, users):
            msg = (
                f"No user of the groups is among the {len(users)} that were evaluated: the groups "
                f"have {_some(ids)}, and evaluated were {_some(users)}. Give both the same ids."
            )
            raise InvalidInputError(msg)
        try:
            codes, labels = factorized(self.group)
        except TypeError as error:
            msg = f"groups: a label is not hashable ({error}); use text or numbers."
            raise InvalidInputError(msg) from None
        group_of = dict(zip(ids.tolist(), self._one_each(ids, rows, codes, labels), strict=True))
        found = np.array([group_of.get(user, -1) for user in users.tolist()], dtype=np.int64)
        if (found < 0).all():
            msg = "Nobody evaluated is in a group: every label is missing (None, NaN or blank)."
            raise InvalidInputError(msg)
        return categorical(found, labels_from(labels.tolist()), users, self.name, self.order)

    def like(self, users: Ids) -> Ids:
        """Return the ids as those of some users, where a text says no more than their writing."""
        if not self.by_writing:
            return self.user
        known = users.tolist()
        ids = {str(one): one for one in known} | {written(one): one for one in known}
        return labels_from([ids.get(one, one) for one in self.user.tolist()])

    def _n_common(self, ids: Ids, users: Ids) -> int:
        """Return how many users both have; where ids have types, refuse those that never meet."""
        if self.by_writing:
            return len(set(ids.tolist()) & set(users.tolist()))
        return in_common(users, ids, "user", _TABLES)

    def _one_each(self, ids: Ids, rows: Codes, codes: Positions, labels: Ids) -> list[int]:
        """Return the only group of each user, -1 for none."""
        pairs = pd.DataFrame({"user": rows, "group": codes})[codes >= 0].drop_duplicates()
        user, group = pairs["user"].to_numpy(), pairs["group"].to_numpy()
        again = pairs["user"].duplicated().to_numpy()
        if again.any():
            first = user[again].min()
            one, other = labels[group[user == first]][:2]
            msg = (
                f"User {shown(ids[first])} is in two groups of {self.name!r}, {shown(one)} and "
                f"{shown(other)}. Give each user one; what differs by row is none."
            )
            raise InvalidInputError(msg)
        found = np.full(len(ids), -1)
        found[user] = group
        only: list[int] = found.tolist()
        return only


def categorical(
    codes: Positions, labels: Ids, users: Ids, name: str, order: Sequence[Any] | None = None
) -> pd.Series[Any]:
    """Return groups as categories: numbers, text and others ascending, or in an order of their own.

    Parameters
    ----------
    codes : int64 array
        The place of each user's label, -1 for none.
    labels : array of objects
        Distinct; those that nobody has are left out.
    users : array
        The ids.
    name : str
        What the groups are called.
    order : sequence, optional
        Labels in an order of their own.

    Raises
    ------
    InvalidInputError
        Two labels are written alike, or one cannot be written.
    """
    places = ascending_order(labels, "groups").tolist()
    for one in (name, *labels.tolist()):
        if isinstance(one, str) and not is_encodable(one):
            msg = f"groups: {shown(one)} has a lone surrogate. Call it something else."
            raise InvalidInputError(msg)
    if order is not None:
        place_of = {label: place for place, label in enumerate(order)}
        in_order = [place_of[label] for label in labels.tolist()]
        places.sort(key=in_order.__getitem__)
        # as the categories have them: 1 where a column with gaps has 1.0
        labels = labels_from([order[place] for place in in_order])
    used = set(codes.tolist())
    places = [place for place in places if place in used]
    rank = np.full(len(labels) + 1, -1)  # the last one is that of no group
    rank[places] = np.arange(len(places))
    values = pd.Categorical.from_codes(rank[codes], categories=index_of(labels[places]))
    return pd.Series(values, index=index_of(users, "user"), name=name)


def in_series(groups: pd.Series[Any], users: Ids) -> Membership:
    """Read groups by user, from a Series whose index has the users.

    Raises
    ------
    InvalidInputError
        The index counts rows: the Series is a column of a table.
    """
    index = groups.index
    if _counts_rows(index) and set(index) != set(users.tolist()):
        msg = (
            f"The Series of groups is indexed by the numbers of rows, 0 to {len(index) - 1}, and "
            "not by user: take it from the table after set_index('user'). If these are the ids of "
            "users, say so: groups.rename_axis('user')."
        )
        raise InvalidInputError(msg)
    name = _NAME if groups.name is None else str(groups.name)
    return Membership(
        objects(index.to_numpy(), "user"), _values(groups), name, categories_of(groups)
    )


def in_mapping(groups: Mapping[Any, Any], users: Ids) -> Membership:
    """Read {user: group} or {group: users}.

    Raises
    ------
    InvalidInputError
        It is neither, or a group names none of the users.
    """
    if not groups:
        msg = f"There are no groups in an empty mapping. {FORMS}."
        raise InvalidInputError(msg)
    ids = set(users.tolist())
    several = [_is_several(one, ids, is_user=key in ids) for key, one in groups.items()]
    if not any(several):
        return Membership(objects(list(groups), "user"), labels_from(list(groups.values())))
    if not all(several):
        key = list(groups)[several.index(False)]
        msg = (
            f"Some groups have lists, but {shown(key)} has {shown(groups[key])}. Give "
            "{group: [users]} or {user: group}, alike for all."
        )
        raise InvalidInputError(msg)
    members = {label: objects(list(one), "user") for label, one in groups.items()}
    for label, one in members.items():
        _refuse_nobody(label, one, users, ids)
    lengths = [len(one) for one in members.values()]
    user = labels_from([user for one in members.values() for user in one.tolist()])
    return Membership(user, np.repeat(labels_from(list(members)), lengths))


def returned(found: Any, users: Ids, name: str) -> Membership:
    """Read what a function of `per_user` returned: a group for each user, by index or in order.

    Raises
    ------
    InvalidInputError
        It is something else.
    """
    in_rows = _counts_rows(getattr(found, "index", None)) and len(found) == len(users)
    if isinstance(found, pd.Series) and not in_rows:
        return in_series(found if found.name is not None else found.rename(name), users)
    is_list = isinstance(found, Iterable) and getattr(found, "ndim", 1) == 1
    if isinstance(found, str | bytes | Mapping | AbstractSet) or not is_list:
        many = f"a {type(found).__name__} of {getattr(found, 'ndim', 0)} dimensions"
        what = many if hasattr(found, "ndim") else shown(found)
        msg = (
            f"The function of per_user returned {what}. Let it return a Series, a list or an array "
            f"with a group for each of {len(users)} users."
        )
        raise InvalidInputError(msg)
    values = _values(found)
    if len(values) != len(users):
        msg = (
            f"The function of per_user returned {len(values)} groups. Let it return one for each "
            f"of {len(users)} users, in the order of the rows."
        )
        raise InvalidInputError(msg)
    return Membership(users, values, name, categories_of(found))


def labels_from(values: list[Any]) -> Ids:
    """Return labels as objects of Python."""
    return np.fromiter(map(_plain, values), dtype=object, count=len(values))


def categories_of(values: Any) -> list[Any] | None:
    """Return the categories of pandas in their own order."""
    kind = getattr(values, "dtype", None)
    return kind.categories.tolist() if isinstance(kind, pd.CategoricalDtype) else None


def _plain(one: Any) -> Any:
    if isinstance(one, np.datetime64 | np.timedelta64):  # item() may give nanoseconds as a number
        return pd.Timestamp(one) if isinstance(one, np.datetime64) else pd.Timedelta(one)
    return one.item() if isinstance(one, np.generic) else one


def _values(groups: Any) -> Ids:
    values = groups.to_numpy() if isinstance(groups, pd.Series) else groups
    return labels_from(objects(values, "groups").tolist())


def _counts_rows(index: Any) -> bool:
    """Tell the index that pandas gives to what has none."""
    return isinstance(index, pd.RangeIndex) and index.name is None and index[:1].tolist() == [0]


def _is_several(one: Any, ids: AbstractSet[Any], *, is_user: bool) -> bool:
    """Tell a collection of users from a label, which may be a tuple where the key is a user."""
    if isinstance(one, str | bytes):
        return False
    if isinstance(one, tuple | frozenset) and is_user:
        return all(user in ids for user in one)
    return isinstance(one, Iterable) and getattr(one, "ndim", 1) == 1


def _refuse_nobody(label: Any, members: Ids, users: Ids, known: AbstractSet[Any]) -> None:
    """Refuse a group in which none of the users is."""
    if not len(members):
        msg = f"The group {shown(label)} names no user: its list is empty. Leave it out."
        raise InvalidInputError(msg)
    ids, _ = encode(members, "user")
    if not known.isdisjoint(ids.tolist()):
        return
    if label in known:
        msg = (
            f"User {shown(label)} has the groups {shown(members)}; each user is in one: "
            "{user: group}, or {group: [users]}."
        )
        raise InvalidInputError(msg)
    in_common(users, ids, "user", _TABLES)
    msg = (
        f"The group {shown(label)} names nobody who was evaluated: it has {_some(ids)}, and "
        f"evaluated were {_some(users)}. Leave it out, or correct the ids."
    )
    raise InvalidInputError(msg)


def _some(ids: Ids) -> str:
    """Return the first and the last id."""
    return shown(ids[0]) if len(ids) == 1 else f"{shown(ids[0])} to {shown(ids[-1])}"
