"""Options that do not exist or have no such value raise before anything is computed."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.errors import assert_rejected, rejects

OK: list[tuple[Any, Any, Any, Any]] = [
    ("a", "x", 3.0, 4), ("a", "y", 2.0, 1), ("b", "x", 1.0, 5), ("b", "y", 2.0, 3),
]  # fmt: skip
LABELS = pd.DataFrame({"user": ["a", "b"], "item": ["x", "x"], "true": [4, 5]})
RESULTS = pd.DataFrame({"user": ["a", "a"], "item": ["x", "y"], "rank": [1, 2]})


CUTOFFS: list[Any] = [
    0, -1, 2.5, "10", True, math.nan, [5, "a"], [5, 0], b"10", np.int64(0), np.float64(2.5),
    np.array([3, 0]),
]  # fmt: skip
WITH_CUTOFFS: list[Callable[[], Any]] = [
    *(partial(rn.evaluate, OK, k=k) for k in CUTOFFS), partial(rn.evaluate, OK, metrics="ndcg@0"),
    partial(rn.evaluate, OK, metrics="rr@-1", threshold=4), partial(rn.NDCG, 0),
    partial(rn.ndcg_at_k, [3, 2], 0), partial(rn.jaccard_at_k, OK, OK, 0),
    partial(rn.rbo, OK, OK, k=-1), partial(rn.evaluate(OK).explain, "a", 0),
]  # fmt: skip


@pytest.mark.parametrize("act", WITH_CUTOFFS)
def test_a_cutoff_must_be_a_whole_number_of_at_least_1(act: Callable[[], Any]) -> None:
    """In every function; text is not read as digits, and True is not 1."""
    assert_rejected("k must be a whole number of at least 1, not ", act)


#: Lists, options and messages.
ONE_LIST: list[tuple[list[Any], dict[str, Any], str]] = [
    ([], {}, "^The list is empty; give one list: pairs .estimated, true., or grades in ranked"),
    (["a"], {}, "^The list has the entry 'a'; give numbers, or pairs .estimated, true., or if"),
    ([-1, 2], {}, "^true: the grade -1.0 has a negative gain"),
    ([(1, 0)], {"undefined": "raise"}, "^ndcg@1 is undefined for this list: it has no relevant"),
    ([(1, 2), (2, None)], {"unlabelled": "raise"}, "^1 items have no true value. Label them"),
]


@pytest.mark.parametrize(("values", "options", "message"), ONE_LIST)
def test_messages_about_one_list_name_no_user(values: Any, options: Any, message: str) -> None:
    """The caller gave none."""
    with rejects(message) as caught:
        rn.ndcg_at_k(values, 1, **options)
    assert "user '" not in str(caught.value).lower()


def test_numbers_from_numpy_are_numbers() -> None:
    """As cutoffs, of any size, and in a convention."""
    assert rn.evaluate(OK, k=sys.maxsize).mean.iloc[0] == rn.evaluate(OK, k=2).mean.iloc[0]
    three: Any = np.int64(3)
    assert rn.evaluate(OK, k=three).metrics == ["ndcg@3"]
    assert rn.evaluate(OK, k=np.array([1, 2])).metrics == ["ndcg@1", "ndcg@2"]
    half = np.float32(0.5)
    convention = rn.Convention().replace(tie_tolerance=half, recommend_from=three)
    assert convention == rn.Convention(tie_tolerance=0.5, recommend_from=3.0)


UNKNOWN = [
    ("ndgc", "'ndgc'. Did you mean 'ndcg'"), ("ndcg@@5", "Did you mean 'ndcg'"),
    ("precison@5", "'precison@5'. Did you mean 'precision'"),
    ("xyz", "'xyz'. There are: alpha_dcg, alpha_ndcg, ap"),
]  # fmt: skip
INVALID: list[tuple[Any, str]] = [
    ("ndcg@x", "'x' is not a number"), ("ndcg@", "'' is not a number"),
    ("rmse@5", "rmse has no cutoff"), ("ndcg(3)@5", "no option in brackets"),
    ("rbp(x)@5", "'x' is not a number"), ("rbp(1)", "p must be above 0 and below 1"),
    ("rbp(nan)", "p must be above 0 and below 1"), ([], "No metric is given. Name"),
    ("", "No metric is given. Name at least"), (",", "No metric is given. Name at least"),
    ([5], "A metric is a name .*not 5"), (5, "A metric is a name .*not 5"),
    (rn.NDCG, "A metric is a name"),
]  # fmt: skip
METRICS: list[Any] = [(*one, rn.UnknownMetricError) for one in UNKNOWN]
METRICS += [(*one, rn.InvalidInputError) for one in INVALID]


@pytest.mark.parametrize(("metrics", "match", "kind"), METRICS)
def test_a_metric_that_cannot_be_read_raises(metrics: Any, match: str, kind: Any) -> None:
    """With the nearest name; a class instead of an object is a common slip."""
    with rejects(match, kind):
        rn.evaluate(OK, metrics=metrics, threshold=4)


CHOICES: list[tuple[dict[str, Any], str]] = [
    ({"tie": "input"}, "no option ('tie'|tie=). Did you mean 'ties'"),
    ({"ties": "expcted"}, "ties must be .*'text_desc', not.*Did you mean 'expected'"),
    ({"tie_tolerance": None}, "tie_tolerance must be a finite number or 'float32', not None"),
    ({"ties": np.array([1, 2])}, "ties must be one"), ({"gain": 3}, "mapping .* function, not 3"),
    ({"undefined": 2}, "undefined must be one of 'skip', 0.0, 1.0, 'raise', not 2"),
    ({"undefined": True}, "undefined must be one of"),
    ({"gain": np.sqrt, "duplicates": "frst"}, "duplicates must be one of.*mean 'first'"),
    ({"gain": {"good": 1}}, "gain must map grades to gains"),
    ({"gain": {}}, "gain is an empty mapping"), ({"gain": {1: math.nan}}, "gain.*(finite|nan)"),
    ({"gain": {math.nan: 1}}, "gain.*(finite|nan)"), ({"gain": pd.Series([0, 1])}, "gain must"),
    ({"gain": {np.float64(1): "x"}}, "gain must map grades to gains"),
    ({"tie_tolerance": -1}, "tie_tolerance must be a step of at least 0, not -1"),
    ({"tie_tolerance": "0.1"}, "tie_tolerance must be a finite number or 'float32', not '0.1'"),
    ({"recommend_from": math.inf}, "recommend_from must be a finite number"),
    ({"ideal": "max"}, "ideal='max' needs the top grade.*max_grade=5.0"),
    ({"ideal": "max", "max_grade": True}, "max_grade must be a finite number, not True"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "match"), CHOICES)
def test_a_choice_that_does_not_exist_raises(options: dict[str, Any], match: str) -> None:
    """The choices are listed; a misspelt one is recognised."""
    for use in (rn.Convention, rn.Convention().replace, lambda **one: rn.ndcg_at_k([3], 2, **one)):
        assert_rejected(match, use, **options)


THRESHOLDS: list[Any] = ["4", math.nan, math.inf, True, np.float64("nan"), np.timedelta64(4, "s")]
CONVENTIONS: list[Any] = [7, ["ties"], rn.Convention]
OPTIONS: list[tuple[str, Any, str]] = [
    *(("convention", one, "convention must be a Convention") for one in CONVENTIONS),
    *(("threshold", one, "threshold must be a finite number, not ") for one in THRESHOLDS),
    ("metrics", ["precision@2", "recall@1"], "precision@2, recall@1 .*pass threshold=4"),
    ("convention", rn.Convention(gain="binary"), "gain='binary' .*pass threshold=4"),
]


@pytest.mark.parametrize(("option", "value", "match"), OPTIONS)
def test_an_invalid_option_of_evaluate_raises(option: str, value: Any, match: str) -> None:
    """A binary metric needs a threshold."""
    assert_rejected(match, rn.evaluate, OK, **{option: value})


@pytest.mark.parametrize("p", ["0.5", None, 1, 0, math.nan])
def test_a_persistence_must_be_a_probability(p: Any) -> None:
    """In the metric and in the overlap of lists."""
    assert_rejected("p must be above 0 and below 1", rn.RBP, k=3, p=p)
    assert_rejected("p must be between 0 and 1, such as 0.9, not", rn.rbo, OK, OK, p=p)


NO_NDCG: list[tuple[dict[str, Any], str]] = [
    ({"gain": {1: 0, 4: 1, 5: 2}}, "grade 3.0 .*user 'b' item 'y'.* no gain in"),
    ({"gain": {1: 0, 3: 0, 4: -1, 5: 1}}, "grade 4.0 .*user 'a' item 'x'.* negative gain"),
    ({"ideal": "max", "max_grade": 4}, "grade 5.0 .*user 'b' item 'x'.* more gain than max_g"),
    ({"ideal": "max", "max_grade": 2000}, "grade 2000.0 .*too large"),
    ({"gain": lambda grades: grades[:-1]}, "gain must give one value per grade"),
    ({"gain": lambda grades: -grades}, "negative gain"),
    ({"gain": lambda grades: grades * math.nan}, "gain that is not finite"),
    ({"gain": lambda _: "many"}, "gain must give"), ({"gain": math.sqrt}, "gain must"),
    ({"gain": lambda grades: grades + 1j}, "gain must give"),
    ({"discount": lambda ranks: ranks[:-1]}, "discount must give one weight per rank"),
    ({"discount": lambda ranks: ranks}, "discount gives 2.0 at rank 2; .*never increase"),
    ({"discount": lambda ranks: np.array([1, 0.2, 0.5])[: len(ranks)]}, "gives 0.5 at rank 3"),
    ({"discount": lambda ranks: -ranks}, "discount gives -1.0 at rank 1"),
    ({"discount": lambda ranks: ranks * math.nan}, "discount gives nan at rank 1"),
    ({"discount": math.log}, "discount must"), ({"tie_tolerance": 5e-324}, "too small a step"),
]  # fmt: skip


@pytest.mark.parametrize(("choices", "match"), NO_NDCG)
def test_gains_and_discounts_that_no_ndcg_can_have_raise(choices: Any, match: str) -> None:
    """Also if a function of the caller returns them."""
    convention, rows = rn.Convention(**choices), [*OK, ("a", "z", 1.0, 1)]
    assert_rejected(match, rn.evaluate, rows, k=3, convention=convention)


def test_an_error_in_a_function_of_the_caller_is_not_changed() -> None:
    """Its traceback has the line it happened in."""
    with pytest.raises(KeyError):
        rn.evaluate(OK, convention=rn.Convention(gain=lambda grades: {}[grades[0]]))


RAISES = [
    ("unlabelled", "1 items? .*no true value.*user 'a' item 'y'.*'zero' or 'filter"),
    ("missing_user", "1 labelled users? .*no list.*'b'.*'zero' or 'skip'"),
    ("undefined", "recall@2 is undefined for .*'a', 'b'.*'skip', 0.0 or 1.0"),
]


@pytest.mark.parametrize(("choice", "match"), RAISES)
def test_the_choice_raise_raises(choice: str, match: str) -> None:
    """Naming the first users, and the other choices."""
    choices: dict[str, Any] = {choice: "raise"}
    options: dict[str, Any] = {"convention": rn.Convention(**choices), "threshold": 9}
    lists = rn.RankedLists.from_labels(LABELS, RESULTS)
    assert_rejected(match, rn.evaluate, lists, metrics="recall@2", **options)


def test_choices_that_the_data_cannot_support_raise() -> None:
    """No rating scale, no single precision."""
    lists = rn.RankedLists.from_labels(LABELS, RESULTS)
    assert_rejected("rmse compares estimates with", rn.evaluate, lists, metrics=["ndcg@2", "rmse"])
    twice = rn.RankedLists.from_tuples([*OK, OK[0]], duplicates="first")
    mean = rn.Convention(duplicates="mean")
    match = "made with duplicates='first'.*convention has 'mean'"
    assert_rejected(match, rn.evaluate, twice, convention=mean)
    single = rn.Convention(tie_tolerance="float32")
    for estimate in (1e39, -1e39):  # infinite in single precision
        with rejects("tie_tolerance='float32' is too small a step"):
            rn.evaluate({"ann": [(estimate, 5), (1.0, 1)]}, convention=single)
