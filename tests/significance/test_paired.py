"""Pairs are tested as in textbooks and in SciPy."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from recsys_ndcg.arrays import Floats
from recsys_ndcg.significance import CORRECTIONS, TESTS, Testing, compare_pairs
from tests.errors import rejects
from tests.profiles import examples, slow
from tests.significance import textbook
from tests.significance.drawn import compare_all, made, tables

DRAWS = 20_000
NEAR = 4 * math.sqrt(0.25 / DRAWS)  # four standard deviations of a share of so many draws


def _columns(table: Floats) -> list[list[float]]:
    pairs = textbook.all_pairs(table.shape[1])
    return [textbook.differences(table.tolist(), *pair) for pair in pairs]


@given(tables(), st.sampled_from([0.01, 0.05, 0.5]))
@examples(2)
def test_counts_means_and_t_are_those_of_the_textbook(table: Floats, alpha: float) -> None:
    """Of the users who have a score in both models; the interval is SciPy's, too."""
    found = compare_all(table, Testing("t", "none", alpha))
    for place, values in enumerate(_columns(table)):
        wins, losses = sum(one > 0 for one in values), sum(one < 0 for one in values)
        assert (found.users[place], found.wins[place]) == (len(values), wins)
        assert (found.losses[place], found.ties[place]) == (losses, len(values) - wins - losses)
        mean = np.mean(values) if values else np.nan
        spread = np.std(values, ddof=1) if len(values) > 1 else np.nan
        assert found.difference[place] == pytest.approx(mean, abs=1e-12, nan_ok=True)
        assert found.sd_difference[place] == pytest.approx(spread, abs=1e-12, nan_ok=True)
        if spread > 1e-9:
            assert found.d_z[place] == pytest.approx(mean / spread, rel=1e-9, abs=1e-9)
            expected = stats.ttest_1samp(values, 0.0)
            assert found.p[place] == pytest.approx(expected.pvalue, rel=1e-6)
            ends = tuple(expected.confidence_interval(1 - alpha))
            assert (found.low[place], found.high[place]) == pytest.approx(ends, rel=1e-6, abs=1e-9)


@example(np.array([[0, 0], [0, 1], [1, 1], [0, 0.5], [1, 0], [0.3, 0], [0, 1], [0.2, 0]]))
@given(tables(2))
@examples(1)
def test_wilcoxon_and_sign_tests_are_those_of_the_textbook(table: Floats) -> None:
    """Users without a difference are left out; intervals are the t test's."""
    tests = "wilcoxon", "sign", "t"
    ranks, signs, t = (compare_all(table, Testing(test, "none")) for test in tests)
    for place, values in enumerate(_columns(table)):
        moved = [float(f"{one:.11g}") for one in values if one]
        if len(values) < 2:
            assert np.isnan([ranks.p[place], signs.p[place]]).all()
        elif not moved:
            assert ranks.p[place] == signs.p[place] == 1
        else:
            wins = sum(one > 0 for one in moved)
            assert ranks.p[place] == pytest.approx(textbook.signed_ranks(moved))
            assert signs.p[place] == pytest.approx(stats.binomtest(wins, len(moved)).pvalue)
    np.testing.assert_array_equal(ranks.low, t.low)
    np.testing.assert_array_equal(signs.high, t.high)


def test_the_bootstrap_gives_the_p_values_of_all_resamples() -> None:
    """Of five users, whose scores have few values."""
    table = np.random.default_rng(0).integers(0, 9, (5, 3)) / 10
    found = compare_all(table, Testing("bootstrap", draws=DRAWS))
    own, largest = textbook.resamples(table.tolist())
    assert found.p.tolist() == pytest.approx(own, abs=NEAR)
    assert found.p_corrected.tolist() == pytest.approx(largest, abs=NEAR)


@pytest.mark.parametrize("users", [4, 30])
def test_the_largest_t_is_that_of_the_multivariate_t(users: int) -> None:
    """Of two pairs, as SciPy integrates it."""
    table = made(users, 3, users, apart=0.03)
    pairs = [(0, 1), (0, 2)]
    found = compare_pairs(table, pairs, Testing("t", draws=DRAWS))
    apart = np.array([table[:, a] - table[:, b] for a, b in pairs])
    t = np.abs(apart.mean(axis=1) / apart.std(axis=1, ddof=1) * np.sqrt(users))
    joint = stats.multivariate_t(shape=np.corrcoef(apart), df=users - 1, seed=0)
    expected = [1 - joint.cdf([one] * 2, lower_limit=[-one] * 2) for one in t]
    assert found.p_corrected.tolist() == pytest.approx(expected, abs=NEAR + 0.002)


