"""One user's list, rank by rank: where a score comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.block import Block
from recsys_ndcg.gains import discounts
from recsys_ndcg.metrics import METRICS
from recsys_ndcg.ranking import Ranking

if TYPE_CHECKING:
    from recsys_ndcg.grouping import Ids
    from recsys_ndcg.source import Source


def explained(source: Source, user: Any, k: int | None) -> pd.DataFrame:
    """Return one row per rank up to k: the item, its gain, and DCG and ideal DCG so far."""
    METRICS["ndcg"](k)  # refuses a k that is not one
    place = source.lists.place_of(user)
    lists = source.lists.between(place, place + 1)
    convention = source.convention
    block = Block(lists, convention, depth=k, threshold=source.threshold)
    ranking = Ranking(block, convention.ties)
    listed = min(int(ranking.n_items[0]), k or int(ranking.n_items[0]))
    rows = ranking.order[:listed]
    if convention.ideal == "max":
        depth = k or max(listed, 1)
        ideal = np.full(depth, ranking.top_gain)
    else:
        depth = max(listed, min(int(ranking.n_labelled[0]), ranking.discount.shape[0]))
        ideal = ranking.ideal_gain[0, :depth]
    weights = discounts(depth, convention)
    gain = np.zeros(depth)
    gain[:listed] = ranking.gain[0, :listed]
    dcg, ideal_dcg = np.cumsum(gain * weights), np.cumsum(ideal * weights)
    blank = np.full(depth, np.nan)
    items = lists.items
    columns = {
        "item": rows if items is None else items[rows],
        "estimated": lists.estimated[rows],
        "true": lists.true[rows],
    }
    table = {name: _lengthened(values, depth) for name, values in columns.items()}
    return pd.DataFrame(
        {
            **table,
            "gain": gain,
            "discount": weights,
            "discounted_gain": gain * weights,
            "dcg": dcg,
            "ideal_gain": ideal,
            "ideal_dcg": ideal_dcg,
            "ndcg": np.divide(
                np.minimum(dcg, ideal_dcg), ideal_dcg, where=ideal_dcg != 0, out=blank
            ),
        }
    ).set_axis(pd.RangeIndex(1, depth + 1, name="rank"))


def _lengthened(values: Ids, depth: int) -> pd.Series[Any]:
    """Return the column with blanks for the ranks past the end of the list."""
    column = pd.Series(values)
    if len(column) == depth:
        return column
    return (column if column.dtype == np.float64 else column.astype(object)).reindex(range(depth))
