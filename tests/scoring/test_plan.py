"""A plan is settled against facts; after that nothing is decided and nothing raises."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import partial, reduce
from itertools import product
from operator import add
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.lists import Facts, Grades, to_lists
from recsys_ndcg.ranking import ordering, sorted_lists
from recsys_ndcg.scoring import Measurement, Plan
from tests import strategies
from tests.accuracy import METRICS
from tests.errors import assert_rejected, rejects
from tests.profiles import examples
from tests.strategies import Sample

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
ROWS = [("ann", "a", 3.0, 5), ("ann", "b", 2.0, 1), ("bob", "a", 2.0, 4), ("bob", "b", 2.0, 2)]
USABLE = strategies.datasets().filter(strategies.is_usable)


def test_a_plan_is_a_value() -> None:
    """It compares, hashes and pickles, with any convention."""
    for convention in ("catboost", rn.Convention(gain={1: 0, 5: 2}, ties="input")):
        make = partial(Plan.of, ["ndcg", "rbp(0.5)@3"], k=[5, 10], convention=convention)
        plan = make(threshold=4)
        assert plan == make(threshold=4) != make(threshold=3)
        again = pickle.loads(pickle.dumps(plan))  # noqa: S301 - our own
        assert (again, hash(again)) == (plan, hash(plan))
        assert again.names == ["ndcg@5", "ndcg@10", "rbp(p=0.5)@3"]


def test_the_default_metrics_depend_on_the_threshold() -> None:
    """Grades of 0 and 1 need none: 1 is relevant."""
    all_three = ["ndcg@3", "precision@3", "recall@3"]
    assert Plan.of(k=3, threshold=0).names == all_three
    plan = Plan.of(k=3).with_choices(tie_tolerance=0.5)
    graded, binary, zeros = (Grades.of(np.array(true)) for true in ([0, 2.0], [0, 1.0], [0.0]))
    assert plan.with_threshold(graded).names == ["ndcg@3"]
    assert plan.with_threshold(graded).threshold is None
    for grades in (binary, zeros):
        settled = plan.with_threshold(grades)
        assert (settled.names, settled.threshold) == (all_three, 1.0)
        assert {one.convention.tie_tolerance for one in settled.measurements} == {0.5}


@pytest.mark.parametrize("k", [2, [1, 3], None])
@pytest.mark.parametrize("convention", [None, "catboost", rn.Convention(ties="worst")])
def test_binary_grades_need_no_threshold(k: Any, convention: Any) -> None:
    """The report is the same as with threshold=1."""
    lists = {"ann": [(3, 1), (2, 0), (1, 1)], "bob": [(3, 0), (2, 1)]}
    explicit = rn.evaluate(lists, k=k, threshold=1, convention=convention)
    assert rn.evaluate(lists, k=k, convention=convention) == explicit


def test_a_preset_of_ndcg_leaves_out_the_other_default_metrics() -> None:
    """They raise only if they are named."""
    lists = {"ann": [(3, 1), (2, 0), (1, 1)], "bob": [(3, 0), (2, 1)]}
    made_for_ndcg = rn.Convention.preset("recommenders")
    assert rn.evaluate(lists, convention=made_for_ndcg).metrics == ["ndcg@10"]
    with rejects("has the choices for ndcg"):
        rn.evaluate(lists, metrics=["ndcg", "precision"], convention=made_for_ndcg)


def test_added_metrics_have_the_choices_of_the_first() -> None:
    """Those without a cutoff have the smallest one as the shortest list."""
    plan = Plan.of(["ndcg@5", "ap@3"], threshold=4, convention=rn.Convention(short_list="drop"))
    names, first = ["ndcg@5", "ap@3", "rmse", "recall@2"], plan.measurements[0].convention
    expected = Plan.of(names, threshold=4, convention=first)
    assert plan.with_metrics([rn.RMSE(), rn.Recall(2)]) == expected


@examples(0.8)
@given(data=USABLE, cut=st.integers(0, 3))
def test_facts_of_parts_merge_to_the_facts_of_the_whole(data: Sample, cut: int) -> None:
    """In any order."""
    lists = data.lists
    cut = min(cut, len(lists))
    plan = Plan.of("ap@2", threshold=1, convention=rn.Convention(ap_over="hits", gain={0.0: 1}))
    ranges = [one for one in ((0, cut), (cut, len(lists))) if one[1] > one[0]]
    parts = [plan.facts_of(lists._data.take(slice(*users))) for users in ranges]
    whole = plan.facts_of(lists._data)
    for order in (parts, parts[::-1]):
        merged = reduce(add, order)
        # repr: NaN, the bound of no grades, is not equal to itself
        assert repr(merged) == repr(replace(whole, first_tie_ranks=merged.first_tie_ranks))
        assert merged.first_tie_ranks == whole.first_tie_ranks


def test_facts_of_different_kinds_of_data_do_not_merge() -> None:
    """Ids of text and of numbers, or two protocols."""
    one = Facts.of(to_lists(ROWS))
    other = Facts.of(to_lists([(1, 2, 3.0, 4.0), (1, 3, 3.0, 5.0)]))
    with rejects("users of type text and number"):
        one + other
    with rejects("differ in protocol"):
        one + replace(one, protocol="catalogue")


IMPOSSIBLE: list[tuple[str, dict[str, Any], str]] = [
    ("ap@2", {"ap_over": "hits"}, "no exact mean over the orders of tied items in the top k"),
    ("ap", {"ap_over": "k"}, "ap_over='k' needs a cutoff"),
    ("ndcg@20000000", {"ideal": "max", "max_grade": 5}, "adds up the weights of all k places"),
    ("ndcg@2", {"gain": {5: 1}}, "the grade 1.0, 2.0, 4.0 .* has no gain"),
    ("ndcg@2", {"discount": np.sqrt}, "discount gives .* at rank 2"),
]


@pytest.mark.parametrize(("metric", "options", "why"), IMPOSSIBLE)
def test_a_measurement_that_cannot_be_computed_raises_before_scoring(
    metric: str, options: dict[str, Any], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or is a column of NaN with its reason, next to the others."""
    lists = to_lists(ROWS)
    own = rn.Convention(**options)
    plan = Plan.of([metric, "precision@2"], k=None, threshold=4, convention=own)
    kind = type(plan.metrics[0])
    monkeypatch.setattr(kind, "numerator", lambda *_: pytest.fail("it was scored"))
    facts = plan.facts_of(lists)
    assert_rejected(why, plan.resolve, facts, lists)
    assert_rejected(why, rn.evaluate, ROWS, metrics=metric, k=None, threshold=4, convention=own)
    known = plan.with_reasons_for_no_score(facts)
    assert known.measurements[0].no_score_reason
    assert np.isnan(known.measure(lists).per_user).all(axis=0).tolist() == [True, False]


