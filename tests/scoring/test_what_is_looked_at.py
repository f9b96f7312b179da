"""A measurement is refused for what it looks at, and for nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import recsys_ndcg as rn
from recsys_ndcg.scoring import Plan
from tests import sample_lists, textbook
from tests.errors import rejects
from tests.strategies import to_convention
from tests.textbook import Choices

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
APART = {"ann": [(3.0, 1.0), (2.0, 5.0)], "bob": [(2.0, 5.0), (1.0, 2.0), (0.5, 1.0)]}
TIED = {**APART, "cy": [(1.0, 5.0), (1.0, 2.0)]}


@pytest.mark.parametrize("ties", ["item_asc", "item_desc", "text_asc", "text_desc"])
def test_a_rule_by_item_needs_items_where_something_is_tied(ties: str) -> None:
    """And nowhere else: also where a step makes the tie."""
    how: dict[str, Any] = {"metrics": "rr", "threshold": 4}
    by_item = rn.Convention(ties=ties)
    assert rn.evaluate(APART, convention=by_item, **how).mean["rr"] == 0.75
    with rejects("item"):
        rn.evaluate(TIED, convention=by_item, **how)
    with rejects("item"):
        rn.evaluate(APART, convention=by_item.replace(tie_tolerance=4.0), **how)


@pytest.mark.parametrize("k", [1, 2])
def test_a_ratio_of_hits_has_no_chance_level(k: int) -> None:
    """Random order ties everything, from the first rank on."""
    over_hits = rn.Convention(ap_over="hits")
    report = rn.evaluate(APART, metrics="ap", k=k, threshold=4, convention=over_hits)
    assert report.audit["chance"].isna().all()
    behind = {"ann": [(3.0, 1.0), (2.0, 5.0), (2.0, 1.0)], "bob": [(1.0, 5.0)]}
    how: dict[str, Any] = {"metrics": "ap", "threshold": 4, "convention": over_hits}
    assert rn.evaluate(behind, k=1, **how).pooled["ap@1"] == 1.0
    with rejects("no exact expectation"):
        rn.evaluate(behind, k=2, **how)


def test_over_hits_no_order_of_a_tie_is_taken_for_the_best() -> None:
    """With the relevant one first it scores (1 + 2/3) / 2, and with the other one first 1."""
    tied = {"ann": [("a", 3.0, 5.0), ("b", 2.0, 1.0), ("c", 1.0, 5.0), ("d", 1.0, 1.0)]}
    rows = [(user, *row) for user, one in tied.items() for row in one]
    how: dict[str, Any] = {"metrics": "ap@3", "threshold": 4}
    over_hits = rn.Convention(ap_over="hits")
    for ties, score in (("item_asc", 5 / 6), ("item_desc", 1.0)):
        report = rn.evaluate(rows, convention=over_hits.replace(ties=ties), **how)
        assert report["ap@3"] == pytest.approx(score)
        shown = ["chance", "best", "worst", "adjusted", "trivial", "tie_low", "tie_high"]
        assert report.audit[[*shown, "decided_by_ties"]].isna().all(axis=None)
        assert report.summary[["chance", "adjusted", "tie_low", "tie_high"]].isna().all(axis=None)
        user = report.per_user_audit("ap@3")
        assert user[["chance", "best", "worst", "adjusted"]].isna().all(axis=None)
    for ties in ("best", "worst"):
        with rejects("no order of them that is known to be best or worst.*ties='item_asc'"):
            rn.evaluate(rows, convention=over_hits.replace(ties=ties), **how)
        assert rn.evaluate(rows[:3], convention=over_hits.replace(ties=ties), **how)["ap@3"] < 0.9


def _for_three_ranks(ranks: Any) -> Any:
    """Weigh three ranks, and rise behind them."""
    return np.where(np.asarray(ranks) <= 3, 1.0, 2.0)


def test_a_weight_is_refused_where_it_is_needed() -> None:
    """The longest list has three items: only the ideal of top grades looks further."""
    lists = rn.RankedLists.from_tuples(APART)
    short = rn.Convention(discount=_for_three_ranks)
    top = short.replace(ideal="max", max_grade=5)
    for metric, convention in (("ndcg@5", short), ("ndcg@3", top), ("ndcg", top)):
        plan = Plan.of(metric, k=None, convention=convention)
        assert np.isfinite(plan.scores_of(lists).per_user).all()
    plan = Plan.of("ndcg@5", convention=top)
    with rejects("discount gives .* at rank 4"):
        plan.settled(plan.facts_of(lists))


def test_the_first_row_that_is_the_reason_is_named() -> None:
    """By whoever measures lists."""
    lists = rn.RankedLists.from_tuples({**APART, "cy": [(1.0, None)]})
    with rejects("user 'cy'"):
        Plan.of("ndcg", convention=rn.Convention(unlabelled="raise")).scores_of(lists)


def test_a_top_grade_needs_a_gain_where_it_is_the_ideal() -> None:
    """DCG has none to be compared with."""
    how: dict[str, Any] = {
        "convention": rn.Convention(gain={1: 0, 2: 1, 5: 3}, ideal="max", max_grade=4)
    }
    assert rn.evaluate(APART, metrics="dcg@1", **how).mean["dcg@1"] == 1.5
    with rejects(r"the grade 4\.0 .*has no gain"):
        rn.evaluate(APART, metrics="ndcg@1", **how)


def test_without_a_cutoff_no_list_is_short() -> None:
    """Nobody is dropped, not even a user without a list."""
    chosen, data = Choices(short_list="drop", threshold=3.0), sample_lists.joined_data()
    report = rn.evaluate(
        data.lists, metrics=["rr", "ap"], k=None, threshold=3, convention=to_convention(chosen)
    )
    for metric in ("rr", "ap"):
        expected = textbook.table(metric, None, data.users, data.unlisted, chosen)
        ours = report.per_user[metric].to_dict()
        assert ours == pytest.approx(expected, nan_ok=True)
        assert ours[3] == 0.0


def test_unlabelled_items_leave_a_range_open() -> None:
    """From irrelevant to the top grade, also where the convention filters them."""
    rows = {"ann": [(3.0, None), (2.0, 5.0), (1.0, 1.0)], "bob": [(2.0, 5.0), (1.0, None)]}
    given = {
        grade: {
            user: [(e, grade if t is None else t) for e, t in own] for user, own in rows.items()
        }
        for grade in (0.0, 5.0)
    }
    for unlabelled in ("zero", "filter"):
        convention = rn.Convention(unlabelled=unlabelled)
        audit = rn.evaluate(rows, metrics="rr", threshold=4, convention=convention).audit.loc["rr"]
        for name, grade in (("unlabelled_zero", 0.0), ("unlabelled_top", 5.0)):
            expected = rn.evaluate(given[grade], metrics="rr", threshold=4).mean["rr"]
            assert audit[name] == expected
    assert audit["unlabelled_zero"] < audit["unlabelled_top"]


def test_equal_ratings_are_refused_where_they_must_be_a_mistake() -> None:
    """Of several users, more than one each, and as ratings: not of two rows, nor of clicks."""
    how: dict[str, Any] = {"metrics": "ndcg", "k": 2}
    assert rn.evaluate({"ann": [(2, 3)], "bob": [(1, 3)]}, **how).mean["ndcg@2"] == 1
    assert rn.evaluate({"ann": [(2, 3), (1, 3), (0, 3)]}, **how).mean["ndcg@2"] == 1
    with rejects("Every true value is 3.0"):
        rn.evaluate({"ann": [(2, 3)], "bob": [(1, 3), (0, 3)]}, **how)
    clicks = {"ann": {"a": 1, "b": 1}, "bob": {"a": 1}}
    runs = {"ann": {"a": 2.0, "b": 1.0}, "bob": {"a": 1.0}}
    lists = rn.RankedLists.from_trec(clicks, runs)
    assert rn.evaluate(lists, **how).mean["ndcg@2"] == 1
    unknown = {"ann": [(2, None), (1, None)], "bob": [(1, None)]}
    with rejects("No item has a true value"):
        rn.evaluate(unknown, **how)
