"""Labels and results are read in the forms people have; ambiguous ones are rejected with a fix."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from scipy.sparse import coo_matrix, csr_array, csr_matrix

import recsys_ndcg as rn
from tests.errors import assert_rejected, rejects

GRADED = {"ann": {"x": 1, "y": 1}, "bob": {"y": 1}}
KNOWN = [(user, item) for user, one in GRADED.items() for item in one]
RANKED = {"ann": ["x", "z"], "bob": ["x", "y"]}
SCORED = [("ann", "x", 0.9), ("ann", "z", 0.5), ("bob", "x", 0.7), ("bob", "y", 0.6)]
FRAME = pd.DataFrame(KNOWN, columns=["user", "item"])
LABELLED = FRAME.assign(estimated=1.0, true=1)
SCORES = pd.DataFrame(SCORED, columns=["user", "item", "estimated"])
PER_USER = {"ann": [("x", 0.9), ("z", 0.5)], "bob": [("x", 0.7), ("y", 0.6)]}
LABELS: dict[str, Any] = {
    "rows": KNOWN, "rows with grades": [(*row, 1) for row in KNOWN], "array": np.array(KNOWN),
    "frame": FRAME, "polars": pl.DataFrame(FRAME.to_dict("list")), "columns": FRAME.to_dict("list"),
    "objects": FRAME.to_dict("records"), "records": FRAME.assign(true=1).to_records(index=False),
    "both in the index": FRAME.assign(true=1).set_index(["user", "item"]),
    "sets": {user: {*one} for user, one in GRADED.items()},
    "lists": {user: [*one][::-1] for user, one in GRADED.items()},
    "series": FRAME.groupby("user")["item"].agg(set).to_dict(), "dicts": GRADED,
    "pairs": {user: [*one.items()] for user, one in GRADED.items()},
}  # fmt: skip
RESULTS: dict[str, Any] = {
    "lists": RANKED, "series": {user: pd.Series(one) for user, one in RANKED.items()},
    "generators": lambda: {user: iter(one) for user, one in RANKED.items()}, "pairs": PER_USER,
    "pairs, shuffled": {user: one[::-1] for user, one in PER_USER.items()},
    "dicts": {user: dict(one) for user, one in PER_USER.items()}, "rows": SCORED,
    "generated": lambda: iter(SCORED), "frame": SCORES,
    "user in the index": SCORES.set_index("user"), "and an empty list": {**RANKED, "cid": []},
}  # fmt: skip


def evaluated(labels: Any, results: Any) -> rn.Report:
    """Join and evaluate."""
    return rn.evaluate(rn.RankedLists.from_labels(labels, results), k=2)


EXPECTED = evaluated(FRAME.assign(true=1), SCORES)


@pytest.mark.parametrize("labels", LABELS)
def test_labels_in_every_form_give_the_same_report(labels: str) -> None:
    """Without a warning; each label without a grade counts as 1."""
    report = evaluated(LABELS[labels], SCORES)
    assert report == EXPECTED
    assert report.metrics == ["ndcg@2", "precision@2", "recall@2"]


@pytest.mark.parametrize("results", RESULTS)
def test_results_in_every_form_give_the_same_scores(results: str) -> None:
    """Lists best first, or items with scores."""
    data = RESULTS[results]
    report = evaluated(FRAME, data() if callable(data) else data)
    pd.testing.assert_frame_equal(report.per_user, EXPECTED.per_user)


@pytest.mark.parametrize("results", ["lists", "pairs", "dicts", "rows", "frame"])
def test_overlaps_accept_results_in_every_form(results: str) -> None:
    """They need no labels."""
    assert rn.jaccard_at_k(RESULTS[results], SCORES, 2).tolist() == [1.0, 1.0]
    assert rn.rbo(RESULTS[results], SCORES).tolist() == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("kind", [csr_matrix, csr_array, coo_matrix])
def test_a_sparse_matrix_is_read_as_users_times_items(kind: Any) -> None:
    """As in the test sets of implicit; the values are the grades."""
    matrix = kind(np.array([[0, 2.0], [1.0, 0]]))
    lists = rn.RankedLists.from_labels(matrix, {0: [0, 1], 1: [0]})
    assert lists.true[~np.isnan(lists.true)].tolist() == [2.0, 1.0]


def test_grades_are_kept() -> None:
    """None is unlabelled."""
    lists = rn.RankedLists.from_labels({"ann": [("x", 5), ("y", None)]}, {"ann": ["x", "y"]})
    np.testing.assert_array_equal(lists.true, [5.0, np.nan])


def test_a_warning_lists_columns_that_could_be_the_grade() -> None:
    """With the argument to use one, and with how to silence the warning."""
    labels = FRAME.assign(clicks=[1, 2, 3])
    with pytest.warns(rn.DataWarning) as caught:
        assert evaluated(labels, SCORES) == EXPECTED
    assert str(caught[0].message) == (
        "The labels have no column 'true', so every row counts as 1. Unused: clicks. If one "
        "of them is the grade, pass columns={'true': 'clicks'}; if none "
        "is, pass only users and items: labels[['user', 'item']]."
    )
    assert len(caught) == 1
    assert evaluated(labels[["user", "item"]], SCORES) == EXPECTED
    lists = rn.RankedLists.from_labels(labels, SCORES, columns={"true": "clicks"})
    assert sorted(lists.true[~np.isnan(lists.true)]) == [1.0, 3.0]


EVENTS = ["timestamp", "Date", "timestamp:float", "Unnamed: 0", "session_id", "device", "click_id"]


@pytest.mark.parametrize("name", EVENTS)
def test_times_and_ids_of_events_are_not_proposed_as_grades(name: str) -> None:
    """Most logs have them: no warning, and another column is the proposed one."""
    more = {name: [1.2e9, 1.3e9, 1.4e9]}
    assert evaluated(FRAME.assign(**more), SCORES) == EXPECTED  # a warning would be an error
    with pytest.warns(rn.DataWarning, match=r"Unused: clicks\. If .*\{'true': 'clicks'\}"):
        evaluated(FRAME.assign(**more, clicks=1), SCORES)


@pytest.mark.parametrize("name", ["play_count", "numClicks", "user_rating", "x", 2])
def test_a_column_that_may_be_a_grade_is_proposed(name: Any) -> None:
    """Its name contains a word for grades, or has no meaning."""
    with pytest.warns(rn.DataWarning, match=f"every row counts as 1. Unused: {name}"):
        evaluated(FRAME.assign(other=1).rename(columns={"other": name}), SCORES)


def test_two_columns_that_could_be_the_same_are_rejected() -> None:
    """Two grades are not ignored in favour of 1, and two scores are not reported as none."""
    with rejects("'rating' and 'weight' could each be it.*columns=.'true': "):
        evaluated(FRAME.assign(rating=1, weight=2), SCORES)
    with rejects("'score' and 'prediction' could each be it.*columns=.'estimated': "):
        evaluated(FRAME, FRAME.assign(score=1, prediction=2))
    named = r"columns=\{'estimated': 'votes'\}"
    with rejects(f"no column 'rank' or 'estimated'.*{named}"):
        evaluated(FRAME, FRAME.assign(timestamp=1, votes=1))
    with rejects("no column 'stars'"):
        rn.RankedLists.from_labels(FRAME, SCORES, columns={"true": "stars"})


def test_fillers_of_implicit_are_dropped_with_a_warning() -> None:
    """It pads short lists with item -1, and gives filtered items the lowest float32."""
    lowest = np.finfo(np.float32).min
    items = np.array([[5, 6, -1], [7, -1, -1]], dtype=np.int32)
    scores = np.array([[0.5, 0.25, lowest], [0.5, lowest, lowest]], dtype=np.float32)
    results = {user: list(zip(*one)) for user, *one in zip([0, 1], items, scores)}  # noqa: B905
    with pytest.warns(rn.DataWarning, match="3 of 6 results have the score -3.40.*left out"):
        lists = rn.RankedLists.from_labels({0: [5], 1: [6]}, results)
    assert (lists.n_items.tolist(), np.asarray(lists.items).tolist()) == ([2, 1], [5, 6, 7])
    with rejects(r"User 0 has the item -1.*\{user: \[item for item in items if item != -1\]\}"):
        rn.RankedLists.from_labels({0: [5]}, dict(enumerate(items)))
    with rejects("Every estimated is -3.40.*recommends nothing"):
        rn.RankedLists.from_labels({0: [5]}, {0: [(5, lowest)]})
    scored = {0: [(-1, 2.0), (5, 1.0)]}  # a user's own item
    assert rn.RankedLists.from_labels({0: [5]}, scored).n_items.tolist() == [2]


AMBIGUOUS: list[tuple[Any, Any, str]] = [
    (FRAME, {"ann": {"x"}}, "'ann' has a set, {'x'}, which has no order: give a list, best first"),
    (FRAME, {"ann": "xy"}, "'ann' has 'xy' in place of a list; give {user: .item, ....}, best"),
    ({"ann": "xy"}, RANKED, "'ann' has 'xy' in place of a list; give {user: {item, ...}}"),
    (FRAME, {"ann": np.array(3)}, "'ann' has 3 in place of a list; give"),
    (FRAME, {"a": ["x"], "b": [("y", 1)]},
     "'b' has .* .'y', 1., and the first one, of user 'a', is"),
    (FRAME, {"ann": [("x", 1)], "bob": ["y"]}, "'bob' has the entry 'y', and the first one, of"),
    ({"ann": {"x": 5}, "bob": ["y"]}, RANKED, "'bob' has the entry 'y'.*in one form for all users"),
    (FRAME, {"ann": [("x", 1, 2)]}, r"'ann' has the entry \('x', 1, 2\); give"),
    (FRAME, {"ann": [("x", "0.5")]}, "estimated: text such as '0.5' in row 0 .*convert"),
    (FRAME, {"ann": [(4.5, 5)]}, r"but 4.5 is not an item.*\(user, item, estimated, true\)"),
    ([("ann", "x", 5), ("bob", "y")], RANKED, "Row 1 .*each must be like the first one"),
    (["ab", "cd"], RANKED, "Row 0 .*is 'ab'; each must be .user, item. or .user, item, true."),
    (FRAME, [("ann", "x")], r"Row 0 .*\(user, item, score\); lists per user, best first, are"),
    (FRAME, (np.zeros((2, 3)), np.zeros((3, 2))), r"scores have the shape \(3, 2\), .* \(2, 3\)"),
]  # fmt: skip


@pytest.mark.parametrize(("labels", "results", "match"), AMBIGUOUS)
def test_data_of_another_form_is_rejected(labels: Any, results: Any, match: str) -> None:
    """The message shows the accepted forms."""
    assert_rejected(match, rn.RankedLists.from_labels, labels, results)


READERS: list[Callable[[Any], Any]] = [
    lambda x: rn.jaccard_at_k({"ann": x}, {"ann": [5, 3]}, 2), lambda x: rn.precision_at_k(x, 2, 4),
    lambda x: rn.RankedLists.from_tuples({"ann": x}), lambda x: rn.rbo({"ann": [5, 3]}, {"ann": x}),
    lambda x: rn.evaluate({"ann": x}), lambda x: rn.ndcg_at_k(x, 2),
]  # fmt: skip


@pytest.mark.parametrize("unordered", [{5, 3}, frozenset({5, 3}), {5: 1, 3: 2}.keys()])
@pytest.mark.parametrize("act", READERS)
def test_a_set_is_not_a_ranked_list(act: Callable[[Any], Any], unordered: Any) -> None:
    """Python would rank it by the hashes of its entries."""
    assert_rejected("a set, .* has no order: give a list, best first", act, unordered)


ONLY_RESULTS = [RANKED, PER_USER, {"ann": {"x": 0.5}}, SCORED, SCORES, SCORES.to_dict("list")]


@pytest.mark.parametrize("results", ONLY_RESULTS)
def test_results_without_labels_are_rejected(results: Any) -> None:
    """The message proposes to join them; otherwise items would be read as grades."""
    assert_rejected(r"RankedLists\.from_labels\(labels, results\)", rn.evaluate, results)


@pytest.mark.parametrize("x", [{3: 1}, 3, None, "321", FRAME, np.array(3.0)])
def test_the_functions_for_one_list_reject_anything_else(x: Any) -> None:
    """The message shows what a list is."""
    match = r"^Found .*give one list: pairs \(estimated, true\), or grades in ranked order"
    assert_rejected(match, rn.ndcg_at_k, x, 2)


def test_lists_of_other_libraries_are_converted_to_python() -> None:
    """Arrow's scalars are neither ids that equal others nor grades."""
    assert evaluated({1: [5]}, {1: pa.array([5, 7])}).mean["ndcg@2"] == 1
    assert_rejected("'1'; give numbers", rn.evaluate, {1: pa.array(["1", "2"])})


