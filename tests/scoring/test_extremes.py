"""Numbers at the edges: tiny and huge grades and estimates, and choices written in two ways."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.ranking import rank
from tests.errors import rejects

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
ROWS = {"ann": [(3.0, 5), (1.0, 2)], "bob": [(1.0, 2), (2.0, 3)], "cid": [(2.0, 1), (1.0, 4)]}


def test_grades_near_zero_have_gains() -> None:
    """2^t - 1 is t log 2 there; as a difference of two numbers near 1 it is 0 or a jump."""
    small = {user: [(one, 1e-16 * grade) for one, grade in pairs] for user, pairs in ROWS.items()}
    linear = rn.evaluate(ROWS, convention=rn.Convention(gain="linear"))
    assert rn.evaluate(small)["ndcg@10"] == pytest.approx(linear["ndcg@10"], rel=1e-12)
    assert rn.dcg_at_k([1e-300], 1) == pytest.approx(1e-300 * math.log(2), rel=1e-12)


@given(st.floats(-1, 1.5), st.floats(0, 1e-3))
def test_gains_rise_with_the_grade(grade: float, step: float) -> None:
    """Also where one way to compute them takes over from the other."""
    low, high = (rn.dcg_at_k([max(one, 0.0)], 1) for one in (grade, grade + step))
    assert low <= high * (1 + 1e-15)
    assert low == pytest.approx(math.expm1(max(grade, 0.0) * math.log(2)), rel=1e-14)


@pytest.mark.parametrize("unit", [1e-200, 1e-9, 1e9, 1e200])
def test_intervals_are_in_the_unit_of_the_grades(unit: float) -> None:
    """None vanishes, and none becomes infinite."""
    linear = rn.Convention(gain="linear")
    scaled = {user: [(one, unit * grade) for one, grade in pairs] for user, pairs in ROWS.items()}
    metrics = ["dcg@2", "ndcg@2", "cg@1"]
    plain = rn.evaluate(ROWS, metrics=metrics, convention=linear)
    other = rn.evaluate(scaled, metrics=metrics, convention=linear)
    for name, of_unit in zip(metrics, (unit, 1.0, unit), strict=True):
        expected = plain.intervals().loc[f"{name}"] * of_unit
        np.testing.assert_allclose(other.intervals().loc[name], expected, rtol=1e-9)
        expected = plain.summary.loc[name, ["ci_low", "ci_high", "chance", "median"]] * of_unit
        np.testing.assert_allclose(
            other.summary.loc[name, [*expected.index]].to_numpy(np.float64),
            expected.to_numpy(np.float64),
            rtol=1e-9,
        )
        assert other.summary.loc[name, "adjusted"] == pytest.approx(
            plain.summary.loc[name, "adjusted"], nan_ok=True
        )


@pytest.mark.parametrize(
    ("rows", "metric"),
    [
        ({**ROWS, "ann": [(1e200, 5), (1.0, 2)]}, "rmse"),
        ({**ROWS, "ann": [(1.0, -1e200), (1.0, 2)]}, "rmse"),
        ({**ROWS, "ann": [(1e305, 5), (1.0, 2)]}, "mae"),
    ],
)
def test_errors_too_large_to_be_added_up_are_refused(rows: Any, metric: str) -> None:
    """Not shown as inf, nor as the largest float there is."""
    with rejects(f"{metric} collects .* of user 'ann', too much to be added up.*diverged"):
        rn.evaluate(rows, metrics=[metric])


@pytest.mark.parametrize("gain", ["linear", "exponential"])
@pytest.mark.parametrize("ideal", ["global", "local"])
def test_gains_too_small_to_be_divided_are_refused(gain: str, ideal: str) -> None:
    """The mean of 5e-324 and 0 is 0, so that random order scored no more than the worst one."""
    convention = rn.Convention(gain=gain, ideal=ideal)
    options: dict[str, Any] = {"metrics": "ndcg", "convention": convention}
    rows: Any = {"ann": [(2.0, 5e-324), (1.0, 0.0)], "bob": [(3.0, 5.0), (2.0, 1.0)]}
    with rejects("ndcg@10 divides by 4.94.*e-324 for user 'ann', too little .*Rescale the grades"):
        rn.evaluate(rows, **options)
    mixed = {**rows, "ann": [(2.0, 5e-324), (3.0, 5.0)]}
    assert rn.evaluate(mixed, **options)["ndcg@10"] == 1.0
    small, plain = ({"ann": [(2.0, one), (1.0, 0.0), (0.0, 0.0)]} for one in (1e-304, 1.0))
    found, expected = (rn.evaluate(one, **options).audit["chance"] for one in (small, plain))
    assert found.tolist() == pytest.approx(expected.tolist(), rel=1e-15)


def test_an_error_that_can_be_added_up_is_what_it_is() -> None:
    """Large as it may be."""
    report = rn.evaluate({**ROWS, "ann": [(1e140, 0), (1e140, 2)]}, metrics=["rmse"])
    assert report.per_user.loc["ann", "rmse"] == pytest.approx(1e140)


@pytest.mark.parametrize("limit", [-1000.0, 0.0, 2.5])
@pytest.mark.parametrize("step", [0.0, 0.5, "float32"])
def test_what_could_not_be_predicted_is_not_recommended_from_any_limit(
    limit: float, step: Any
) -> None:
    """Under impossible="last" it has no estimate; one was invented, and passed a low limit."""
    details = [{"was_impossible": False}, {"was_impossible": True}]
    rows = [("ann", 1, 5.0, 4.0, details[0]), ("ann", 2, 5.0, 3.0, details[1])]
    convention = rn.Convention(impossible="last", recommend_from=limit, tie_tolerance=step)
    report = rn.evaluate(rows, metrics=["precision", "recall"], threshold=4, convention=convention)
    assert report["precision@10"] == 1.0
    assert report["recall@10"] == 0.5


RANKS: dict[str, Any] = {
    "grades in ranked order": {"ann": [5, 1, 3], "bob": [2, 4]},
    "ranks": rn.RankedLists.from_labels(
        {"user": [1, 1], "item": [1, 2], "true": [5, 1]},
        {"user": [1, 1], "item": [2, 1], "rank": [1, 2]},
    ),
}
SCORES = rn.RankedLists.from_labels(
    {"user": [1, 1], "item": [1, 2], "true": [5, 1]},
    {"user": [1, 1], "item": [2, 1], "estimated": [0.9, 0.8]},
)


@pytest.mark.parametrize("data", [*RANKS.values(), SCORES], ids=[*RANKS, "scores"])
@pytest.mark.parametrize("limit", [4.0, "threshold"])
@pytest.mark.parametrize("metric", ["precision", "recall", "f1"])
def test_a_limit_on_what_is_no_rating_is_refused(data: Any, limit: Any, metric: str) -> None:
    """As rmse is: it gave 0.0 or NaN."""
    convention = rn.Convention(recommend_from=limit)
    with rejects("recommend_from=.* scale of the ratings, but these lists hold ranks, or scores"):
        rn.evaluate(data, metrics=[metric], threshold=4, convention=convention)
    rn.evaluate(data, metrics=["ndcg", "ap"], threshold=4, convention=convention)  # do not read it


def test_reconcile_says_so_of_the_libraries_that_have_such_a_limit() -> None:
    """And gives no number of theirs."""
    table: Any = rn.reconcile(SCORES, "precision@2", threshold=4).set_index("preset")
    limited = [
        name
        for name in rn.Convention.presets()
        if rn.Convention.preset(name, "precision@2").recommend_from is not None
    ]
    assert limited
    for name in limited:
        assert math.isnan(table.loc[name, "value"])
        assert "recommend_from" in table.loc[name, "note"]


@pytest.mark.parametrize("data", RANKS.values(), ids=RANKS)
@pytest.mark.parametrize("step", [1e-301, 0.3, 10.0, "float32"])
def test_no_tolerance_makes_two_ranks_one(data: Any, step: Any) -> None:
    """It is a step of estimates; equal ranks alone are ties."""
    plain = rn.evaluate(data)
    tolerant = rn.evaluate(data, convention=rn.Convention(tie_tolerance=step))
    assert tolerant.per_user.equals(plain.per_user)
    assert tolerant.counts == plain.counts


def test_zero_is_one_choice_with_one_hash_whatever_its_sign() -> None:
    """Equal conventions have equal signatures."""
    for name in ("undefined", "tie_tolerance", "recommend_from", "max_grade"):
        plus, minus = (rn.Convention().replace(**{name: zero}) for zero in (0.0, -0.0))
        assert plus == minus
        assert hash(plus) == hash(minus)
        assert plus.signature == minus.signature
    reports = [rn.evaluate(ROWS, metrics=["ap"], threshold=zero) for zero in (0.0, -0.0)]
    text = reports[0].signature("ap@10").text
    assert text == reports[1].signature("ap@10").text
    assert rn.Signature(text.replace("threshold:0.0", "threshold:-0.0")).text == text


def test_repeated_rows_have_one_mean_whatever_their_order() -> None:
    """To the last bit: 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1."""
    numbers = [0.1, 0.2, 0.3, 1e16, -1e16, 0.7]
    found = set()
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(numbers).tolist()
        rows = [("ann", "x", one, one) for one in order]
        lists = rn.RankedLists.from_tuples([*rows, ("ann", "y", 1.0, 1.0)], duplicates="mean")
        found.add((lists.estimated[0], lists.true[0]))
    assert len(found) == 1


@pytest.mark.parametrize(
    ("p", "name"),
    [
        (np.float32(0.9), "rbp(p=0.9)@10"),
        (np.float16(0.3), "rbp(p=0.3)@10"),
        (Fraction(9, 10), "rbp(p=0.9)@10"),
        (np.float64(0.5), "rbp(p=0.5)@10"),
    ],
)
def test_a_parameter_is_the_number_that_its_name_says(p: Any, name: str) -> None:
    """Equal names, equal numbers."""
    metric = rn.RBP(10, p=p)
    (again,) = rn.evaluate(ROWS, metrics=[metric], threshold=4).metrics
    named = rn.evaluate(ROWS, metrics=[str(metric)], threshold=4)
    assert again == str(metric)
    assert named.per_user.equals(rn.evaluate(ROWS, metrics=[metric], threshold=4).per_user)
    assert str(metric) == name


CONTEXTS: dict[str, Callable[[Any], Any]] = {
    "largest": lambda t: t / t.max(),
    "centred": lambda t: t - t.min(),
    "places": lambda t: np.arange(len(t)) * 1.0,
    "size": lambda t: t / len(t),
    "sorted": np.sort,
    "so far": np.cumsum,
    "random": lambda t: np.random.default_rng().random(len(t)),
}


@pytest.mark.parametrize("gain", CONTEXTS.values(), ids=CONTEXTS)
def test_a_gain_that_hangs_on_other_grades_is_refused(gain: Any) -> None:
    """A user's score would depend on the users beside, in the same block."""
    with rejects("gain must give one value per grade whatever else it is asked.*alone"):
        rn.evaluate(ROWS, convention=rn.Convention(gain=gain))


