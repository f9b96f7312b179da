"""A cell, line, list or row of an array that holds several ids is that user's list."""

from __future__ import annotations

import json
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse

import recsys_ndcg as rn
from recsys_ndcg.input import read_rows
from recsys_ndcg.ratings import read_interactions
from tests.errors import rejects
from tests.input.tables import write
from tests.profiles import examples

pa = pytest.importorskip("pyarrow")

LISTS = {"u": ["a", "x", "b"], "v": ["y", "c"]}
SCORED = {user: {item: 3 - place for place, item in enumerate(one)} for user, one in LISTS.items()}
LABELS = {"u": ["a", "b"], "v": ["c", "d"]}
LONG = pd.DataFrame([(user, item) for user in LISTS for item in LISTS[user]])
LONG.columns = ["user", "item"]
CELLS: Any = pd.DataFrame({"user": [*LISTS], "item": [*LISTS.values()]})
TEXT = "user,items\nu,a x b\nv,y c\n"
METRICS = ["ndcg@3", "ap@3", "recall@3", "rr"]

RESULTS: dict[str, Any] = {
    "pandas": CELLS,
    "another name": CELLS.rename(columns={"item": "recommended"}),
    "no known name": CELLS.rename(columns={"user": "who", "item": "Predicted"}),
    "arrays in cells": CELLS.assign(item=[np.array(one) for one in LISTS.values()]),
    "Arrow in pandas": CELLS.convert_dtypes(dtype_backend="pyarrow"),
    "grouped": LONG.groupby("user").agg(list),
    "grouped series": LONG.groupby("user")["item"].agg(list),
    "polars": pl.DataFrame(CELLS.to_dict("list")),
    "lazy": pl.DataFrame(CELLS.to_dict("list")).lazy(),
    "arrays of polars": pl.DataFrame({"user": ["u"], "item": [LISTS["u"]]}).with_columns(
        pl.col("item").cast(pl.Array(pl.String, 3))
    ),
    "Arrow": pa.Table.from_pandas(CELLS),
    "columns": CELLS.to_dict("list"),
    "objects": CELLS.to_dict("records"),
    "scores beside": CELLS.assign(scores=[[3.0, 2.0, 1.0], [2, 1]]),
    "scores that order": CELLS.assign(
        item=[["b", "a", "x"], ["c", "y"]], scores=[[1, 3, 2], [1.0, 2.0]]
    ),
    "text": pd.DataFrame({"user": ["u", "v"], "item": ["a x b", "y c"]}),
    "lists as text": pd.DataFrame({"user": ["u", "v"], "item": ["['a', 'x', 'b']", "['y', 'c']"]}),
    "one list of text": pd.DataFrame({"user": ["u", "v"], "item": ["['a' 'x' 'b']", '["y", "c"]']}),
    "pairs with scores": CELLS.assign(
        item=[[*one.items()] for one in SCORED.values()]
    ),
    "dicts with scores": CELLS.assign(
        item=[[{"movieId": x, "rating": n} for x, n in one.items()] for one in SCORED.values()]
    ),
    "Arrow's structs with scores": pa.table({
        "user": ["u", "v"],
        "recs": [[{"item": x, "score": n} for x, n in one.items()] for one in SCORED.values()],
    }),
    "batches of Arrow": pa.Table.from_pandas(CELLS).to_batches()[0],
    "unique items": LONG.groupby("user")["item"].unique(),
    "one column per rank": pd.DataFrame(
        {"user": ["u", "v"], "1": ["a", "y"], "2": ["x", "c"], "3": ["b", None]}
    ),
    "ranks of indexed users": pd.DataFrame([["a", "x", "b"], ["y", "c", None]], index=["u", "v"]),
}  # fmt: skip
FILES: dict[str, tuple[str, str]] = {
    "objects in lines": (
        "r.jsonl", "".join(f"{json.dumps(one)}\n" for one in CELLS.to_dict("records")),
    ),
    "one object": ("r.json", json.dumps(LISTS)),
    "one object on lines": ("r.json", json.dumps(LISTS, indent=1)),
    "an object per line": (
        "r.jsonl", "".join(f"{json.dumps({user: LISTS[user]})}\n" for user in LISTS)
    ),
    "an array of objects": ("r.json", json.dumps(CELLS.to_dict("records"))),
    "blanks": ("r.csv", TEXT),
    "commas": ("r.csv", 'Id,Predicted\nu,"a,x,b"\nv,"y, c"\n'),
    "bars": ("r.tsv", "user\titems\nu\ta|x|b\nv\ty|c\n"),
    "semicolons": ("r.csv", "user,items\nu,a;x;b\nv,y;c\n"),
    "a column per rank": ("r.csv", "user,top_1,top_2,top_3\nu,a,x,b\nv,y,c,\n"),
}  # fmt: skip


