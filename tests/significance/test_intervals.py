"""Intervals of means and ratios, against SciPy, textbook formulas and counted coverage."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom, t

import recsys_ndcg as rn
from recsys_ndcg.report import ReportData
from recsys_ndcg.scoring import Audit, Totals
from recsys_ndcg.significance import Moments, mean_interval, power
from recsys_ndcg.significance.intervals import adjusted_interval, bound_few_changes, ratio_interval
from tests.comparison.models import models
from tests.errors import rejects
from tests.report.test_reports import drawn_lists


def half_width(count: int, level: float) -> float:
    """Return half the length of an interval if the standard error is 1."""
    low, high = mean_interval(count, 0.0, math.sqrt((count - 1) * count), level)
    assert low == -high
    return float(high)


@given(st.integers(2, 10**9), st.floats(0.01, 0.999))
def test_quantiles_are_those_of_students_t(count: int, level: float) -> None:
    """For few users and for many, at any level."""
    expected = float(t.ppf((1 + level) / 2, count - 1))
    # older versions of SciPy are this far from the formulas
    assert half_width(count, level) == pytest.approx(expected, rel=1e-10)


LEFT = 1 - 0.95**2
#: The usual level by the number of users, if there is a formula.
FORMULAS = {
    2: math.tan(0.475 * math.pi),
    3: 0.95 * math.sqrt(2 / LEFT),
    5: 2 * math.sqrt(math.cos(math.acos(math.sqrt(LEFT)) / 3) / math.sqrt(LEFT) - 1),
}


@pytest.mark.parametrize("count", FORMULAS)
def test_the_usual_level_is_exact_to_the_last_digits(count: int) -> None:
    """Two users have the longest tails, Cauchy's."""
    assert half_width(count, 0.95) == pytest.approx(FORMULAS[count], rel=2e-14)


@pytest.mark.parametrize("count", [2, 3, 11, 1000, 10**7])
@pytest.mark.parametrize("alpha", [1e-4, 1e-8, 1e-12])
def test_intervals_of_extreme_levels_are_wide_enough(count: int, alpha: float) -> None:
    """Down to the smallest alpha; 1 - alpha then holds alpha to four digits."""
    exact = t.isf(alpha / 2, count - 1)
    # older versions of SciPy are 1e-10 from the formulas
    assert half_width(count, 1 - alpha) == pytest.approx(exact, rel=max(1e-10, 1e-15 / alpha))


REPORT = rn.evaluate(models(20)["good"], threshold=4)
COMPARED = rn.compare(models(20), threshold=4, draws=200)
CALLS: dict[str, Callable[[float], Any]] = {
    "compare": lambda alpha: rn.compare(models(20), threshold=4, alpha=alpha, correction="holm"),
    "not_worse": lambda alpha: COMPARED.not_worse("poor", margin=0.1, alpha=alpha),
    "power": lambda alpha: power(0.1, deviation=0.5, alpha=alpha),
    "t": lambda alpha: REPORT.intervals(1 - alpha),
    "bca": lambda alpha: REPORT.intervals(1 - alpha, method="bca", draws=99),
    "models": lambda alpha: COMPARED.intervals(1 - alpha),
}


_TOO_CLOSE = "(alpha|level) must be (at least 1e-12 away from 0 and 1|between 0 and 1), such as"


@pytest.mark.parametrize("name", CALLS)
def test_an_alpha_that_cannot_be_computed_exactly_raises(name: str) -> None:
    """Intervals were too narrow, and those at 1e-300 took minutes."""
    CALLS[name](1.1e-12)
    for alpha in (9e-13, 1e-16, 1 - 1e-14):
        with rejects(_TOO_CLOSE):
            CALLS[name](alpha)


# Intervals inside [0, 1]


