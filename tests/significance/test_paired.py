"""Pairs are tested as textbooks and SciPy test them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recsys_ndcg.significance.paired import PairResults, compare_pairs
from recsys_ndcg.significance.testing import CORRECTIONS, TESTS, Testing
from tests.errors import rejects
from tests.profiles import examples
from tests.significance import textbook
from tests.significance.drawn import GRID, made, tables

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats

BY_NAME: dict[str, Any] = {
    "holm": textbook.holm,
    "bonferroni": textbook.bonferroni,
    "bh": textbook.benjamini_hochberg,
}
DRAWS = 20_000
NEAR = 4 * math.sqrt(0.25 / DRAWS)  # four standard deviations of a share of so many draws


def _all(table: Floats, how: Testing, **more: Any) -> PairResults:
    return compare_pairs(table, textbook.all_pairs(table.shape[1]), how, **more)


def _columns(table: Floats) -> list[list[float]]:
    pairs = textbook.all_pairs(table.shape[1])
    return [textbook.differences(table.tolist(), *pair) for pair in pairs]


@given(tables())
@examples(1)
def test_users_are_counted_and_differences_are_averaged(table: Floats) -> None:
    """Of the users who have a score in both models."""
    found = _all(table, Testing(correction="none"))
    for place, apart in enumerate(_columns(table)):
        assert found.users[place] == len(apart)
        assert found.wins[place] == sum(one > 0 for one in apart)
        assert found.losses[place] == sum(one < 0 for one in apart)
        assert found.ties[place] == sum(one == 0 for one in apart)
        mean = np.mean(apart) if apart else np.nan
        spread = np.std(apart, ddof=1) if len(apart) > 1 else np.nan
        assert found.difference[place] == pytest.approx(mean, abs=1e-12, nan_ok=True)
        assert found.deviation[place] == pytest.approx(spread, abs=1e-12, nan_ok=True)
        if spread > 1e-9:
            assert found.effect[place] == pytest.approx(mean / spread, rel=1e-9, abs=1e-9)


@given(tables(2), st.sampled_from([0.01, 0.05, 0.5]))
@examples(1)
def test_t_is_scipys(table: Floats, alpha: float) -> None:
    """The p-value, and the interval that goes with it."""
    found = _all(table, Testing("t", "none", alpha))
    for place, apart in enumerate(_columns(table)):
        if len(apart) < 2:
            assert np.isnan([found.p[place], found.low[place], found.high[place]]).all()
        elif np.std(apart) > 1e-9:
            expected = stats.ttest_1samp(apart, 0.0)
            low, high = expected.confidence_interval(1 - alpha)
            assert found.p[place] == pytest.approx(expected.pvalue, rel=1e-6)
            assert found.low[place] == pytest.approx(low, rel=1e-6, abs=1e-9)
            assert found.high[place] == pytest.approx(high, rel=1e-6, abs=1e-9)


@given(tables(2))
@examples(1)
def test_ranks_and_signs_are_the_textbooks(table: Floats) -> None:
    """Users without a difference are left out."""
    ranks = _all(table, Testing("wilcoxon", "none"))
    signs = _all(table, Testing("sign", "none"))
    alone = _all(table, Testing("t", "none"))
    for place, apart in enumerate(_columns(table)):
        moved = [float(f"{one:.11g}") for one in apart if one]
        if len(apart) < 2:
            assert np.isnan([ranks.p[place], signs.p[place]]).all()
        elif not moved:
            assert ranks.p[place] == signs.p[place] == 1
        else:
            wins = sum(one > 0 for one in moved)
            assert ranks.p[place] == pytest.approx(textbook.signed_ranks(moved))
            assert signs.p[place] == pytest.approx(stats.binomtest(wins, len(moved)).pvalue)
    np.testing.assert_array_equal(ranks.low, alone.low)
    np.testing.assert_array_equal(signs.high, alone.high)


@pytest.mark.parametrize("users", [20, 50, 80, 300])
def test_ranks_are_scipys(users: int) -> None:
    """Where no two differences are equal, or there are many."""
    table = made(users, 2, users, apart=0.01)
    if users > 50:
        table = table.round(2)
    expected = stats.wilcoxon((table[:, 0] - table[:, 1]).round(9)).pvalue
    assert _all(table, Testing("wilcoxon", "none")).p[0] == pytest.approx(expected)


@pytest.mark.parametrize("seed", [0, 1])
def test_random_signs_are_scipys(seed: int) -> None:
    """Where SciPy goes through all of them."""
    table = made(9, 2, seed)
    found = _all(table, Testing("randomisation", draws=DRAWS))
    expected = stats.permutation_test(
        (table[:, 0], table[:, 1]), lambda a, b: np.mean(a - b), permutation_type="samples"
    )
    assert found.p[0] == pytest.approx(expected.pvalue, abs=NEAR)


@given(st.lists(st.lists(st.sampled_from(GRID), min_size=3, max_size=3), min_size=6, max_size=6))
@examples(0.1)
def test_the_largest_of_all_pairs_under_signs_is_that_of_all_sign_flips(
    rows: list[list[float]],
) -> None:
    """With the many ties that scores of few values have, each of them counted."""
    found = _all(np.array(rows), Testing("randomisation", draws=DRAWS))
    own, largest = textbook.sign_flips(rows)
    assert found.p.tolist() == pytest.approx(own, abs=NEAR)
    assert found.p_corrected.tolist() == pytest.approx(largest, abs=NEAR)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_largest_of_all_pairs_over_resamples_is_that_of_all_resamples(seed: int) -> None:
    """Of five users, whose scores have few values."""
    stream = np.random.default_rng(seed)
    table = stream.integers(0, 9, (5, 3)) / 10
    found = _all(table, Testing("bootstrap", draws=DRAWS))
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
    assert (found.p_corrected >= found.p).all()


def test_the_largest_t_of_pairs_of_other_users_is_that_of_independent_ones() -> None:
    """No user has a score in both pairs, so that nothing is known of one from the other."""
    table = np.full((400, 4), np.nan)
    table[:200, :2], table[200:, 2:] = made(200, 2, 0, apart=0.011), made(200, 2, 1, apart=0.005)
    found = compare_pairs(table, [(0, 1), (2, 3)], Testing("t", draws=DRAWS))
    expected = 1 - (1 - found.p) ** 2
    assert (found.p < 0.9).all()
    assert found.p_corrected.tolist() == pytest.approx(expected.tolist(), abs=NEAR + 0.002)


def test_the_largest_t_of_pairs_of_few_and_of_many_users() -> None:
    """Each is as rare as it is alone, and hardly knows of the other."""
    table = np.full((30, 4), np.nan)
    table[:6, :2], table[6:, 2:] = made(6, 2, 3, apart=0.08), made(24, 2, 1, apart=0.02)
    found = compare_pairs(table, [(0, 1), (2, 3)], Testing("t", draws=DRAWS))
    assert ((found.p > 0.02) & (found.p < 0.5)).all()
    assert found.p_corrected.tolist() == pytest.approx((1 - (1 - found.p) ** 2).tolist(), rel=0.1)


def test_a_pair_of_two_users_does_not_decide_about_all_others() -> None:
    """The wide tails of its t are its own."""
    table = made(200, 3, 0, apart=0.1)
    table[2:, 2] = np.nan
    found = _all(table, Testing("t"))
    assert found.p[0] < 1e-6
    assert found.p_corrected[0] < 0.001


@pytest.mark.parametrize("test", ["t", "randomisation", "bootstrap"])
def test_one_pair_alone_is_not_corrected(test: str) -> None:
    """The largest of one is itself."""
    table = made(20, 2, 0)
    for correction in CORRECTIONS:
        found = _all(table, Testing(test, correction))
        assert found.p_corrected[0] == found.p[0]


@given(tables(), st.sampled_from(sorted(BY_NAME)), st.sampled_from(tuple(TESTS)))
@examples(1)
def test_corrections_are_the_textbooks(table: Floats, correction: str, test: str) -> None:
    """Pairs of fewer than two users are not in the family."""
    found = _all(table, Testing(test, correction, draws=99))
    there = ~np.isnan(found.p)
    assert np.isnan(found.p_corrected[~there]).all()
    expected = BY_NAME[correction](found.p[there].tolist())
    assert found.p_corrected[there].tolist() == pytest.approx(expected)


@pytest.mark.parametrize("test", ["t", "randomisation", "bootstrap"])
def test_false_findings_among_all_pairs_are_as_rare_as_alpha(test: str) -> None:
    """One in twenty sets of equal models, though each has six pairs."""
    stream = np.random.default_rng(0)
    how = Testing(test, draws=199)
    wrong = sum(
        bool((_all(stream.normal(size=(40, 4)), how).p_corrected <= 0.05).any()) for _ in range(400)
    )
    low, high = stats.binom.ppf([0.0005, 0.9995], 400, 0.05)
    assert low <= wrong <= high


@pytest.mark.parametrize("correction", ["none", "bonferroni", "max-T"])
@pytest.mark.parametrize("users", [5, 60])
def test_what_is_detectable_is_found_four_times_in_five(correction: str, users: int) -> None:
    """As SciPy's noncentral t has it, beyond the half width of the interval."""
    found = _all(made(users, 4, 3), Testing("t", correction))
    error = found.deviation / np.sqrt(users)
    beyond, shift = (found.high - found.difference) / error, found.detectable / error
    reached = stats.nct.sf(beyond, users - 1, shift) + stats.nct.cdf(-beyond, users - 1, shift)
    assert reached.tolist() == pytest.approx([0.8] * 6, abs=1e-4)


