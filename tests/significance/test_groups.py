"""Groups against all others by permuted labels: textbook, invariances, rates of false findings."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from recsys_ndcg.arrays import Floats
from recsys_ndcg.parallel import limit_threads
from recsys_ndcg.significance import GroupResults, compare_groups, groups
from tests.profiles import examples, slow
from tests.significance.drawn import tables
from tests.significance.textbook import label_permutations, list_contrasts, mean_apart

LABELS = st.lists(st.integers(-1, 2), min_size=6, max_size=6)


def _compare(values: Any, codes: Any, n_groups: int = 3, **options: Any) -> GroupResults:
    return compare_groups(values, codes, n_groups, **{"draws": 999, "min_users": 1} | options)


def _assert_same(one: GroupResults, other: GroupResults, atol: float = 0) -> None:
    assert one.draws == other.draws
    for mine, theirs in zip(one[:-1], other[:-1], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=atol)


@pytest.mark.parametrize("pairwise", [False, True])
@pytest.mark.parametrize("one_family", [False, True])
@given(table=tables(6, 6, models=3), codes=LABELS)
@example(table=np.array([[998 / 997], [1.0], [-0.4], [1.0]]), codes=[1, 0, 0, 2])  # equal T's
@examples(1)
def test_p_is_the_share_of_all_permutations(
    table: Floats, codes: list[int], *, one_family: bool, pairwise: bool
) -> None:
    """All 720 orders of six users, of whom some have no group, and some no score."""
    how: dict[str, Any] = {"one_family": one_family, "pairwise": pairwise}
    own, largest = label_permutations(table.tolist(), codes, 3, **how)
    found = _compare(table, codes, draws=4999, **how)
    for results, exact in ((found.p, np.array(own)), (found.p_corrected, np.array(largest))):
        np.testing.assert_array_equal(np.isnan(results), np.isnan(exact))
        error = 6 * np.sqrt(exact * (1 - exact) / 4999) + 2 / 4999
        assert not (np.abs(results - exact) > error).any()
    for place, sides in enumerate(list_contrasts(3, pairwise=pairwise)):
        for column, values in enumerate(table.T.tolist()):
            expected = mean_apart(values, codes, sides)
            assert found.difference[place, column] == pytest.approx(
                expected, abs=1e-12, nan_ok=True
            )


@given(table=tables(2, 9), codes=st.lists(st.integers(-1, 2), min_size=9, max_size=9))
@example(np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.1]]), [0, 0, 1])  # a column without variance
@example(np.array([[0.3, 0.1], [0.2, 0.2], [0.1, 0.0], [0.1, 0.2], [0.0, 0.2]]), [0, 0, 1, 1, 1])
@examples(1)
def test_p_values_are_in_order(table: Floats, codes: list[int]) -> None:
    """The corrected p is not below p, and the p of all columns together not below that."""
    codes = codes[: len(table)]
    one, family = (_compare(table, codes, one_family=joint) for joint in (False, True))
    tested = ~np.isnan(one.p)
    assert (one.p[tested] >= 1 / 1000).all()
    assert (one.p <= one.p_corrected)[tested].all()
    assert (one.p_corrected <= family.p_corrected)[tested].all()
    assert (family.p_corrected[tested] <= 1).all()
    np.testing.assert_array_equal(one.p, family.p)


@given(tables(2, 9), st.integers(-300, 300), st.integers(0, 99))
@examples(1)
def test_the_unit_of_the_scores_and_users_without_a_group(
    table: Floats, power: int, seed: int
) -> None:
    """Only the differences have a unit; other columns change nothing."""
    codes = np.random.default_rng(seed).integers(0, 3, len(table))
    one = _compare(table, codes)
    other = _compare(np.ldexp(table, power), codes)
    scaled = {
        name: np.ldexp(getattr(one, name), power)
        for name in ("difference", "low", "high", "by_chance")
    }
    _assert_same(one._replace(**scaled), other)
    more = np.insert(table, [0, 1, 1], 0.25, axis=0)
    _assert_same(one, _compare(more, np.insert(codes, [0, 1, 1], -1)))
    for column in range(table.shape[1]):
        alone = _compare(table[:, [column]], codes)
        _assert_same(
            alone,
            one._replace(**{name: getattr(one, name)[..., [column]] for name in one._fields[:-1]}),
        )


def test_p_does_not_depend_on_the_level_of_the_intervals() -> None:
    """A difference is significant at 5, 1 or 0.1 % if the interval of that level leaves out 0."""
    stream = np.random.default_rng(3)
    table = stream.normal(size=(200, 2)) + np.where(np.arange(200) < 10, 1.6, 0.0)[:, None]
    table[:10] *= 3  # the few vary more, so the intervals decide
    codes = (np.arange(200) >= 10).astype(int)
    found = {level: _compare(table, codes, level=level) for level in (0.5, 0.95, 0.99, 0.999)}
    welch = stats.ttest_ind(table[:10], table[10:], equal_var=False).pvalue
    for level, one in found.items():
        np.testing.assert_array_equal(one.p, found[0.5].p)
        is_outside = (one.low > 0) | (one.high < 0)
        np.testing.assert_array_equal(is_outside, one.p_corrected <= 1 - level)
    assert (np.abs(np.log(found[0.5].p[0] / welch)) < 0.7).all()


def test_the_order_of_the_users() -> None:
    """It only changes which permutations are drawn."""
    stream = np.random.default_rng(0)
    table, codes = stream.random((90, 2)), np.arange(90) % 3
    table[codes == 1] += 0.15
    order = stream.permutation(90)
    one, other = (
        _compare(table, codes, draws=9999),
        _compare(table[order], codes[order], draws=9999),
    )
    assert one.p.min() < 0.1
    _assert_same(one, other, atol=0.03)
    _assert_same(one, _compare(table, codes, draws=9999, seed=1), atol=0.03)


@pytest.mark.parametrize("one_family", [False, True])
def test_threads(monkeypatch: pytest.MonkeyPatch, *, one_family: bool) -> None:
    """Not the last bit depends on them; each block of permutations has its own stream."""
    monkeypatch.setattr(groups, "_CELLS", 1000)
    stream = np.random.default_rng(0)
    table, codes = stream.random((300, 3)), np.arange(300) % 10
    table[::7, 1] = np.nan
    with limit_threads(1):
        one = _compare(table, codes, 10, one_family=one_family)
    shares: list[float] = []
    with limit_threads(4):
        other = _compare(table, codes, 10, one_family=one_family, show=shares.append)
    _assert_same(one, other)
    assert len(shares) == 333
    assert shares[-1] == 1


@pytest.mark.slow
def test_groups_without_variance_differ_as_often_as_others() -> None:
    """Nine of ten scores are 0, in ten groups drawn by lot: Welch's test finds some in 70 %."""
    found = 0
    for seed in range(200):
        stream = np.random.default_rng(seed)
        scores = np.where(stream.random(300) < 0.9, 0.0, stream.beta(1, 3, 300))
        codes = stream.permutation(np.arange(300) % 10)
        results = compare_groups(scores[:, None], codes, 10, draws=999, seed=seed)
        found += bool((results.p_corrected <= 0.05).any())
    assert 0.01 <= found / 200 <= 0.09