def textbook(tops: list[float], bottoms: list[float], level: float) -> tuple[float, float]:
    """Return the interval of a ratio on the logit scale, from sums in plain Python."""
    n, ratio = len(tops), sum(tops) / sum(bottoms)
    squares = sum((top - ratio * bottom) ** 2 for top, bottom in zip(tops, bottoms, strict=True))
    error = math.sqrt(squares / (n - 1) / n) / fmean(bottoms)
    middle, reach = math.log(ratio / (1 - ratio)), float(t.ppf((1 + level) / 2, n - 1))
    ends = [middle + sign * reach * error / (ratio * (1 - ratio)) for sign in (-1, 1)]
    low, high = (1 / (1 + math.exp(-end)) for end in ends)
    return low, high


def moments(tops: Any, bottoms: Any) -> tuple[int, float, float, float]:
    """Return the arguments of `ratio_interval`."""
    top, bottom = np.array(tops, dtype=float), np.array(bottoms, dtype=float)
    ratio = top.sum() / bottom.sum()
    return len(top), ratio, bottom.mean(), float(np.linalg.norm(top - ratio * bottom))


@given(
    st.lists(st.tuples(st.floats(0.01, 0.99), st.floats(0.5, 2)), min_size=3, max_size=30),
    st.floats(0.5, 0.99),
)
def test_a_bounded_ratio_has_the_interval_of_the_textbook(
    users: list[tuple[float, float]], level: float
) -> None:
    """Of Agresti (2002), with Student's t."""
    tops, bottoms = [score * bottom for score, bottom in users], [bottom for _, bottom in users]
    if max(score for score, _ in users) - min(score for score, _ in users) < 1e-3:
        return
    found = ratio_interval(*moments(tops, bottoms), level, bounded=True)
    assert found == pytest.approx(textbook(tops, bottoms, level), rel=1e-8)


SCORES = st.one_of(st.sampled_from([0.0, 1.0, 1 / 3, 1e-9, 1 - 1e-9, 5e-324]), st.floats(0, 1))


@given(st.lists(SCORES, max_size=20), st.floats(0.01, 0.999999))
def test_an_interval_of_bounded_scores_is_inside_the_bounds(
    scores: list[float], level: float
) -> None:
    """And contains the mean; there is none only if fewer than two scores differ inside them."""
    count, mean, _, length = moments(scores or [0.0], np.ones(max(len(scores), 1)))
    low, high = mean_interval(len(scores) and count, mean, length, level, bounded=True)
    if math.isnan(low):
        assert math.isnan(high)
        assert count < 2 or max(scores) - min(scores) <= 1e-11
    else:
        assert 0 <= low <= mean <= high <= 1


def test_for_many_users_it_is_students() -> None:
    """To first order: the difference shrinks with the number of users."""
    scores = np.random.default_rng(0).beta(0.4, 3, 100_000)
    differences = []
    for n in (100, 10_000, 100_000):
        count, mean, _, length = moments(scores[:n], np.ones(n))
        low, high = mean_interval(count, mean, length)
        ends = mean_interval(count, mean, length, bounded=True)
        differences.append(max(abs(ends[0] - low), abs(ends[1] - high)) / (high - low))
    assert differences[0] > 5 * differences[1] > 10 * differences[2]
    assert differences[2] < 2e-3


@pytest.mark.parametrize("n", [10, 30, 100])
def test_rates_are_covered_by_their_intervals(n: int) -> None:
    """Counted exactly, for every rate: with the exact bound if all are 0, or all are 1."""
    hits, rates = np.arange(n + 1), np.linspace(0.002, 0.998, 250)
    length = np.sqrt(hits * (1 - hits / n))
    probability = binom.pmf(hits, n, rates[:, None])

    def coverage(*, bounded: bool) -> Any:
        low, high = mean_interval(np.full(n + 1, n), hits / n, length, bounded=bounded)
        return (probability * ((low <= rates[:, None]) & (rates[:, None] <= high))).sum(axis=1)

    assert coverage(bounded=True).min() > 0.9
    assert coverage(bounded=True).mean() > 0.95
    assert coverage(bounded=False).min() < 0.2


