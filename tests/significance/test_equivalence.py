"""Differences that are surely smaller than one that matters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recsys_ndcg.significance.paired import PairResults, compare_pairs
from recsys_ndcg.significance.testing import TESTS, Testing
from tests.errors import rejects
from tests.profiles import examples
from tests.significance import textbook
from tests.significance.drawn import made, tables

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats

AGREEING = tuple(name for name, kind in TESTS.items() if kind.has_intervals)
BY_NAME: dict[str, Any] = {
    "holm": textbook.holm,
    "bonferroni": textbook.bonferroni,
    "bh": textbook.benjamini_hochberg,
    "none": list,
}


def _all(table: Floats, how: Testing, margin: float | None) -> PairResults:
    return compare_pairs(table, textbook.all_pairs(table.shape[1]), how, margin=margin)


@given(tables(2), st.sampled_from(sorted(BY_NAME)), st.sampled_from(tuple(TESTS)))
@examples(1)
def test_each_direction_is_a_t_test_of_one_side(table: Floats, correction: str, test: str) -> None:
    """Against the margin, whatever the test of no difference; corrected over all pairs."""
    found = _all(table, Testing(test, correction, draws=9), 0.125)
    not_worse, not_better = [], []
    columns = [
        textbook.differences(table.tolist(), *pair) for pair in textbook.all_pairs(table.shape[1])
    ]
    some = [len(one) > 1 for one in columns]
    for apart in columns:
        if len(apart) > 1 and np.std(apart) > 1e-9:
            above = stats.ttest_1samp(apart, -0.125, alternative="greater")
            below = stats.ttest_1samp(apart, 0.125, alternative="less")
            not_worse.append(float(above.pvalue))
            not_better.append(float(below.pvalue))
        elif len(apart) > 1:
            not_worse.append(0.0 if np.mean(apart) > -0.125 else 1.0)
            not_better.append(0.0 if np.mean(apart) < 0.125 else 1.0)
    for p, ours in ((not_worse, found.p_not_worse), (not_better, found.p_not_better)):
        assert ours[some].tolist() == pytest.approx(BY_NAME[correction](p), rel=1e-6, abs=1e-12)
        assert np.isnan(ours[~np.array(some)]).all()
    np.testing.assert_array_equal(
        found.p_equivalent, np.maximum(found.p_not_worse, found.p_not_better)
    )


@pytest.mark.parametrize("test", AGREEING)
def test_among_all_pairs_it_is_as_rare_as_the_largest_t(test: str) -> None:
    """In either direction, or Bonferroni's bound of one: of two pairs, as SciPy integrates it."""
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


def test_the_same_difference_everywhere() -> None:
    """Is surely within a margin above it, and not within itself."""
    table = np.array([[0.25, 0.5], [0.5, 0.75], [0.0, 0.25]])
    for correction in ("max-T", "holm"):
        wide, itself, narrow = (
            _all(table, Testing(correction=correction), margin) for margin in (0.3, 0.25, 0.2)
        )
        assert wide.p_not_worse[0] == wide.p_not_better[0] < 1e-300
        assert itself.p_not_worse[0] == narrow.p_not_worse[0] == narrow.p_equivalent[0] == 1
        assert itself.p_not_better[0] == narrow.p_not_better[0] < 1e-300


def test_a_margin_changes_nothing_else() -> None:
    """And without one there is nothing to be equivalent within."""
    table = made(20, 3, 0)
    plain, with_margin = (_all(table, Testing(), margin) for margin in (None, 0.1))
    np.testing.assert_array_equal(plain.p_corrected, with_margin.p_corrected)
    for name in ("p_not_worse", "p_not_better", "p_equivalent"):
        assert np.isnan(getattr(plain, name)).all()
        assert not np.isnan(getattr(with_margin, name)).any()


@pytest.mark.parametrize("margin", [0, -0.1, "0.1", float("nan"), float("inf"), True])
def test_a_margin_is_above_0(margin: Any) -> None:
    """Anything else is refused."""
    with rejects("margin must be a number above 0, such as 0.005, not"):
        _all(made(5, 2, 0), Testing(), margin)
