"""The audit: the numbers that a score is read against, and the remarks about them."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from tests import strategies, textbook
from tests.errors import assert_rejected
from tests.profiles import examples
from tests.strategies import Sample
from tests.textbook import Choices

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
COLUMNS = [
    "chance", "adjusted", "adjusted_low", "adjusted_high", "z", "worst", "best", "trivial",
    "tie_low", "tie_high", "decided_by_ties", "short", "skipped", "unlabelled", "judged",
    "unlabelled_zero", "unlabelled_top",
]  # fmt: skip


def _mean(values: list[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan


@examples(1.5)
@given(data=strategies.datasets(most=4), chosen=strategies.choices, k=st.sampled_from([1, 2, 3]))
def test_the_audit_agrees_with_the_textbook(data: Sample, chosen: Choices, k: int) -> None:
    """Ties, users without a score, unlabelled items; test_levels.py has the other columns."""
    assume(strategies.is_usable(data))
    chosen = strategies.without_estimate_limit(chosen, data)
    how: dict[str, Any] = {"convention": strategies.to_convention(chosen)}
    names = [f"{name}@{k}" for name in ("ndcg", "precision", "recall", "rr", "judged")]
    audit = rn.evaluate(data.lists, metrics=names, threshold=chosen.threshold, **how).audit
    zero = replace(chosen, unlabelled="zero")
    top = chosen.max_grade or 0.0
    filled = {
        user: [row._replace(true=top if row.true is None else row.true) for row in rows]
        for user, rows in data.users.items()
    }

    def scores(metric: str, choices: Choices, users: Any = data.users) -> dict[Any, float]:
        return textbook.table(metric, k, users, data.unlisted, choices)

    judged = scores("judged", replace(zero, ties="expected", undefined="skip"))
    unlabelled = [float(row.true is None) for rows in data.users.values() for row in rows]
    for name, row in audit.to_dict("index").items():
        metric = str(name).partition("@")[0]
        low, high = (scores(metric, replace(chosen, ties=ties)) for ties in ("worst", "best"))
        ranges = [high[user] - one for user, one in low.items() if not math.isnan(one)]
        own = scores(metric, chosen)
        expected = {
            "decided_by_ties": _mean([float(one > 1e-12) for one in ranges]),
            "skipped": sum(map(math.isnan, own.values())) / len(own),
            "unlabelled_zero": _mean([*scores(metric, zero).values()]),
            "unlabelled_top": _mean([*scores(metric, zero, filled).values()]),
            "judged": _mean([*judged.values()]),
            "unlabelled": _mean(unlabelled),
        }
        found = {column: row[column] for column in expected}
        assert found == pytest.approx(expected, abs=1e-11, nan_ok=True)


@pytest.fixture(name="constructed")
def _constructed() -> rn.Report:
    """Four users: three grades in any order, one tie that matters, one item, nothing relevant."""
    rows = [
        ("ann", "a", 3.0, 5), ("ann", "b", 2.0, 1), ("ann", "c", 1.0, 4), ("ann", "d", 0.5, None),
        ("bob", "a", 2.0, 5), ("bob", "b", 2.0, 1), ("cy", "a", 2.0, 4), ("dan", "a", 2.0, 1),
        ("dan", "b", 1.0, 1),
    ]  # fmt: skip
    metrics = ["ndcg@2", "precision@2", "recall@2", "dcg@2", "rmse"]
    return rn.evaluate(rows, metrics=metrics, threshold=4, convention=rn.Convention(gain="linear"))


def test_the_audit_of_constructed_data(constructed: rn.Report, tmp_path: Path) -> None:
    """Computed by hand for the users ann, bob, cy and dan."""
    audit = constructed.audit
    assert list(audit.columns) == COLUMNS
    assert list(audit.index) == constructed.metrics
    expected = {
        "chance": (0.5 + 0.5 + 0.5 + 0) / 4, "worst": (0.0 + 0.5 + 0.5 + 0) / 4,
        "best": (1.0 + 0.5 + 0.5 + 0) / 4, "trivial": 3 / 4, "short": 1 / 4, "skipped": 0,
        "decided_by_ties": 0,
    }  # fmt: skip
    assert audit.loc["precision@2", [*expected]].to_dict() == pytest.approx(expected)
    # cy and dan; bob and cy, of the users with a score
    assert audit["trivial"][["ndcg@2", "recall@2"]].tolist() == pytest.approx([2 / 4, 2 / 3])
    assert audit["judged"]["rmse"] == (3 / 4 + 3) / 4
    assert audit.loc["rmse", ["chance", "worst", "trivial", "unlabelled_top"]].isna().all()
    stored = constructed.to_dict()["audit"]
    assert list(stored["ndcg@2"]) == COLUMNS
    assert stored["rmse"]["chance"] is None
    constructed.save(tmp_path / "r.json")
    assert rn.Report.load(tmp_path / "r.json").audit.equals(audit)


@pytest.mark.parametrize(("max_grade", "top"), [(None, 2), (5, 5)])
def test_the_top_grade_is_max_grade_or_the_highest_grade(max_grade: Any, top: float) -> None:
    """And it is relevant, even if no grade in the data is."""
    rows = {"ann": [(3.0, None), (2.0, 1.0), (1.0, 2.0)]}
    how: dict[str, Any] = {"convention": rn.Convention(max_grade=max_grade), "threshold": top}
    audit = rn.evaluate(rows, metrics=["ndcg@2", "precision@1"], **how).audit
    expected = (2**top - 1 + 1 / math.log2(3)) / (2**top - 1 + 3 / math.log2(3))
    assert audit["unlabelled_top"].tolist() == pytest.approx([expected, 1])
    assert audit["unlabelled_zero"].iloc[1] == 0


def test_dropped_items_may_be_of_the_top_grade() -> None:
    """As if their rows had had it from the start."""
    how: dict[str, Any] = {"threshold": 4, "convention": rn.Convention(impossible="drop")}
    flag = {"was_impossible": True}
    rows: list[Any] = [("u", "a", 5, 3, {}), ("u", "b", None, 2, {}), ("u", "c", None, 1, flag)]
    audit = rn.evaluate(rows, metrics="recall@2", **how).audit
    assert audit.loc["recall@2", "unlabelled_top"] == pytest.approx(2 / 3)


def test_an_empty_list_has_no_share_of_labels() -> None:
    """Whatever the convention does with undefined scores."""
    labels, results = {"ann": {"a": 1, "b": 0}, "bob": {"a": 1}}, {"ann": {"a": 2, "b": 1}}
    lists = rn.RankedLists.from_trec(labels, results)
    for choices in ({"undefined": "raise", "short_list": "drop"}, {"undefined": 0.0}):
        report = rn.evaluate(lists, metrics=["precision@2"], convention=rn.Convention(**choices))
        assert report.audit["judged"].iloc[0] == 1
        assert "are labelled (mean" not in str(report)


def test_a_top_grade_without_a_gain_is_no_error() -> None:
    """The column is NaN."""
    rows = {"ann": [(3.0, 2), (2.0, None), (2.0, 0)]}
    several: list[dict[str, Any]] = [{"max_grade": 5000}, {"gain": {0: 0, 2: 1}, "max_grade": 5}]
    for choices in several:
        report = rn.evaluate(rows, metrics=["ndcg@3"], convention=rn.Convention(**choices))
        assert report.audit["unlabelled_top"].isna().all()
        assert str(report)


def test_adjusted_is_undefined_if_chance_is_perfect_up_to_rounding() -> None:
    """There is nothing left to gain."""
    rows = [("u", item, float(item % 3), 5.0 if item < 2 else 1.0) for item in range(4)]
    row = rn.evaluate(rows, metrics="hit", k=None, threshold=4).audit.loc["hit"].to_dict()
    assert row["chance"] == pytest.approx(1)
    assert math.isnan(row["adjusted"])


# Remarks


def test_remarks_on_constructed_data(constructed: rn.Report) -> None:
    """One sentence for each finding, with its numbers, in every format."""
    audit = constructed.audit
    text = str(constructed)
    for name in ("ndcg@2", "recall@2"):
        chance, worst = audit.loc[name, ["chance", "worst"]]
        assert f"{chance:.4f} in {name} (worst order {worst:.4f})" in text
    assert "score 0.3750 in precision@2" not in text
    assert "in dcg@2 (worst" not in text
    for remark in (
        "Ties affect up to 1 of 4 users; depending on how they are broken, ndcg@2 is",
        "Listed items without a true value: 1.",
    ):
        assert remark in text
    for form in (constructed.to_markdown(), constructed.to_html()):
        assert "Random order would already score" in form


def test_unremarkable_data_have_no_remarks() -> None:
    """Long lists of distinct estimates, all labelled, few of them relevant, at different ranks."""
    pairs = product(range(90), range(40))
    rows = [
        (user, item, (7 * item + user) % 40, float(item == (17 + 22 * user) % 40))
        for user, item in pairs
    ]
    report = rn.evaluate(rows, metrics=["ndcg", "precision", "recall"], k=3)
    assert not [line for line in report.remarks if "andom order" not in line]


@pytest.mark.parametrize(("users", "is_sure"), [(3, False), (30, True)])
def test_remarks_mention_a_ranking_worse_than_chance(users: int, is_sure: bool) -> None:  # noqa: FBT001
    """It would pass for a good one: its score is 0.6 or more."""
    report = rn.evaluate({user: [(1.0, 5), (2.0, 2), (3.0, 1)] for user in range(users)})
    kinds = [*report.findings["kind"]]
    assert ("below_random" in kinds) is is_sure
    assert ("like_random" not in kinds) is is_sure


@pytest.mark.filterwarnings("ignore:rr is .* in random order")
@pytest.mark.parametrize(("users", "is_sure"), [(2, False), (3, False), (40, True)])
def test_few_users_are_not_clearly_worse_than_chance_in_a_metric_without_z(
    users: int,
    is_sure: bool,  # noqa: FBT001
) -> None:
    """All hits are in the lower half of four ranks: by chance this is so for 3 users in 1 / 8."""
    labels = {user: {2 + user % 2} for user in range(users)}
    lists = {user: [0, 1, 2, 3] for user in labels}
    report = rn.evaluate({"labels": labels, "results": lists}, metrics="rr", k=None)
    assert math.isnan(report.audit["z"]["rr"])
    assert report.audit["adjusted"]["rr"] < 0
    kinds = [*report.findings["kind"]]
    assert ("below_random" in kinds) is is_sure
    assert ("worse_than_chance" in kinds) is is_sure


def test_remarks_mention_few_labels_and_the_range_that_they_leave_open() -> None:
    """If the other items are irrelevant, or of the top grade."""
    labels, results = {"ann": {"a": 1, "b": 2}}, {"ann": {"a": 4, "x": 3, "b": 2, "y": 1}}
    report = rn.evaluate(rn.RankedLists.from_trec(labels, results), metrics=["ndcg@4"])
    row = report.audit.iloc[0]
    expected = (
        "50.0 % of the top-4 items are labelled. If the rest are irrelevant, ndcg@4 is "
        f"{row['unlabelled_zero']:.4f}; if all are of the top grade, {row['unlabelled_top']:.4f}."
    )
    assert expected in report.remarks


def test_remarks_count_users_and_rows() -> None:
    """Of more than a hundredth of the users."""

    def find(data: Any, **options: Any) -> dict[str, dict[str, int]]:
        findings = rn.evaluate(data, **options).findings
        return dict(zip(findings["kind"], findings["numbers"], strict=True))

    labels = {"ann": {"a": 1, "z": 1}, "bob": {"a": 1}}
    kinds = find(rn.RankedLists.from_trec(labels, {"ann": {"a": 2, "b": 1}}), metrics="rr")
    assert kinds["users_without_list"] == {"count": 1, "users": 2}
    assert kinds["unlisted_labels"] == {"count": 2}
    rows = [("ann", "a", 2, 1), ("ann", "a", 2, 1), ("ann", "b", 1, 0), ("bob", "a", 1, 1)]
    choices = rn.Convention(duplicates="last", short_list="drop")
    kinds = find(rows, metrics="ndcg@2", convention=choices)
    assert kinds["users_left_out"] == {"count": 1, "users": 2}
    assert kinds["merged_rows"] == {"count": 1}
    kinds = find({"ann": [(2, 1), (1, 2)]}, metrics=["recall@1", "ndcg@1"], threshold=9)
    assert "metrics_without_scores" in kinds
    assert "users_left_out" not in kinds


def test_explain_needs_a_threshold_if_the_gain_does() -> None:
    """Also if the report is of errors, which need none."""
    rows = [("u", "a", 1.0, 2.0), ("u", "b", 2.0, 3.0)]
    report = rn.evaluate(rows, metrics="rmse", convention=rn.Convention(gain="binary"))
    assert_rejected("gain='binary' needs to know which items are relevant", report.explain, "u")