def test_scores_that_do_not_vary_have_no_interval_or_the_exact_bound() -> None:
    """All 0 or all 1 in a bounded metric (Clopper & Pearson); rounding errors are no variance."""
    bound = binom.pmf(0, 40, 1 - 0.025 ** (1 / 40))
    assert bound == pytest.approx(0.025)  # all of 40 users miss with this probability
    ends = mean_interval(40, 0.0, 0.0, bounded=True), mean_interval(40, 1.0, 0.0, bounded=True)
    assert ends[0] == pytest.approx((0, 1 - 0.025 ** (1 / 40)), rel=1e-12)
    assert ends[1] == pytest.approx((0.025 ** (1 / 40), 1), rel=1e-12)
    assert mean_interval(40, 1 - 1e-16, 1e-15, bounded=True)[1] == 1
    for one in (
        mean_interval(40, 0.0, 0.0),
        mean_interval(40, 0.3, 0.0, bounded=True),
        mean_interval(40, 0.3, 4e-16, bounded=True),
        mean_interval(40, 2.5, 1e-14),
        mean_interval(1, 0.0, 0.0, bounded=True),
        ratio_interval(40, 0.0, 2.0, 0.0, bounded=True),
    ):
        assert np.isnan(one).all()
    assert ratio_interval(40, 0.0, 2.0, 0.0, bounded=True, alike=True)[0] == 0


@pytest.mark.parametrize("few", [1, 9, 29])
def test_a_mean_that_few_users_make_has_the_exact_bound_of_their_share(few: int) -> None:
    """Clopper & Pearson, by SciPy's beta quantiles; at the other end for scores near 1.

    So many users as none of 500 shows may have the score 1, the others have the mean of the few.
    """
    scores, unseen = np.zeros((500, 1)), 1 - 0.025 ** (1 / 500)
    share = beta.ppf([0.025, 0.975], [few, few + 1], [501 - few, 500 - few])
    known = np.ones(scores.shape, dtype=bool)
    for values in (np.ones(few), np.linspace(0.2, 0.4, few)):
        scores[:few, 0], mean = values, values.mean()
        (low,), (high,) = Moments.of(None, scores, known).find_interval(0.95, bounded=True)
        length = np.linalg.norm(scores - scores.mean())
        logit = mean_interval(500, scores.mean(), length, bounded=True)
        assert low == pytest.approx(min(share[0] * mean, logit[0]), rel=1e-9)
        expected = max(unseen + mean * (share[1] - unseen), logit[1])
        assert high == pytest.approx(expected, rel=1e-9)
    assert high > logit[1]
    (other,), (end,) = Moments.of(None, 1 - scores, known).find_interval(0.95, bounded=True)
    assert [other, end] == pytest.approx([1 - high, 1 - low], rel=1e-9)
    parts = [Moments.of(None, scores[n::3], known[n::3]) for n in range(3)]
    (low_of_parts,), (high_of_parts,) = sum(parts[1:], parts[0]).find_interval(0.95, bounded=True)
    assert [low_of_parts, high_of_parts] == pytest.approx([low, high], rel=1e-9)


def test_a_mean_difference_that_few_users_make_has_the_bounds_of_both_parts() -> None:
    """Clopper & Pearson for users who gain, and who lose; MOVER for the difference."""
    none = 1 - 0.025 ** (1 / 10)  # of ten users, if none gains or loses
    ends = np.array(bound_few_changes(10, np.zeros((2, 1)), np.zeros((2, 1)), 0.95))
    assert ends[:, 0].tolist() == pytest.approx([-none, none], rel=1e-12)
    share = beta.ppf([0.025, 0.975], [1, 2], [10, 9])  # one of ten users gains 1
    ends = np.array(bound_few_changes(10, np.array([[1], [0]]), np.array([[0.1], [0]]), 0.95))
    low = 0.1 - math.hypot(0.1 - share[0], none)
    assert ends[:, 0].tolist() == pytest.approx([low, share[1]], rel=1e-9)
    ends = np.array(bound_few_changes(10, np.array([[5], [0]]), np.array([[0.5], [0]]), 0.95))
    assert np.isnan(ends).all()