def test_a_column_takes_precedence_over_the_index() -> None:
    """The index is a column only if no column has its meaning."""
    indexed = LABELLED.set_index(pd.Index([*"qqq"], name="userId"))
    named = LABELLED.rename(columns={"user": "who"}).set_index("who")
    with pytest.warns(rn.DataWarning, match="Using uid as user. To silence"):
        renamed = rn.RankedLists.from_frame(indexed.rename(columns={"user": "uid"}))
    of_named = rn.RankedLists.from_frame(named, columns={"user": "who"})
    for lists in (rn.RankedLists.from_frame(indexed), renamed, of_named):
        assert lists.users.tolist() == ["ann", "bob"]


def test_the_message_proposes_to_name_an_index_without_a_name() -> None:
    """It may hold the users; an index that only numbers the rows is not mentioned."""
    nameless = LABELLED.set_index("user").rename_axis(None)
    with rejects(r"no column 'user'.*is the index, name the index: table\.rename_axis\('user'\)"):
        rn.evaluate(nameless)
    assert_rejected(
        r"columns=\{'user': '\.\.\.'\}\.$", rn.evaluate, nameless.reset_index(drop=True)
    )


class Tensor:
    """Values that give themselves one by one as tensors, as those of torch do."""

    def __init__(self, values: list[int]) -> None:
        self.values = values

    def __len__(self) -> int:
        """Return the number of values."""
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        """Yield what is no id."""
        return iter([[one] for one in self.values])

    def tolist(self) -> list[int]:
        """Return the numbers."""
        return self.values


@pytest.mark.parametrize("results", [Tensor([3, 1, 2]), [(3.0, 0.9), (1.0, 0.5), (2.0, 0.2)]])
def test_ids_are_the_numbers_of_a_tensor_and_whole_floats(results: Any) -> None:
    """The ideal order of the labels."""
    data = {"labels": {"a": {3: 5, 2: 0, 1: 2}}, "results": {"a": results}}
    assert rn.evaluate(data, metrics="ndcg@3").mean.iloc[0] == 1