@pytest.mark.slow
def test_groups_that_only_vary_more_are_rarely_found() -> None:
    """Of equal means; each varies three times as much as the next. By the variance of all: 23 %."""
    found = 0
    for seed in range(200):
        stream = np.random.default_rng(seed)
        codes = np.repeat(range(4), [40, 60, 70, 70])
        scores = stream.normal(size=240) * 3.0**-codes
        results = compare_groups(scores[:, None], codes, 4, draws=199, seed=seed)
        found += bool((results.p_corrected <= 0.05).any())
    assert found / 200 <= 0.12


@pytest.mark.parametrize("samples", [30, *slow(200)])
def test_a_small_group_in_which_few_users_change_is_rarely_found(samples: int) -> None:
    """One in twenty gains 1, all others a little: the same mean. By their own variance: 31 %."""
    found = 0
    for seed in range(samples):
        stream = np.random.default_rng(seed)
        few = np.where(stream.random(20) < 0.05, 1.0, 0.0)
        changes = np.append(few, stream.normal(0.05, 0.1, 180).clip(-1, 1))
        codes = (np.arange(200) >= 20).astype(int)
        how: dict[str, Any] = {"draws": 199, "seed": seed, "both_bounded": True}
        found += bool((compare_groups(changes[:, None], codes, 2, **how).p_corrected <= 0.05).any())
    assert found / samples <= 0.12


