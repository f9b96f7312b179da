"""Reports on drawn data, for the tests that compare two of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import recsys_ndcg as rn
from tests import strategies
from tests.accuracy import METRICS
from tests.profiles import examples
from tests.strategies import Sample
from tests.textbook import Choices

RANKING = [name for name, kind in METRICS.items() if kind.depends_on_order]
BOUNDED = [name for name in RANKING if METRICS[name].bounded]
ANY_ROWS = ("expected", "best", "worst", "item_asc", "item_desc")
Cutoffs = tuple[Any, ...]
usual = examples(0.25)
# an ap_over whose denominator depends on the order has no expectation
chosen_of = strategies.choices.map(
    lambda one: replace(one, ap_over="capped") if one.ap_over in {"hits", "k"} else one
)
data_of = strategies.datasets().filter(strategies.is_usable)
rated_of = strategies.datasets(may_join=False).filter(strategies.is_usable)
cutoffs = st.sampled_from([(1, 2), (2, None), (3, 50)])


def evaluated(
    data: Sample,
    chosen: Choices,
    k: Cutoffs,
    change: Callable[[pd.DataFrame], pd.DataFrame] = lambda table: table,
    **options: Any,
) -> rn.Report:
    """Evaluate the data, each table changed first."""
    changed = [change(table) for table in data.tables]
    make = rn.RankedLists.from_labels if data.joined else rn.RankedLists.from_frame
    convention = strategies.to_convention(strategies.without_estimate_limit(chosen, data))
    wanted = {"metrics": RANKING, "k": k, "threshold": chosen.threshold} | options
    return rn.evaluate(make(*changed), convention=convention, **wanted)


def same(left: pd.DataFrame, right: pd.DataFrame) -> None:
    """Compare tables up to the last digits of their sums."""
    pd.testing.assert_frame_equal(left, right, rtol=1e-11, atol=1e-11, check_index_type=False)


def have_same_labels(one: rn.Report, other: rn.Report) -> bool:
    """Return whether two reports have the same users with the same labels."""
    first, second = (report._data.audit.label_digests for report in (one, other))
    return one.users.tolist() == other.users.tolist() and bool(np.array_equal(first, second))
