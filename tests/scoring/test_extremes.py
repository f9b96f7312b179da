"""Tiny and huge grades and estimates, and choices that can be written in two ways."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.lists import to_lists
from recsys_ndcg.scoring import rank
from tests.errors import assert_rejected, rejects

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
ROWS = {"ann": [(3.0, 5), (1.0, 2)], "bob": [(1.0, 2), (2.0, 3)], "cid": [(2.0, 1), (1.0, 4)]}
NEEDS_THRESHOLD = r"threshold=.*, for instance"


@given(st.floats(-1, 1.5) | st.sampled_from([1e-16, 1e-300]), st.floats(0, 1e-3))
def test_gains_are_exact_and_rise_with_the_grade(grade: float, step: float) -> None:
    """Also near 0, where 2^t - 1 as a difference is 0 or a jump."""
    low, high = (rn.dcg_at_k([max(one, 0.0)], 1) for one in (grade, grade + step))
    assert low <= high * (1 + 1e-15)
    assert low == pytest.approx(math.expm1(max(grade, 0.0) * math.log(2)), rel=1e-14, abs=0)


@pytest.mark.parametrize("unit", [1e-200, 1e-9, 1e9, 1e200])
def test_intervals_are_in_the_unit_of_the_grades(unit: float) -> None:
    """None vanishes, and none becomes infinite."""
    scaled = {user: [(one, unit * grade) for one, grade in pairs] for user, pairs in ROWS.items()}
    how: Any = {"metrics": ["dcg@2", "ndcg@2", "cg@1"], "convention": rn.Convention(gain="linear")}
    plain, other = (rn.evaluate(rows, **how).summary for rows in (ROWS, scaled))
    columns, units = ["ci_low", "ci_high", "chance", "median"], np.array([[unit], [1.0], [unit]])
    found, expected = (one[columns].to_numpy(np.float64) for one in (other, plain))
    np.testing.assert_allclose(found, expected * units, rtol=1e-9)
    assert other["adjusted"].tolist() == pytest.approx(plain["adjusted"].tolist(), nan_ok=True)


TOO_LARGE = [((1e200, 5), "rmse"), ((1.0, -1e200), "rmse"), ((1e305, 5), "mae")]


@pytest.mark.parametrize(("pair", "metric"), TOO_LARGE)
def test_errors_too_large_to_add_up_raise(pair: tuple[float, float], metric: str) -> None:
    """They would be inf; an error that can be added up is a score."""
    with rejects(f"{metric} of user 'ann' has a numerator .*e.*, too large to add up.*diverged"):
        rn.evaluate({**ROWS, "ann": [pair, (1.0, 2)]}, metrics=[metric])
    report = rn.evaluate({**ROWS, "ann": [(1e140, 0), (1e140, 2)]}, metrics=["rmse"])
    assert report.per_user.loc["ann", "rmse"] == pytest.approx(1e140)


@pytest.mark.parametrize("gain", ["linear", "exponential"])
@pytest.mark.parametrize("ideal", ["global", "local"])
def test_gains_too_small_to_divide_raise(gain: Any, ideal: Any) -> None:
    """The mean of 5e-324 and 0 is 0, so random order would score no more than the worst one."""
    convention = rn.Convention(gain=gain, ideal=ideal)
    options: dict[str, Any] = {"metrics": "ndcg", "convention": convention}
    rows: Any = {"ann": [(2.0, 5e-324), (1.0, 0.0)], "bob": [(3.0, 5.0), (2.0, 1.0)]}
    with rejects("ndcg@10 of user 'ann' divides by 4.94.*e-324, too little .*Rescale the grades"):
        rn.evaluate(rows, **options)
    mixed = {**rows, "ann": [(2.0, 5e-324), (3.0, 5.0)]}
    assert rn.evaluate(mixed, **options)["ndcg@10"] == 1.0
    small, plain = ({"ann": [(2.0, one), (1.0, 0.0), (0.0, 0.0)]} for one in (1e-304, 1.0))
    found, expected = (rn.evaluate(one, **options).audit["chance"] for one in (small, plain))
    assert found.tolist() == pytest.approx(expected.tolist(), rel=1e-15)


@pytest.mark.parametrize("limit", [-1000.0, 0.0, 2.5])
@pytest.mark.parametrize("step", [0.0, 0.5, "float32"])
def test_impossible_predictions_pass_no_limit(limit: float, step: Any) -> None:
    """Under impossible="last" they have no estimate, so none is recommended."""
    rows = [("ann", 1, 5.0, 4.0, {}), ("ann", 2, 5.0, 3.0, {"was_impossible": True})]
    convention = rn.Convention(impossible="last", recommend_from=limit, tie_tolerance=step)
    report = rn.evaluate(rows, metrics=["precision", "recall"], threshold=4, convention=convention)
    assert report.mean.tolist() == [1.0, 0.5]


LABELS, FOUND = {"user": [1, 1], "item": [1, 2], "true": [5, 1]}, {"user": [1, 1], "item": [2, 1]}
RANKS: dict[str, Any] = {
    "grades in ranked order": {"ann": [5, 1, 3], "bob": [2, 4]},
    "ranks": rn.RankedLists.from_labels(LABELS, {**FOUND, "rank": [1, 2]}),
}
SCORES = rn.RankedLists.from_labels(LABELS, {**FOUND, "estimated": [0.9, 0.8]})


@pytest.mark.parametrize("data", [*RANKS.values(), SCORES], ids=[*RANKS, "scores"])
@pytest.mark.parametrize("limit", [4.0, "threshold"])
@pytest.mark.parametrize("metric", ["precision", "recall", "f1"])
def test_a_limit_on_other_estimates_than_ratings_raises(data: Any, limit: Any, metric: str) -> None:
    """Metrics that do not read the limit are measured."""
    convention = rn.Convention(recommend_from=limit)
    with rejects("recommend_from=.* scale of the ratings, but these lists hold ranks, or scores"):
        rn.evaluate(data, metrics=[metric], threshold=4, convention=convention)
    rn.evaluate(data, metrics=["ndcg", "ap"], threshold=4, convention=convention)


def test_reconcile_shows_no_value_for_libraries_with_such_a_limit() -> None:
    """But a note."""
    table: Any = rn.reconcile(SCORES, "precision@2", threshold=4).set_index("preset")
    presets = {name: rn.Convention.preset(name, "precision@2") for name in rn.Convention.presets()}
    limited = [name for name, preset in presets.items() if preset.recommend_from is not None]
    assert limited
    assert table.loc[limited, "value"].isna().all()
    assert table.loc[limited, "note"].str.contains("recommend_from").all()


@pytest.mark.parametrize("data", RANKS.values(), ids=RANKS)
@pytest.mark.parametrize("step", [1e-301, 0.3, 10.0, "float32"])
def test_a_tie_tolerance_does_not_apply_to_ranks(data: Any, step: Any) -> None:
    """It is a step of estimates; only equal ranks are ties."""
    rules = [rn.Convention(tie_tolerance=one) for one in (0.0, step)]
    plain, tolerant = (rn.evaluate(data, convention=rule) for rule in rules)
    assert tolerant.per_user.equals(plain.per_user)
    assert tolerant.counts == plain.counts


def test_minus_zero_is_zero() -> None:
    """Equal conventions have equal hashes and signatures."""
    for name in ("undefined", "tie_tolerance", "recommend_from", "max_grade"):
        plus, minus = (rn.Convention().replace(**{name: zero}) for zero in (0.0, -0.0))
        assert (plus, hash(plus), plus.signature) == (minus, hash(minus), minus.signature)
    reports = [rn.evaluate(ROWS, metrics=["ap"], threshold=zero) for zero in (0.0, -0.0)]
    (text,) = {report.signature("ap@10").text for report in reports}
    assert rn.Signature(text.replace("threshold:0.0", "threshold:-0.0")).text == text


@pytest.mark.parametrize("p", [np.float32(0.9), np.float16(0.3), Fraction(9, 10), np.float64(0.5)])
def test_a_parameter_is_the_number_in_the_metrics_name(p: Any) -> None:
    """Equal names, equal numbers."""
    metric = rn.RBP(10, p=p)
    assert str(metric) == f"rbp(p={float(p):.1g})@10"
    reports = [rn.evaluate(ROWS, metrics=[one], threshold=4) for one in (str(metric), metric)]
    assert reports[0] == reports[1]


DEPENDENT_GAINS: dict[str, Callable[[Any], Any]] = {
    "largest": lambda t: t / t.max(), "centred": lambda t: t - t.min(), "sorted": np.sort,
    "places": lambda t: np.arange(len(t)) * 1.0, "size": lambda t: t / len(t), "so far": np.cumsum,
    "random": lambda t: np.random.default_rng().random(len(t)),
}  # fmt: skip


@pytest.mark.parametrize("gain", DEPENDENT_GAINS.values(), ids=DEPENDENT_GAINS)
def test_a_gain_that_depends_on_other_grades_raises(gain: Any) -> None:
    """A user's score would depend on other users in the same block."""
    with rejects("gain must give one value per grade independent of the other values.*only"):
        rn.evaluate(ROWS, convention=rn.Convention(gain=gain))


