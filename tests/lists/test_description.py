"""Lists print as a sentence, whatever they hold."""

from __future__ import annotations

import re

import pandas as pd
import pytest

import recsys_ndcg as rn

LABELS = pd.DataFrame({"user": [1, 1, 2], "item": ["a", "b", "a"], "true": [5, 3, 4]})
RESULTS = pd.DataFrame({"user": [1, 1], "item": ["a", "x"], "rank": [1, 2]})


def test_lists_print_as_a_sentence() -> None:
    """Not as their arrays; the docstring has lists of ratings."""
    supplied = rn.RankedLists.from_labels(LABELS, RESULTS)
    chosen = rn.RankedLists.from_labels(LABELS, RESULTS, n_items=50)
    text = "RankedLists of 2 users with 2 recommended items, 0 to 2 each; 1 without a true value; "
    assert str(supplied) == text + "2 labelled items in no list."
    assert ", 0 to 2 each, of 100 candidates; 1 without" in str(chosen)


def test_a_notebook_shows_the_counts_and_the_first_items() -> None:
    """The best first; items at the same rank in the order of their rows."""
    rows = [(1, item, rank) for item, rank in zip("abcdefg", (3, 1, 2, 1, 1, 3, 3), strict=True)]
    results = pd.DataFrame(rows, columns=["user", "item", "rank"])
    shown = rn.RankedLists.from_labels(LABELS, results)._repr_html_()
    cells = [re.sub("<[^>]+>", "", one).strip() for one in re.findall("<td.*?</td>", shown)]
    assert cells[:7] == ["2", "7", "7", "0, 3.5, 7", "28.6%", "1", "1"]
    assert cells[7:19] == ["1", "b", "3", "1", "d", "-", "1", "e", "-", "1", "c", "-"]


def test_a_notebook_shows_the_first_rows_among_many_of_one_rank() -> None:
    """However long the list is."""
    results = pd.DataFrame({"user": 1, "item": range(1000), "rank": [2, 1] * 500})
    shown = rn.RankedLists.from_labels({1: {7}}, results)._repr_html_()
    cells = [re.sub("<[^>]+>", "", one).strip() for one in re.findall("<td.*?</td>", shown)]
    assert cells[8::3] == ["1", "3", "5", "7"]


@pytest.mark.filterwarnings("ignore:Ties affect")
def test_a_catalogue_prints_as_a_sentence() -> None:
    """With its number of candidates."""
    pytest.importorskip("surprise")
    from recsys_ndcg.surprise import Dataset, MostPopular, Reader, evaluate_catalogue  # noqa: PLC0415

    rows = pd.DataFrame([("a", "x", 5), ("a", "y", 3), ("b", "z", 4)])
    trainset = Dataset.load_from_df(rows, Reader()).build_full_trainset()
    algo = MostPopular().fit(trainset)
    report = evaluate_catalogue(algo, trainset, [("a", "z", 5), ("b", "x", 2)], k=1)
    text = "RankedLists of 2 users with 3 candidates, 1 to 2 each; 1 without a true value."
    assert str(report._data.audit.lists) == text
