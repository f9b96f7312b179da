"""An option that does not exist, or has no such value, is refused before anything is computed."""

from __future__ import annotations

import copy
import math
import pickle
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.metrics.rbp import RBP
from tests.errors import rejects

if TYPE_CHECKING:
    from collections.abc import Callable

OK: list[tuple[Any, Any, Any, Any]] = [
    ("a", "x", 3.0, 4), ("a", "y", 2.0, 1), ("b", "x", 1.0, 5), ("b", "y", 2.0, 3),
]  # fmt: skip
LABELS = pd.DataFrame({"user": ["a", "b"], "item": ["x", "x"], "true": [4, 5]})
RESULTS = pd.DataFrame({"user": ["a", "a"], "item": ["x", "y"], "rank": [1, 2]})


@pytest.mark.parametrize(
    "k",
    [0, -1, 2.5, "10", True, math.nan, [5, "a"], [5, 0], b"10",
     np.int64(0), np.float64(2.5), np.array([3, 0])],
)  # fmt: skip
def test_a_cutoff_that_is_not_a_whole_number_of_at_least_1_is_refused(k: Any) -> None:
    """Text is not read as digits, and True is not 1."""
    with rejects("k must be a whole number of at least 1, not "):
        rn.evaluate(OK, k=k)


@pytest.mark.parametrize(
    "act",
    [
        lambda: rn.evaluate(OK, metrics="ndcg@0"),
        lambda: rn.evaluate(OK, metrics="rr@-1", threshold=4),
        lambda: rn.NDCG(0),
        lambda: rn.ndcg_at_k([3, 2], 0),
        lambda: rn.jaccard_at_k(OK, OK, 0),
        lambda: rn.rbo(OK, OK, k=-1),
        lambda: rn.evaluate(OK).explain("a", 0),
    ],
)
def test_a_cutoff_is_checked_wherever_it_is_taken(act: Callable[[], Any]) -> None:
    """The same rule in the same words."""
    with rejects("k must be a whole number of at least 1, not "):
        act()


def test_a_cutoff_of_any_size_is_accepted() -> None:
    """A cutoff that no list reaches says: all of it, however large the number."""
    assert rn.evaluate(OK, k=sys.maxsize).mean.iloc[0] == rn.evaluate(OK, k=2).mean.iloc[0]
    three: Any = np.int64(3)
    assert rn.evaluate(OK, k=three).metrics == ["ndcg@3"]
    assert rn.evaluate(OK, k=np.array([1, 2])).metrics == ["ndcg@1", "ndcg@2"]


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("ndgc", "'ndgc'. Did you mean 'ndcg'"),
        ("precison@5", "'precison@5'. Did you mean 'precision'"),
        ("xyz", "'xyz'. There are: ap, auc, cg, dcg"),
        ("", "''. There are"),
        ("ndcg@@5", "Did you mean 'ndcg'"),
    ],
)
def test_a_metric_that_does_not_exist_is_refused_with_the_nearest_name(
    name: str, match: str
) -> None:
    """Names that other libraries use are translated."""
    with rejects(match, rn.UnknownMetricError):
        rn.evaluate(OK, metrics=["ndcg@5", name], threshold=4)


@pytest.mark.parametrize(
    ("metrics", "match"),
    [
        ("ndcg@x", "'x' is not a number"),
        ("ndcg@", "'' is not a number"),
        ("rmse@5", "rmse has no cutoff"),
        ("ndcg(3)@5", "no option in brackets"),
        ("rbp(x)@5", "'x' is not a number"),
        ("rbp(1)", "p must be above 0 and below 1"),
        ("rbp(nan)", "p must be above 0 and below 1"),
        ([], "Name at least one metric"),
        ([5], "A metric is a name .*not 5"),
        (5, "A metric is a name .*not 5"),
        (rn.NDCG, "A metric is a name"),
    ],
)
def test_a_metric_that_cannot_be_read_is_refused(metrics: Any, match: str) -> None:
    """A class in place of an object is a common slip."""
    with rejects(match):
        rn.evaluate(OK, metrics=metrics, threshold=4)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"tie": "input"}, "no option 'tie'. Did you mean 'ties'"),
        ({"ties": "expcted"}, "ties must be one of 'expected'.*Did you mean 'expected'"),
        ({"ties": None}, "ties must be one of .*not None"),
        ({"ties": np.array([1, 2])}, "ties must be one of"),
        ({"gain": 3}, "gain must be one of .*not 3"),
        ({"undefined": 2}, "undefined must be one of 'skip', 0.0, 1.0, 'raise', not 2"),
        ({"undefined": True}, "undefined must be one of"),
        ({"gain": np.sqrt, "duplicates": "frst"}, "duplicates must be one of.*mean 'first'"),
        ({"tie_tolerance": None}, "tie_tolerance must be a finite number or 'float32', not None"),
        ({"gain": {}}, "gain is an empty mapping"),
        ({"gain": {"good": 1}}, "gain must map grades to gains"),
        ({"gain": {1: math.nan}}, "gain.*(finite|nan)"),
        ({"gain": {math.nan: 1}}, "gain.*(finite|nan)"),
        ({"gain": {np.float64(1): "x"}}, "gain must map grades to gains"),
        ({"gain": pd.Series([0, 1])}, "gain must"),
        ({"tie_tolerance": -1}, "tie_tolerance must be a step of at least 0, not -1"),
        ({"tie_tolerance": "0.1"}, "tie_tolerance must be a finite number or 'float32', not '0.1'"),
        ({"recommend_from": math.inf}, "recommend_from must be a finite number"),
        ({"ideal": "max"}, "ideal='max' needs the top grade.*max_grade=5.0"),
        ({"ideal": "max", "max_grade": True}, "max_grade must be a finite number, not True"),
    ],
)
def test_a_convention_that_does_not_exist_is_refused(options: dict[str, Any], match: str) -> None:
    """The choices are listed; a slip of the pen is recognised."""
    with rejects(match):
        rn.Convention().replace(**options)
    with rejects(match):
        rn.ndcg_at_k([3, 2], 2, **options)


