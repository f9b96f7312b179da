"""Data as scripts hand it over: what is read, and what is refused as it would be wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import recsys_ndcg as rn
from tests.errors import rejects
from tests.input.tables import write

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
TOP = np.array([[1, 9, 2, 5], [8, 3, 7, 5]])  # user 0 finds 1 first, user 1 finds 3 second
FALLING = np.array([[0.9, 0.8, 0.7, 0.6], [0.4, 0.3, 0.2, 0.1]])
NUMBERED = {0: [1, 2], 1: [3]}
NAMED = {"ann": ["a", "b"], "bob": ["c"]}
LISTS = {"ann": ["a", "x", "b"], "bob": ["y", "c"]}
BINARY = np.array([[1, 0, 1, 0], [0, 1, 0, 0]])


class TopK(NamedTuple):
    """What torch.topk returns."""

    values: Any
    indices: Any


class Scored(NamedTuple):
    """A recommendation whose fields stand in another order."""

    item: str
    user: str
    score: float


READ: dict[str, tuple[Any, Any, float]] = {
    "values and indices": (NUMBERED, TopK(FALLING, TOP), 0.75),
    "a list of two arrays": (NUMBERED, [TOP, FALLING], 0.75),
    "masked training items": (BINARY.astype(float), np.array(
        [[-np.inf, 0.8, 0.1, 0.7], [0.3, 0.2, 0.1, -np.inf]]
    ), (1 / 3 + 1 / 2) / 2),
    "an array of lists": (
        pd.Series([["a", "b"], ["c"]]).to_numpy(), pd.Series([*LISTS.values()]).to_numpy(), 0.75,
    ),
    "named tuples": (NAMED, [
        Scored(item, user, -place) for user, one in LISTS.items() for place, item in enumerate(one)
    ], 0.75),
    "labels with times": (
        [("ann", "a", 0, 978300760), ("ann", "b", 1, 978300761), ("bob", "c", 1, 978300762)],
        LISTS, (1 / 3 + 1 / 2) / 2,
    ),
    "an array of labels and times": (
        np.array([[0, 1, 0, 978300760], [0, 2, 1, 978300761], [1, 3, 1, 978300762]]),
        {0: [1, 9, 2], 1: [8, 3]}, (1 / 3 + 1 / 2) / 2,
    ),
    "ids and clusters": (
        pd.DataFrame({"id": [0, 1], "cluster": [5, 91]}),
        pd.DataFrame({"id": [0, 1], "cluster": ["99 5 1", "91 2 3"]}), 0.75,
    ),
    "another separator in each table": (
        pd.DataFrame({"user": [0, 1], "item": ["a b", "c"]}),
        pd.DataFrame({"user": [0, 1], "item": ["a,x,b", "y,c"]}), 0.75,
    ),
    "titles in lists": (
        {0: ["(500) Days (2009)"], 1: ["Heat (1995)"]},
        pd.DataFrame({"user": [0, 1], "item": [
            "(500) Days (2009)|Heat (1995)", "Casino (1995)|Heat (1995)"
        ]}), 0.75,
    ),
    "a list that the other table has as a cell": (
        pd.DataFrame({"user": [1, 2, 3], "item": ["p", "q", "p q"]}),
        pd.DataFrame({"user": [1, 2, 3], "item": ["p q", "p q", "q p"]}), 2.5 / 3,
    ),
}  # fmt: skip


FILES: dict[str, tuple[str, str, float]] = {
    "LightGCN": ("0 1 2\n1 3\n", "0 1 9 2\n1 8 3\n", 0.75),
    "Epinions": ("0 1 5\n0 2 5\n1 3 5\n", "0,1,1\n0,9,2\n0,2,3\n1,8,1\n1,3,2\n", 0.75),
    "an empty list": ("id,items\n0,1 2\n1,3\n2,1\n", "id,items\n0,1 9 2\n1,8 3\n2,\n", 0.5),
    "lists and scores of to_csv": (
        "user,item\n0,1\n0,2\n1,3\n",
        'user,items,scores\n0,"[2, 9, 1]","[1.0, 2.0, 3.0]"\n1,"[3, 8]","[1, 2]"\n', 0.75,
    ),
    "BEIR": ("query-id\tcorpus-id\tscore\n0\t1\t1\n0\t2\t1\n1\t3\t1\n",
             '{"0": {"1": 3, "9": 2}, "1": {"8": 9, "3": 8}}', 0.75),
}  # fmt: skip


@pytest.mark.parametrize("form", [*READ, *FILES])
def test_it_is_read(tmp_path: Path, form: str) -> None:
    """With the number that a person would compute.

    Third columns of results that count 1, 2, 3 for each user are ranks.
    """
    labels, results, expected = (READ | FILES)[form]
    if form in FILES:
        labels, results = write(tmp_path, labels, "l.txt"), write(tmp_path, results, "r.txt")
    report = rn.evaluate(labels=labels, results=results, metrics="rr", threshold=1)
    assert report.mean.iloc[0] == pytest.approx(expected, abs=1e-12)


def test_a_label_may_stand_beside_lists() -> None:
    """The user with two rows has a list in one of them."""
    labels = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": ["a b", "x", "c"]})
    report = rn.evaluate(
        labels=labels, results={"ann": [*"axb"], "bob": [*"yc"]}, metrics="recall@3"
    )
    assert report.mean.tolist() == [1]


def test_a_title_in_brackets_is_no_list() -> None:
    """Since the other titles are not."""
    films = pd.DataFrame({"user": ["u", "u"], "item": ["[REC]", "Heat"], "rank": [1, 2]})
    assert rn.evaluate(labels={"u": ["Heat"]}, results=films, metrics="rr").mean.tolist() == [0.5]


def test_counts_of_items_are_a_catalogue() -> None:
    """Their index has the items."""
    counts = pd.Series([7, 8, 8, 9, 10], name="item").value_counts()
    report = rn.evaluate(results={"u": [7, 8]}, metrics="coverage@2", catalogue=counts)
    assert report.mean.tolist() == [0.5]


REFUSED: dict[str, tuple[Any, Any, str]] = {
    "distances": (NUMBERED, (TOP, FALLING[:, ::-1]), "scores rise along every list"),
    "users without a row": ({1: [1], 2: [3]}, TOP, "users 0 to 1, but the labels have the user 2"),
    "scores or items": (BINARY > 0, np.array([[4, 3, 1, 2], [3, 2, 1, 4]]), "scores or items"),
    "no item numbers": (
        sparse.csr_matrix(BINARY), np.array([[40, 30, 10, 20], [30, 20, 10, 40]]), "scores or items"
    ),
    "a pivoted table of scores": (NUMBERED, pd.DataFrame(FALLING), "give table.values"),
    "tables per user": (NAMED, {"ann": pd.DataFrame({"item": ["a"]})}, "a table"),
}  # fmt: skip


@pytest.mark.parametrize("form", REFUSED)
def test_it_is_refused(form: str) -> None:
    """As it could be read in two ways, or would turn lists round."""
    labels, results, message = REFUSED[form]
    with rejects(message):
        rn.evaluate(labels=labels, results=results, metrics="rr")


CELLS = pd.DataFrame({"user": ["u", "v"], "item": ["a x", "b x"]})


def test_text_of_training_rows_may_be_a_list_and_says_what_to_write() -> None:
    """Both readings are written as the message says."""
    for door in (
        lambda table: rn.propensity(table, gamma=1),
        lambda table: rn.check_split(table, CELLS),
    ):
        with rejects("'a x' may be one id or several.*str.split.' '.*lambda item: .item."):
            door(CELLS)
    lists = CELLS.assign(item=CELLS["item"].str.split(" "))
    assert sorted(rn.propensity(lists, gamma=1).weights.index) == ["a", "b", "x"]
    whole = CELLS.assign(item=CELLS["item"].map(lambda item: [item]))
    assert sorted(rn.propensity(whole, gamma=1).weights.index) == ["a x", "b x"]


@pytest.mark.parametrize(
    "catalogue",
    ["movieId,title,genres\n1,Toy (1995),Fun\n2,Heat (1995),War|Fun\n",
     "1::Toy (1995)::Fun\n2::Heat (1995)::War|Fun\n", "1\n2\n", "[1, 2]"],
)  # fmt: skip
def test_a_catalogue_may_be_a_file_of_items(tmp_path: Path, catalogue: str) -> None:
    """Of MovieLens, with one id per line, or of JSON."""
    path = write(tmp_path, catalogue, "items.json" if catalogue[0] == "[" else "items.dat")
    report = rn.evaluate(results={"u": [1]}, metrics="coverage@1", catalogue=path)
    assert report.mean.tolist() == [0.5]


def test_zeros_of_a_dense_matrix_are_no_training_rows() -> None:
    """Nor are zeros that a sparse one stores."""
    matrix = np.array([[1, 0, 1, 0], [1, 0, 0, 0]])
    stored = sparse.csr_matrix(([1.0, 0.0, 1.0, 1.0], ([0, 0, 0, 1], [0, 1, 2, 0])), shape=(2, 4))
    for train in (matrix, stored):
        assert rn.propensity(train, gamma=1).weights.to_dict() == {0: 1.0, 2: 2.0}
    rated = np.array([[5, 0, 3, 0, 0], [4, 0, 0, 0, 0]])
    assert rn.propensity(rated, gamma=1).weights.to_dict() == {0: 1.0, 2: 2.0}


def test_a_name_that_only_one_table_has_gets_both_names() -> None:
    """The message's mapping works."""
    labels = pd.DataFrame({"who": ["u"], "item": ["a"]})
    results = pd.DataFrame({"user": ["u"], "item": ["a"], "rank": [1]})
    with rejects(r"columns=\{'user': \['who', 'user'\]\}"):
        rn.evaluate(labels=labels, results=results, columns={"user": "who"})
    names = {"user": ["who", "user"]}
    report = rn.evaluate(labels=labels, results=results, columns=names, metrics="rr")
    assert report.mean.iloc[0] == 1


