"""(user, item) pairs: the same pair twice in a table, and the same pair in two tables."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from recsys_ndcg.convention import Floats
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.grouping import Codes, Positions


@dataclass(frozen=True)
class Pairs:
    """Rows of (user, item) as codes, with columns of numbers: one table, checked."""

    user: Codes
    item: Codes | None
    numbers: dict[str, Floats]
    table: str = "predictions"

    def keys(self, n_items: int) -> Positions:
        """Return one whole number per (user, item)."""
        return self.user.astype(np.int64) * n_items + self.item

    def take(self, rows: Positions) -> Pairs:
        """Return some of the rows."""
        item = None if self.item is None else self.item[rows]
        numbers = {name: column[rows] for name, column in self.numbers.items()}
        return replace(self, user=self.user[rows], item=item, numbers=numbers)


def without_duplicates(pairs: Pairs, n_items: int, rule: str) -> tuple[Pairs, int]:
    """Return each (user, item) once, and how many rows that removed.

    Parameters
    ----------
    pairs : Pairs
        Rows in input order.
    n_items : int
        How many distinct items there are.
    rule : {'raise', 'first', 'last', 'max', 'mean'}
        ``max`` and ``mean`` work on each column of numbers by itself, leaving NaN out, and keep
        the place of the first of the rows.

    Raises
    ------
    InvalidInputError
        The rule is ``raise`` and a pair occurs twice.
    """
    if pairs.item is None:
        return pairs, 0
    keys = pairs.keys(n_items)
    ascending = np.sort(keys)
    if not (ascending[1:] == ascending[:-1]).any():
        return pairs, 0
    again = pd.Series(keys).duplicated(keep="last" if rule == "last" else "first").to_numpy()
    if rule == "raise":
        first, extra = int(np.flatnonzero(again)[0]), int(again.sum())
        before = int(np.flatnonzero(keys == keys[first])[0])
        msg = (
            f"{pairs.table}: the same user and item stand in rows {before} and {first} (counted "
            f"from 0), {extra} such repeats in all. Remove them, or choose duplicates='first', "
            "'last', 'max' or 'mean'."
        )
        raise InvalidInputError(msg)
    once = pairs.take(np.flatnonzero(~again))
    if rule in ("max", "mean"):
        merged = pd.DataFrame(pairs.numbers).groupby(keys, sort=False).agg(rule)
        once = replace(once, numbers={name: merged[name].to_numpy() for name in merged})
    return once, int(again.sum())


def labels_of(results: Pairs, labels: Pairs, n_items: int) -> tuple[Floats, Pairs]:
    """Join labels to results on user and item.

    Returns
    -------
    true : float64 array, one per row of the results
        NaN where there is no label.
    unlisted : Pairs
        The labels that no result asked for.
    """
    labels = labels.take(np.flatnonzero(~np.isnan(labels.numbers["true"])))
    label_keys, result_keys = labels.keys(n_items), results.keys(n_items)
    order = np.argsort(label_keys)
    place = np.searchsorted(label_keys[order], result_keys)
    found = order[np.minimum(place, len(order) - 1)] if len(order) else place
    listed = np.zeros(len(result_keys), dtype=bool)
    if len(order):
        listed = label_keys[found] == result_keys
    true = np.full(len(result_keys), np.nan)
    true[listed] = labels.numbers["true"][found[listed]]
    unlisted = np.ones(len(order), dtype=bool)
    unlisted[found[listed]] = False
    return true, labels.take(np.flatnonzero(unlisted))