@examples(1)
@given(data=USABLE, chosen=strategies.choices)
def test_nothing_raises_while_scoring(data: Sample, chosen: Any) -> None:
    """A measurement without a reason against it has a number, or an undefined one."""
    lists = data.lists
    convention = strategies.to_convention(chosen)
    metrics = [kind(None) for kind in METRICS.values()]
    metrics += [kind(2) for kind in METRICS.values() if kind.cutoff != "none"]
    plan = Plan(tuple(Measurement(metric, convention, chosen.threshold) for metric in metrics))
    plan = plan.with_reasons_for_no_score(plan.facts_of(lists._data))
    scores = plan.measure(lists._data)
    for place, one in enumerate(plan.measurements):
        assert np.isnan(scores.per_user[:, place]).all() or not one.no_score_reason


def test_rows_are_sorted_once_per_tolerance(monkeypatch: pytest.MonkeyPatch) -> None:
    """For sixteen metrics with their audit, and for a reconciliation."""
    rng = np.random.default_rng(0)
    columns: Any = {"user": np.repeat(np.arange(50), 20), "item": np.tile(np.arange(20), 50)}
    columns |= {"estimated": rng.integers(0, 30, 1000) / 7, "true": rng.integers(1, 6, 1000) * 1.0}
    frame = pd.DataFrame(columns)
    some = frame.assign(true=frame["true"].where(rng.random(1000) > 0.1))
    names = ["ndcg", "dcg", "cg", "precision", "recall", "f1", "ap", "hit"]
    sorts = []

    def descending(*given: Any) -> Any:
        sorts.append(1)
        return ordering.argsort_descending(*given)

    monkeypatch.setattr(sorted_lists, "argsort_descending", descending)
    evaluate = partial(rn.evaluate, metrics=names, k=[5, 10], threshold=4)
    for work, expected in (
        (lambda: evaluate(frame).audit, 1),
        (lambda: evaluate(some).mean, 1),
        (lambda: evaluate(some).audit, 2),  # once more with a grade for unlabelled items
        # exact and single precision, of the own choices and of all presets
        (lambda: rn.reconcile(frame, "ndcg@10", threshold=4), 2),
    ):
        sorts.clear()
        work()
        assert len(sorts) == expected


