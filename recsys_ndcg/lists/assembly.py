"""From checked rows to lists: codes, duplicates, the join, the grouping."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from recsys_ndcg.convention import Convention
from recsys_ndcg.input import encode
from recsys_ndcg.lists.candidates import chosen_from
from recsys_ndcg.lists.grouped_lists import GroupedLists
from recsys_ndcg.lists.grouping import Pairs, by_key, distinct_by_user, offsets_of
from recsys_ndcg.parallel import blocks_of, in_threads

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recsys_ndcg.arrays import Codes, Floats
    from recsys_ndcg.input import Rows
    from recsys_ndcg.lists.candidates import Sizes

Lists = TypeVar("Lists", bound=GroupedLists)
#: The columns that labels never have.
_OF_RESULTS = ("estimated", "impossible")


def group(rows: Rows, duplicates: str, kind: type[Lists]) -> Lists:
    """Return the lists, of some kind, made from one table."""
    rule = Convention(duplicates=duplicates).duplicates
    named = [(rows.user, "user")] + ([] if rows.item is None else [(rows.item, "item")])
    (users, user), *rest = in_threads(lambda column: encode(*column), named, len(rows.user))
    items, item = rest[0] if rest else (None, None)
    pairs = Pairs({**rows.columns, **_codes(user, item)}, rows.table)
    listed, offsets, repeats = distinct_by_user(pairs, users, items, rule)
    columns = listed.without_user
    return kind(
        users=users,
        offsets=offsets,
        columns=columns,
        item_ids=items,
        unlisted_offsets=np.zeros(len(users) + 1, dtype=np.int64),
        unlisted={name: one[:0] for name, one in columns.items() if name not in _OF_RESULTS},
        missing=np.zeros(len(users), dtype=bool),
        order_only=rows.order_only,
        duplicates=rule,
        repeats=repeats,
    )


def join(  # noqa: PLR0913 - two tables, how they are joined, and what results were chosen from
    labels: Rows,
    results: Rows,
    duplicates: str,
    kind: type[Lists],
    *,
    part: bool = False,
    n_items: Sizes | None = None,
    items: Iterable[Any] | None = None,
) -> Lists:
    """Return the lists, of some kind, made from labels and results.

    Parameters
    ----------
    labels, results
        Checked tables.
    duplicates : str
        As in `Convention`.
    kind : type
        Of the lists.
    part : bool
        Whether they are a part of all that there is, one of them perhaps without rows.
    n_items, items
        From how many, or which, candidates the results were chosen, as for `chosen_from`.

    Raises
    ------
    InvalidInputError
        A table is empty, their ids can never meet, a pair occurs twice that must not, or there are
        fewer candidates than items that are known.
    """
    if not part:
        labels.check_there()
        results.check_there()
    rule = Convention(duplicates=duplicates).duplicates
    (users, user), (item_ids, item) = labels.encode_with(results)
    split = len(labels.user)
    known = Pairs({**labels.columns, **_codes(user[:split], item[:split])}, "labels")
    found = Pairs({**results.columns, **_codes(user[split:], item[split:])}, "results")
    known, _, extra_labels = distinct_by_user(known, users, item_ids, rule)
    listed, offsets, extra_results = distinct_by_user(found, users, item_ids, rule)
    joined, unlisted = _join_labels(listed, known, len(users), len(item_ids))
    unlisted_offsets = offsets_of(unlisted.user, len(users))
    joined_lists = kind(
        users=users,
        offsets=offsets,
        columns=joined | listed.without_user,
        item_ids=item_ids,
        unlisted_offsets=unlisted_offsets,
        unlisted=unlisted.without_user,
        missing=(np.diff(offsets) == 0) & (np.diff(unlisted_offsets) > 0),
        protocol="supplied",
        order_only=results.order_only,
        duplicates=rule,
        repeats=extra_labels + extra_results,
    )
    return chosen_from(joined_lists, n_items, items)


def _codes(user: Codes, item: Codes | None) -> dict[str, Codes]:
    return {"user": user} if item is None else {"user": user, "item": item}


def _join_labels(
    results: Pairs, labels: Pairs, n_users: int, n_items: int
) -> tuple[dict[str, Floats], Pairs]:
    """Join labels to results on user and item.

    Parameters
    ----------
    results, labels : Pairs
        Grouped by user, each pair once; labels of NaN count as none.
    n_users, n_items : int
        How many there are in both.

    Returns
    -------
    columns : dict of float64 arrays, one entry per row of the results
        The numbers of its label, `true` among them; NaN where there is no label.
    unlisted : Pairs
        The labels that no result asked for.
    """
    labels = labels.take(np.flatnonzero(~np.isnan(labels.columns["true"])))
    tables = labels, results
    offsets = [offsets_of(one.user, n_users) for one in tables]
    names = labels.columns.keys() - {"user", "item"}
    joined = {name: np.full(len(results.user), np.nan) for name in names}
    listed = np.zeros(len(labels.user), dtype=bool)

    def join(users: tuple[int, int]) -> None:
        first, last = users
        (known, _), (found, _) = parts = [(edges[first], edges[last]) for edges in offsets]
        keys = [one.keys(n_items, slice(*part)) for one, part in zip(tables, parts, strict=True)]
        order, same = by_key(np.concatenate(keys) - first * n_items, (last - first) * n_items)
        label, result = known + order[:-1][same], found + order[1:][same] - len(keys[0])
        for name, column in joined.items():
            column[result] = labels.columns[name][label]
        listed[label] = True

    in_threads(join, blocks_of(offsets[0] + offsets[1]))
    return joined, labels.take(np.flatnonzero(~listed))
