"""Gaps of groups of users, against plain formulas and all permutations of a few users."""

import math
import warnings
from itertools import combinations, permutations
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.report.gaps import GapOptions, GroupMeans, MetricGaps
from tests.beyond.textbook import mean

LEVEL = 0.9
SCORES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=4, max_size=6)


def measure(scores: Any, codes: Any, n_groups: int, draws: int = 199, seed: int = 0) -> MetricGaps:
    """Return the gaps of one column of scores."""
    options = GapOptions(LEVEL, draws, seed)
    values = np.array(scores, dtype=np.float64)
    return MetricGaps.of(values, np.array(codes), n_groups, options, lambda _: None)


def largest_t(scores: Any, codes: Any) -> dict[tuple[int, int], float]:
    """Return |t| of all pairs, with variances as of ten more users, but no smaller."""
    parts = [
        [score for score, own in zip(scores, codes, strict=True) if own == code]
        for code in sorted({*codes})
    ]
    squares = [math.fsum((score - mean(one)) ** 2 for score in one) for one in parts]
    pooled = math.fsum(squares) / (len(scores) - len(parts))
    errors = [
        max((10 * pooled + square) / (9 + len(one)), square / max(len(one) - 1, 1)) / len(one)
        for one, square in zip(parts, squares, strict=True)
    ]
    found = {}
    for one, other in combinations(range(len(parts)), 2):
        gap = abs(mean(parts[one]) - mean(parts[other]))
        error = math.sqrt(errors[one] + errors[other])
        found[one, other] = 0.0 if gap < 1e-12 else gap / error if error > 1e-12 else math.inf
    return found


@given(scores=SCORES, n_groups=st.integers(2, 3))
def test_p_is_the_share_of_permutations_with_a_larger_t(scores: list[float], n_groups: int) -> None:
    """Of the pair with the largest t in each permutation."""
    codes = [place % n_groups for place in range(len(scores))]
    draws = 1999
    found = measure(scores, codes, n_groups, draws)
    own = largest_t(scores, codes)
    most = [max(largest_t(one, codes).values()) for one in {*permutations(scores)}]
    for p, t in zip(found.p_corrected, own.values(), strict=True):
        wanted = mean([one >= t * (1 - 1e-9) for one in most])
        assert abs(p - wanted) < 5 * math.sqrt(0.25 / draws) + 1 / draws


@given(scores=st.lists(st.floats(0, 1), min_size=6, max_size=20))
def test_t_has_variances_that_are_not_taken_for_chance(scores: list[float]) -> None:
    """As by hand."""
    codes = np.array([place % 3 for place in range(len(scores))])
    values = np.round(scores, 3)
    means = GroupMeans.of(values, codes, np.bincount(codes))
    gap, error = means.compute_gaps(np.triu_indices(3, 1))
    wanted = [*largest_t(values.tolist(), codes.tolist()).values()]
    kept = np.isfinite(wanted)
    found = np.abs(gap[kept])
    assert found == pytest.approx(np.array(wanted)[kept] * error[kept], rel=1e-9, abs=1e-9)


@given(
    scores=st.lists(
        st.floats(0, 1) | st.sampled_from([0.0, 1.0, math.nan]), min_size=1, max_size=12
    ),
    seed=st.integers(0, 5),
)
def test_intervals_agree_with_p_and_with_each_other(scores: list[float], seed: int) -> None:
    """Also of groups without users, and of one user each."""
    codes = [(seed * place) % 4 - 1 for place in range(len(scores))]
    one = measure(scores, codes, 3, seed=seed)
    known = ~np.isnan(one.low)
    is_apart = (one.low > 1e-9) | (one.high < -1e-9)
    assert not (is_apart & ~(one.p_corrected <= 1 - LEVEL + 1e-9))[known].any()
    assert ((one.low <= one.gap) & (one.gap <= one.high))[known].all()
    row = one.to_row("xyz")
    pairs = [*zip(scores, codes, strict=True)]
    groups = [
        [score for score, own in pairs if own == code and not math.isnan(score)]
        for code in range(3)
    ]
    gaps = [abs(mean(a) - mean(b)) for a, b in combinations([g for g in groups if g], 2)]
    wanted = [mean(gaps), max(gaps)] if gaps else [math.nan] * 2
    assert [row["mean_gap"], row["largest_gap"]] == pytest.approx(wanted, abs=1e-9, nan_ok=True)
    if known.any():
        assert 0 <= row["mean_low"] <= row["mean_gap"] + 1e-9
        assert row["mean_gap"] <= row["mean_high"] + 1e-9
        assert row["largest_low"] <= row["largest_gap"] + 1e-9 <= row["largest_high"] + 2e-9


def draw_report(n_users: int = 120) -> rn.Report:
    """Return the report of users of whom every third has a bad list."""
    rows = {
        user: [(4, 5), (3, user % 2)] if user % 3 else [(4, user % 2), (3, 5)]
        for user in range(n_users)
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rn.DataWarning)
        return rn.evaluate(rows, metrics=["ndcg@2", "rr"], threshold=4)


