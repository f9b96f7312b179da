"""Gaps of groups of users, against plain formulas and all permutations of a few users."""

import math
import warnings
from itertools import combinations
from statistics import NormalDist
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import recsys_ndcg as rn
from recsys_ndcg.report.gaps import describe_groups
from recsys_ndcg.significance import compare_groups
from tests.beyond.textbook import mean
from tests.profiles import some

LEVEL = 0.9


def measure(scores: Any, codes: Any, n_groups: int, draws: int = 199, seed: int = 0) -> Any:
    """Return the differences of all pairs of groups in one column of scores, as vectors."""
    values = np.array(scores, dtype=np.float64)[:, None]
    how: dict[str, Any] = {"pairwise": True, "min_users": 1, "level": LEVEL}
    found = compare_groups(values, np.array(codes), n_groups, draws=draws, seed=seed, **how)
    return SimpleNamespace(**{name: np.ravel(one) for name, one in found._asdict().items()})


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
    assert ((one.low <= one.difference) & (one.difference <= one.high))[known].all()


@given(scores=st.lists(st.floats(0, 1), min_size=6, max_size=20), seed=st.integers(0, 5))
def test_the_row_of_a_metric_is_of_its_pairs(scores: list[float], seed: int) -> None:
    """The mean and the largest absolute gap, and what the intervals of the pairs allow."""
    rows = {user: [(2, score), (1, 1)] for user, score in enumerate(scores)}
    groups = {user: "xyz"[(seed + user) % 3] for user in rows}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rn.DataWarning)
        report = rn.evaluate(rows, metrics=["ndcg@1"])
    how: dict[str, Any] = {"draws": 99, "level": LEVEL}
    row = report.gaps(groups, **how).loc["ndcg@1"]
    by_group = report.per_user["ndcg@1"].groupby(pd.Series(groups)).mean()
    gaps = [abs(a - b) for a, b in combinations(by_group, 2)]
    assert [row["mean_gap"], row["largest_gap"]] == pytest.approx([mean(gaps), max(gaps)], abs=1e-9)
    assert row[["lowest", "highest"]].isin(groups.values()).all()
    pairs = report.gaps(groups, of="pairs", **how)
    assert row["p_corrected"] == pairs["p_corrected"].min()
    ends = [
        (max(low, -high, 0.0), max(high, -low))
        for low, high in zip(pairs["low"], pairs["high"], strict=True)
    ]
    expected = [mean([low for low, _ in ends]), mean([high for _, high in ends])]
    assert [row["mean_low"], row["mean_high"]] == pytest.approx(expected)
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
    assert table["p_corrected"].tolist() == pytest.approx([1 / 200] * 2)
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
    table = describe_groups(scores, codes, 3, LEVEL, bounded=False)
    reach = NormalDist().inv_cdf((1 + LEVEL ** (1 / 3)) / 2)
    half = (table["high"] - table["low"]) / 2
    wanted = [reach * scores[codes == code].std(ddof=1) / math.sqrt(5000) for code in range(3)]
    assert half.tolist() == pytest.approx(wanted, rel=0.002)


def test_an_interval_of_a_group_is_on_the_logit_scale_with_five_more_users() -> None:
    """As by hand: five more users whose variance is that of scores of 0 or 1."""
    scores, n = np.arange(20) / 40, 20
    (row,) = describe_groups(scores, np.zeros(n, int), 1, 0.95, bounded=True).to_dict("records")
    center = mean(scores.tolist())
    squares = math.fsum((one - center) ** 2 for one in scores)
    variance = (squares + 5 * center * (1 - center)) / (n - 1 + 5)
    half = stats.t.ppf(0.975, n - 1) * math.sqrt(variance / n) / (center * (1 - center))
    ends = [1 / (1 + (1 - center) / center * math.exp(-sign * half)) for sign in (-1, 1)]
    assert [row["low"], row["high"]] == pytest.approx(ends)


def test_a_group_without_an_interval_has_a_reason() -> None:
    """Fewer than ten users with a score, or equal scores without bounds; zeros have one."""
    codes = np.repeat([0, 1, 2], [9, 12, 12])
    scores = np.where(codes == 0, np.arange(33) / 40, 0.0)
    scores[20] = np.nan
    for bounded, remark in ((True, ""), (False, "all scores are equal")):
        table = describe_groups(scores, codes, 4, 0.95, bounded=bounded)
        assert table["users"].tolist() == [9, 11, 12, 0]
        few = "fewer than 10 users with a score"
        assert table["remark"].tolist() == [few, remark, remark, few]
        assert table["low"].isna().tolist() == [one != "" for one in table["remark"]]
    zeros = describe_groups(np.zeros(9), np.zeros(9, int), 1, 0.95, bounded=True)
    assert zeros[["low", "high"]].isna().all(axis=None)
    high = describe_groups(scores, codes, 3, 0.95, bounded=True)["high"][2]
    assert high == pytest.approx(1 - ((1 - 0.95**0.5) / 2) ** (1 / 12))


SHAPES = [(20, 50, 0.1), (5, 40, 0.1), (2, 500, 0.1), (20, 10, 1.0), (3, 10, 0.3), (10, 20, 1.0)]


@pytest.mark.parametrize("shape", some(SHAPES, 6), ids=str)
@pytest.mark.parametrize("kind", ["rank", "skewed"])
def test_all_intervals_of_groups_hold_at_once(shape: tuple[int, int, float], kind: str) -> None:
    """In 92 % of tables or more; Student's t, cut off at 0, had 46 % in the first case."""
    n_groups, size, share = shape
    generator, n_held = np.random.default_rng(0), 0
    codes = np.repeat(np.arange(n_groups), size)
    for _ in range(200):
        scores = (generator.random(len(codes)) < share) * (
            1 / np.log2(1 + generator.integers(1, 11, len(codes)))
            if kind == "rank"
            else generator.beta(1, 3, len(codes))
        )
        each = 1 / np.log2(np.arange(2, 12)) if kind == "rank" else np.array([0.25])
        truth = share * each.mean()
        table = describe_groups(scores, codes, n_groups, 0.95, bounded=True)
        n_held += bool((table["low"].le(truth) & table["high"].ge(truth)).all())
    assert n_held / 200 >= 0.92


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


def test_single_users_have_a_gap_but_no_test() -> None:
    """Nothing shows how their scores vary."""
    rows = {user: [(2, 1 - user % 2), (1, user % 2)] for user in range(101)}
    report = rn.evaluate(rows, metrics=["hit@1"], threshold=1)
    pair = report.gaps({user: "new" if user == 0 else "old" for user in rows}, of="pairs").iloc[0]
    assert pair["gap"] == 0.5
    assert pair[["low", "high", "p_corrected"]].isna().all()


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
            gap = np.subtract(*truth[np.array(np.triu_indices(10, 1))])
            n_held += bool(((one.low <= gap) & (gap <= one.high)).all())
        assert n_held / 200 >= LEVEL - 5 * math.sqrt(LEVEL * (1 - LEVEL) / 200)
