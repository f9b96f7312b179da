"""Labels and results are arguments; two tables without names get the call to write."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.errors import rejects

LABELS = {user: {"a", "b"} for user in range(30)}
GOOD = {user: ["a", "x", "b"] if user % 3 else ["x", "a", "b"] for user in range(30)}
BAD = {user: ["x", "y", "a"] if user % 2 else ["y", "a", "x"] for user in range(30)}


def test_evaluate_takes_labels_and_results() -> None:
    """As the mapping of both, and as lists made before."""
    metrics = ["ndcg@3", "recall@3"]
    expected = rn.evaluate(rn.RankedLists.from_labels(LABELS, GOOD), metrics=metrics)
    assert rn.evaluate(labels=LABELS, results=GOOD, metrics=metrics) == expected
    assert rn.evaluate({"labels": LABELS, "results": GOOD}, metrics=metrics) == expected


def test_results_may_stand_alone() -> None:
    """For metrics that need no labels."""
    report = rn.evaluate(results=GOOD, metrics="coverage@1", catalogue=["a", "b", "x", "y"])
    assert report.mean.tolist() == [0.5]


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_compare_takes_the_labels_once() -> None:
    """Of lists in any form, also of reports beside them, and arrays."""
    cells = pd.DataFrame({"user": [*BAD], "item": [*BAD.values()]})
    lists = {
        name: rn.RankedLists.from_labels(LABELS, one) for name, one in (("A", GOOD), ("B", BAD))
    }
    expected = rn.compare(lists, metrics="ndcg@3").leaderboard
    found = rn.compare({"A": GOOD, "B": cells}, labels=LABELS, metrics="ndcg@3").leaderboard
    pd.testing.assert_frame_equal(found, expected)
    truth = np.array([[1.0, 0, 0], [0, 1, 0]] * 8)
    models = {"A": truth + 0.5, "B": 1 - truth}
    assert rn.compare(models, labels=truth, metrics="ndcg@3").leaderboard["mean"]["A"] == 1.0
    with rejects("'A' has labels of its own. Leave out labels="):
        rn.compare(lists, labels=LABELS, metrics="ndcg@3")


def test_reconcile_takes_labels_and_results() -> None:
    """And finds the same number."""
    pair = rn.RankedLists.from_labels(LABELS, GOOD)
    expected = rn.reconcile(pair, "precision@3", reported=0.5)
    found = rn.reconcile(labels=LABELS, results=GOOD, metrics="precision@3", reported=0.5)
    pd.testing.assert_frame_equal(found, expected)


@pytest.mark.parametrize("size", [50, dict.fromkeys(range(30), 50), pd.Series(50, range(30, 60))])
def test_the_catalogue_may_be_a_number(size: Any) -> None:
    """Or one per user."""
    if isinstance(size, pd.Series):
        size = size.set_axis(pd.Index(range(30), name="user"))
    lists = rn.RankedLists.from_labels(LABELS, GOOD, n_items=50)
    expected = rn.evaluate(lists, metrics="precision@3")
    found = rn.evaluate(labels=LABELS, results=GOOD, metrics="precision@3", catalogue=size)
    assert found.summary.equals(expected.summary)


def test_a_column_of_whole_numbers_is_a_catalogue_of_ids() -> None:
    """With the gaps in its index that filters leave; and not a number per user."""
    labels, results = {0: [10], 1: [12]}, {0: [10, 11], 1: [11, 12]}
    ids = pd.Series([10, 10, 11, 11, 12, 13]).drop_duplicates()
    found = rn.evaluate(labels=labels, results=results, metrics="precision@2", catalogue=ids)
    expected = rn.evaluate(labels=labels, results=results, metrics="precision@2", catalogue=4)
    assert found.summary["chance"].tolist() == expected.summary["chance"].tolist()


FRAME = pd.DataFrame({"user": [1], "item": [2]})
CALLS: list[tuple[Any, Any, str]] = [
    (FRAME, FRAME, "evaluate(labels=test, results=recommended)"),
    (LABELS, GOOD, "evaluate(labels=test, results=recommended)"),
    ({"q": {"d": 1}}, {"q": {"d": 0.5}}, "evaluate(labels=qrels, results=run)"),
    ([[1, 2]], [[2, 1]], "evaluate(labels=actual, results=predicted)"),
    (np.ones((2, 2)), np.ones((2, 2)), "evaluate(labels=y_true, results=y_score)"),
    ([1, 0], [0.5, 0.1], "ndcg_at_k(list(zip(y_score, y_true)), 10) for one list"),
    ("l.csv", "r.csv", "evaluate(labels=test, results=recommended)"),
    (FRAME, "ndcg@3", "evaluate(data, metrics='ndcg@3')"),
    ([(1, 2, 3, 4)], "ndcg@3", "evaluate(data, metrics='ndcg@3')"),
    (np.ones(2), np.ones(2), "ndcg_at_k(list(zip(y_score, y_true)), 10) for one list"),
]


@pytest.mark.parametrize(("first", "second", "call"), CALLS)
def test_two_tables_without_names_get_the_call(first: Any, second: Any, call: str) -> None:
    """By the types that came."""
    with rejects("Only the predictions can be passed without a name") as caught:
        rn.evaluate(first, second)  # type: ignore[call-arg]
    assert str(caught.value).endswith(f"Write {call}.")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({}, "There is no data. Pass predictions, or labels= and results="),
        ({"labels": LABELS}, "There are labels, but no results"),
        ({"data": GOOD, "labels": LABELS}, "Both predictions and labels= or results= are given"),
        ({"data": [(1, 2, 3, 4)], "list_separator": " "}, "list_separator= is for labels and res"),
    ],
)
def test_what_is_missing_or_given_twice_is_an_error(options: Any, match: str) -> None:
    """In one sentence."""
    with rejects(match):
        rn.evaluate(**options)
