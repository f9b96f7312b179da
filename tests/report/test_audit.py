"""The audit: what a score is to be read against, by the textbook and on constructed data."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from tests import strategies, textbook
from tests.commands import run
from tests.errors import rejects
from tests.profiles import examples

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.strategies import Sample
    from tests.textbook import Choices, Row

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
FOLDER = os.environ.get("RECSYS_NDCG_DATA")
METRICS = ["ndcg", "precision", "recall", "rr", "judged"]
COLUMNS = [
    "chance", "adjusted", "z", "worst", "best", "trivial", "tie_low", "tie_high",
    "decided_by_ties", "short", "skipped", "unlabelled", "judged", "unlabelled_zero",
    "unlabelled_top",
]  # fmt: skip


def _mean(values: list[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan


def _same(ours: float, expected: float) -> bool:
    both_nan = math.isnan(ours) and math.isnan(expected)
    return both_nan or math.isclose(ours, expected, abs_tol=1e-11)


def _share(gaps: list[float], holds: Callable[[float], bool]) -> float:
    return _mean([float(holds(gap)) for gap in gaps if not math.isnan(gap)])


def _with_unlabelled_as(users: dict[int, list[Row]], grade: float) -> dict[int, list[Row]]:
    return {
        user: [row if row.true is not None else row._replace(true=grade) for row in rows]
        for user, rows in users.items()
    }


@examples(2)
@given(
    data=strategies.datasets(most=4),
    chosen=strategies.choices,
    k=st.sampled_from([1, 2, 3]),
)
def test_every_column_agrees_with_the_textbook(data: Sample, chosen: Choices, k: int) -> None:
    """By trying every order of every list."""
    assume(strategies.is_usable(data))
    chosen = strategies.without_estimate_limit(chosen, data)
    names = [f"{name}@{k}" for name in METRICS]
    report = rn.evaluate(
        data.lists, metrics=names, threshold=chosen.threshold,
        convention=strategies.to_convention(chosen),
    )  # fmt: skip
    zero = replace(chosen, unlabelled="zero")
    filled = _with_unlabelled_as(data.users, chosen.max_grade or 0)
    for name, row in report.audit.to_dict("index").items():
        metric = str(name).partition("@")[0]

        def table(choices: Choices, users: dict[int, list[Row]] = data.users) -> dict[Any, float]:
            return textbook.table(metric, k, users, data.unlisted, choices)  # noqa: B023

        blind = {
            user: [one._replace(estimated=9.0) for one in rows] for user, rows in data.users.items()
        }
        if chosen.recommend_from is None:
            extremes = [table(replace(chosen, ties=ties), blind) for ties in ("worst", "best")]
            assert _same(row["worst"], _mean([*extremes[0].values()]))
            assert _same(row["best"], _mean([*extremes[1].values()]))
            flat = [extremes[1][user] - low for user, low in extremes[0].items()]
            assert _same(row["trivial"], _share(flat, lambda gap: gap < 1e-12))
        ties = [table(replace(chosen, ties=ties)) for ties in ("worst", "best")]
        open_ = [ties[1][user] - low for user, low in ties[0].items()]
        assert _same(row["decided_by_ties"], _share(open_, lambda gap: gap > 1e-12))
        own = table(chosen)
        assert _same(row["skipped"], sum(map(math.isnan, own.values())) / len(own))
        assert _same(row["unlabelled_zero"], _mean([*table(zero).values()]))
        assert _same(row["unlabelled_top"], _mean([*table(zero, filled).values()]))
        judged = textbook.table(
            "judged", k, data.users, data.unlisted, replace(zero, ties="expected", undefined="skip")
        )
        assert _same(row["judged"], _mean([*judged.values()]))


@pytest.fixture(name="constructed")
def _constructed() -> rn.Report:
    """Four users: three grades in any order, one tie that matters, one item, nothing relevant."""
    rows = [
        ("ann", "a", 3.0, 5), ("ann", "b", 2.0, 1), ("ann", "c", 1.0, 4), ("ann", "d", 0.5, None),
        ("bob", "a", 2.0, 5), ("bob", "b", 2.0, 1),
        ("cy", "a", 2.0, 4),
        ("dan", "a", 2.0, 1), ("dan", "b", 1.0, 1),
    ]  # fmt: skip
    convention = rn.Convention(gain="linear")
    return rn.evaluate(
        rows, metrics=["ndcg@2", "precision@2", "recall@2", "dcg@2", "rmse"], threshold=4,
        convention=convention,
    )  # fmt: skip


def test_the_audit_of_constructed_data(constructed: rn.Report) -> None:
    """Worked by hand: users ann, bob, cy and dan."""
    audit = constructed.audit
    assert list(audit.columns) == COLUMNS
    assert list(audit.index) == constructed.metrics
    precision = audit.loc["precision@2"].to_dict()
    assert precision["chance"] == pytest.approx((0.5 + 0.5 + 0.5 + 0) / 4)
    assert precision["worst"] == pytest.approx((0.0 + 0.5 + 0.5 + 0) / 4)
    assert precision["best"] == pytest.approx((1.0 + 0.5 + 0.5 + 0) / 4)
    assert precision["trivial"] == 3 / 4  # all but ann
    assert precision["short"] == 1 / 4  # cy
    assert precision["skipped"] == 0
    assert precision["decided_by_ties"] == 0
    recall = audit.loc["recall@2"].to_dict()
    assert recall["skipped"] == 1 / 4  # dan
    assert recall["trivial"] == pytest.approx(2 / 3)  # bob and cy, of those with a score
    ndcg = audit.loc["ndcg@2"].to_dict()
    assert ndcg["decided_by_ties"] == 1 / 4  # bob
    assert ndcg["trivial"] == 2 / 4  # cy and dan
    low = (1 + 5 / math.log2(3)) / (5 + 1 / math.log2(3))
    assert ndcg["tie_high"] - ndcg["tie_low"] == pytest.approx((1 - low) / 4)
    assert set(audit["unlabelled"]) == {1 / 9}
    assert audit["judged"].tolist()[:4] == [1.0] * 4
    assert audit["judged"]["rmse"] == pytest.approx((3 / 4 + 3) / 4)
    assert ndcg["unlabelled_zero"] == constructed.mean["ndcg@2"]
    ideal = 5 + 5 / math.log2(3)  # ann's fourth item would be a 5 too
    loss = (5 + 1 / math.log2(3)) / (5 + 4 / math.log2(3)) - (5 + 1 / math.log2(3)) / ideal
    assert ndcg["unlabelled_zero"] - ndcg["unlabelled_top"] == pytest.approx(loss / 4)
    assert audit.loc["rmse", ["chance", "worst", "trivial", "unlabelled_top"]].isna().all()


def test_the_top_grade_is_that_of_the_scale_where_it_is_known() -> None:
    """Else the highest in the data."""
    rows = {"ann": [(3.0, None), (2.0, 2.0), (1.0, 1.0)]}
    for convention, top in ((rn.Convention(), 2), (rn.Convention(max_grade=5), 5)):
        ideal = [2**top - 1, 3]
        expected = (ideal[0] + 3 / math.log2(3)) / (ideal[0] + ideal[1] / math.log2(3))
        report = rn.evaluate(rows, metrics="ndcg@2", convention=convention)
        assert report.audit["unlabelled_top"].iloc[0] == pytest.approx(expected)


def test_the_audit_looks_past_a_filter() -> None:
    """Removed items are unlabelled all the same, and the bounds are those with them in place."""
    rows = {"ann": [(3.0, None), (2.0, 1.0), (1.0, 0.0)]}
    zero, filtered = (
        rn.evaluate(rows, metrics="ndcg@1", convention=rn.Convention(unlabelled=rule))
        for rule in ("zero", "filter")
    )
    assert filtered.mean.iloc[0] == 1
    assert filtered.audit["unlabelled_zero"].iloc[0] == zero.mean.iloc[0] == 0
    assert filtered.audit["judged"].iloc[0] == 0
    assert filtered.audit["unlabelled"].iloc[0] == 1 / 3


def test_what_matters_is_said_in_plain_sentences(constructed: rn.Report) -> None:
    """One each, with its numbers."""
    audit = constructed.audit
    text = str(constructed)
    for name in ("ndcg@2", "recall@2"):
        chance, worst = audit.loc[name, ["chance", "worst"]]
        assert (
            f"Random order would already score {chance:.4f} in {name} "
            f"(the worst order {worst:.4f})." in text
        )
    assert "score 0.3750 in precision@2" not in text
    assert "1 of 4 users have fewer items than the cutoff (short lists)." in text
    assert "Ties decide ndcg@2 for 25.0% of the users: it lies between" in text
    assert "Users without a score are left out of the mean: recall@2 over 3 users." in text
    assert "Items in the lists without a true value: 1." in text
    assert "Any order scores the same in precision@2 for 75.0% of users (trivial users)." in text


def test_nothing_is_said_where_nothing_matters() -> None:
    """Long lists of distinct estimates, all labelled, few of them relevant."""
    rows = [
        (user, item, (7 * item + user) % 40, float(item == user))
        for user in range(9)
        for item in range(40)
    ]  # fmt: skip
    report = rn.evaluate(rows, metrics=["ndcg", "precision", "recall"], k=3)
    assert (report.audit["chance"] < 0.2).all()
    below = [line for line in report.remarks if "andom order" not in line]
    assert not below


def test_a_ranking_worse_than_chance_is_told() -> None:
    """It would pass for a good one: 0.6 or more."""
    rows = {user: [(1.0, 5), (2.0, 2), (3.0, 1)] for user in range(3)}
    report = rn.evaluate(rows)
    assert "Worse than random order: ndcg@10." in report.remarks
    few = "The distance from random order may be chance (z within 2): ndcg@10."
    assert few in report.remarks
    many = rn.evaluate({user: [(1.0, 5), (2.0, 2), (3.0, 1)] for user in range(30)})
    assert many.audit["z"].iloc[0] < -2
    assert few not in many.remarks


def test_few_labels_are_told_with_what_they_leave_open() -> None:
    """Were the others irrelevant, or of the top grade."""
    lists = rn.RankedLists.from_trec(
        {"ann": {"a": 1, "b": 2}}, {"ann": {"a": 4, "x": 3, "b": 2, "y": 1}}
    )
    report = rn.evaluate(lists, metrics=["ndcg@4"])
    row = report.audit.iloc[0]
    assert row["judged"] == 0.5
    (line,) = [line for line in report.remarks if "looks at, 50.0% have a true value" in line]
    assert f"irrelevant it would be {row['unlabelled_zero']:.4f}" in line
    assert f"of the top grade {row['unlabelled_top']:.4f}." in line


def test_the_audit_stands_in_every_form(constructed: rn.Report, tmp_path: Path) -> None:
    """JSON has all of it, and the renderings its sentences."""
    stored = constructed.to_dict()["audit"]
    assert list(stored["ndcg@2"]) == COLUMNS
    assert stored["rmse"]["chance"] is None
    constructed.save(tmp_path / "r.json")
    loaded = rn.Report.load(tmp_path / "r.json")
    assert loaded.audit.equals(constructed.audit)
    for text in (constructed.to_markdown(), constructed.to_html(), str(loaded)):
        assert "Random order would already score" in text


@pytest.mark.skipif(FOLDER is None, reason="RECSYS_NDCG_DATA is not set")
def test_on_real_ratings_random_order_scores_above_nine_tenths() -> None:
    """And the demo says so."""
    ratings = Path(str(FOLDER)) / "movietweetings-100k" / "ratings.dat"
    said = run("demo", "--ratings", ratings).stdout
    (line,) = [
        line for line in said.splitlines() if "would already score" in line and "ndcg" in line
    ]
    chance, worst = (float(word.rstrip(").")) for word in line.split() if word[0] == "0")
    assert chance > 0.9
    assert chance > worst > 0.8


RAISING = rn.Convention(undefined="raise")
EMPTY = ({"ann": {"a": 1, "b": 0}, "bob": {"a": 1}}, {"ann": {"a": 2, "b": 1}})


@pytest.mark.parametrize(
    "convention",
    [
        RAISING,
        rn.Convention(undefined="raise", unlabelled="filter", short_list="drop"),
        rn.Convention(undefined=0.0),
        rn.Convention(undefined=1.0),
    ],
)
def test_an_empty_list_has_no_share_of_labels(convention: rn.Convention) -> None:
    """Whatever an undefined score is taken for; and the audit refuses nothing."""
    report = rn.evaluate(
        rn.RankedLists.from_trec(*EMPTY), metrics=["precision@2"], convention=convention
    )
    assert report.audit["judged"].iloc[0] == 1
    assert "have a true value" not in str(report)


@pytest.mark.parametrize(
    "convention",
    [
        rn.Convention(gain={0: 0, 2: 1}, max_grade=5),
        rn.Convention(max_grade=5000),
        rn.Convention(unlabelled="filter", ap_over="hits", gain={0: 0, 2: 1}, max_grade=5),
    ],
)
def test_what_has_no_number_is_left_open(convention: rn.Convention) -> None:
    """A top grade without a gain, and ties among unlabelled items, are no errors."""
    rows = {"ann": [(3.0, 2), (2.0, None), (2.0, 0)]}
    report = rn.evaluate(rows, metrics=["ndcg@3", "ap@3"], threshold=1, convention=convention)
    assert report.audit["unlabelled_top"].isna().any()
    assert str(report)


def test_the_top_grade_is_relevant() -> None:
    """Though nobody in the data gave it: an unlabelled item may always be relevant."""
    report = rn.evaluate({"a": [(3, None), (2, 3), (1, 1)]}, metrics="precision@1", threshold=4)
    assert report.audit["unlabelled_zero"].iloc[0] == 0
    assert report.audit["unlabelled_top"].iloc[0] == 1


def _said(report: rn.Report) -> str:
    return "\n".join(report.remarks)


def test_every_kind_of_user_and_row_is_told() -> None:
    """Who has no list, who is left out, what is in no list, what was merged."""
    labels = {"ann": {"a": 1, "z": 1}, "bob": {"a": 1}}
    run_ = {"ann": {"a": 2, "b": 1}}
    report = rn.evaluate(rn.RankedLists.from_trec(labels, run_), metrics="rr")
    assert "1 of 2 users have labels but no list." in _said(report)
    assert "Labelled items in no list: 2." in _said(report)
    ignored = rn.Convention(unlisted="ignore")
    report = rn.evaluate(rn.RankedLists.from_trec(labels, run_), metrics="rr", convention=ignored)
    assert report.counts["unlisted"] == 2
    rows = [("ann", "a", 2, 1), ("ann", "a", 2, 1), ("ann", "b", 1, 0), ("bob", "a", 1, 1)]
    drop = rn.Convention(duplicates="last", short_list="drop")
    report = rn.evaluate(rows, metrics=["ndcg@2", "dcg@2"], convention=drop)
    assert "1 of 2 users are left out of a metric by the convention." in _said(report)
    assert "Repeated rows that were merged: 1." in _said(report)
    assert "in dcg@2 (the worst" not in _said(report)


def test_nobody_with_a_score_is_told() -> None:
    """Once: there is no mean to be read."""
    report = rn.evaluate({"ann": [(2, 1), (1, 2)]}, metrics=["recall@1", "ndcg@1"], threshold=9)
    assert "Nobody has a score in recall@1." in _said(report)
    assert "left out of the mean" not in _said(report)


def test_few_users_are_not_worth_a_sentence() -> None:
    """One in two hundred with a short list."""
    rows = [
        (user, item, (7 * item + user) % 5, float(item))
        for user in range(200)
        for item in range(2 if user == 0 else 5)
    ]
    report = rn.evaluate(rows, k=5)
    assert report.counts["short"] == 1
    assert "short lists" not in _said(report)
    assert rn.evaluate(rows, k=[1, 5]).counts["short"] == 1


def test_the_top_grade_is_also_that_of_what_is_dropped() -> None:
    """As if its rows had had it from the start."""
    flag = {"was_impossible": True}
    rows = [("u", "a", 5.0, 4.0, {}), ("u", "b", None, 3.0, {}), ("u", "c", None, 2.0, flag)]
    drop = rn.Convention(impossible="drop")
    how: dict[str, Any] = {"metrics": "recall@2", "threshold": 4, "convention": drop}
    filled = [(user, item, 5.0, estimated, said) for user, item, _, estimated, said in rows]
    expected = rn.evaluate(filled, **how).mean["recall@2"]
    assert expected == pytest.approx(2 / 3)
    assert rn.evaluate(rows, **how).audit.loc["recall@2", "unlabelled_top"] == expected


def test_nothing_is_adjusted_where_chance_is_perfect_but_for_a_last_digit() -> None:
    """What is left to gain is rounding."""
    rows = [("u", item, float(item % 3), 5.0 if item < 2 else 1.0) for item in range(4)]
    report = rn.evaluate(rows, metrics="hit", k=None, threshold=4)
    assert report.summary.loc["hit", "chance"] == pytest.approx(1)
    assert math.isnan(report.audit.loc["hit", "adjusted"])  # type: ignore[arg-type]


def test_what_needs_a_threshold_is_not_explained_without_one() -> None:
    """The report was of errors, which need none."""
    rows = [("u", "a", 1.0, 2.0), ("u", "b", 2.0, 3.0)]
    report = rn.evaluate(rows, metrics="rmse", convention=rn.Convention(gain="binary"))
    with rejects("gain='binary' needs to know which items are relevant"):
        report.explain("u")