def test_scores_that_cannot_be_negative_have_intervals_on_the_logarithmic_scale() -> None:
    """Exponential in a small group: p is one minus the level of the interval that ends at 0."""
    stream = np.random.default_rng(2)
    few, many = stream.exponential(1, 10), stream.normal(1, 0.1, 90)
    codes = (np.arange(100) >= 10).astype(int)
    how: dict[str, Any] = {"nonnegative": [False, True], "draws": 9999}
    found = compare_groups(np.column_stack([np.append(few, many)] * 2), codes, 2, **how)
    assert found.difference[0, 0] < 0
    for p, is_log in zip(found.p[0], (False, True), strict=True):
        ends = []
        for one in (few, many):
            mean = one.mean()
            half = stats.t.isf(p / 2, len(one) - 1) * one.std(ddof=1) / math.sqrt(len(one))
            low, high = mean - half, mean + half
            if is_log:
                low, high = mean * math.exp(-half / mean), mean * math.exp(half / mean)
            ends.append((mean - low, high - mean))
        above = math.hypot(ends[0][1], ends[1][0])
        assert above == pytest.approx(-found.difference[0, 0], rel=1e-6)
    assert found.p[0, 1] > 2 * found.p[0, 0]


@pytest.mark.parametrize("samples", [30, *slow(100)])
def test_a_group_in_which_half_of_the_users_change_is_found(samples: int) -> None:
    """Of 20 users, and one in twenty of the others."""
    found = 0
    for seed in range(samples):
        stream = np.random.default_rng(seed)
        codes = (np.arange(200) >= 20).astype(int)
        changes = stream.random(200) < np.where(codes, 0.05, 0.5)
        how: dict[str, Any] = {"draws": 199, "seed": seed, "both_bounded": True}
        table = changes[:, None].astype(np.float64)
        found += bool((compare_groups(table, codes, 2, **how).p_corrected <= 0.05).all())
    assert found / samples >= 0.8


def test_a_group_that_differs_is_found() -> None:
    """Also in a table with a family of two columns, of which one shows nothing."""
    stream = np.random.default_rng(0)
    table, codes = (stream.random((300, 2)) < 0.1) * 1.0, np.arange(300) % 10
    table[codes == 4, 0] = np.arange(30) % 2
    for one_family in (False, True):
        p = compare_groups(table, codes, 10, bounded=True, one_family=one_family).p_corrected
        assert np.argwhere(p <= 0.05).tolist() == [[4, 0]]


def test_small_groups_do_not_hide_a_difference() -> None:
    """One hit of a single user is far from the mean, if hits are rare."""
    sizes = [120, 90, 81, *[1] * 9]
    codes, hits = np.repeat(np.arange(12), sizes), np.zeros(300)
    hits[:2], hits[120:131], hits[-1] = 1, 1, 1
    all_tested = compare_groups(hits[:, None], codes, 12, min_users=1)
    large_tested = compare_groups(hits[:, None], codes, 12)
    assert np.isnan(large_tested.p[3:]).all()
    np.testing.assert_array_equal(all_tested.p[:3], large_tested.p[:3])
    assert large_tested.p_corrected[1] < 0.05
    assert all_tested.p_corrected[1] > 0.05
    np.testing.assert_array_equal(all_tested.difference, large_tested.difference)


def test_equal_scores_do_not_differ() -> None:
    """But for rounding: 0.1 three times, over three, is not 0.1 in floating point."""
    for values in ([0.1] * 7, [0.1 + 0.2, 0.3] * 3 + [0.3], [1e-320] * 7, [0.0] * 7):
        results = _compare(np.array(values)[:, None], [0, 0, 0, 1, 1, 2, 2])
        assert results.difference.tolist() == [[0], [0], [0]]
        assert results.p.tolist() == results.p_corrected.tolist() == [[1], [1], [1]]


@example([0, 2, 4, 3, 3, 0], 10)
@example([5, 4, 2, 4, 3, 4], 3)
@given(st.lists(st.integers(0, 8), min_size=6, max_size=6), st.sampled_from([3, 7, 10, 11]))
@examples(4)
def test_sums_that_are_equal_but_for_rounding_are_equal(numbers: list[int], parts: int) -> None:
    """Whole numbers and their thirds or tenths have the same p, and no difference or some."""
    whole, codes = np.array(numbers, dtype=np.float64)[:, None], [0, 0, 0, 1, 1, 1]
    one, other = _compare(whole, codes, 2), _compare(whole / parts, codes, 2)
    np.testing.assert_allclose(one.p, other.p, rtol=1e-9)
    np.testing.assert_allclose(one.p_corrected, other.p_corrected, rtol=1e-9)
    np.testing.assert_array_equal(np.sign(one.difference), np.sign(other.difference))


