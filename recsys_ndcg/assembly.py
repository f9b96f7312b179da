"""From checked rows to columns grouped by user: codes, duplicates, the join, the grouping."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.adapters.labels import Labels, Results, check_same_ids
from recsys_ndcg.convention import Convention
from recsys_ndcg.grouping import Ids, encode, offsets_of, stable_order
from recsys_ndcg.pairing import Pairs, labels_of, without_duplicates

if TYPE_CHECKING:
    from recsys_ndcg.adapters.rows import Rows


def group(rows: Rows, duplicates: str) -> dict[str, Any]:
    """Return the columns of `RankedLists` made from one table."""
    rule = Convention(duplicates=duplicates).duplicates
    users, user = encode(rows.user, "user")
    items, item = (None, None) if rows.item is None else encode(rows.item, "item")
    pairs = Pairs(user, item, {"estimated": rows.estimated, "true": rows.true})
    pairs, merged = without_duplicates(pairs, 0 if items is None else len(items), rule)
    return _by_user(users, items, pairs, None, duplicates=rule, merged=merged)


def join(labels: Labels, results: Results, duplicates: str) -> dict[str, Any]:
    """Return the columns of `RankedLists` made from labels and results."""
    rule = Convention(duplicates=duplicates).duplicates
    check_same_ids(labels, results)
    users, user = encode(np.concatenate([labels.user, results.user]), "user")
    items, item = encode(np.concatenate([labels.item, results.item]), "item")
    split = len(labels.user)
    known = Pairs(user[:split], item[:split], {"true": labels.true}, "labels")
    found = Pairs(user[split:], item[split:], {"estimated": results.estimated}, "results")
    known, extra_labels = without_duplicates(known, len(items), rule)
    found, extra_results = without_duplicates(found, len(items), rule)
    true, unlisted = labels_of(found, known, len(items))
    found.numbers["true"] = true
    merged = extra_labels + extra_results
    return _by_user(
        users, items, found, unlisted, duplicates=rule, merged=merged, protocol="catalogue"
    )


def _by_user(
    users: Ids, items: Ids | None, pairs: Pairs, unlisted: Pairs | None, **about: Any  # noqa: ANN401
) -> dict[str, Any]:
    order = stable_order(pairs.user, len(users))
    offsets = offsets_of(pairs.user, len(users))
    grouped = pairs if order is None else pairs.take(order)
    unlisted_true = np.zeros(0)
    unlisted_offsets = np.zeros(len(users) + 1, dtype=np.int64)
    if unlisted is not None:
        by_user = stable_order(unlisted.user, len(users))
        unlisted_true = unlisted.numbers["true"]
        unlisted_true = unlisted_true if by_user is None else unlisted_true[by_user]
        unlisted_offsets = offsets_of(unlisted.user, len(users))
    return {
        "users": users,
        "offsets": offsets,
        "estimated": grouped.numbers["estimated"],
        "true": grouped.numbers["true"],
        "item_ids": items,
        "item_codes": grouped.item,
        "unlisted_offsets": unlisted_offsets,
        "unlisted_true": unlisted_true,
        "missing": (np.diff(offsets) == 0) & (np.diff(unlisted_offsets) > 0),
        **about,
    }