def _means(results: Any, labels: Any = LABELS) -> list[float]:
    found: list[float] = rn.evaluate(labels=labels, results=results, metrics=METRICS).mean.tolist()
    return found


EXPECTED = _means(LISTS)


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
@pytest.mark.parametrize("form", RESULTS)
def test_lists_in_cells_are_the_users_lists(form: str) -> None:
    """In tables of any library."""
    labels = {"u": LABELS["u"]} if form == "arrays of polars" else LABELS
    assert _means(RESULTS[form], labels) == _means(LISTS, labels)


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
@pytest.mark.parametrize("form", FILES)
def test_lists_in_files_are_the_users_lists(tmp_path: Path, form: str) -> None:
    """As results and, in any order, as labels."""
    name, content = FILES[form]
    path = write(tmp_path, content, name)
    assert _means(path) == EXPECTED
    assert _means(LISTS, path) == _means(LISTS, LISTS)


def test_json_may_have_scores(tmp_path: Path) -> None:
    """As the results of BEIR."""
    assert _means(write(tmp_path, json.dumps(SCORED), "r.json")) == EXPECTED


def test_parquet_has_lists(tmp_path: Path) -> None:
    """Without pandas' metadata, too."""
    pl.DataFrame(CELLS.to_dict("list")).write_parquet(tmp_path / "r.parquet")
    assert _means(tmp_path / "r.parquet") == EXPECTED


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
@pytest.mark.parametrize("form", [one for one in RESULTS if "score" not in one])
def test_labels_have_the_same_forms(form: str) -> None:
    """Each item of a list is relevant."""
    results = {"u": LISTS["u"]} if form == "arrays of polars" else LISTS
    assert _means(results, RESULTS[form]) == _means(results, results)


def test_grades_stand_beside_the_relevant_items() -> None:
    """In a list of the same length."""
    labels = pd.DataFrame({"user": ["u", "v"], "item": [["a", "b"], ["c"]], "true": [[1, 5], [3]]})
    graded = {"u": {"a": 1, "b": 5}, "v": {"c": 3}}
    found, expected = (
        rn.evaluate(labels=one, results=LISTS, metrics="ndcg@3").per_user
        for one in (labels, graded)
    )
    pd.testing.assert_frame_equal(found, expected)
    assert found["ndcg@3"].iloc[0] < 1


@pytest.mark.parametrize(
    ("scores", "match"),
    [([[3.0], [2, 1]], "scores: 1 values for the 3 items in row 0"), ([[3, 2, 1], 2], "no list")],
)
def test_numbers_beside_lists_have_their_length(scores: Any, match: str) -> None:
    """Else no number belongs to an item."""
    with rejects(match):
        _means(CELLS.assign(scores=scores))


def test_a_cell_that_is_no_list_is_named() -> None:
    """With its row."""
    with rejects(r"item: the cell 'c' in row 1 .* is no list, but others are"):
        _means(CELLS.assign(item=[["a"], "c"]))


