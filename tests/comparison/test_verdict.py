"""What a verdict or a gate finds: kinds and numbers."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from scipy import stats

import recsys_ndcg as rn
from recsys_ndcg.findings import Finding
from tests.comparison.models import Rows, model, models, ratings
from tests.findings.verdict_claims import list_verdict


def _judge(found: rn.Comparison) -> dict[str, Finding]:
    """Return the findings of the verdict in the first metric, by kind."""
    return {finding.kind: finding for finding in list_verdict(found, found.metrics[0])}


def test_no_difference_in_errors_has_no_sign() -> None:
    """Less is better: the difference was shown as -0.0000."""
    pairs = [*product(range(12), (("x", 3.0), ("y", 1.0)))]
    rows: dict[str, Rows] = {
        name: [(f"u{user}", item, true + (user % 2 == odd), true) for user, (item, true) in pairs]
        for odd, name in enumerate(("one", "two"))
    }
    found = rn.compare(rows, metrics=["rmse"], margin=0.1)
    assert "one minus two is 0.0000 (" in found.verdict
    assert ": 0.0000 over 12 users" in found.not_worse("two").reason


def _place(ranks: list[int]) -> Any:
    """Return lists of three items, of which one is relevant, by its rank for each user."""
    return {u: [(-n, n == rank) for n in (1, 2, 3)] for u, rank in enumerate(ranks)}


_FEW_LOSE = {"a": _place([2] * 47 + [3] * 13), "b": _place([3] * 47 + [1] * 13)}


def test_a_rank_test_may_contradict_the_mean() -> None:
    """The one who is ahead for most users is better by the test; the sentence has both."""
    with pytest.warns(rn.DataWarning, match="disputed"):
        found = rn.compare(_FEW_LOSE, metrics="rr", test="sign", margin=0.5)
    assert [*_judge(found)] == ["winner_by_signs", "mean_contradicts", "equivalent"]
    assert found.verdict.startswith(
        "More users are ahead with a than with b in rr (rated items). Over 60 users, sign test, "
        "p < 0.0001. But b has the better mean, by 0.0139 (95 % t interval -"
    )


@pytest.mark.filterwarnings("ignore:test=")
@pytest.mark.parametrize("family", ["pairs", "baseline"])
def test_a_rank_test_of_many_models_names_the_means_that_contradict_it(family: str) -> None:
    """Whatever the family."""
    models = {**_FEW_LOSE, "c": _place([3] * 46 + [1] * 14)}
    found = rn.compare(models, metrics="rr", test="sign", family=family)
    assert found.verdict.endswith("The means point the other way: b above a and c above a.")


def test_each_of_three_models_may_be_worse_than_another() -> None:
    """With each, more users are ahead than with the next one: no model is in the first tier."""
    orders = {"a": [1, 2, 3], "b": [2, 3, 1], "c": [3, 1, 2]}
    models = {name: _place(ranks * 30) for name, ranks in orders.items()}
    with pytest.warns(rn.DataWarning, match="disputed"):
        found = rn.compare(models, metrics="rr", test="sign")
    assert found.leaderboard["tier"].tolist() == [2, 2, 2]
    assert found.verdict.startswith(
        "No clear winner in rr (rated items): each model is worse than another. 90 users; sign test"
    )


def test_a_lead_without_an_interval() -> None:
    """If the differences of all users are the same, and if the other mean is 0."""
    names = {"metric": "rr", "ranked": "rated items", "winner": "a", "loser": "b", "test": "t test"}
    numbers = {"difference": 0.5, "p": 0.5, "alpha": 0.1, "users": 1234, "runs": 3}
    more = {"relative": 0.25}, {"low": 0.25, "high": 0.75, "tests_mean": True}
    leads = ("", " (relative +25 %)", " (90 % interval 0.2500 to 0.7500)")
    for lead, known in zip(leads, ({}, *more), strict=True):
        finding = Finding("clear_winner", {**numbers, **known}, names)
        end = "over 1,234 users and 3 runs (t test, p = 0.5)."
        assert finding.evidence == f"It is ahead by 0.5000{lead} {end}"


MARGINS = {
    "equivalent": (400, 0.05, [1.0, 1.01]),
    "either_may_be_worse": (8, 0.001, [1.0, 1.5]),
    "worse_by_margin": (200, 0.01, [0.2, 20.0]),
    "maybe_worse_by_margin": (40, 0.05, [1.0, 2.5]),
    "one_not_worse_by_margin": (30, 0.02, [1.0, 1.4]),
    "within_margin": (300, 0.05, [1.0, 1.01, 9.0]),
    "none_within_margin": (8, 0.001, [1.0, 1.2, 1.4]),
}


@pytest.mark.parametrize("kind", MARGINS)
def test_a_margin_is_answered_in_the_verdict(kind: str) -> None:
    """Equivalent, not worse, or not shown; of many models, who is not worse than the best."""
    users, margin, noise = MARGINS[kind]
    data = models(users, 0, **dict(zip("abc", noise, strict=False)))
    assert _judge(rn.compare(data, margin=margin))[kind].numbers["margin"] == margin


def test_equal_scores_show_little_about_a_margin() -> None:
    """A gate lets the same lists pass, and says that its p is rough; without a margin p is 1."""
    data = {"a": models(40, a=1.0)["a"], "b": models(40, a=1.0)["a"]}
    gate = rn.compare(data, metrics="ndcg@5").not_worse("a", "b", margin=0.01)
    assert [finding.kind for finding in gate.findings] == ["not_worse", "rough_p"]
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
    assert failed.findings[0].numbers["p"] == pytest.approx(p)
    assert f"p = {p:.2g}, " in str(failed)


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
