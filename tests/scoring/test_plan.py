"""A plan is settled against facts; then nothing is decided, or refused, while scoring."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.lists import Facts
from recsys_ndcg.lists.facts import Grades
from recsys_ndcg.metrics import METRICS
from recsys_ndcg.ranking import ordering, sorted_lists
from recsys_ndcg.scoring import Measurement, Plan, Scores, Totals
from tests import strategies
from tests.errors import rejects
from tests.profiles import examples

if TYPE_CHECKING:
    from tests.strategies import Sample

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
ROWS = [("ann", "a", 3.0, 5), ("ann", "b", 2.0, 1), ("bob", "a", 2.0, 4), ("bob", "b", 2.0, 2)]


def test_a_plan_is_a_value() -> None:
    """It compares, hashes and pickles."""
    plan = Plan.of(["ndcg", "rbp(0.5)@3"], k=[5, 10], threshold=4, convention="catboost")
    assert plan == Plan.of(["ndcg", "rbp(0.5)@3"], k=[5, 10], threshold=4, convention="catboost")
    assert plan != Plan.of(["ndcg", "rbp(0.5)@3"], k=[5, 10], threshold=3, convention="catboost")
    again = pickle.loads(pickle.dumps(plan))  # noqa: S301 - our own
    assert again == plan
    assert hash(again) == hash(plan)
    assert again.names == ["ndcg@5", "ndcg@10", "rbp(p=0.5)@3"]


def test_what_is_measured_if_nothing_is_named() -> None:
    """What is relevant is known by the threshold, or where all grades are 0 or 1."""
    all_three = ["ndcg@3", "precision@3", "recall@3"]
    assert Plan.of(k=3, threshold=0).names == all_three
    plan = Plan.of(k=3)
    graded, binary, zeros = (Grades.of(np.array(true)) for true in ([0, 2.0], [0, 1.0], [0.0]))
    assert plan.with_threshold(graded).names == ["ndcg@3"]
    assert plan.under(tie_tolerance=0.5).with_threshold(graded).names == ["ndcg@3"]
    assert plan.with_threshold(graded).threshold is None
    for grades in (binary, zeros):
        settled = plan.under(tie_tolerance=0.5).with_threshold(grades)
        assert (settled.names, settled.threshold) == (all_three, 1.0)
        assert {one.convention.tie_tolerance for one in settled.measurements} == {0.5}


@pytest.mark.parametrize("k", [2, [1, 3], None])
@pytest.mark.parametrize("convention", [None, "catboost", rn.Convention(ties="worst")])
def test_binary_truth_needs_no_threshold(k: Any, convention: Any) -> None:
    """Neither where metrics are named nor where they are not: the same numbers."""
    lists = {"ann": [(3, 1), (2, 0), (1, 1)], "bob": [(3, 0), (2, 1)]}
    told = rn.evaluate(lists, k=k, threshold=1, convention=convention)
    assert rn.evaluate(lists, k=k, convention=convention) == told
    graded = {"ann": [(3, 2), (2, 0)], "bob": [(3, 0), (2, 1)]}
    kinds = {name.partition("@")[0] for name in rn.evaluate(graded, k=k).metrics}
    assert kinds == {"ndcg"}


def test_what_nobody_asked_for_is_not_refused() -> None:
    """A preset made for ndcg is measured alone, though it would mislead beside precision."""
    lists = {"ann": [(3, 1), (2, 0), (1, 1)], "bob": [(3, 0), (2, 1)]}
    made_for_ndcg = rn.Convention.preset("recommenders")
    assert rn.evaluate(lists, convention=made_for_ndcg).metrics == ["ndcg@10"]
    with rejects("holds the choices of its ndcg"):
        rn.evaluate(lists, metrics=["ndcg", "precision"], convention=made_for_ndcg)


def test_metrics_are_added_under_the_choices_of_the_first() -> None:
    """Those without a cutoff go with the smallest that is there."""
    plan = Plan.of(["ndcg@5", "ap@3"], threshold=4, convention=rn.Convention(short_list="drop"))
    more = plan.with_metrics([rn.RMSE(), rn.Recall(2)])
    assert more == Plan.of(
        ["ndcg@5", "ap@3", "rmse", "recall@2"],
        threshold=4,
        convention=plan.measurements[0].convention,
    )


@examples(0.8)
@given(data=strategies.datasets().filter(strategies.is_usable), cut=st.integers(0, 3))
def test_facts_of_parts_merge_to_those_of_the_whole(data: Sample, cut: int) -> None:
    """In whichever order they come."""
    lists = data.lists
    cut = min(cut, len(lists))
    plan = Plan.of("ap@2", threshold=1, convention=rn.Convention(ap_over="hits", gain={0.0: 1}))
    parts = [
        plan.facts_of(lists.between(*users))
        for users in ((0, cut), (cut, len(lists)))
        if users[1] > users[0]
    ]
    whole = plan.facts_of(lists)
    for order in (parts, parts[::-1]):
        merged = reduce(add, order)
        # NaN, the bound of no grades, is not equal to itself
        assert repr(merged) == repr(replace(whole, first_ties=merged.first_ties))
        assert merged.first_ties == whole.first_ties


def test_parts_that_were_read_otherwise_do_not_merge() -> None:
    """Numbers and text never meet, and protocols differ."""
    one = Facts.of(rn.RankedLists.from_tuples(ROWS))
    other = Facts.of(rn.RankedLists.from_tuples([(1, 2, 3.0, 4.0), (1, 3, 3.0, 5.0)]))
    with rejects("users of type text and number"):
        one + other
    with rejects("differ in protocol"):
        one + replace(one, protocol="catalogue")


def test_a_partition_is_measured_by_a_plan_that_was_settled_without_it() -> None:
    """Facts of all parts settle the plan, each part is measured, totals are merged."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "user": np.repeat(np.arange(40), 6),
            "item": np.tile(np.arange(6), 40),
            "estimated": rng.integers(0, 5, 240) / 2,
            "true": rng.integers(0, 2, 240).astype(float),
        }
    )
    parts = [rn.RankedLists.from_frame(part) for _, part in frame.groupby(frame["user"] % 3)]
    plan = Plan.of(["ndcg", "recall", "ap"], k=3)
    facts = reduce(add, (plan.facts_of(part) for part in parts))
    settled = pickle.loads(pickle.dumps(plan.settled(facts)))  # noqa: S301 - our own
    assert settled.threshold == 1.0
    scores = [settled.measure(part) for part in parts]
    whole = rn.evaluate(frame, metrics=["ndcg", "recall", "ap"], k=3)
    totals = reduce(add, (Totals.of(one) for one in scores))
    np.testing.assert_allclose(totals.mean, whole.mean, rtol=1e-14)
    np.testing.assert_allclose(totals.pooled, whole.pooled, rtol=1e-14)
    joined = Scores.concat(scores)
    table = pd.DataFrame(joined.per_user, index=joined.users).sort_index()
    np.testing.assert_array_equal(table, whole.per_user[whole.metrics])


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("ap@2", {"ap_over": "hits"}, "no exact expectation where equal estimates touch the top k"),
    ("ap", {"ap_over": "k"}, "ap_over='k' needs a cutoff"),
    ("ndcg@20000000", {"ideal": "max", "max_grade": 5}, "adds up the weights of all k places"),
    ("ndcg@2", {"gain": {5: 1}}, "the grade 1.0, 2.0, 4.0 .* has no gain"),
    ("ndcg@2", {"discount": np.sqrt}, "discount gives .* at rank 2"),
]