WRONG: dict[str, tuple[Any, str]] = {
    "sets": ([{"a"}, {"c"}], "item: {'a'} is a set, which has no order"),
    "tuples": ([("a", "b"), ("c",)], r"item: the cell \('a', 'b'\) is a tuple. Write lists"),
    "dicts": ([{"a": 1.0}, {"c": 2.0}], "item: the cell {'a': 1.0} is a dict. Write lists"),
    "series": ([pd.Series(["a"]), pd.Series(["c"])], "is a Series. Write lists"),
    "an item twice": ([["a", "a"], ["c"]], "user 'u' has the item 'a' twice"),
    "a missing item": ([["a", None], ["c"]], "item.*: a missing id in row 1"),
    "lists in lists": ([[["a"], ["b"]], ["c"]], "an id is not hashable"),
    "no items": ([[], []], "There are no rows in the results"),
    "other types": ([[1, 2], [3]], "labels have ids of type text"),
}


@pytest.mark.parametrize("form", WRONG)
def test_cells_that_are_no_lists_of_ids_are_rejected(form: str) -> None:
    """With what to write."""
    cells, match = WRONG[form]
    with rejects(match):
        _means(pd.DataFrame({"user": ["u", "v"], "item": cells}))


def test_a_user_has_one_list() -> None:
    """Two lists without scores have no order; labels in two rows add up."""
    twice = pd.DataFrame({"user": ["u", "u", "v"], "item": [["a"], ["b"], ["c"]]})
    with rejects("The user 'u' has 2 lists without scores. Give each user one list."):
        _means(twice)
    assert _means(LISTS, twice) == _means(LISTS, {"u": ["a", "b"], "v": ["c"]})


MATRICES: dict[str, tuple[Any, Any, str]] = {
    "other items": (np.eye(3), np.ones((3, 4)), r"shapes \(3, 3\) and \(3, 4\)"),
    "nothing": ({0: [1]}, np.full((2, 4), np.nan), "There are no rows in the results"),
    "infinite": ({0: [1]}, np.array([[np.inf, 1, 2, 3]]), "estimated: an infinite value in row 0"),
    "three dimensions": ({0: [1]}, np.zeros((2, 2, 2)), "Row 0"),
}


@pytest.mark.parametrize("form", MATRICES)
def test_matrices_that_cannot_be_ranked_are_rejected(form: str) -> None:
    """And are not taken for rows of ids."""
    labels, results, match = MATRICES[form]
    with rejects(match):
        _means(results, labels)


TITLES = pd.DataFrame({"user": ["u", "v"], "item": ["Toy Story (1995)", "Heat (1995)"]})


@pytest.mark.parametrize("labels", [TITLES, TITLES.assign(true=1)])
def test_an_id_may_contain_blanks(labels: pd.DataFrame) -> None:
    """If the other table has it as a whole."""
    results = {"u": ["Babe (1995)", "Toy Story (1995)"], "v": ["Heat (1995)"]}
    assert rn.evaluate(labels=labels, results=results, metrics="rr").mean.tolist() == [0.75]


def test_what_was_decided_is_said_once() -> None:
    """With the option that says it, too, and the same numbers."""
    text, lists = RESULTS["text"], rn.RankedLists.from_labels
    with pytest.warns(rn.DataWarning, match="results: 'a x b' is read as the items .*'a', 'x'"):
        found = rn.evaluate(lists(LABELS, text), metrics=METRICS)
    again = rn.evaluate(lists(LABELS, text, list_separator=" "), metrics=METRICS)
    pd.testing.assert_frame_equal(found.per_user, again.per_user)
    assert found.mean.tolist() == EXPECTED


def test_a_single_match_does_not_make_cells_lists() -> None:
    """It may be by chance: one of 400 words of titles is an id of the results."""
    labels = pd.DataFrame({"user": range(200), "item": [f"Film {n}" for n in range(200)]})
    results = {user: [f"x{user}", "7"] for user in range(200)}
    with rejects("may be one id or several; neither matches"):
        rn.evaluate(labels=labels, results=results, metrics="recall@2")