@pytest.mark.parametrize("test", TESTS)
def test_no_difference_at_all(test: str) -> None:
    """Is no evidence of one, nor of how large one would have to be."""
    table = np.array([[0.1 + 0.2, 0.3, 0.5], [0.7, 0.1 * 7, 0.25], [1.0, 1.0, 0.0]])
    found = _all(table, Testing(test, "holm", draws=5))
    assert found.difference[0] == found.deviation[0] == found.direction[0] == 0
    assert np.isnan(found.detectable[0])
    assert [found.p[0], found.p_corrected[0], found.low[0], found.high[0]] == [1, 1, 0, 0]
    assert [found.wins[0], found.ties[0], found.losses[0]] == [0, 3, 0]
    assert np.isnan(found.effect[0])


@pytest.mark.parametrize("users", [2, 30])
def test_the_same_difference_everywhere(users: int) -> None:
    """Is a point, and as sure as a test can be; random signs of two users cannot be sure."""
    table = np.array([[0.3, 0.2], [0.5, 0.4]] * (users // 2))
    for test in ("t", "bootstrap", "randomisation"):
        found = _all(table, Testing(test))
        assert found.difference[0] == pytest.approx(0.1)
        assert (found.deviation[0], found.effect[0]) == (0, np.inf)
        if test == "randomisation" and users == 2:
            assert found.p[0] == pytest.approx(0.5, abs=NEAR)
            assert (found.low[0], found.high[0]) == (-np.inf, np.inf)
            assert found.detectable[0] == np.inf
        else:
            assert found.low[0] == found.high[0] == found.difference[0]
            assert found.detectable[0] == 0
            smallest = np.finfo(float).tiny if test == "t" else 1 / 10_001
            assert found.p[0] == smallest


@pytest.mark.parametrize("test", TESTS)
def test_too_few_users_are_no_test(test: str) -> None:
    """One user has a difference, none has nothing."""
    table = np.array([[0.5, 0.25, np.nan], [0.25, np.nan, 0.5]])
    found = compare_pairs(table, [(0, 1), (1, 2)], Testing(test, "bonferroni"))
    assert found.users.tolist() == [1, 0]
    assert found.difference.tolist() == pytest.approx([0.25, np.nan], nan_ok=True)
    for name in ("deviation", "low", "high", "effect", "p", "p_corrected", "detectable"):
        assert np.isnan(getattr(found, name)).all(), name


def test_a_level_that_nothing_reaches() -> None:
    """Finds nothing, and would not."""
    for test in TESTS:
        found = _all(made(3, 2, 0), Testing(test, "holm", alpha=1e-12))
        assert not found.p[0] <= 1e-12
        assert found.detectable[0] > 1e4 or test in {"wilcoxon", "sign"}


def test_no_pairs_are_no_tests() -> None:
    """Nor an error."""
    for test in TESTS:
        assert len(compare_pairs(made(3, 2, 0), [], Testing(test, "holm")).p) == 0
        assert len(compare_pairs(np.zeros((0, 2)), [(0, 1)], Testing(test, "holm")).p) == 1


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"test": "ttest"}, "test must be one of 't'.*not 'ttest'"),
        ({"test": "signs"}, "Did you mean 'sign'"),
        ({"correction": ""}, "correction must be one of 'max-T'.*not ''"),
        ({"test": "sign", "correction": "max-T"}, "has no correction 'max-T'; it has 'holm'"),
        ({"test": "wilcoxon", "correction": "max-T"}, "has no correction 'max-T'"),
        ({"alpha": 0}, "alpha must be between 0 and 1, such as 0.05, not 0"),
        ({"alpha": "5%"}, "alpha must be"),
        ({"alpha": 1e-13}, "alpha must be at least 1e-12 away from 0 and 1, .*not 1e-13"),
        ({"draws": 0}, "draws must be a whole number from 1 to 10000000, not 0"),
        ({"draws": 99.0}, "draws must be"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
        ({"seed": True}, "seed must be"),
    ],
)
def test_what_is_no_way_of_testing_is_refused(options: dict[str, Any], match: str) -> None:
    """With what there is instead."""
    with rejects(match):
        Testing(**options)