@pytest.mark.parametrize("p", ["0.5", None, 1, 0, math.nan])
def test_a_persistence_that_is_no_probability_is_refused(p: Any) -> None:
    """In the metric and in the overlap of lists."""
    with rejects("p must be above 0 and below 1"):
        rn.evaluate(OK, metrics=[RBP(k=3, p=p)], threshold=4)
    with rejects("p must be between 0 and 1, such as 0.9, not"):
        rn.rbo(OK, OK, p=p)


def test_numbers_from_numpy_are_numbers() -> None:
    """Whatever a computation returns can be passed as an option."""
    half, three = np.float32(0.5), np.int64(3)
    convention = rn.Convention().replace(tie_tolerance=half, recommend_from=three)
    assert convention == rn.Convention(tie_tolerance=0.5, recommend_from=3.0)
    assert rn.Convention(undefined=np.float64(0)).undefined == 0


@pytest.mark.parametrize("convention", [7, {"ties": "input"}, rn.Convention])
def test_a_convention_of_another_type_is_refused(convention: Any) -> None:
    """A name of a preset in place of the preset, for one."""
    with rejects("convention must be a Convention"):
        rn.evaluate(OK, convention=convention)


@pytest.mark.parametrize(
    "threshold", ["4", math.nan, math.inf, True, np.float64("nan"), np.timedelta64(4)]
)
def test_a_threshold_that_is_not_a_number_is_refused(threshold: Any) -> None:
    """Compared with NaN, nothing would be relevant."""
    with rejects("threshold must be a finite number, not "):
        rn.evaluate(OK, threshold=threshold)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"metrics": ["precision@2", "recall@1"]}, "precision@2, recall@1 .*pass threshold=4.0"),
        ({"convention": rn.Convention(gain="binary")}, "gain='binary' .*pass threshold=4.0"),
    ],
)
def test_a_binary_metric_without_a_threshold_is_refused(
    options: dict[str, Any], match: str
) -> None:
    """No number of stars is relevant by nature."""
    with rejects(match):
        rn.evaluate(OK, **options)


def test_grades_of_0_and_1_need_no_threshold() -> None:
    """They say themselves what is relevant."""
    assert rn.evaluate({"a": [(2, 0), (1, 1)]}, metrics="precision@2").mean.iloc[0] == 0.5


@pytest.mark.parametrize(
    ("convention", "match"),
    [
        ({"gain": {1: 0, 4: 1, 5: 2}}, "grade 3.0 .*user 'b' item 'y'.* no gain in"),
        ({"gain": {1: 0, 3: 0, 4: -1, 5: 1}}, "grade 4.0 .*user 'a' item 'x'.* negative gain"),
        ({"ideal": "max", "max_grade": 4}, "grade 5.0 .*user 'b' item 'x'.* more gain than max_g"),
        ({"ideal": "max", "max_grade": 2000}, "grade 2000.0 .*too large"),
        ({"gain": lambda grades: grades[:-1]}, "gain must give one value per grade"),
        ({"gain": lambda _: 1.0}, "gain must give one value per grade"),
        ({"gain": lambda grades: -grades}, "negative gain"),
        ({"gain": lambda grades: grades * math.nan}, "gain that is not finite"),
        ({"gain": lambda _: "many"}, "gain must give"),
        ({"gain": math.sqrt}, "gain must"),
        ({"gain": lambda grades: grades + 1j}, "gain must give"),
        ({"discount": lambda ranks: ranks[:-1]}, "discount must give one weight per rank"),
        ({"discount": lambda ranks: ranks}, "discount gives 2.0 at rank 2; .*never increase"),
        ({"discount": lambda ranks: -ranks}, "discount gives -1.0 at rank 1"),
        ({"discount": lambda ranks: ranks * math.nan}, "discount gives nan at rank 1"),
        ({"discount": lambda ranks: ranks * math.inf}, "discount gives inf at rank 1"),
        ({"discount": math.log}, "discount must"),
        ({"tie_tolerance": 5e-324}, "too small a step"),
    ],
)
def test_gains_and_discounts_that_no_ndcg_can_have_are_refused(
    convention: dict[str, Any], match: str
) -> None:
    """Also what a function of the caller's returns."""
    with rejects(match):
        rn.evaluate(OK, k=2, convention=rn.Convention(**convention))