def test_a_column_per_rank_is_read_from_a_file_of_history(tmp_path: Path) -> None:
    """As from the same table in memory."""
    table = pd.DataFrame({"user": [1, 2], "i1": [7, 8], "i2": [9, 7]})
    table.to_csv(tmp_path / "history.csv", index=False)
    found, expected = (
        read_interactions(one, "train").to_frame() for one in (tmp_path / "history.csv", table)
    )
    pd.testing.assert_frame_equal(found, expected)
    assert expected["item"].tolist() == [7, 9, 8, 7]


@pytest.mark.parametrize(
    ("results", "why"),
    [
        ({"u": ["x"], "v": ["y"]}, "neither matches"),
        ({"u": ["Heat", "(1995)", "Heat (1995)"]}, "both match"),
    ],
)
def test_cells_that_may_be_one_id_or_several_are_an_error(results: Any, why: str) -> None:
    """Whose message names the option."""
    labels = TITLES.assign(item=["Heat (1995)", "Heat (1995)"])
    with rejects(f"labels: 'Heat .1995.' may be one id or several; {why} the other table"):
        _means(results, labels)
    whole: Any = rn.RankedLists.from_labels(labels, {"u": ["Heat (1995)"]}, list_separator="")
    assert whole._data.item_ids.tolist() == ["Heat (1995)"]
    several: Any = rn.RankedLists.from_labels(labels, {"u": ["Heat"]}, list_separator=" ")
    assert several._data.item_ids.tolist() == ["(1995)", "Heat"]


@pytest.mark.parametrize(
    "results",
    [
        LONG.assign(rank=[1, 2, 3, 1, 2]),
        LONG.assign(estimated=[3, 2, 1, 2, 1]),
        CELLS,
        LISTS,
    ],
    ids=["ranks", "scores", "lists in cells", "lists"],
)
def test_a_separator_for_labels_keeps_the_order_of_results(results: Any) -> None:
    """Whose items are single ids, of which there is nothing to split."""
    labels = pd.DataFrame({"user": ["u", "v"], "item": ["a b", "c d"]})
    found = rn.evaluate(labels=labels, results=results, metrics=METRICS, list_separator=" ")
    assert found.mean.tolist() == EXPECTED


@pytest.mark.parametrize("separator", [None, " "])
@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_parts_of_text_have_the_type_of_the_other_table(separator: str | None) -> None:
    """Text that looks like numbers stays text beside text, and becomes numbers beside numbers."""
    results = pd.DataFrame({"user": ["u", "v"], "item": ["7 2", "3 1"]})
    for kind in (str, int):
        labels = pd.DataFrame({"user": ["u", "u", "v"], "item": [7, 2, 1]}).astype({"item": kind})
        found = rn.evaluate(
            labels=labels, results=results, metrics=["rr"], list_separator=separator
        )
        assert found.per_user["rr"].tolist() == [1.0, 0.5]


@pytest.mark.parametrize("empty", [[], None])
@pytest.mark.parametrize("users", [["u", "v", "w"], [1, 2, 3]])
def test_an_empty_list_is_no_list(empty: Any, users: list[Any]) -> None:
    """As in the long form, the user has no rows, whatever the type of the ids."""
    labels = pd.DataFrame({"user": users[:2], "item": ["a", "b"]})
    results = pd.DataFrame({"user": users, "item": [["a"], ["b"], empty]})
    assert rn.evaluate(labels=labels, results=results, metrics=["rr"]).users.tolist() == users[:2]


TRUTH = np.array([[1.0, 0, 0], [0, 1, 1]])
SCORES = np.array([[0.1, 0.5, 0.2], [0.4, 0.1, np.nan]])