def test_what_cannot_be_compared_is_refused() -> None:
    """Rather than tested."""
    with rejects("The score of user 0 in model 1 is inf"):
        compare_pairs([[0.5, np.inf]], [(0, 1)], Testing())


@pytest.mark.parametrize("test", ["wilcoxon", "sign"])
def test_ranks_and_signs_speak_for_their_own_winner(test: str) -> None:
    """Which may not be the one with the higher mean."""
    apart = np.concatenate([np.linspace(0.011, 0.019, 90), np.linspace(-0.91, -0.99, 10)])
    found = compare_pairs(
        np.column_stack([0.5 + apart, np.full(100, 0.5)]), [(0, 1)], Testing(test, "holm")
    )
    assert found.difference[0] < 0
    assert found.p_corrected[0] < 0.01
    assert found.direction[0] == 1
    assert np.isnan(found.detectable[0])


def test_what_could_be_found_under_holm_is_not_promised_too_lightly() -> None:
    """At least what Bonferroni finds, and no more is promised than that."""
    table = made(100, 5, 0, apart=0.01)
    least = {one: _all(table, Testing("t", one)).detectable for one in CORRECTIONS}
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
def test_too_few_draws_to_find_anything_are_refused(how: Testing, needed: int) -> None:
    """With how many would do."""
    with rejects(f"draws={how.draws} no corrected p of 3 pairs.*draws={needed} or more"):
        how.check_pairs(3)
    replace(how, draws=needed).check_pairs(3)
    found = _all(made(40, 3, 0, apart=1.0), how)
    assert (found.p_corrected > how.alpha).all()


def test_signs_of_few_users_find_nothing() -> None:
    """Of five users all signs are alike by chance often enough."""
    table = np.column_stack([np.linspace(1.0, 1.1, 5), np.zeros(5)])
    found = compare_pairs(table, [(0, 1)], Testing("randomisation"))
    assert found.p[0] > 0.05
    assert not np.isfinite(found.detectable[0])