def test_one_user_is_a_group() -> None:
    """The highest of twenty scores is the highest in one of twenty permutations."""
    scores = np.arange(20.0)[:, None] ** 2
    results = _compare(scores, [0] * 19 + [1], 2, draws=9999)
    assert results.p[1, 0] == pytest.approx(1 / 20, abs=0.01)


def test_nothing_to_compare_has_no_p() -> None:
    """No score, no user, a single group with scores."""
    nothing = np.full((4, 2), math.nan)
    for values, codes in ((nothing, [0, 1, 2, 0]), (nothing[:0], []), (nothing + 1, [0, 1, 2, 0])):
        assert all(np.isnan(one).all() for one in _compare(values, np.array(codes, dtype=int))[:-1])
    single = _compare([[1.0], [2.0], [math.nan]], [0, 0, 1])
    assert all(np.isnan(one).all() for one in single[:-1])


@pytest.mark.parametrize(
    ("n_users", "n_columns", "draws"),
    [(9, 1, 9999), (30_000, 1, 2999), pytest.param(10_000, 40, 999, marks=pytest.mark.slow)],
)
def test_larger_data_get_fewer_permutations(n_users: int, n_columns: int, draws: int) -> None:
    """So that a million users do not take a minute."""
    table = np.zeros((n_users, n_columns))
    table[0] = 1
    assert compare_groups(table, np.arange(n_users) % 2, 2).draws == draws


def test_permuted_bundles_are_as_good_as_permuted_users() -> None:
    """Hits of two halves are hypergeometric, also if some users have no score."""
    half, hits, more = 10_003, 400, 36
    codes, hit = np.repeat([0, 1, -1], half), np.zeros(3 * half)
    hit[: (hits + more) // 2] = hit[half:][: (hits - more) // 2] = 1
    exact = 2 * stats.hypergeom.sf((hits + more) // 2 - 1, 2 * half, hits, half)
    missing = [0, 9_000, 15_000]
    with_missing = np.insert(hit, missing, math.nan), np.insert(codes, missing, [0, 1, 1])
    for values, halves in ((hit, codes), with_missing):
        p = _compare(values[:, None], halves, 2, draws=1999).p[0, 0]
        assert p == pytest.approx(exact, abs=4 * math.sqrt(exact / 1999))


def test_a_small_group_may_get_any_user() -> None:
    """Not only the few users whom no bundle has; a group of one has only this test."""
    users = np.arange(40_960)
    codes = users == 0.85 * len(users)
    found = [_compare(users[:, None], codes, 2, draws=499, seed=n).p[1, 0] for n in range(8)]
    assert found == pytest.approx([0.3] * 8, abs=4 * math.sqrt(0.3 * 0.7 / 499))


def test_users_without_a_score_are_in_no_bundle() -> None:
    """A hundred scores among many users are permuted one by one."""
    scores, codes = np.repeat([0.0, 1.0, 0.0, 1.0], [48, 12, 38, 2]), np.arange(100) // 60
    few = _compare(scores[:, None], codes, 2, draws=9999).p[0, 0]
    table, codes = np.full((50_000, 1), math.nan), np.repeat(codes, 500)
    table[::500, 0] = scores
    found = [_compare(table, codes, 2, draws=499, seed=seed).p[0, 0] for seed in range(6)]
    assert found == pytest.approx([few] * 6, abs=4 * math.sqrt(few / 499))


def test_bundles_of_a_column_do_not_depend_on_other_columns() -> None:
    """Nor on threads, also if the columns have scores of other users."""
    table, codes = np.random.default_rng(0).random((9000, 3)), np.arange(9000) % 5
    table[::11, 1], table[500:, 2] = math.nan, math.nan
    together = _compare(table, codes, 5, draws=199)
    with limit_threads(1):
        for column in range(3):
            alone = _compare(table[:, [column]], codes, 5, draws=199)
            np.testing.assert_array_equal(alone.p[:, 0], together.p[:, column])
