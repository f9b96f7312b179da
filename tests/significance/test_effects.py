"""Relative differences, d_z and probabilities are those of their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recsys_ndcg.arrays import Floats
from recsys_ndcg.significance import Testing, compare_pairs
from tests.profiles import examples
from tests.significance import textbook
from tests.significance.drawn import GRID, compare_all, made, tables


@given(tables(3), st.sampled_from([0.01, 0.05, 0.5]))
@examples(2)
def test_the_ends_of_a_relative_difference_are_on_the_edge_of_significance(
    table: Floats, alpha: float
) -> None:
    """Fieller: the first model is exactly 1 + the end times as good as the second."""
    found = compare_all(table, Testing("t", "none", alpha))
    for place, (one, other) in enumerate(textbook.all_pairs(table.shape[1])):
        both = table[~np.isnan(table[:, [one, other]]).any(axis=1)][:, [one, other]]
        if len(both) < 2 or not both[:, 1].mean():
            continue
        ratio = both[:, 0].mean() / both[:, 1].mean()
        if found.relative[place] == found.relative[place]:
            assert found.relative[place] == pytest.approx(ratio - 1, rel=1e-6, abs=1e-9)
        ends = found.relative_low[place], found.relative_high[place]
        if np.isnan(ends).any():
            continue
        assert (ends[0] > 0 or ends[1] < 0) == (found.p[place] <= alpha)
        for end in ends:
            rest = both[:, 0] - (1 + end) * both[:, 1]
            if end > -1 and abs(end) > 1e-9 and rest.std() > 1e-6:
                assert stats.ttest_1samp(rest, 0).pvalue == pytest.approx(alpha, rel=1e-3)


def test_the_interval_of_d_z_is_near_the_noncentral_ts() -> None:
    """Of a hundred users, to two digits."""
    found = compare_all(made(100, 3, 0), Testing("t", "none"))
    for low, d_z, high in zip(found.d_z_low, found.d_z, found.d_z_high, strict=True):
        t = d_z * 10
        assert stats.nct.sf(t, 99, low * 10) == pytest.approx(0.025, abs=0.008)
        assert stats.nct.cdf(t, 99, high * 10) == pytest.approx(0.025, abs=0.008)


def test_the_probabilities_of_few_users_are_those_of_random_shares() -> None:
    """Of the users' differences, 0.1 and 0.5, and of the two users known beforehand.

    A weighted mean of different numbers v, with shares from a flat Dirichlet distribution, is above
    x with the chance of the sum over v > x of the product over the others o of (v - x) / (v - o),
    but for one o less in the numerator (the B-spline: Karlin, Micchelli & Rinott 1986).
    """
    table = np.array([[0.6, 0.5, np.nan], [1.0, 0.5, 0.5]])
    found = compare_pairs(table, [(0, 1), (1, 0), (0, 2)], Testing(), margin=0.2)
    values = [0.1, 0.5, 0.5 + 1e-4, -0.5]  # the formula needs different ones

    def chance_above(x: float) -> float:
        return sum(
            (one - x) ** 3 / math.prod(one - other for other in values if other != one)
            for one in values
            if one > x
        )

    better, worse = chance_above(0.2), 1 - chance_above(-0.2)
    assert found.probability_better[:2].tolist() == pytest.approx([better, worse], abs=0.02)
    assert found.probability_worse[:2].tolist() == pytest.approx([worse, better], abs=0.02)
    total = sum(
        getattr(found, f"probability_{name}")[:2] for name in ("worse", "equivalent", "better")
    )
    np.testing.assert_allclose(total, 1)
    assert np.isnan(found.probability_better[2])


def test_one_user_who_gains_does_not_make_a_model_certainly_better() -> None:
    """With a share each for a gain and a loss, two of three shares are above the third: 3/4."""
    table = np.zeros((20, 3))
    table[0, 0] = 1.0
    found = compare_pairs(table, [(0, 1), (1, 0), (1, 2)], Testing(), margin=1e-9)
    assert found.probability_better[:2].tolist() == pytest.approx([0.75, 0.25], abs=0.02)
    assert np.isnan(found.probability_equivalent[2])  # nobody shows how large differences are


@pytest.mark.parametrize("gaps", [False, True])
def test_the_probabilities_of_many_users_are_near_the_normal_distributions(*, gaps: bool) -> None:
    """The users' mean difference has a standard error."""
    table = made(500, 3, 1, apart=0.003)
    if gaps:
        table[::5, 1] = np.nan
    found = compare_all(table, Testing(draws=20_000), margin=0.005)
    means, errors = found.difference, found.standard_error
    expected = stats.norm.sf((0.005 - means) / errors), stats.norm.cdf((-0.005 - means) / errors)
    np.testing.assert_allclose(found.probability_better, expected[0], atol=0.02)
    np.testing.assert_allclose(found.probability_worse, expected[1], atol=0.02)


def test_the_probabilities_count_the_runs() -> None:
    """Their standard error is wider than the users' alone, and Student's t has runs - 1 of freedom.

    The users hardly differ, so the runs make the deviation.
    """
    stream = np.random.default_rng(0)
    users, runs = 1e-6 * stream.normal(size=300), np.array([0.0, 0.01, 0.02, 0.05])
    both = [runs[:, None] + users, np.zeros((4, 300))]
    table = np.column_stack([one.mean(axis=0) for one in both])
    how = Testing(draws=20_000)
    found = compare_pairs(table, [(0, 1)], how, margin=0.03, runs=both)
    t = stats.t(3, loc=0.02, scale=np.std(runs, ddof=1) / 2)
    assert found.probability_better.tolist() == pytest.approx([t.sf(0.03)], abs=0.01)
    assert found.probability_worse.tolist() == pytest.approx([t.cdf(-0.03)], abs=0.01)
    alone = compare_pairs(table, [(0, 1)], how, margin=0.03)
    assert alone.probability_better.tolist() == [0.0]


@given(st.lists(st.lists(st.sampled_from(GRID), min_size=3, max_size=3), min_size=2, max_size=7))
@examples(0.5)
def test_all_signs_of_few_users_are_enumerated(rows: list[list[float]]) -> None:
    """The p-values are exact: they do not depend on the seed."""
    own, largest = textbook.sign_flips(rows)
    for seed in (0, 1):
        found = compare_all(np.array(rows), Testing("randomisation", draws=200, seed=seed))
        assert found.p.tolist() == pytest.approx(own)
        assert found.p_corrected.tolist() == pytest.approx(largest)