DEPENDENT_DISCOUNTS: list[Any] = [lambda r: 1 / r / len(r), lambda r: (r.max() - r + 1) / r.max()]


@pytest.mark.parametrize("discount", DEPENDENT_DISCOUNTS)
def test_a_discount_that_depends_on_the_number_of_ranks_raises(discount: Any) -> None:
    """A list's score would depend on the longest list of all."""
    fault = "one weight per rank independent of the other values"
    with rejects(f"discount must give {fault}"):
        rn.evaluate(ROWS, convention=rn.Convention(discount=discount))
    own = rn.metric(name="dependent")(discount)
    with rejects(f"'dependent' must give {fault}"):
        rn.evaluate(ROWS, metrics=[own(5)], threshold=4)


def test_a_discount_may_be_a_table_of_weights() -> None:
    """It is called with the first ranks only."""
    weights = 1 / np.log2(np.arange(2, 102))
    table = rn.Convention(discount=lambda ranks: weights[: len(ranks)])
    expected = pytest.approx(rn.evaluate(ROWS)["ndcg@10"], rel=1e-15)
    assert rn.evaluate(ROWS, convention=table)["ndcg@10"] == expected


WITHOUT_GAIN: list[Any] = [
    (5, {4: 3, 2: 1}, "the grade 5.0 .*no gain"),
    (-5, "exponential", "the grade -5.0 .*negative gain"),
    (2000, "exponential", "the grade 2000.0 .*too large"),
    (5, DEPENDENT_GAINS["largest"], "independent of the other values"),
]