def test_columns_without_a_heading_may_have_places(tmp_path: Path) -> None:
    """Given by their numbers, also without heading=False."""
    path = write(tmp_path, "7,11,0.9\n7,12,0.8\n8,13,0.7\n", "r.csv")
    columns = {"user": "1", "item": "2", "estimated": "3"}
    report = rn.evaluate(labels={7: [12], 8: [13]}, results=path, columns=columns, metrics="rr")
    assert report.mean.tolist() == [0.75]


@pytest.mark.filterwarnings("default::recsys_ndcg.DataWarning")
def test_ranks_are_named_as_such(tmp_path: Path) -> None:
    """In the warning about a file without a heading."""
    path = write(tmp_path, "0,5,1\n0,6,2\n1,5,1\n", "r.csv")
    with pytest.warns(rn.DataWarning, match="taken as user, item, rank, in this order"):
        report = rn.evaluate(labels={0: [6], 1: [5]}, results=path, metrics="rr")
    assert report.mean.tolist() == [0.75]


def test_text_ids_stay_ids_with_sparse_labels() -> None:
    """Which have numbers, so that nothing could match."""
    with rejects("type number.*type text"):
        rn.evaluate(labels=sparse.csr_matrix(np.eye(2)), results=np.array([["a", "b"], ["c", "d"]]))


def test_features_may_be_sets_by_item() -> None:
    """Without the name of a column."""
    features = {"a": {"war"}, "b": {"love"}}
    report = rn.evaluate(results={"u": ["a", "b"]}, metrics="diversity@2", features=features)
    assert report.mean.tolist() == [1]