@pytest.mark.parametrize(
    ("first", "second", "near"),
    [
        (made(200, 2, 0, apart=0.011), made(200, 2, 1, apart=0.005), {"abs": NEAR + 0.002}),
        (made(6, 2, 3, apart=0.08), made(24, 2, 1, apart=0.02), {"rel": 0.1}),
    ],
)
def test_pairs_without_common_users_are_corrected_as_independent_ones(
    first: Floats, second: Floats, near: dict[str, Any]
) -> None:
    """Of few and of many users, each is as rare as by itself."""
    table = np.full((len(first) + len(second), 4), np.nan)
    table[: len(first), :2], table[len(first) :, 2:] = first, second
    found = compare_pairs(table, [(0, 1), (2, 3)], Testing("t", draws=DRAWS))
    assert (found.p < 0.9).all()
    assert found.p_corrected.tolist() == pytest.approx((1 - (1 - found.p) ** 2).tolist(), **near)


def test_a_pair_of_two_users_does_not_decide_about_all_others() -> None:
    """Only its own t has wide tails."""
    table = made(200, 3, 0, apart=0.1)
    table[2:, 2] = np.nan
    found = compare_all(table, Testing("t"))
    assert found.p[0] < 1e-6
    assert found.p_corrected[0] < 0.001


@pytest.mark.parametrize("test", ["t", "randomisation", "bootstrap"])
def test_a_single_pair_is_not_corrected(test: str) -> None:
    """By any correction."""
    for correction in CORRECTIONS:
        found = compare_all(made(20, 2, 0), Testing(test, correction, draws=99))
        assert found.p_corrected[0] == found.p[0]


@given(tables(), st.sampled_from(sorted(textbook.BY_NAME)), st.sampled_from(tuple(TESTS)))
@examples(1)
def test_corrections_are_those_of_the_textbook(table: Floats, correction: str, test: str) -> None:
    """Pairs of fewer than two users do not count."""
    found = compare_all(table, Testing(test, correction, draws=99))
    there = ~np.isnan(found.p)
    assert np.isnan(found.p_corrected[~there]).all()
    expected = textbook.BY_NAME[correction](found.p[there].tolist())
    assert found.p_corrected[there].tolist() == pytest.approx(expected)


@pytest.mark.parametrize("test", slow("t", "randomisation", "bootstrap"))
def test_max_t_keeps_the_family_wise_error_rate(test: str) -> None:
    """One in twenty sets of equal models has a finding, though each has six pairs."""
    stream = np.random.default_rng(0)
    how = Testing(test, draws=199)
    drawn = (compare_all(stream.normal(size=(40, 4)), how) for _ in range(400))
    wrong = sum(bool((found.p_corrected <= 0.05).any()) for found in drawn)
    low, high = stats.binom.ppf([0.0005, 0.9995], 400, 0.05)
    assert low <= wrong <= high


@pytest.mark.parametrize("correction", ["none", "bonferroni", "max-T"])
@pytest.mark.parametrize("users", [5, 60])
def test_the_detectable_difference_has_a_power_of_80_percent(correction: str, users: int) -> None:
    """The chance that SciPy's noncentral t exceeds half the width of the interval."""
    found = compare_all(made(users, 4, 3), Testing("t", correction))
    error = found.sd_difference / np.sqrt(users)
    beyond, shift = (found.high - found.difference) / error, found.detectable / error
    reached = stats.nct.sf(beyond, users - 1, shift) + stats.nct.cdf(-beyond, users - 1, shift)
    assert reached.tolist() == pytest.approx([0.8] * 6, abs=1e-4)


@pytest.mark.parametrize("test", TESTS)
def test_equal_scores_have_p_1_and_no_interval(test: str) -> None:
    """Nothing is known of a detectable difference."""
    table = np.array([[0.1 + 0.2, 0.3, 0.5], [0.7, 0.1 * 7, 0.25], [1.0, 1.0, 0.0]])
    found = compare_all(table, Testing(test, "holm", draws=5))
    assert found.difference[0] == found.sd_difference[0] == found.direction[0] == 0
    assert np.isnan([found.detectable[0], found.d_z[0]]).all()
    assert [found.p[0], found.p_corrected[0], found.statistic[0]] == [1, 1, 0]
    assert np.isnan([found.low[0], found.high[0], found.relative_low[0], found.d_z_low[0]]).all()
    assert [found.wins[0], found.ties[0], found.losses[0]] == [0, 3, 0]


