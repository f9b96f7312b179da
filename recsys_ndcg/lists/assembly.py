"""From checked rows to lists: codes, duplicates, the join, the grouping."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from recsys_ndcg.convention.convention import Convention
from recsys_ndcg.input.arrow.text import coded_text
from recsys_ndcg.input.ids import Coded, encode, encode_together
from recsys_ndcg.input.labels import Labels, Results, check_same_ids
from recsys_ndcg.input.rows import check_rows_there
from recsys_ndcg.lists.grouped_lists import GroupedLists
from recsys_ndcg.lists.grouping import Pairs, by_key, distinct_by_user, offsets_of
from recsys_ndcg.parallel import blocks_of, in_threads

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Flags, Floats, Ids
    from recsys_ndcg.input.rows import Rows

Lists = TypeVar("Lists", bound=GroupedLists)


def group(rows: Rows, duplicates: str, kind: type[Lists]) -> Lists:
    """Return the lists, of some kind, made from one table."""
    rule = Convention(duplicates=duplicates).duplicates
    named = [(rows.user, "user")] + ([] if rows.item is None else [(rows.item, "item")])
    (users, user), *rest = in_threads(lambda column: encode(*column), named, len(rows.user))
    items, item = rest[0] if rest else (None, None)
    numbers = {"estimated": rows.estimated, "true": rows.true, **_flags(rows)}
    pairs = Pairs(user, item, numbers, rows.table)
    n_items = 0 if items is None else len(items)
    listed, offsets, repeats = distinct_by_user(pairs, len(users), n_items, rule)
    return kind(
        users=users,
        offsets=offsets,
        estimated=listed.numbers["estimated"],
        true=listed.numbers["true"],
        item_ids=items,
        item_codes=listed.item,
        unlisted_offsets=np.zeros(len(users) + 1, dtype=np.int64),
        unlisted_true=np.zeros(0),
        missing=np.zeros(len(users), dtype=bool),
        order_only=rows.order_only,
        duplicates=rule,
        repeats=repeats,
        impossible=_impossible(listed),
    )


def join(
    labels: Labels, results: Results, duplicates: str, kind: type[Lists], *, part: bool = False
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

    Raises
    ------
    InvalidInputError
        A table is empty, their ids can never meet, or a pair occurs twice that must not.
    """
    if not part:
        check_rows_there(labels.user, "the labels")
        check_rows_there(results.user, "the results")
    rule = Convention(duplicates=duplicates).duplicates
    columns = [labels.user, results.user, labels.item, results.item]
    n_rows = len(labels.user) + len(results.user)
    known_user, found_user, known_item, found_item = in_threads(_by_distinct, columns, n_rows)
    ids = {"user": (known_user, found_user), "item": (known_item, found_item)}
    if len(labels.user) and len(results.user):
        check_same_ids(ids, ("the labels", "the results"))
    pairs = [(*pair, name) for name, pair in ids.items()]
    (users, user), (items, item) = in_threads(lambda pair: encode_together(*pair), pairs, n_rows)
    split, sizes = len(labels.user), (len(users), len(items))
    known = Pairs(user[:split], item[:split], {"true": labels.true}, "labels")
    numbers = {"estimated": results.estimated, **_flags(results)}
    found = Pairs(user[split:], item[split:], numbers, "results")
    known, _, extra_labels = distinct_by_user(known, *sizes, rule)
    listed, offsets, extra_results = distinct_by_user(found, *sizes, rule)
    true, unlisted = labels_of(listed, known, *sizes)
    unlisted_offsets = offsets_of(unlisted.user, len(users))
    return kind(
        users=users,
        offsets=offsets,
        estimated=listed.numbers["estimated"],
        true=true,
        item_ids=items,
        item_codes=listed.item,
        unlisted_offsets=unlisted_offsets,
        unlisted_true=unlisted.numbers["true"],
        unlisted_codes=unlisted.item,
        missing=(np.diff(offsets) == 0) & (np.diff(unlisted_offsets) > 0),
        protocol="supplied",
        order_only=results.order_only,
        duplicates=rule,
        repeats=extra_labels + extra_results,
        impossible=_impossible(listed),
    )


def _by_distinct(ids: Ids | Coded) -> Ids | Coded:
    """Return a column of text by its distinct values, and any other as it is."""
    return ids if isinstance(ids, Coded) else coded_text(ids) or ids


def _flags(rows: Rows | Results) -> dict[str, Floats]:
    """Return the column of impossible predictions as numbers, if there is one."""
    flags = rows.impossible
    return {} if flags is None else {"impossible": flags.astype(np.float64)}


def _impossible(pairs: Pairs) -> Flags | None:
    """Return that column as flags again: of merged rows if any has it."""
    flags = pairs.numbers.get("impossible")
    return None if flags is None else flags > 0


def labels_of(results: Pairs, labels: Pairs, n_users: int, n_items: int) -> tuple[Floats, Pairs]:
    """Join labels to results on user and item.

    Parameters
    ----------
    results, labels : Pairs
        Grouped by user, each pair once; labels of NaN count as none.
    n_users, n_items : int
        How many there are in both.

    Returns
    -------
    true : float64 array, one per row of the results
        NaN where there is no label.
    unlisted : Pairs
        The labels that no result asked for.
    """
    labels = labels.take(np.flatnonzero(~np.isnan(labels.numbers["true"])))
    tables = labels, results
    offsets = [offsets_of(one.user, n_users) for one in tables]
    true, listed = np.full(len(results.user), np.nan), np.zeros(len(labels.user), dtype=bool)

    def join(users: tuple[int, int]) -> None:
        first, last = users
        (known, _), (found, _) = parts = [(edges[first], edges[last]) for edges in offsets]
        keys = [one.keys(n_items, slice(*part)) for one, part in zip(tables, parts, strict=True)]
        order, same = by_key(np.concatenate(keys) - first * n_items, (last - first) * n_items)
        label, result = known + order[:-1][same], found + order[1:][same] - len(keys[0])
        true[result] = labels.numbers["true"][label]
        listed[label] = True

    in_threads(join, blocks_of(offsets[0] + offsets[1]))
    return true, labels.take(np.flatnonzero(~listed))