@pytest.mark.parametrize(
    "discount", [lambda r: 1 / r / len(r), lambda r: (r.max() - r + 1) / r.max()]
)
def test_a_discount_that_hangs_on_the_number_of_ranks_is_refused(discount: Any) -> None:
    """A list's score would depend on the longest list beside."""
    fault = "one weight per rank whatever else it is asked"
    with rejects(f"discount must give {fault}"):
        rn.evaluate(ROWS, convention=rn.Convention(discount=discount))
    own = rn.metric(name="hanging")(discount)
    with rejects(f"'hanging' must give {fault}"):
        rn.evaluate(ROWS, metrics=[own(5)], threshold=4)


def test_a_table_of_weights_will_do() -> None:
    """Asked for the first ranks alone, as many as there are."""
    weights = 1 / np.log2(np.arange(2, 102))
    table = rn.Convention(discount=lambda ranks: weights[: len(ranks)])
    assert rn.evaluate(ROWS, convention=table)["ndcg@10"] == pytest.approx(
        rn.evaluate(ROWS)["ndcg@10"], rel=1e-15
    )


BAD: list[tuple[Any, Any, str]] = [
    ({"ann": [(3.0, 5), (1.0, 2)]}, {4: 3, 2: 1}, "the grade 5.0 .*no gain"),
    ({"ann": [(3.0, -5), (1.0, 2)]}, "exponential", "the grade -5.0 .*negative gain"),
    ({"ann": [(3.0, 2000), (1.0, 2)]}, "exponential", "the grade 2000.0 .*too large"),
    ({"ann": [(3.0, 5), (1.0, 2)]}, CONTEXTS["largest"], "whatever else it is asked"),
]