@pytest.mark.parametrize("truth", [TRUTH, sparse.csr_array(TRUTH), TRUTH.astype(bool), TRUTH == 1])
def test_matrices_have_a_column_for_each_item(truth: Any) -> None:
    """NaN, or nothing in a sparse matrix, is no score."""
    labels = {0: {0: 1}, 1: {1: 1, 2: 1}}
    results = {0: [1, 2, 0], 1: [0, 1]}
    assert _means(SCORES, truth) == _means(results, labels)
    stored = sparse.csr_array(np.nan_to_num(SCORES))
    assert _means(stored, truth) == _means(results, labels)


def test_a_dense_matrix_is_not_copied() -> None:
    """Its ids take as much memory as its scores; nothing else is as large."""
    scores = np.random.default_rng(0).random((400, 500))
    tracemalloc.start()
    rows = read_rows(scores, table="results")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.shares_memory(rows.estimated, scores)
    assert most < 1.5 * scores.nbytes


def test_arrays_of_ranked_items() -> None:
    """The users are the numbers of the rows; -1 fills up short lists."""
    labels = {0: [4], 1: [7, 8]}
    array = np.array([[5, 4, 3, 1], [7, 2, -1, -1]])
    expected = _means({0: [5, 4, 3, 1], 1: [7, 2]}, labels)
    with pytest.warns(rn.DataWarning, match="2 of 8 items are -1"):
        assert _means(array, labels) == expected
    scores = np.array([[2.0, 3, 1, 0], [1, 0, 0, 0]])
    with pytest.warns(rn.DataWarning, match="-1"):
        assert _means((array, scores), labels) == _means({0: [4, 5, 3, 1], 1: [7, 2]}, labels)


def test_three_whole_numbers_are_ranks_only_if_rows_are_users() -> None:
    """Else they may be (user, item, score)."""
    array = np.array([[0, 1, 2], [1, 0, 2]])
    assert _means(array, {0: {0}, 1: {1}}) == _means({0: [0, 1, 2], 1: [1, 0, 2]}, {0: {0}, 1: {1}})
    for labels in ({0: {0}, 1: {1}, 2: {1}}, {5: {0}, 1: {1}}, None):
        with rejects(r"may be \(user, item, score\).*\[\*map\(tuple, results\)\].*dict\(enumerate"):
            rn.evaluate(labels=labels, results=array, metrics=["ndcg@3"])
    assert _means([*map(tuple, array)], {0: {1}, 1: {0}}) == [1.0] * 4


def test_labels_in_an_array_of_pairs_are_ambiguous_beside_an_array() -> None:
    """They may be (user, item), as of leave-one-out, or two relevant items of each user."""
    pairs, results = np.array([[0, 10], [1, 12]]), np.array([[10, 7, 8, 9], [5, 12, 3, 4]])
    with rejects(r"may be \(user, item\), or the relevant items.*\[\*map\(tuple, labels\)\]"):
        _means(results, pairs)
    assert _means(results, [*map(tuple, pairs)]) == _means(results, {0: [10], 1: [12]})
    assert _means(results, dict(enumerate(pairs))) == _means(results, {0: [0, 10], 1: [1, 12]})


def test_columns_as_pandas_writes_them_are_a_table(tmp_path: Path) -> None:
    """Their row numbers are no users."""
    path = tmp_path / "r.json"
    pd.DataFrame({"user": ["u", "v"], "item": ["a", "c"], "estimated": [1, 1]}).to_json(path)
    assert _means(path) == _means({"u": ["a"], "v": ["c"]})


def test_scored_titles_are_not_split() -> None:
    """A table with a score in each row has an item in each row."""
    rows = [("u", "Alien 3", 0.9), ("u", "Up Down", 0.5)]
    results = pd.DataFrame(rows, columns=["user", "item", "estimated"])
    with pytest.warns(rn.DataWarning, match="No item of the results is among the labels"):
        assert rn.evaluate(
            labels={"u": {"Alien", "Up"}}, results=results, metrics="rr"
        ).mean.tolist() == [0]