TRUE, ESTIMATED = st.sampled_from([None, 0.0, 1.0, 3.5]), st.sampled_from([0.0, 0.3, 0.5, 1.0, 2.0])
DETAILS = st.fixed_dictionaries({"was_impossible": st.booleans()})
ROW = st.tuples(st.integers(0, 2), st.integers(0, 99), TRUE, ESTIMATED, DETAILS)
flagged = st.lists(ROW, min_size=1, max_size=12, unique_by=lambda row: row[:2])
SEVERAL = st.lists(strategies.choices, min_size=2, max_size=4)
RULES = st.lists(st.sampled_from(["rank", "last", "drop"]), min_size=4, max_size=4)
flagged = flagged.filter(lambda rows: any(row[2] is not None for row in rows))


@examples(0.8)
@given(flagged, SEVERAL, RULES, st.sampled_from([None, 2.0]))
def test_measurements_that_share_a_pass_score_as_in_a_pass_of_their_own(
    rows: list[Any], chosen: list[Any], impossible: list[str], grade: float | None
) -> None:
    """Measurements of any conventions together: each column to the last bit."""
    lists = rn.RankedLists.from_surprise(rows)
    conventions = [
        (strategies.to_convention(one).replace(impossible=rule), one.threshold)
        for one, rule in zip(chosen, impossible, strict=False)
    ]
    metrics = [rn.NDCG(2), rn.Recall(2), rn.AP(2), rn.RR(2), rn.RMSE()]
    measurements = [
        Measurement(metric, convention, threshold, all_tied=blind, unlabelled_as=grade)
        for (convention, threshold), metric, blind in product(conventions, metrics, (False, True))
    ]
    plan = Plan(tuple(measurements))
    plan = plan.with_reasons_for_no_score(plan.facts_of(lists._data))
    together = plan.measure(lists._data).per_user
    for place, one in enumerate(plan.measurements):
        alone = Plan((one,)).measure(lists._data).per_user[:, 0]
        np.testing.assert_array_equal(together[:, place], alone, err_msg=str(one))


FLAG = {"was_impossible": True}
P = [
    ("u", "a", 5.0, 4.0, {}), ("u", "b", 1.0, 3.0, {}), ("u", "c", 5.0, 2.0, FLAG),
    ("v", "a", 5.0, 4.0, {}), ("v", "c", 5.0, 2.0, FLAG), ("v", "d", 5.0, 1.0, {}),
]  # fmt: skip


def test_reconcile_finds_dropped_predictions_that_are_not_counted() -> None:
    """Dropping makes unlisted labels."""
    drop = rn.Convention(impossible="drop")
    how: dict[str, Any] = {"threshold": 4, "metrics": "recall@2"}
    ignored = rn.evaluate(P, convention=drop.replace(unlisted="ignore"), **how).mean["recall@2"]
    table = rn.reconcile(P, reported=ignored, convention=drop, **how)
    own = table[table["preset"].isna()]
    assert {"unlisted": pytest.approx(ignored - own["yours"].iloc[0])} in own["causes"].tolist()


def test_gains_and_discounts_are_only_asked_about_what_counts() -> None:
    """Not about ranks behind the cutoff, nor about dropped or ignored labels."""
    rows = [("u", item, float(item), float(item % 2)) for item in range(6)]
    weights = np.array([1, 0.5, 0.25])
    own = rn.Convention(discount=lambda ranks: weights[np.asarray(ranks, int) - 1])
    report = rn.evaluate(rows, metrics=["ndcg@3", "precision", "rr"], threshold=1, convention=own)
    assert report.mean["ndcg@3"] == pytest.approx(1.25 / 1.75)
    assert report.audit.loc["ndcg@3", "best"] == 1
    gone = rn.Convention(impossible="drop", unlisted="ignore", gain={1.0: 0, 5.0: 1})
    odd = [*P[:2], ("u", "c", -7.0, 2.0, FLAG)]
    assert rn.evaluate(odd, metrics="ndcg@3", convention=gone).mean["ndcg@3"] == 1
    with rejects(r"the grade -7.0 .*has no gain"):
        rn.evaluate(odd, metrics="ndcg@3", convention=gone.replace(unlisted="count"))
    ignoring, results = rn.Convention(unlisted="ignore", gain=np.sqrt), {"u": ["a", "b"]}
    found = set()
    for labels in ({"a": 1.0}, {"a": 1.0, "z": 9.0}):
        lists = rn.RankedLists.from_labels({"u": labels}, results)
        found.add(rn.evaluate(lists, convention=ignoring).signature("ndcg@10"))
    assert len(found) == 1