def test_a_weight_that_rises_below_the_first_is_refused() -> None:
    """Each is held against the one before it."""
    rows = [(1, place, -float(place), place % 3 + 1.0) for place in range(4)]
    convention = rn.Convention(discount=lambda ranks: np.array([1, 0.2, 0.5, 0.1])[: len(ranks)])
    with rejects("discount gives 0.5 at rank 3"):
        rn.evaluate(rows, k=4, convention=convention)


def test_an_error_inside_a_function_of_the_caller_is_left_alone() -> None:
    """It is the caller's, with the line it happened in."""
    with pytest.raises(KeyError):
        rn.evaluate(OK, convention=rn.Convention(gain=lambda grades: {}[grades[0]]))


@pytest.mark.parametrize(
    ("convention", "match"),
    [
        ({"unlabelled": "raise"}, "1 items? .*no true value.*user 'a' item 'y'.*'zero' or 'filter"),
        ({"missing_user": "raise"}, "1 labelled users? .*no list.*'b'.*'zero' or 'skip'"),
        ({"undefined": "raise"}, "recall@2 is undefined for .*'a', 'b'.*'skip', 0.0 or 1.0"),
    ],
)
def test_a_convention_that_says_raise_raises(convention: dict[str, Any], match: str) -> None:
    """Naming the first users, and the other choices."""
    lists = rn.RankedLists.from_labels(LABELS, RESULTS)
    with rejects(match):
        rn.evaluate(lists, metrics="recall@2", threshold=9, convention=rn.Convention(**convention))


def test_what_the_data_cannot_answer_is_refused() -> None:
    """No items to order by, no exact expectation, no rating scale."""
    with rejects("ties='item_asc' .*no item ids"):
        rn.evaluate({"a": [(1, 2), (1, 3)]}, convention=rn.Convention(ties="item_asc"))
    hits = rn.Convention(ap_over="hits")
    with rejects("ap_over='hits' .*equal estimates touch the top k"):
        rn.evaluate({"a": [(1, 1), (1, 0)]}, metrics="ap@1", convention=hits)
    with rejects("ap_over='k' needs a cutoff"):
        rn.evaluate(OK, metrics="ap", k=None, threshold=4, convention=rn.Convention(ap_over="k"))
    lists = rn.RankedLists.from_labels(LABELS, RESULTS)
    with rejects("rmse compares estimates with ratings"):
        rn.evaluate(lists, metrics=["ndcg@2", "rmse"])
    twice = rn.RankedLists.from_tuples([*OK, OK[0]], duplicates="first")
    with rejects("made with duplicates='first'.*convention says 'raise'"):
        rn.evaluate(twice)


def test_an_option_that_does_not_exist_is_refused_at_once() -> None:
    """A misspelt name must not leave the default in force."""
    misspelt: dict[str, Any] = {"tie": "input"}
    with rejects("no option 'tie'. Did you mean 'ties'"):
        rn.Convention(**misspelt)
    with rejects("no option 'gian'. Did you mean 'gain'"):
        rn.ndcg_at_k([3, 2], 2, gian="linear")


def test_a_convention_survives_copies_and_processes() -> None:
    """Equal, and with an equal hash, after copy and pickle."""
    convention = rn.Convention(gain={1: 0, 5: 2}, ties="input")
    for other in (copy.deepcopy(convention), pickle.loads(pickle.dumps(convention))):  # noqa: S301
        assert other == convention
        assert hash(other) == hash(convention)


def test_estimates_beyond_single_precision_are_refused() -> None:
    """Rounded to it they would be infinite, and all tied."""
    for estimate in (1e39, -1e39):
        with rejects("tie_tolerance='float32' is too small a step"):
            rn.evaluate(
                {"ann": [(estimate, 5), (1.0, 1)]},
                convention=rn.Convention(tie_tolerance="float32"),
            )
