"""Each claim of a verdict or a gate is checked against the numbers."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import pytest
from scipy import stats

import recsys_ndcg as rn
from tests.comparison.models import Rows, model, models, ratings


def test_a_difference_has_no_adjective_but_its_relative_size() -> None:
    """Of four thousand users, forty have a better list: small for all, large for them."""
    one = model(ratings(4000, longest=3), 100.0, 0)
    two = [(user, item, grade if user < "u0040" else est, grade) for user, item, est, grade in one]
    found = rn.compare({"one": one, "two": two}, metrics=["ndcg@3"])
    assert found.verdict.startswith(
        "two is better than one in ndcg@3 (rated items). It is ahead by 0.00"
    )
    row = found.pairwise.iloc[0]
    relative = 100 * (1 / (1 + row["relative"]) - 1)
    assert f"; relative {relative:+.3g} %, +" in found.verdict
    assert "small" not in found.verdict
    assert "behind for 0%" in found.verdict


def test_no_difference_in_errors_has_no_sign() -> None:
    """Less is better: the difference was shown as -0.0000."""
    pairs = [*product(range(12), (("x", 3.0), ("y", 1.0)))]
    rows: dict[str, Rows] = {
        name: [(f"u{user}", item, true + (user % 2 == odd), true) for user, (item, true) in pairs]
        for odd, name in enumerate(("one", "two"))
    }
    found = rn.compare(rows, metrics=["rmse"], margin=0.1)
    assert "one minus two is 0.0000 (" in found.verdict
    assert (
        "two against one in rmse (rated items): 0.0000 over 12 users"
        in found.not_worse("two").reason
    )


def test_if_nothing_is_significant_the_verdict_has_the_detectable_difference() -> None:
    """With 80 % power."""
    found = rn.compare(models(users=30, one=1.0, other=1.05), metrics=["ndcg@5"])
    assert found.verdict.startswith(
        "No clear winner in ndcg@5 (rated items): one and other are level. one minus other is "
    )
    least = float(found.pairwise["detectable"].iloc[0])
    assert f"With 80 % power the test would find a difference of {least:.4f}." in found.verdict


def test_a_rank_test_may_contradict_the_mean() -> None:
    """The one who is ahead for most users is better by the test; the sentence has both."""

    def lists(ranks: list[int]) -> Any:
        return {u: [(-one, one == rank) for one in (1, 2, 3)] for u, rank in enumerate(ranks)}

    models = {"a": lists([2] * 47 + [3] * 13), "b": lists([3] * 47 + [1] * 13)}
    with pytest.warns(rn.DataWarning, match="disputed"):
        verdict = rn.compare(models, metrics="rr", test="sign", margin=0.5).verdict
    assert verdict.startswith(
        "More users are ahead with a than with b in rr (rated items). Over 60 users, sign test, "
        "p < 0.0001. But b has the better mean, by 0.0139 (95 % t interval -"
    )


@pytest.mark.filterwarnings("ignore:test=")
def test_a_rank_test_of_many_models_names_the_means_that_contradict_it() -> None:
    """Whatever the family."""

    def lists(ranks: list[int]) -> Any:
        return {u: [(-one, one == rank) for one in (1, 2, 3)] for u, rank in enumerate(ranks)}

    models = {
        "a": lists([2] * 47 + [3] * 13),
        "b": lists([3] * 47 + [1] * 13),
        "c": lists([3] * 46 + [1] * 14),
    }
    for family in ("pairs", "baseline"):
        verdict = rn.compare(models, metrics="rr", test="sign", family=family).verdict
        assert verdict.endswith("The means point the other way: b above a and c above a.")


@pytest.mark.parametrize("order", ["good bad", "bad good"])
def test_the_relative_difference_has_the_sign_of_the_difference(order: str) -> None:
    """For an error, too: better by a positive percentage."""
    data = models(60, good=0.8, bad=2.0)
    found = rn.compare({name: data[name] for name in order.split()}, metrics="rmse")
    mean = found.leaderboard["mean"]
    share = 100 * (1 - mean["good"] / mean["bad"])
    assert (
        f"in rmse (rated items). It is ahead by {mean['bad'] - mean['good']:.4f}" in found.verdict
    )
    low, high = re.findall(rf"relative \{share:+.3g} %, \+(\S+) to \+(\S+) %", found.verdict)[0]
    assert float(low) < share < float(high)


def test_each_of_three_models_may_be_worse_than_another() -> None:
    """With each, more users are ahead than with the next one: no model is in the first tier."""
    ranks = ([1, 2, 3], [2, 3, 1], [3, 1, 2])
    models = {
        name: {u: [(-one, one == ranks[u % 3][place]) for one in (1, 2, 3)] for u in range(90)}
        for place, name in enumerate("abc")
    }
    with pytest.warns(rn.DataWarning, match="disputed"):
        found = rn.compare(models, metrics="rr", test="sign")
    assert found.leaderboard["tier"].tolist() == [2, 2, 2]
    assert found.verdict.startswith(
        "No clear winner in rr (rated items): each model is worse than another. 90 users; sign test"
    )


CLAIMS = {
    "a and b are equivalent within the margin of 0.05.": (400, 0.05, [1.0, 1.01]),
    "Either of a and b may be worse than the other by 0.001 or more.": (8, 0.001, [1.0, 1.5]),
    r"p < 0.0001\)\. b is worse by the margin of 0.01 or more\.": (200, 0.01, [0.2, 20.0]),
    r"p = 0.017\)\. b may be worse by the margin of 0.05 or more\.": (40, 0.05, [1.0, 2.5]),
    r"\w is not worse by the margin of 0.02 or more; \w may be\.": (30, 0.02, [1.0, 1.4]),
    r"\w is less than 0.05 worse than \w\.": (300, 0.05, [1.0, 1.01, 9.0]),
    "No other model is shown to be less than 0.001 worse than": (8, 0.001, [1.0, 1.2, 1.4]),
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_margin_is_answered_in_the_verdict(claim: str) -> None:
    """Equivalent, not worse, or not shown; of many models, who is not worse than the best."""
    users, margin, noise = CLAIMS[claim]
    data = models(users, 0, **dict(zip("abc", noise, strict=False)))
    assert re.search(claim, rn.compare(data, margin=margin).verdict)


def test_equal_scores_show_little_about_a_margin() -> None:
    """A gate lets the same lists pass, and says that its p is rough; without a margin p is 1."""
    data = {"a": models(40, a=1.0)["a"], "b": models(40, a=1.0)["a"]}
    gate = rn.compare(data, metrics="ndcg@5").not_worse("a", "b", margin=0.01)
    assert gate.passed
    assert gate.reason.endswith(" This p is rough: no user has different scores.")
    line = "margins are rough in ndcg@5 (1 of 1 pair); for a and b in ndcg@5: no user has different"
    for margin, is_said in ((None, False), (0.01, True)):
        remarks = rn.compare(data, metrics="ndcg@5", margin=margin).remarks
        assert any(line in one for one in remarks) == is_said


@pytest.mark.parametrize(("metric", "margin"), [("ndcg@10", 0.05), ("rmse", 0.2)])
@pytest.mark.parametrize("correction", [None, "bonferroni"])
def test_a_gate_is_one_one_sided_test(metric: str, margin: float, correction: str | None) -> None:
    """However the pairs of the comparison are corrected: alpha is how often the gate errs."""
    data = models(30, old=1.0, new=1.05, other=4.0)
    found = rn.compare(data, metrics=["ndcg@10", "rmse"], correction=correction)
    scores = found.per_user[metric]
    gain = (scores["new"] - scores["old"]) * (1 if metric == "ndcg@10" else -1)
    p = stats.ttest_1samp(gain, -margin, alternative="greater").pvalue
    passed, failed = (
        found.not_worse("new", "old", margin=margin, metric=metric, alpha=share * p)
        for share in (1.001, 0.999)
    )
    assert (passed.passed, bool(failed)) == (True, False)
    (shown,) = re.findall(r"p = ([\d.e-]+)[,)]", str(failed))
    assert float(shown) == pytest.approx(p, rel=0.05)


def test_models_that_are_compared_with_chance_alone_are_not_compared_with_each_other() -> None:
    """No pair of models is tested: they had been named as equal."""
    found = rn.compare(models(), metrics=["ndcg@5"], baseline="chance", family="baseline")
    assert found.verdict == "All 3 models are better than chance."


def test_many_metrics_that_order_two_models_the_other_way_share_a_line() -> None:
    """Three are named, the others counted."""
    true = ratings(60)
    off = [(user, item, grade + 2, grade) for user, item, grade in true]
    shuffled = model(true, 1.0, 0)
    metrics = ["rmse", *(f"ndcg@{k}" for k in (3, 4, 5, 6, 7))]
    found = rn.compare({"off": off, "shuffled": shuffled}, metrics=metrics)
    lines = [line for line in found.remarks if "disagree" in line]
    assert len(lines) == 3
    assert "… and the same for 2 more scores." in found.remarks