@pytest.mark.parametrize("users", [2, 30])
def test_a_constant_difference_has_no_interval_and_the_p_of_random_signs(users: int) -> None:
    """Without any spread, t would find the difference of two users with certainty."""
    table = np.array([[0.3, 0.2, 0.7], [0.5, 0.4, 0.8]] * (users // 2))
    for test in ("t", "bootstrap", "randomisation"):
        found = compare_all(table, Testing(test))
        assert found.difference[0] == pytest.approx(0.1)
        assert (found.sd_difference[0], found.d_z[0]) == (0, np.inf)
        assert np.isnan([found.low[0], found.high[0], found.detectable[0]]).all()
        exact = max(2.0 ** (1 - users), 0 if test == "t" else 1 / 10_001)
        assert found.p[0] == pytest.approx(exact)
        assert found.p_corrected[0] >= exact
    alone = compare_all(table[:, :2], Testing())
    assert alone.p_corrected[0] == alone.p[0] == 2.0 ** (1 - users)


@pytest.mark.parametrize("test", TESTS)
def test_pairs_of_one_user_or_none_have_no_test(test: str) -> None:
    """One user has a difference."""
    table = np.array([[0.5, 0.25, np.nan], [0.25, np.nan, 0.5]])
    found = compare_pairs(table, [(0, 1), (1, 2)], Testing(test, "bonferroni"))
    assert found.users.tolist() == [1, 0]
    assert found.difference.tolist() == pytest.approx([0.25, np.nan], nan_ok=True)
    for name in ("sd_difference", "low", "high", "d_z", "p", "p_corrected", "detectable"):
        assert np.isnan(getattr(found, name)).all(), name


@pytest.mark.parametrize("test", TESTS)
def test_extreme_levels_and_no_pairs_are_allowed(test: str) -> None:
    """Nothing reaches the smallest alpha."""
    found = compare_all(made(3, 2, 0), Testing(test, "holm", alpha=1e-12, draws=99))
    assert not found.p[0] <= 1e-12
    assert found.detectable[0] > 1e4 or test in {"wilcoxon", "sign"}
    assert len(compare_pairs(made(3, 2, 0), [], Testing(test, "holm")).p) == 0
    assert len(compare_pairs(np.zeros((0, 2)), [(0, 1)], Testing(test, "holm")).p) == 1


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"test": "ttest"}, "test must be one of 't'.*not 'ttest'"),
        ({"test": "signs"}, "Did you mean 'sign'"),
        ({"correction": ""}, "correction must be one of 'max-T'.*not ''"),
        ({"test": "sign", "correction": "max-T"}, "has no correction 'max-T'; it has 'holm'"),
        ({"alpha": 0}, "alpha must be between 0 and 1, such as 0.05, not 0"),
        ({"draws": 0}, "draws must be a whole number from 1 to 10000000, not 0"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
        ({"seed": True}, "seed must be"),
    ],
)
def test_unusable_options_raise(options: dict[str, Any], match: str) -> None:
    """With the choices there are; infinite scores raise, too."""
    with rejects(match):
        Testing(**options)
    with rejects("The score of user 0 in model 1 is inf"):
        compare_pairs([[0.5, np.inf]], [(0, 1)], Testing())


@pytest.mark.parametrize("test", ["wilcoxon", "sign"])
def test_the_direction_of_ranks_and_signs_may_differ_from_the_means(test: str) -> None:
    """Ninety users gain a little, ten lose much."""
    apart = np.concatenate([np.linspace(0.011, 0.019, 90), np.linspace(-0.91, -0.99, 10)])
    table = np.column_stack([0.5 + apart, np.full(100, 0.5)])
    found = compare_pairs(table, [(0, 1)], Testing(test, "holm"))
    assert found.difference[0] < 0
    assert found.p_corrected[0] < 0.01
    assert found.direction[0] == 1
    assert np.isnan(found.detectable[0])


def test_the_detectable_difference_of_stepwise_corrections_is_bonferronis() -> None:
    """An upper bound: they find at least what Bonferroni finds."""
    table = made(100, 5, 0, apart=0.01)
    least = {one: compare_all(table, Testing("t", one)).detectable for one in CORRECTIONS}
    np.testing.assert_array_equal(least["holm"], least["bonferroni"])
    np.testing.assert_array_equal(least["bh"], least["bonferroni"])
    assert (least["max-T"] > least["none"]).all()


@pytest.mark.parametrize(
    ("how", "needed"),
    [
        (Testing("randomisation", "holm", draws=30), 59),
        (Testing("bootstrap", "bonferroni", draws=58), 59),
        (Testing("t", draws=18), 19),
        (Testing("randomisation", "none", draws=10), 19),
    ],
)
def test_too_few_draws_to_find_anything_raise(how: Testing, needed: int) -> None:
    """With the number that is enough."""
    with rejects(rf"draws={how.draws} is too few.*: 3\).*draws={needed} or m"):
        how.check_pairs(3)
    replace(how, draws=needed).check_pairs(3)
    found = compare_all(made(40, 3, 0, apart=1.0), how)
    assert (found.p_corrected > how.alpha).all()


def test_random_signs_of_five_users_find_nothing() -> None:
    """All signs are equal too often by chance."""
    table = np.column_stack([np.linspace(1.0, 1.1, 5), np.zeros(5)])
    found = compare_pairs(table, [(0, 1)], Testing("randomisation"))
    assert found.p[0] > 0.05
    assert not np.isfinite(found.detectable[0])