def test_users_one_by_one_have_the_moments_of_all() -> None:
    """A single user has no spread."""
    scores = np.array([[3.0, 1.0], [0.5, np.nan], [2.0, 7.0]])
    known = ~np.isnan(scores)
    one, *others = [Moments.of(None, scores[[n]], known[[n]]) for n in range(3)]
    assert (one.y_rest.tolist(), one.sum_y.tolist()) == ([0, 0], [3, 1])
    whole = sum(others, one)
    apart = scores - np.nanmean(scores, axis=0)
    assert whole.y_rest == pytest.approx(np.sqrt(np.nansum(apart**2, axis=0)))
    assert whole.y_rest == pytest.approx(Moments.of(None, scores, known).y_rest)


def test_intervals_of_means_that_few_users_make_hold() -> None:
    """Of half a percent of users with a score, which is mostly small: logit t misses too often."""
    random = np.random.default_rng(0)
    everyone = np.zeros(20_000)
    everyone[:100] = random.beta(0.3, 1.5, 100)
    samples = everyone[random.integers(0, len(everyone), (500, 1000))]
    truth, mean = everyone.mean(), samples.mean(axis=0)
    moments = Moments.of(None, samples, np.ones(samples.shape, dtype=bool))
    found = moments.find_interval(0.95, bounded=True)
    length = np.linalg.norm(samples - mean, axis=0)
    by_t = mean_interval(np.full(1000, 500), mean, length, bounded=True)
    holds = [float(((low <= truth) & (truth <= high)).mean()) for low, high in (found, by_t)]
    assert holds[0] >= 0.95
    assert holds[1] < 0.85


def test_scores_that_cannot_be_negative_have_no_interval_below_0() -> None:
    """Whether labels have weights, lists are summed up, or the metric has no bound above."""
    rows = pd.DataFrame(
        [
            (
                user,
                item,
                1.0 * (item < 3),
                float(item == user % 3 and user < 4),
                1.0 + 9 * (user < 1),
            )
            for user, item in product(range(12), range(6))
        ],
        columns=["user", "item", "estimated", "true", "weight"],
    )
    models = {"A": rows, "B": rows.assign(estimated=rows["estimated"] * rows["item"])}
    how: dict[str, Any] = {"metrics": ["precision@3", "rmse"], "threshold": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rn.DataWarning)
        report, compared = rn.evaluate(rows, **how), rn.compare(models, **how)
    mean, low, high = report.summary.loc["precision@3", ["mean", "ci_low", "ci_high"]]
    scores = report.per_user["precision@3"]
    half = t.ppf(0.975, 11) * scores.sem()
    assert scores.max() > 1
    assert mean - half < 0
    assert [low, high] == pytest.approx(mean * np.exp([-half / mean, half / mean]))
    ends = ["ci_low", "ci_high", "pooled_low", "pooled_high"]
    board = compared.leaderboards["precision@3"].loc[["A"], ends].to_numpy()
    assert board[0].tolist() == pytest.approx([low, high] * 2)
    assert report.intervals().to_numpy().min() > 0
    remark = "have a score other than 0 in precision@3: the interval of the mean is rough."
    assert f"Only 4 of 12 users {remark}" in report.remarks
    assert any(line.startswith(f"Only 4 of 12 users of A {remark}") for line in compared.remarks)