def test_tables_of_metrics_pairs_and_groups_agree() -> None:
    """On a real difference."""
    report = draw_report()
    groups = {user: "abc"[user % 3] for user in range(120)}
    table = report.gaps(groups, draws=199)
    assert table.index.tolist() == ["ndcg@2", "rr"]
    assert table["lowest"].tolist() == ["a", "a"]
    assert (table["mean_low"] > table["by_chance"]).all()
    assert (table["p_corrected"] == 1 / 200).all()
    pairs = report.gaps(groups, "rr", of="pairs", draws=199)
    assert pairs[["group", "other"]].to_numpy().tolist() == [["a", "b"], ["a", "c"], ["b", "c"]]
    assert pairs["gap"].tolist() == pytest.approx([-0.5, -0.5, 0.0])
    means = report.gaps(groups, "rr", of="groups", draws=199)
    assert means["mean"].tolist() == pytest.approx([0.5, 1.0, 1.0])
    by_group = report.by(groups).summary.loc[pd.IndexSlice[:, "ndcg@2"], "mean"]
    assert report.gaps(groups, "NDCG@2", of="groups")["mean"].tolist() == pytest.approx([*by_group])
    assert report.gaps(groups).equals(report.gaps(groups))


def test_intervals_of_groups_are_those_of_independent_groups() -> None:
    """Each at level^(1/G); in large groups those of the normal distribution."""
    generator = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], 5000)
    scores = generator.normal(size=len(codes))
    found = measure(scores, codes, 3, draws=19)
    table = pd.DataFrame(found.to_groups("abc", LEVEL, bounded=False))
    reach = NormalDist().inv_cdf((1 + LEVEL ** (1 / 3)) / 2)
    half = (table["high"] - table["low"]) / 2
    wanted = [reach * scores[codes == code].std(ddof=1) / math.sqrt(5000) for code in range(3)]
    assert half.tolist() == pytest.approx(wanted, rel=0.02)
    bounded = pd.DataFrame(found.to_groups("abc", LEVEL, bounded=True))
    for end in ("low", "high"):
        assert bounded[end].tolist() == table[end].clip(0, 1).tolist()


def test_groups_of_the_evaluation_are_the_default() -> None:
    """Of the users who have one."""
    lists = rn.RankedLists.from_labels({1: {1}, 2: {1}, 3: {2}}, {1: [1], 2: [1], 3: [1]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rn.DataWarning)
        report = rn.evaluate(
            lists, metrics=["rr", "coverage@1"], catalogue=[1, 2], groups={1: "x", 2: "y", 3: "y"}
        )
    table: Any = report.gaps(draws=19, level=0.5)
    assert table.loc["rr", ["mean_gap", "users"]].tolist() == [0.5, 3]
    assert table.index.tolist() == ["rr"]
    with pytest.raises(rn.InvalidInputError, match="coverage@1 is a number of all lists together"):
        report.gaps(metric="coverage@1")


@pytest.mark.parametrize(
    ("groups", "options", "words"),
    [
        (None, {}, "none were given to evaluate"),
        ({0: "x", 1: "x"}, {}, "All users are in the group 'x'"),
        ({0: "x", 1: "y"}, {"metric": "hit"}, "no metric 'hit'"),
        ({0: "x", 1: "y"}, {"of": "users"}, "of"),
        ({0: "x", 1: "y"}, {"draws": 10}, "draws=10 is too few for level=0.95.*Use draws=19"),
        ({0: "x", 1: "y"}, {"level": 95}, "level"),
    ],
)
def test_a_message_says_what_is_wrong(groups: Any, options: dict[str, Any], words: str) -> None:
    """And what to write."""
    with pytest.raises(rn.InvalidInputError, match=words):
        draw_report(6).gaps(groups, **options)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rare hits", "half zeros", "skewed", "few and many users"])
def test_fifty_groups_without_a_difference_rarely_show_one(kind: str) -> None:
    """In at most a share 1 - level of the data sets, up to five standard errors of the share."""
    generator = np.random.default_rng(0)
    n_sets, n_groups = 200, 50
    sizes = generator.integers(1, 40, n_groups)
    if kind == "few and many users":
        sizes[:5] = 500
    codes = np.repeat(np.arange(n_groups), sizes)
    n_false = 0
    for seed in range(n_sets):
        n = len(codes)
        drawn = {
            "rare hits": generator.random(n) < 0.1,
            "half zeros": generator.random(n) * (generator.random(n) < 0.5),
            "skewed": generator.exponential(size=n),
            "few and many users": generator.random(n) < 0.1,
        }[kind]
        one = measure(drawn, codes, n_groups, draws=99, seed=seed)
        n_false += bool(((one.low > 0) | (one.high < 0)).any())
    share, wanted = n_false / n_sets, 1 - LEVEL
    assert share <= wanted + 5 * math.sqrt(wanted * (1 - wanted) / n_sets)
    assert share >= wanted / 4  # and the test is not idle


@pytest.mark.slow
def test_intervals_of_all_pairs_hold_at_once() -> None:
    """With real differences and with different variances."""
    generator = np.random.default_rng(0)
    codes = np.repeat(np.arange(10), [20, 200] * 5)
    for spread in (np.full(10, 0.3), np.tile([0.6, 0.2], 5)):
        n_held = 0
        truth = np.arange(10) * 0.1
        for seed in range(200):
            scores = truth[codes] + spread[codes] * generator.normal(size=len(codes))
            one = measure(scores, codes, 10, draws=99, seed=seed)
            gap = truth[one.pairs[0]] - truth[one.pairs[1]]
            n_held += bool(((one.low <= gap) & (gap <= one.high)).all())
        assert n_held / 200 >= LEVEL - 5 * math.sqrt(LEVEL * (1 - LEVEL) / 200)
