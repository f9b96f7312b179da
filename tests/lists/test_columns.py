"""A further column of the data needs one line: it is read, grouped and joined like the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys_ndcg import DataWarning, RankedLists, parallel
from recsys_ndcg.input import Table
from recsys_ndcg.lists import to_lists

TABLE = [(2, "a", 1.0, 5.0, 0.1), (1, "b", 4.0, 2.0, 0.2), (2, "b", 2.0, None, 0.3)]
TABLE += [(1, "a", 3.0, 4.0, 0.4)]
ROWS = pd.DataFrame(TABLE, columns=["user", "item", "estimated", "true", "propensity"])


@pytest.fixture(autouse=True)
def propensity(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add the line: what people call it."""
    monkeypatch.setitem(Table.COLUMN_NAMES, "propensity", "propensity exposureprobability")


@pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame, dict])
def test_a_further_column_is_grouped_by_user_like_the_estimates(form: Any) -> None:
    """Of each library's tables; it is read-only."""
    lists = to_lists(form(ROWS.to_dict(orient="list")))
    with pytest.raises(ValueError, match="read-only"):
        lists.columns["propensity"][0] = 1
    assert lists.estimated.tolist() == [4.0, 3.0, 1.0, 2.0]
    assert lists.columns["propensity"].tolist() == [0.2, 0.4, 0.1, 0.3]
    assert lists.take(np.array([1])).columns["propensity"].tolist() == [0.1, 0.3]
    assert lists.pool.select_labelled(lists).columns["propensity"].tolist() == [0.2, 0.4, 0.1]


def test_it_is_read_from_files_and_under_other_names(tmp_path: Path) -> None:
    """Names that people are known to use, or that the caller gives."""
    path = tmp_path / "rows.csv"
    ROWS.rename(columns={"propensity": "exposure_probability"}).to_csv(path, index=False)
    with pytest.warns(DataWarning, match="Using exposure_probability as propensity"):
        lists = to_lists(path)
    assert lists.columns["propensity"].tolist() == [0.2, 0.4, 0.1, 0.3]
    frame = ROWS.rename(columns={"propensity": "p"})
    lists = RankedLists.from_frame(frame, columns={"propensity": "p"})._data
    assert lists.columns["propensity"].tolist() == [0.2, 0.4, 0.1, 0.3]
    assert "propensity" not in RankedLists.from_frame(frame)._data.columns


def test_it_is_merged_if_rows_repeat() -> None:
    """By the same rule."""
    frame = pd.concat([ROWS, ROWS.assign(propensity=0.9)])
    merged = RankedLists.from_frame(frame, duplicates="max")
    assert merged._data.columns["propensity"].tolist() == [0.9, 0.9, 0.9, 0.9]
    first = RankedLists.from_frame(frame, duplicates="first")
    assert first._data.columns["propensity"].tolist() == [0.2, 0.4, 0.1, 0.3]


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")  # the two share few items
@given(st.data(), st.sampled_from([3, 10, 1000]))
def test_it_is_joined_from_either_table(data: st.DataObject, block: int) -> None:
    """A label's values stay with its item, in the list or not; NaN without one."""
    pair = st.tuples(st.integers(0, 3), st.integers(0, 5))
    known, found = (data.draw(st.sets(pair, min_size=1)) for _ in range(2))
    labels = pd.DataFrame([*known], columns=["user", "item"])
    labels["true"] = labels["propensity"] = labels["user"] + labels["item"] / 10
    results = pd.DataFrame([*found], columns=["user", "item"]).assign(estimated=1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "_MAX_ROWS", block)
        lists = RankedLists.from_labels(labels, results)
    pairs = zip(lists.users[lists._data.user_of_row], np.asarray(lists.items), strict=True)
    expected = [user + item / 10 if (user, item) in known else np.nan for user, item in pairs]
    owner = np.repeat(lists.users, lists._data.n_unlisted)
    unlisted = owner + np.asarray(lists._data.item_ids)[lists.unlisted["item"]] / 10
    assert len(unlisted) == len(known - found)
    for name in ("true", "propensity"):
        np.testing.assert_array_equal(lists._data.columns[name], expected)
        assert lists.unlisted[name].tolist() == unlisted.tolist()
    lists = RankedLists.from_labels(labels, results.assign(propensity=0.5))
    assert set(lists._data.columns["propensity"]) == {0.5}