@pytest.mark.parametrize(("grade", "gain", "match"), WITHOUT_GAIN)
def test_explain_raises_if_evaluation_would(grade: float, gain: Any, match: str) -> None:
    """If the report's own metrics read no gains."""
    how: Any = {"metrics": "precision", "threshold": 2, "convention": rn.Convention(gain=gain)}
    report = rn.evaluate({"ann": [(3.0, grade), (1.0, 2)]}, **how)
    assert_rejected(match, report.explain, "ann")


@pytest.mark.parametrize("gain", ["binary", "exponential_above"])
def test_gains_that_need_a_threshold_raise_without_one(gain: Any) -> None:
    """When lists are ranked or explained; grades of 0 and 1 need none, as in evaluation."""
    convention = rn.Convention(gain=gain)
    assert_rejected(NEEDS_THRESHOLD, rank, to_lists(ROWS), convention)
    flags = {user: [(one, grade > 2) for one, grade in pairs] for user, pairs in ROWS.items()}
    for rows in (ROWS, flags):
        report = rn.evaluate(rows, metrics="rmse", convention=convention)
        assert_rejected(NEEDS_THRESHOLD, report.explain, "ann")
    for metric in ("auc", "dcg@2"):
        assert_rejected(NEEDS_THRESHOLD, rn.evaluate, ROWS, metrics=[metric], convention=convention)
        report = rn.evaluate(flags, metrics=[metric], convention=convention)
        assert report.explain("ann")["gain"].tolist() == [1.0, 0.0]
