"""An interval and the p-value that it goes with say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recsys_ndcg.significance.paired import tested
from recsys_ndcg.significance.testing import AGREEING, CORRECTIONS, SIMULTANEOUS, Testing
from tests.significance.drawn import tables
from tests.significance.textbook import all_pairs

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats

hows = st.builds(
    Testing,
    test=st.sampled_from(AGREEING),
    correction=st.sampled_from(CORRECTIONS),
    alpha=st.sampled_from([0.05, 0.1, 0.25, 0.5, 0.9]),
    draws=st.sampled_from([1, 9, 19, 60, 99]),
    seed=st.integers(0, 3),
)


@given(tables(2, 8), hows)
@settings(max_examples=300, deadline=None)
def test_an_interval_leaves_out_0_where_a_difference_is_found(table: Floats, how: Testing) -> None:
    """Of all pairs at once where the correction has such intervals, else of each alone."""
    found = tested(table, all_pairs(table.shape[1]), how)
    p = found.corrected if how.correction in SIMULTANEOUS else found.p
    there = ~np.isnan(p)
    without_0 = (found.low > 0) | (found.high < 0)
    assert (without_0 == (p <= how.alpha))[there].all()
    assert np.isnan(found.low[~there]).all()


@given(tables(2, 8), hows)
@settings(max_examples=150, deadline=None)
def test_both_ends_are_as_far_from_the_difference(table: Floats, how: Testing) -> None:
    """So that neither was moved to agree, but for its last digits."""
    found = tested(table, all_pairs(table.shape[1]), how)
    finite = np.isfinite(found.high)
    below, above = found.difference - found.low, found.high - found.difference
    np.testing.assert_allclose(below[finite], above[finite], rtol=1e-6, atol=1e-12)
    assert np.isneginf(found.low[np.isposinf(found.high)]).all()


@given(tables(2, 8), hows)
@settings(max_examples=100, deadline=None)
def test_a_correction_makes_no_pair_surer(table: Floats, how: Testing) -> None:
    """And p-values are above 0, and at most 1."""
    found = tested(table, all_pairs(table.shape[1]), how)
    there = ~np.isnan(found.p)
    assert (found.corrected >= found.p)[there].all()
    assert ((found.p > 0) & (found.corrected <= 1))[there].all()
    assert (np.isnan(found.corrected) == ~there).all()
