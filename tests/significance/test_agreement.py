"""Intervals and the p-values that they belong to agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys_ndcg.arrays import Floats
from recsys_ndcg.significance import CORRECTIONS, Testing, compare_pairs, paired
from tests.profiles import examples
from tests.significance.drawn import AGREEING, compare_all, made, tables

hows = st.builds(
    Testing,
    test=st.sampled_from(AGREEING),
    correction=st.sampled_from(tuple(CORRECTIONS)),
    alpha=st.sampled_from([0.05, 0.1, 0.25, 0.5, 0.9]),
    draws=st.sampled_from([1, 9, 19, 60, 99]),
    seed=st.integers(0, 3),
)


@given(tables(2, 8), hows)
@examples(3)
def test_intervals_of_significant_differences_leave_out_0(table: Floats, how: Testing) -> None:
    """By the corrected p of simultaneous intervals, else by the pair's own."""
    found = compare_all(table, how)
    p = found.p_corrected if how.corrected_by.is_simultaneous else found.p
    there = ~np.isnan(p)
    without_0 = (found.low > 0) | (found.high < 0)
    varies = found.sd_difference > 0  # others have no interval
    assert (without_0 == (p <= how.alpha))[varies].all()
    assert np.isnan(found.low[~varies]).all()
    assert (found.p_corrected >= found.p)[there].all()
    assert ((found.p > 0) & (found.p_corrected <= 1))[there].all()
    assert (np.isnan(found.p_corrected) == ~there).all()


@given(tables(2, 8), hows)
@examples(1.5)
def test_intervals_are_adjusted_in_their_last_digits_only(table: Floats, how: Testing) -> None:
    """They would leave out 0 by themselves, but for rounding."""
    found = compare_all(table, how)
    finite = np.isfinite(found.high)
    below, above = found.difference - found.low, found.high - found.difference
    np.testing.assert_allclose(below[finite], above[finite], rtol=1e-6, atol=1e-12)
    assert np.isneginf(found.low[np.isposinf(found.high)]).all()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paired, "exclude_zero", lambda low, high, *_: (low, high))
        plain = compare_all(table, how)
    np.testing.assert_allclose(found.low, plain.low, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found.high, plain.high, rtol=1e-6, atol=1e-6)


@given(tables(2, 8, models=2))
@examples(1)
def test_a_difference_is_significant_at_the_level_of_its_own_p(table: Floats) -> None:
    """And not at the next number below."""
    p = float(compare_pairs(table, [(0, 1)], Testing()).p[0])
    varies = compare_pairs(table, [(0, 1)], Testing()).sd_difference[0] > 0
    if 1e-11 < p < 1 - 1e-11 and varies:  # no level is closer to 0 or 1
        for alpha in (p, float(np.nextafter(p, 0))):
            found = compare_pairs(table, [(0, 1)], Testing(alpha=alpha))
            assert bool((found.low > 0) | (found.high < 0)) == (alpha == p)


@pytest.mark.parametrize("test", AGREEING)
def test_at_the_level_of_its_p_an_interval_ends_at_0(test: str) -> None:
    """But for the step from one drawn value to the next."""
    table = made(11, 2, 1, apart=0.02)
    p = float(compare_pairs(table, [(0, 1)], Testing(test)).p[0])
    found = compare_pairs(table, [(0, 1)], Testing(test, alpha=p))
    assert 0.1 < p < 0.9
    half = (found.high - found.low) / 2
    assert 0 <= np.abs(found.difference) - half <= 0.02 * half


def test_few_draws_of_the_largest_t_are_never_less_strict_than_one_pair() -> None:
    """Two pairs that are the same have the t of one, and no narrower an interval."""
    table = made(12, 2, 0)
    one = compare_pairs(table, [(0, 1)], Testing())
    for seed in range(20):
        found = compare_pairs(table, [(0, 1), (1, 0)], Testing(draws=39, seed=seed))
        assert (found.p_corrected >= one.p).all()
        assert (found.high - found.difference >= (one.high - one.difference) * 0.9999).all()