def test_reports_and_comparisons_state_which_scores_do_not_vary() -> None:
    """In a remark, instead of an interval [0, 0]."""
    missed = {f"u{place}": [(4.0, 1), (3.0, 5)] for place in range(40)}
    hit = {name: rows if int(name[1:]) % 4 else rows[::-1] for name, rows in missed.items()}
    hit = {name: [(3.0 + (row == rows[0]), row[1]) for row in rows] for name, rows in hit.items()}
    how: dict[str, Any] = {"metrics": ["hit@1", "ndcg@1", "rmse"], "threshold": 4}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rn.DataWarning)
        report = rn.evaluate(missed, **how)
        compared = rn.compare({"poor": missed, "good": hit}, **how)
    high = 1 - 0.025 ** (1 / 40)
    board, intervals = compared.leaderboards["hit@1"], report.intervals()
    for ends in (
        report.summary[["ci_low", "ci_high"]].to_numpy()[0],
        intervals[["pooled_low", "pooled_high"]].to_numpy()[0],
        board[["ci_low", "ci_high"]].to_numpy()[1],
        board[["pooled_low", "pooled_high"]].to_numpy()[1],
    ):
        assert ends == pytest.approx([0, high])
    assert report.summary.loc[["ndcg@1", "rmse"], ["ci_low", "ci_high"]].isna().all(axis=None)
    exact = "score 0.0000 in hit@1: the interval is the exact binomial bound."
    none = "score 0.0323 in ndcg@1: no interval can be computed from scores that do not vary."
    for line in (f"All 40 users {exact}", f"All 40 users {none}"):
        assert line in report.remarks
    for line in (f"All 40 users of poor {exact}", f"All 40 users of poor {none}"):
        assert line in compared.remarks
    assert not [line for line in compared.remarks if "users of good" in line]
    assert report.intervals(method="bca", draws=99).isna().all(axis=None)


def test_numbers_of_all_lists_have_intervals_in_their_bounds() -> None:
    """The jackknife's are cut off."""
    results = {"ann": ["a"], "bob": ["a"], "cy": ["b"]}
    lists = rn.RankedLists.from_labels({user: {"a"} for user in results}, results)
    how: dict[str, Any] = {"metrics": "gini@1", "catalogue": ["a", "b", "c"]}
    found = rn.compare({"a": rn.evaluate(lists, **how), "b": rn.evaluate(lists, **how)})
    for table in (rn.evaluate(lists, **how).summary, found.leaderboard):
        mean, *ends = table[["mean", "ci_low", "ci_high"]].to_numpy()[0]
        assert 0 < mean < 1
        assert ends == [0, 1]


def test_numbers_that_are_sums_have_no_upper_bound(tmp_path: Path) -> None:
    """Under list_over="one", also in a loaded report."""
    train = [(f"u{user}", item) for user in range(6) for item in "abc"[: 1 + user % 3]]
    results = {f"u{user}": ["a", "b", "c", "d"] for user in range(6)}
    lists = rn.RankedLists.from_labels({user: {"d"} for user in results}, results)
    how: dict[str, Any] = {"metrics": ["seen@4", "gini@2"], "train": train, "catalogue": [*"abcde"]}
    report = rn.evaluate(lists, convention=rn.Convention(list_over="one"), **how)
    report.save(tmp_path / "r.json")
    loaded = rn.Report.load(tmp_path / "r.json")
    assert report.mean["seen@4"] == 2
    for one in (report, loaded):
        assert one._data.audit.totals.kinds["bounded"].tolist() == [False, True]
        assert one.summary["ci_high"].iloc[0] > 2
    assert loaded.summary.equals(report.summary)


# The adjusted score