@pytest.mark.parametrize(("rows", "gain", "match"), BAD)
def test_explain_refuses_what_evaluation_refuses(rows: Any, gain: Any, match: str) -> None:
    """Where the report is of metrics that read no gains; it showed another grade's."""
    convention = rn.Convention(gain=gain)
    report = rn.evaluate(rows, metrics=["precision"], threshold=2, convention=convention)
    with rejects(match):
        report.explain("ann")
    with rejects(match):
        rn.evaluate(rows, metrics=["ndcg"], threshold=2, convention=convention)


@pytest.mark.parametrize("gain", ["binary", "exponential_above"])
@pytest.mark.parametrize("metric", ["rmse", "auc", "dcg@2"])
def test_explain_needs_a_threshold_where_gains_do(gain: str, metric: str) -> None:
    """And takes 1 where all grades are 0 or 1, as evaluation does."""
    convention = rn.Convention(gain=gain)
    with rejects(r"threshold=4.0 \(--threshold 4\), for instance"):
        rn.evaluate(ROWS, metrics=[metric], convention=convention).explain("ann")
    flags = {user: [(one, grade > 2) for one, grade in pairs] for user, pairs in ROWS.items()}
    report = rn.evaluate(flags, metrics=[metric], convention=convention)
    if metric == "rmse":
        with rejects(r"threshold=4.0 \(--threshold 4\), for instance"):
            report.explain("ann")
    else:
        assert report.explain("ann")["gain"].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("gain", ["binary", "exponential_above"])
def test_ranking_needs_a_threshold_where_gains_do(gain: str) -> None:
    """Said before anything is ranked."""
    lists = rn.RankedLists.from_tuples(ROWS)
    with rejects(r"threshold=4.0 \(--threshold 4\), for instance"):
        rank(lists, rn.Convention(gain=gain))