def test_parallel_lists_are_of_users_0_1_2() -> None:
    """As in mapk(actual, predicted); tuples are rows."""
    actual, predicted = [[1, 2], [3]], [[2, 9, 1], [8, 3]]
    assert _means(predicted, actual) == _means(dict(enumerate(predicted)), dict(enumerate(actual)))
    with pytest.warns(rn.DataWarning, match="each of the 2 lists is read as the items of one user"):
        found = _means([[2, 9], [8, 3]], [[1, 2], [3, 4]])
    assert found == _means({0: [2, 9], 1: [8, 3]}, {0: [1, 2], 1: [3, 4]})
    rows = [("u", "a"), ("v", "c")]
    assert _means(LISTS, rows) == _means(LISTS, {"u": ["a"], "v": ["c"]})


@given(
    shown=st.lists(st.lists(st.integers(0, 30), max_size=4, unique=True), min_size=1, max_size=5),
    liked=st.lists(st.sets(st.integers(0, 30), max_size=4), min_size=5, max_size=5),
    is_text=st.booleans(),
)
@examples(1)
def test_drawn_lists_score_the_same_in_every_form(
    shown: list[list[int]], liked: list[set[int]], *, is_text: bool
) -> None:
    """Also empty ones, and of text."""
    name = (lambda one: f"item {one}") if is_text else (lambda one: one)
    lists = {place: [name(one) for one in each] for place, each in enumerate(shown)}
    labels = {place: {name(one) for one in each} for place, each in enumerate(liked[: len(shown)])}
    assume(any(lists.values()) and any(labels.values()))
    cells = pd.DataFrame({"user": [*lists], "item": [*lists.values()]})
    forms = [
        cells,
        pl.DataFrame(cells.to_dict("list")),
        cells.to_dict("records"),
        cells.to_dict("list"),
    ]
    if is_text or len({*map(len, shown)}) > 1:
        forms.append([*lists.values()])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rn.DataWarning)
        expected = rn.evaluate(labels=labels, results=lists, metrics=METRICS, list_separator="")
        for form in forms:
            found = rn.evaluate(labels=labels, results=form, metrics=METRICS, list_separator="")
            pd.testing.assert_frame_equal(found.per_user, expected.per_user)


WORDS = st.sampled_from(["toy", "story", "heat", "the", "1995"])
SEVERAL = st.lists(WORDS, min_size=1, max_size=3, unique=True)


@given(
    shown=st.lists(SEVERAL, min_size=1, max_size=4), separator=st.sampled_from([" ", ",", "|", ";"])
)
@examples(1)
def test_a_given_separator_splits_every_cell(shown: list[list[str]], separator: str) -> None:
    """And an empty one none."""
    lists = dict(enumerate(shown))
    text = pd.DataFrame({"user": [*lists], "item": [separator.join(one) for one in shown]})
    expected: Any = rn.RankedLists.from_labels(None, lists)
    found: Any = rn.RankedLists.from_labels(None, text, list_separator=separator)
    assert found.items.tolist() == expected.items.tolist()
    whole: Any = rn.RankedLists.from_labels(None, text, list_separator="")
    assert whole.items.tolist() == text["item"].tolist()


@given(titles=st.lists(SEVERAL.map(" ".join), min_size=2, max_size=6, unique=True))
@examples(1)
def test_titles_that_both_tables_have_are_not_split(titles: list[str]) -> None:
    """Though their words occur in other titles."""
    words = {word for one in titles if " " in one for word in one.split()}
    assume(words and not words <= {*titles})
    labels = pd.DataFrame({"user": range(len(titles)), "item": titles})
    lists: Any = rn.RankedLists.from_labels(labels, dict.fromkeys(range(len(titles)), titles))
    assert sorted(lists._data.item_ids.tolist()) == sorted(titles)