def test_the_adjusted_score_has_the_interval_of_a_ratio(tmp_path: Path) -> None:
    """Of score - chance over best - chance, mapped from the place of the mean below the best."""
    rows = drawn_lists(60, 0)
    report = rn.evaluate(rows, k=3, metrics=["ndcg", "precision", "dcg"], threshold=4)
    for name, row in report.summary.iterrows():
        users = report.per_user_audit(str(name))
        above = (users["score"] - users["chance"]).tolist()
        room = (users["best"] - users["chance"]).tolist()
        adjusted = sum(above) / sum(room)
        assert row["adjusted"] == pytest.approx(adjusted, rel=1e-12)
        squares = sum((one - adjusted * other) ** 2 for one, other in zip(above, room, strict=True))
        error = math.sqrt(squares / 59 / 60) / fmean(room)
        reach = float(t.ppf(0.975, 59)) * error
        expected = [adjusted - reach, adjusted + reach]
        if name != "dcg@3":
            share = fmean(room) / users["best"].mean()
            place = users["score"].mean() / users["best"].mean()
            factor = math.exp(reach * share / (place * (1 - place)))
            odds = [place / (1 - place) / factor, place / (1 - place) * factor]
            expected = [1 - 1 / (1 + one) / share for one in odds]
        found = [row["adjusted_low"], row["adjusted_high"]]
        assert found == pytest.approx(expected, rel=1e-9)
        assert found[0] < adjusted < found[1] <= (math.inf if name == "dcg@3" else 1)
    ends = ["adjusted_low", "adjusted_high"]
    assert report.audit[ends].equals(report.summary[ends])
    report.save(tmp_path / "r.json")
    loaded = rn.Report.load(tmp_path / "r.json")
    assert loaded.summary.equals(report.summary)
    board = rn.compare({"a": report, "b": loaded}).leaderboards["ndcg@3"]
    assert board[ends].to_numpy()[0] == pytest.approx(report.summary[ends].to_numpy()[0])


def test_intervals_of_batches_are_those_of_all_users() -> None:
    """From merged moments, without any user's score."""
    rows = drawn_lists(60, 0)
    how: dict[str, Any] = {"metrics": ["ndcg@3", "recall@3", "hit@3"], "threshold": 4}
    batches = rn.Accumulator(**how)
    for _, part in rows.groupby(rows["user"].factorize()[0] % 3):
        batches.update(*(part[name].to_numpy() for name in ("user", "estimated", "true")))
    found, known = batches.report().summary, rn.evaluate(rows, **how).summary
    assert known[["adjusted_low", "adjusted_high"]].notna().all(axis=None)
    columns = known.columns.drop("median")
    pd.testing.assert_frame_equal(found[columns], known[columns], rtol=1e-12)


def test_there_is_no_adjusted_interval_if_chance_is_unknown_for_some_users() -> None:
    """The means of score and chance are then over different users."""
    report = rn.evaluate(drawn_lists(60, 0), k=3, metrics="ndcg")
    scores = report._data.audit.scores_to_save
    chance = scores.roles["chance"].copy()
    chance[0] = np.nan
    scores = scores.replace_roles({**scores.roles, "chance": chance})
    partial = rn.Report(ReportData(Audit(dict(report.signatures), Totals.of(scores), scores)))
    board = rn.compare({"a": partial, "b": report}).leaderboard.loc[["a", "b"]]
    columns = ["adjusted", "adjusted_low", "adjusted_high"]
    for table in (partial.summary, board):
        assert np.isnan(table[columns].to_numpy()[0]).tolist() == [False, True, True]
    assert board[columns].notna().to_numpy()[1].all()


def test_a_model_without_hits_has_no_adjusted_interval() -> None:
    """Scores that do not vary; below chance it is Student's."""
    rows = {f"u{one}": [(4.0, 0), (3.0, 1), (2.0, one % 2)] for one in range(20)}
    with pytest.warns(rn.DataWarning):
        report = rn.evaluate(rows, metrics=["precision@1", "ndcg@2"], threshold=1)
    first, second = report.summary[["adjusted", "adjusted_low", "adjusted_high"]].to_numpy()
    assert first[0] < 0
    assert np.isnan(first[1:]).all()
    assert second[0] < 0
    assert second[0] - second[1] == pytest.approx(second[2] - second[0])


def test_an_adjusted_interval_below_chance_ends_at_the_least_score() -> None:
    """Of 0 hits where chance has 0.5: A is at least -1."""
    low, high = adjusted_interval(3, -0.6, 0.5, 0.8, 1.0, bounded=True)
    assert (low, high > -0.6) == (-1.0, True)
    low, _ = adjusted_interval(3, -0.6, 0.5, 0.8, 1.0)
    assert low < -1
