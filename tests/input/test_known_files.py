"""The files of well-known data sets are read as they are published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import recsys_ndcg as rn
from recsys_ndcg.ratings import read_interactions
from tests.errors import rejects
from tests.input.tables import write

BEHAVIORS = (
    "1\tU13\t11/11/2019 9:05:58 AM\tN8 N39\tN10-0 N20-1 N30-0\n"
    "2\tU91\t11/12/2019 6:11:30 PM\t\tN20-0 N10-1\n"
)
NETFLIX = "1:\n30,3,2005-09-06\n40,5,2005-05-13\n2:\n30,4,2005-09-05\n"
BOOKS = (
    '"User-ID";"ISBN";"Book-Rating"\n"7";"034545104X";"0"\n"7";"0155061224";"5"\n'
    '"9";"\\"0432\\"";"3"\n'
)
SHOWN = "user_id,item_id,score\n30,2,1\n30,1,2\n40,1,1\n"
quiet = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")


def _means(labels: Any, results: Any, *metrics: str, **options: Any) -> list[float]:
    report = rn.evaluate(labels=labels, results=results, metrics=metrics, progress=False, **options)
    return report.mean.tolist()


def test_predictions_of_mind_are_ranks_of_the_impressions(tmp_path: Path) -> None:
    """Each impression is a list; AUC is (1 + 0) / 2, and the clicks have the ranks 1 and 2."""
    labels = write(tmp_path, BEHAVIORS, "behaviors.tsv")
    ranks = write(tmp_path, "1 [2,1,3]\n2 [1,2]\n", "prediction.txt")
    assert _means(labels, ranks, "auc", "rr") == [0.5, 0.75]
    truth = write(tmp_path, "1 [0,1,0]\n2 [0,1]\n", "truth.txt")
    assert _means(truth, ranks, "auc", "rr") == [0.5, 0.75]
    lists = {1: ["N20", "N10", "N30"], 2: ["N20", "N10"]}
    assert _means(labels, lists, "auc", "rr") == [0.5, 0.75]


def test_ranks_without_their_impressions_are_rejected(tmp_path: Path) -> None:
    """They say nothing alone; ids of items in brackets are no ranks."""
    ranks = write(tmp_path, "1 [2,1,3]\n2 [1,2]\n", "prediction.txt")
    with rejects("the rank of each labelled item, so the labels are needed"):
        rn.evaluate(labels=None, results=ranks, metrics="coverage@2")
    labels = write(tmp_path, BEHAVIORS.splitlines()[0] + "\n", "behaviors.tsv")
    with rejects("'2' has 2 ranks, but 0 labels. Give the labels of the same impressions"):
        rn.evaluate(labels=labels, results=ranks, metrics="auc")
    items = write(tmp_path, "user\titem\nu\t[20,10]\n", "items.txt")
    assert _means({"u": [10]}, items, "rr", list_separator=",") == [0.5]


def test_clicks_of_mind_are_interactions_of_the_users(tmp_path: Path) -> None:
    """What was shown and not clicked is none."""
    found = read_interactions(write(tmp_path, BEHAVIORS, "behaviors.tsv"), "train=")
    times = [1573463158, 1573582290]  # date -ud "2019-11-11 9:05:58" +%s
    rows = found.to_frame()[["user", "item", "timestamp"]].to_numpy().tolist()
    assert rows == [["U13", "N20", times[0]], ["U91", "N10", times[1]]]


@quiet
def test_blocks_of_netflix_are_ratings(tmp_path: Path) -> None:
    """The item stands above the lines of its users."""
    path = write(tmp_path, NETFLIX, "combined_data_1.txt")
    shown = write(tmp_path, SHOWN, "shown.csv")
    assert _means(path, shown, "rr", threshold=4) == [(1 / 2 + 1) / 2]
    found = read_interactions(path, "train=", kind="ratings").to_frame()
    assert found[["user", "item", "rating"]].to_numpy().tolist() == [
        [30, 1, 3], [40, 1, 5], [30, 2, 4],
    ]  # fmt: skip
    assert found["timestamp"].notna().all()
    probe = read_interactions(write(tmp_path, "1:\n30\n40\n10:\n30\n", "probe.txt"), "test=")
    assert probe.to_frame()[["user", "item"]].to_numpy().tolist() == [[30, 1], [40, 1], [30, 10]]


def test_zero_in_bookcrossing_is_no_rating(tmp_path: Path) -> None:
    """The file is Latin-1; a quote in an id has a backslash."""
    data = (BOOKS + '"9";"\xe9";"2"\n').encode("latin-1")
    path = write(tmp_path, data, "BX-Book-Ratings.csv")
    with pytest.warns(rn.DataWarning) as caught:
        lists = rn.RankedLists.from_labels(path, {7: ["034545104X", "0155061224"], 9: ['"0432"']})
    assert any("1 ratings of BookCrossing are 0" in str(one.message) for one in caught)
    assert any("read as Latin-1" in str(one.message) for one in caught)
    assert lists.true.tolist() == pytest.approx([float("nan"), 5.0, 3.0], nan_ok=True)
    with pytest.warns(rn.DataWarning) as caught:
        found = read_interactions(path, "ratings", kind="ratings")
    assert any("they are left out" in str(one.message) for one in caught)
    assert found.to_frame()["rating"].tolist() == [5.0, 3.0, 2.0]


FEATURES: dict[str, tuple[str, str, list[Any]]] = {
    "movies.dat": ("1::Toy Story (1995)::Animation|Comedy\n2::Jumanji (1995)::Adventure\n",
                   "genres", [1, 2, "Animation|Comedy", "Adventure"]),
    "u.item": ("1|Toy Story (1995)|01-Jan-1995||http://x" + "|0|0|1" + "|0" * 16 + "\n",
               "Adventure", [1, 1]),
    "movie_titles.csv": ('1,2003,Dinosaur Planet\n2,NULL,Here, There ("x")\n',
                         "title", [1, 2, "Dinosaur Planet", 'Here, There ("x")']),
    "news.tsv": (('N1\tnews\tnewsus\t"A" title\tAn abstract\thttps://x\t[]\t[]\n'
                 'N2\tsports\tgolf\t"B\t\thttps://y\t[]\t[]\n'),
                 "category", ["N1", "N2", "news", "sports"]),
    "BX-Books.csv": ('"ISBN";"Book-Title";"Year"\n"01X";"The \\"Real\\"; J.";"1999"\n',
                     "Book-Title", ["01X", 'The "Real"; J.']),
    "weights.csv": ("1,0.5\n2,0.25\n", "2", [1, 2, 0.5, 0.25]),
    "zeros.csv": ("item,year\n0042,1999\n0043,2001\n", "year", ["0042", "0043", 1999, 2001]),
}  # fmt: skip


@quiet
@pytest.mark.parametrize("name", FEATURES)
def test_tables_of_items_are_read(name: str, tmp_path: Path) -> None:
    """Their items, and one of their columns."""
    text, column, expected = FEATURES[name]
    items, table = rn.input.read_indexed_table(write(tmp_path, text, name), "features")
    assert [*items.tolist(), *table[column].tolist()] == expected


@quiet
@pytest.mark.parametrize("text", [BEHAVIORS, NETFLIX, BOOKS])
def test_known_files_need_memory(text: str, tmp_path: Path) -> None:
    """DuckDB would read something else."""
    pytest.importorskip("duckdb")
    paths = [write(tmp_path, text, f"{place}.txt") for place in range(2)]
    with rejects("within a memory limit"):
        rn.evaluate(labels=paths, results=paths, metrics="auc")
