"""Non-inferiority and equivalence: differences that are surely smaller than a margin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recsys_ndcg.arrays import Floats
from recsys_ndcg.significance import TESTS, Testing, compare_pairs
from tests.errors import rejects
from tests.profiles import examples
from tests.significance import textbook
from tests.significance.drawn import AGREEING, compare_all, made, tables


@given(tables(2), st.sampled_from(sorted(textbook.BY_NAME)), st.sampled_from(tuple(TESTS)))
@examples(1)
def test_each_direction_is_a_one_sided_t_test(table: Floats, correction: str, test: str) -> None:
    """Against the margin, whatever the test of no difference; corrected over all pairs."""
    found = compare_all(table, Testing(test, correction, draws=9), margin=0.125)
    pairs = textbook.all_pairs(table.shape[1])
    columns = [textbook.differences(table.tolist(), *pair) for pair in pairs]
    some = np.array([len(one) > 1 for one in columns])
    for sign, ours in ((1, found.p_not_worse), (-1, found.p_not_better)):
        p = []
        for values in (sign * np.array(one) for one in columns if len(one) > 1):
            if np.std(values) > 1e-9:
                p.append(stats.ttest_1samp(values, -0.125, alternative="greater").pvalue)
            else:
                p.append(2.0 ** -len(values) if np.mean(values) > -0.125 else 1.0)  # of signs
        expected = textbook.BY_NAME[correction](p)
        assert ours[some].tolist() == pytest.approx(expected, rel=1e-6, abs=1e-12)
        assert np.isnan(ours[~some]).all()
    larger = np.maximum(found.p_not_worse, found.p_not_better)
    np.testing.assert_array_equal(found.p_equivalent, larger)


@pytest.mark.parametrize("test", AGREEING)
def test_max_t_corrects_for_all_pairs_of_a_direction(test: str) -> None:
    """For two pairs as SciPy integrates the multivariate t, or by Bonferroni's bound."""
    table, pairs, margin = made(30, 3, 4, apart=0.01), [(0, 1), (0, 2)], 0.03
    found = compare_pairs(table, pairs, Testing(test, draws=20_000), margin=margin)
    apart = np.array([table[:, a] - table[:, b] for a, b in pairs])
    error = apart.std(axis=1, ddof=1) / np.sqrt(30)
    joint = stats.multivariate_t(shape=np.corrcoef(apart), df=29, seed=0)
    for sign, ours in ((1, found.p_not_worse), (-1, found.p_not_better)):
        t = (margin + sign * apart.mean(axis=1)) / error
        either = [1 - joint.cdf([one] * 2, lower_limit=[-one] * 2) if one > 0 else 1 for one in t]
        alone = [min(1.0, 2 * float(stats.t.sf(one, 29))) for one in t]  # Bonferroni's bound
        expected = [min(both) for both in zip(either, alone, strict=True)]
        assert min(expected) < 0.5
        assert ours.tolist() == pytest.approx(expected, abs=0.015)


def test_a_constant_difference_is_within_any_larger_margin() -> None:
    """And not within itself; three users show no more than their signs do."""
    table = np.array([[0.25, 0.5], [0.5, 0.75], [0.0, 0.25]])
    for how in (Testing(), Testing(correction="holm")):
        margins = 0.3, 0.25, 0.2
        wide, itself, narrow = (compare_all(table, how, margin=margin) for margin in margins)
        assert wide.p_not_worse[0] == wide.p_not_better[0] == 1 / 8
        assert itself.p_not_worse[0] == narrow.p_not_worse[0] == narrow.p_equivalent[0] == 1
        assert itself.p_not_better[0] == narrow.p_not_better[0] == 1 / 8


def test_a_margin_changes_no_other_result() -> None:
    """Without one, nothing is tested against it; it must be a number above 0."""
    table = made(20, 3, 0)
    plain, with_margin = (compare_all(table, Testing(), margin=margin) for margin in (None, 0.1))
    np.testing.assert_array_equal(plain.p_corrected, with_margin.p_corrected)
    for name in ("p_not_worse", "p_not_better", "p_equivalent"):
        assert np.isnan(getattr(plain, name)).all()
        assert not np.isnan(getattr(with_margin, name)).any()
    wrong: list[Any] = [0, -0.1, "0.1", float("nan"), float("inf"), True]
    for margin in wrong:
        with rejects("margin must be a number above 0, such as 0.005, not"):
            compare_all(table, Testing(), margin=margin)
