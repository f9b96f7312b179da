"""From checked rows to columns grouped by user: codes, duplicates, the join, the grouping."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.convention.convention import Convention
from recsys_ndcg.input.ids import encode, together
from recsys_ndcg.input.labels import Labels, Results, check_same_ids
from recsys_ndcg.lists.grouping import Pairs, distinct_by_user, labels_of, offsets_of
from recsys_ndcg.parallel import in_threads

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.input.rows import Rows


def group(rows: Rows, duplicates: str) -> dict[str, Any]:
    """Return the columns of `RankedLists` made from one table."""
    rule = Convention(duplicates=duplicates).duplicates
    named = [(rows.user, "user")] + ([] if rows.item is None else [(rows.item, "item")])
    (users, user), *rest = in_threads(lambda column: encode(*column), named)
    items, item = rest[0] if rest else (None, None)
    numbers = {"estimated": rows.estimated, "true": rows.true, **_flags(rows)}
    pairs = Pairs(user, item, numbers, rows.table)
    n_items = 0 if items is None else len(items)
    listed, offsets, merged = distinct_by_user(pairs, len(users), n_items, rule)
    return {
        "users": users,
        "offsets": offsets,
        **_columns(listed),
        "item_ids": items,
        "item_codes": listed.item,
        "unlisted_offsets": np.zeros(len(users) + 1, dtype=np.int64),
        "unlisted_true": np.zeros(0),
        "missing": np.zeros(len(users), dtype=bool),
        "order_only": rows.order_only,
        "duplicates": rule,
        "merged": merged,
    }


def join(labels: Labels, results: Results, duplicates: str) -> dict[str, Any]:
    """Return the columns of `RankedLists` made from labels and results."""
    rule = Convention(duplicates=duplicates).duplicates
    ids = {"user": (labels.user, results.user), "item": (labels.item, results.item)}
    check_same_ids(ids, ("the labels", "the results"))
    users, user = encode(together(labels.user, results.user), "user")
    items, item = encode(together(labels.item, results.item), "item")
    split, sizes = len(labels.user), (len(users), len(items))
    known = Pairs(user[:split], item[:split], {"true": labels.true}, "labels")
    numbers = {"estimated": results.estimated, **_flags(results)}
    found = Pairs(user[split:], item[split:], numbers, "results")
    known, _, extra_labels = distinct_by_user(known, *sizes, rule)
    listed, offsets, extra_results = distinct_by_user(found, *sizes, rule)
    true, unlisted = labels_of(listed, known, len(items))
    unlisted_offsets = offsets_of(unlisted.user, len(users))
    return {
        "users": users,
        "offsets": offsets,
        **_columns(listed),
        "true": true,
        "item_ids": items,
        "item_codes": listed.item,
        "unlisted_offsets": unlisted_offsets,
        "unlisted_true": unlisted.numbers["true"],
        "missing": (np.diff(offsets) == 0) & (np.diff(unlisted_offsets) > 0),
        "protocol": "catalogue",
        "order_only": results.order_only,
        "duplicates": rule,
        "merged": extra_labels + extra_results,
    }


def _flags(rows: Rows | Results) -> dict[str, Floats]:
    """Return the column of impossible predictions as numbers, if there is one."""
    flags = rows.impossible
    return {} if flags is None else {"impossible": flags.astype(np.float64)}


def _columns(pairs: Pairs) -> dict[str, Any]:
    """Return the columns of numbers, and flags as such: of merged rows if any has it."""
    columns: dict[str, Any] = dict(pairs.numbers)
    if "impossible" in columns:
        columns["impossible"] = columns["impossible"] > 0
    return columns
