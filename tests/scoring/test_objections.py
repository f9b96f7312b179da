"""A measurement raises for what it reads, and for nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import recsys_ndcg as rn
from recsys_ndcg.scoring import Plan
from tests.errors import assert_rejected, rejects

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
APART = {"ann": [(3.0, 1.0), (2.0, 5.0)], "bob": [(2.0, 5.0), (1.0, 2.0), (0.5, 1.0)]}
TIED = {**APART, "cy": [(1.0, 5.0), (1.0, 2.0)]}
OVER_HITS = rn.Convention(ap_over="hits")


@pytest.mark.parametrize("ties", ["item_asc", "item_desc", "text_asc", "text_desc"])
def test_a_rule_by_item_needs_items_only_if_there_are_ties(ties: Any) -> None:
    """Also if the tolerance makes the tie."""
    how: dict[str, Any] = {"metrics": "rr", "threshold": 4}
    by_item = rn.Convention(ties=ties)
    assert rn.evaluate(APART, convention=by_item, **how).mean["rr"] == 0.75
    for data, one in ((TIED, by_item), (APART, by_item.replace(tie_tolerance=4.0))):
        assert_rejected(f"ties='{ties}' .*no item ids", rn.evaluate, data, convention=one, **how)


@pytest.mark.parametrize("k", [1, 2])
def test_ap_over_hits_has_no_expectation_over_orders(k: int) -> None:
    """So no chance, from the first rank on, and no value if a tie reaches the first k."""
    how: dict[str, Any] = {"metrics": "ap", "threshold": 4, "convention": OVER_HITS}
    assert rn.evaluate(APART, k=k, **how).audit["chance"].isna().all()
    behind = {"ann": [(3.0, 1.0), (2.0, 5.0), (2.0, 1.0)], "bob": [(1.0, 5.0)]}
    assert rn.evaluate(behind, k=1, **how).pooled["ap@1"] == 1.0
    assert_rejected("no exact mean over the orders of tied items", rn.evaluate, behind, k=2, **how)


def test_ap_over_hits_has_no_known_best_order_of_ties() -> None:
    """With the relevant one first it scores (1 + 2/3) / 2, and with the other one first 1."""
    rows = [("ann", "a", 3, 5), ("ann", "b", 2, 1), ("ann", "c", 1, 5), ("ann", "d", 1, 1)]
    how: dict[str, Any] = {"metrics": "ap@3", "threshold": 4}
    orders = ["chance", "best", "worst", "adjusted"]
    for ties, score in (("item_asc", 5 / 6), ("item_desc", 1.0)):
        report = rn.evaluate(rows, convention=OVER_HITS.replace(ties=ties), **how)
        assert report["ap@3"] == pytest.approx(score)
        of_ties = ["trivial", "tie_low", "tie_high", "decided_by_ties"]
        assert report.audit[[*orders, *of_ties]].isna().all(axis=None)
        assert report.summary[["chance", "adjusted", "tie_low", "tie_high"]].isna().all(axis=None)
        assert report.per_user_audit("ap@3")[orders].isna().all(axis=None)
    for ties in ("best", "worst"):
        with rejects("best and worst orders are unknown.*ties='item_asc'"):
            rn.evaluate(rows, convention=OVER_HITS.replace(ties=ties), **how)
        assert rn.evaluate(rows[:3], convention=OVER_HITS.replace(ties=ties), **how)["ap@3"] < 0.9


def test_a_discount_is_only_checked_at_the_ranks_that_are_used() -> None:
    """The longest list has three items: only the ideal of top grades needs more ranks."""
    lists = rn.RankedLists.from_tuples(APART)
    short = rn.Convention(discount=lambda ranks: np.where(np.asarray(ranks) <= 3, 1.0, 2.0))
    top = short.replace(ideal="max", max_grade=5)
    for metric, convention in (("ndcg@5", short), ("ndcg@3", top), ("ndcg", top)):
        plan = Plan.of(metric, k=None, convention=convention)
        assert np.isfinite(plan.resolve_and_measure(lists._data).per_user).all()
    plan = Plan.of("ndcg@5", convention=top)
    assert_rejected("discount gives .* at rank 4", plan.resolve, plan.facts_of(lists._data))


def test_a_top_grade_needs_a_gain_only_as_the_ideal() -> None:
    """DCG has no ideal."""
    top = rn.Convention(gain={1: 0, 2: 1, 5: 3}, ideal="max", max_grade=4)
    assert rn.evaluate(APART, metrics="dcg@1", convention=top).mean["dcg@1"] == 1.5
    match = r"the grade 4\.0 .*has no gain"
    assert_rejected(match, rn.evaluate, APART, metrics="ndcg@1", convention=top)


def test_unlabelled_items_are_scored_as_irrelevant_and_as_top_grades() -> None:
    """Also if the convention filters them."""
    rows = {"ann": [(3.0, None), (2.0, 5.0), (1.0, 1.0)], "bob": [(2.0, 5.0), (1.0, None)]}
    for unlabelled in ("zero", "filter"):
        convention = rn.Convention(unlabelled=unlabelled)
        audit = rn.evaluate(rows, metrics="rr", threshold=4, convention=convention).audit.loc["rr"]
        for name, grade in (("unlabelled_zero", 0.0), ("unlabelled_top", 5.0)):
            filled = {"ann": [(3.0, grade), *rows["ann"][1:]], "bob": [(2.0, 5.0), (1.0, grade)]}
            assert audit[name] == rn.evaluate(filled, metrics="rr", threshold=4).mean["rr"]
    assert audit["unlabelled_zero"] < audit["unlabelled_top"]


def test_equal_ratings_raise_only_if_they_must_be_a_mistake() -> None:
    """Not one user's, nor one row per user, nor clicks."""
    how: dict[str, Any] = {"metrics": "ndcg", "k": 2}
    clicks = {"ann": {"a": 1, "b": 1}, "bob": {"a": 1}}
    runs = {"ann": {"a": 2.0, "b": 1.0}, "bob": {"a": 1.0}}
    single, own = {"ann": [(2, 3)], "bob": [(1, 3)]}, {"ann": [(2, 3), (1, 3), (0, 3)]}
    for data in (single, own, rn.RankedLists.from_trec(clicks, runs)):
        assert rn.evaluate(data, **how).mean["ndcg@2"] == 1
    constant = {"ann": [(2, 3)], "bob": [(1, 3), (0, 3)]}
    assert_rejected("Every true value is 3.0", rn.evaluate, constant, **how)
    unlabelled = {"ann": [(2, None), (1, None)], "bob": [(1, None)]}
    assert_rejected("No item has a true value", rn.evaluate, unlabelled, **how)
