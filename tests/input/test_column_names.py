"""Usual names of columns are recognised if they are unambiguous, and a warning reports them."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import recsys_ndcg as rn
from tests.errors import rejects

ROWS = [("ann", "a", 4.5, 5), ("ann", "b", 3.0, 2), ("bob", "a", 2.0, 4), ("bob", "b", 3.5, 3)]
OURS = ["user", "item", "estimated", "true"]
EXPECTED = rn.evaluate(pd.DataFrame(ROWS, columns=OURS), threshold=4)
NAMES = [
    "uid iid est r_ui", "USER_ID Item-ID Predicted_Rating True_Rating",
    "query_id doc_id score relevance", "user_id:token item_id:token score:float rating:float",
    "user item pred label", "visitorid ISBN pred y_true",
]  # fmt: skip
FORMS: dict[str, Any] = {
    "pandas": pd.DataFrame, "polars": pl.from_pandas, "columns": lambda one: one.to_dict("list"),
    "arrow": lambda one: pl.from_pandas(one).to_arrow(),
}  # fmt: skip


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("form", [*FORMS, "csv", "parquet"])
def test_usual_names_are_recognised_with_one_warning(tmp_path: Path, names: str, form: str) -> None:
    """In any table and file; `columns=` silences it, also if it names one of them."""
    theirs = names.split()
    frame, path = pd.DataFrame(ROWS, columns=theirs), tmp_path / f"p.{form}"
    data: Any = FORMS[form](frame) if form in FORMS else path
    if data is path:
        frame.to_csv(path, index=False) if form == "csv" else frame.to_parquet(path)
    columns = dict(zip(OURS, theirs, strict=True))
    changed = {our: their for our, their in columns.items() if our != their}
    advice = re.escape(f"pass columns={changed}.")
    with pytest.warns(rn.DataWarning, match=f"Using .* as true.*{advice}") as caught:
        assert rn.evaluate(data, threshold=4) == EXPECTED
    assert len(caught) == 1
    assert rn.evaluate(data, threshold=4, columns=columns) == EXPECTED


def test_our_own_names_take_precedence() -> None:
    """Without a warning, whatever other columns the table has."""
    frame = pd.DataFrame(ROWS, columns=OURS).assign(uid=1, score=2, rating=3, rank=4)
    assert rn.evaluate(frame, threshold=4) == EXPECTED


def test_given_columns_take_precedence_over_usual_names() -> None:
    """The other columns are still recognised."""
    frame = pd.DataFrame(ROWS, columns=["uid", "iid", "label", "score"])
    with pytest.warns(rn.DataWarning, match="Using uid as user, iid as item. To silence"):
        report = rn.evaluate(frame, threshold=4, columns={"estimated": "label", "true": "score"})
    assert report == EXPECTED


def test_the_message_proposes_columns_for_a_missing_one() -> None:
    """All that could be it, or the only one that is left."""
    frame = pd.DataFrame(ROWS, columns=["uid", "iid", "est", "rating"])
    with rejects(r"no column 'true'; 'rating' and 'label' could each be it.*columns=\{'true'"):
        rn.evaluate(frame.assign(label=1))
    with rejects(r"no column 'true'; it has uid.*columns=\{'true': 'stars'\}"):
        rn.evaluate(frame.rename(columns={"rating": "stars"}))


def test_columns_of_labels_and_results_are_recognised_too() -> None:
    """Each table on its own: `score` is an estimate in results, not a grade."""
    labels = pd.DataFrame([(1, 10, 5), (1, 11, 3)], columns=["userId", "movieId", "rating"])
    results = pd.DataFrame([(1, 10, 0.5), (1, 12, 0.4)], columns=["user_id", "item_id", "score"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lists = rn.RankedLists.from_labels(labels, results)
    assert [str(one.message).partition(".")[0] for one in caught] == [
        "Using userId as user, movieId as item, rating as true",
        "Using user_id as user, item_id as item, score as estimated",
    ]
    assert lists.unlisted["true"].tolist() == [3.0]


LABELS = pd.DataFrame({"user": [1, 1], "item": [10, 11], "true": [5, 3]})
RESULTS = pd.DataFrame({"user": [1, 1], "item": [10, 12]})


@pytest.mark.parametrize("bad", [-1, 0.93, 3.7])
def test_scores_instead_of_ranks_are_rejected(bad: float) -> None:
    """They would reverse every list."""
    results, columns = RESULTS.assign(rank=[1, bad]), {"estimated": "rank"}
    with rejects(rf"rank: {bad}, which is not a rank, in row 1 .*columns=\{columns}"):
        rn.RankedLists.from_labels(LABELS, results)
    assert not rn.RankedLists.from_labels(LABELS, results, columns=columns)._data.order_only


def test_a_warning_reports_whole_scores_that_look_like_ranks() -> None:
    """No list starts with rank 0 or 1, nor with the mean rank of tied items."""
    with pytest.warns(rn.DataWarning, match="no list has a first rank, the lowest is 57; if"):
        rn.RankedLists.from_labels(LABELS, RESULTS.assign(rank=[57, 93]))
    for ranks in ([0, 1], [1.5, 1.5], [2, 2]):
        rn.RankedLists.from_labels(LABELS, RESULTS.assign(rank=ranks))