@pytest.mark.parametrize(("metric", "options", "why"), REFUSED)
def test_what_cannot_be_computed_is_refused_before_scoring(
    metric: str, options: dict[str, Any], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or is a column of NaN that says why, beside the others."""
    lists = rn.RankedLists.from_tuples(ROWS)
    own = rn.Convention(**options)
    plan = Plan.of([metric, "precision@2"], k=None, threshold=4, convention=own)
    kind = type(plan.metrics[0])
    monkeypatch.setattr(kind, "numerator", lambda *_: pytest.fail("it was scored"))
    facts = plan.facts_of(lists)
    with rejects(why):
        plan.settled(facts, lists)
    with rejects(why):
        rn.evaluate(ROWS, metrics=metric, k=None, threshold=4, convention=own)
    known = plan.with_reasons(facts)
    assert known.measurements[0].reason
    scores = known.measure(lists)
    assert np.isnan(scores.per_user[:, 0]).all()
    assert not np.isnan(scores.per_user[:, 1]).any()


@examples(1)
@given(
    data=strategies.datasets().filter(strategies.is_usable),
    chosen=strategies.choices,
)
def test_nothing_is_raised_while_scoring(data: Sample, chosen: Any) -> None:
    """Whatever has no objection against it has a number, or an undefined one."""
    lists = data.lists
    convention = strategies.to_convention(chosen)
    measurements = [
        Measurement(kind(k), convention, chosen.threshold)
        for kind in METRICS.values()
        for k in ((2, None) if kind.cutoff != "none" else (None,))
    ]
    plan = Plan(tuple(measurements))
    plan = plan.with_reasons(plan.facts_of(lists))
    scores = plan.measure(lists)
    for place, one in enumerate(plan.measurements):
        assert np.isnan(scores.per_user[:, place]).all() or not one.reason


def _sorts(work: Any, monkeypatch: pytest.MonkeyPatch) -> int:
    """Count how often rows are sorted by their estimates."""
    count = 0
    plain = ordering.descending

    def counted(*given: Any) -> Any:
        nonlocal count
        count += 1
        return plain(*given)

    with monkeypatch.context() as patch:
        patch.setattr(sorted_lists, "descending", counted)
        work()
    return count


def test_there_are_as_many_passes_as_different_sorts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen metrics with their audit sort once; a reconciliation once per tolerance."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "user": np.repeat(np.arange(50), 20),
            "item": np.tile(np.arange(20), 50),
            "estimated": rng.integers(0, 30, 1000) / 7,
            "true": rng.integers(1, 6, 1000).astype(float),
        }
    )
    names = ["ndcg", "dcg", "cg", "precision", "recall", "f1", "ap", "hit"]
    every = partial(rn.evaluate, frame, metrics=names, k=[5, 10], threshold=4)
    assert _sorts(lambda: every().audit, monkeypatch) == 1
    some = frame.assign(true=frame["true"].where(rng.random(1000) > 0.1))
    every = partial(rn.evaluate, some, metrics=names, k=[5, 10], threshold=4)
    # once more for what unlabelled items leave open, which nobody may ask for
    assert _sorts(lambda: str(every().mean), monkeypatch) == 1
    assert _sorts(lambda: every().audit, monkeypatch) == 2
    # exact and single precision, of one's own choices and of all presets
    assert _sorts(lambda: rn.reconcile(frame, "ndcg@10", threshold=4), monkeypatch) == 2


flagged = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from([0.0, 0.3, 0.5, 1.0, 2.0]),
        st.sampled_from([None, 0.0, 1.0, 2.0, 3.5]),
        st.booleans(),
    ),
    min_size=1,
    max_size=12,
).filter(lambda rows: any(row[2] is not None for row in rows))


def _predictions(rows: list[tuple[int, float, float | None, bool]]) -> rn.RankedLists:
    """Return Surprise's predictions as lists, some of which the model could not make."""
    return rn.RankedLists.from_surprise(
        [
            (user, item, true, estimated, {"was_impossible": impossible})
            for item, (user, estimated, true, impossible) in enumerate(rows)
        ]
    )


@examples(0.8)
@given(
    rows=flagged,
    chosen=st.lists(strategies.choices, min_size=2, max_size=4),
    impossible=st.lists(st.sampled_from(["rank", "last", "drop"]), min_size=4, max_size=4),
    grade=st.sampled_from([None, 2.0]),
)
def test_what_shares_a_pass_is_what_it_is_alone(
    rows: list[tuple[int, float, float | None, bool]],
    chosen: list[Any],
    impossible: list[str],
    grade: float | None,
) -> None:
    """Measurements of any conventions together: each column to the last bit."""
    lists = _predictions(rows)
    measurements = [
        Measurement(
            kind(2 if kind.cutoff != "none" else None),
            strategies.to_convention(one).replace(impossible=rule),
            one.threshold,
            blind=blind,
            unlabelled_as=grade,
        )
        for one, rule in zip(chosen, impossible, strict=False)
        for kind in (rn.NDCG, rn.Recall, rn.AP, rn.RR, rn.RMSE)
        for blind in (False, True)
    ]
    plan = Plan(tuple(measurements))
    plan = plan.with_reasons(plan.facts_of(lists))
    together = plan.measure(lists).per_user
    for place, one in enumerate(plan.measurements):
        alone = Plan((one,)).measure(lists).per_user[:, 0]
        np.testing.assert_array_equal(together[:, place], alone, err_msg=str(one))


P = [
    ("u", "a", 5.0, 4.0, {}),
    ("u", "b", 1.0, 3.0, {}),
    ("u", "c", 5.0, 2.0, {"was_impossible": True}),
    ("v", "a", 5.0, 4.0, {}),
    ("v", "c", 5.0, 2.0, {"was_impossible": True}),
    ("v", "d", 5.0, 1.0, {}),
]


def test_a_dropped_prediction_that_does_not_count_is_told_by_reconcile() -> None:
    """Dropping makes unlisted labels, where there were none before."""
    drop = rn.Convention(impossible="drop")
    how: dict[str, Any] = {"threshold": 4, "metrics": "recall@2"}
    ignored = rn.evaluate(P, convention=drop.replace(unlisted="ignore"), **how).mean["recall@2"]
    table = rn.reconcile(P, reported=ignored, convention=drop, **how)
    own = table[table["preset"].isna()]
    assert {"unlisted": pytest.approx(ignored - own["yours"].iloc[0])} in own["causes"].tolist()


def test_a_function_is_asked_about_no_rank_and_no_grade_that_does_not_count() -> None:
    """A table of weights for three ranks; grades of predictions that are dropped and ignored."""
    rows = [("u", item, float(item), float(item % 2)) for item in range(6)]
    weights = np.array([1, 0.5, 0.25])

    def known(ranks: Any) -> Any:
        return weights[np.asarray(ranks, int) - 1]

    own = rn.Convention(discount=known)
    report = rn.evaluate(rows, metrics=["ndcg@3", "precision", "rr"], threshold=1, convention=own)
    assert report.mean["ndcg@3"] == pytest.approx(1.25 / 1.75)
    assert report.audit.loc["ndcg@3", "best"] == 1
    gone = rn.Convention(impossible="drop", unlisted="ignore", gain={1.0: 0, 5.0: 1})
    odd = [*P[:2], ("u", "c", -7.0, 2.0, {"was_impossible": True})]
    assert rn.evaluate(odd, metrics="ndcg@3", convention=gone).mean["ndcg@3"] == 1
    with rejects(r"the grade -7.0 .*has no gain"):
        rn.evaluate(odd, metrics="ndcg@3", convention=gone.replace(unlisted="count"))


def test_signatures_tell_functions_apart_by_what_counts() -> None:
    """A label that is ignored is none that a gain was asked about."""
    results = pd.DataFrame(
        [("u", "a", 1.0), ("u", "b", 0.5)], columns=["user", "item", "estimated"]
    )
    labels = [("u", "a", 1.0), ("u", "z", 9.0)]
    convention = rn.Convention(unlisted="ignore", gain=np.sqrt)
    signed = [
        rn.evaluate(
            rn.RankedLists.from_labels(
                pd.DataFrame(labels[:n], columns=["user", "item", "true"]), results
            ),
            convention=convention,
        ).signature("ndcg@10")
        for n in (1, 2)
    ]
    assert signed[0] == signed[1]


def test_where_impossible_predictions_go_depends_on_the_tolerance() -> None:
    """Below all others by more than the step that estimates are rounded to."""
    rows = [("u", "a", 0.0, 0.0, {}), ("u", "b", 1.0, -0.1, {"was_impossible": True})]
    lists = rn.RankedLists.from_surprise(rows)
    last = rn.Convention(impossible="last", ties="best")
    pair = [Measurement(rn.RR(), last.replace(tie_tolerance=step), 1.0) for step in (0.0, 3.0)]
    assert Plan(tuple(pair)).measure(lists).per_user.tolist() == [[0.5, 0.5]]
