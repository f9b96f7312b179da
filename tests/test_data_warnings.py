"""What is legal but deceptive is told once, with counts, where the caller's own line is."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn


def told(data: Any, **options: Any) -> list[warnings.WarningMessage]:
    """Return the warnings that an evaluation gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rn.evaluate(data, **options)
    assert all(one.category is rn.DataWarning for one in caught)
    return list(caught)


def rows(n_users: int, n_items: int, *, seed: int = 0) -> pd.DataFrame:
    """Return distinct estimates and varied grades."""
    draw = np.random.default_rng(seed)
    user, item = np.divmod(np.arange(n_users * n_items), n_items)
    true = draw.integers(1, 6, len(user)).astype(float)
    frame = {"user": user, "item": item, "estimated": draw.normal(3, 1, len(user)), "true": true}
    return pd.DataFrame(frame)


def test_ordinary_data_gives_no_warning() -> None:
    """Else nobody would read the others."""
    assert told(rows(20, 5), k=3, threshold=4) == []


def test_estimates_at_a_bound_of_the_scale_are_counted() -> None:
    """A model given the wrong rating_scale predicts its top for most items."""
    frame = rows(20, 5)
    frame.loc[frame.index[:60], "estimated"] = 7.0
    first, *others = told(frame, convention=rn.Convention(ties="input"), metrics="rmse")
    assert "60.0% of the estimates are exactly 7.0" in str(first.message)
    assert "1.0 to 5.0" in str(first.message)
    assert "rating_scale" in str(first.message)
    assert not others


@pytest.mark.parametrize(("at_bound", "expected"), [(50, 0), (51, 1)])
def test_half_of_the_estimates_at_a_bound_is_not_most(at_bound: int, expected: int) -> None:
    """Of 100 rows, at the lower bound."""
    frame = rows(20, 5)
    frame.loc[frame.index[:at_bound], "estimated"] = -9.0
    assert len(told(frame, metrics="rmse")) == expected


def test_lists_of_one_item_are_counted() -> None:
    """Any order of one item is perfect."""
    frame = pd.concat([rows(8, 1), rows(4, 5).assign(user=lambda one: one["user"] + 100)])
    (only,) = told(frame)
    assert "8 of 12 users have one item" in str(only.message)


def test_a_tie_range_that_reaches_the_third_decimal_is_told_with_its_ends() -> None:
    """The score depends on an order that nobody chose."""
    (only,) = told({"a": [(2, 5), (2, 1)], "b": [(2, 5), (1, 4)]})
    best = (1 + 1) / 2
    worst = ((1 + 31 / np.log2(3)) / (31 + 1 / np.log2(3)) + 1) / 2
    assert f"open between {worst:.4f} and {best:.4f}" in str(only.message)


def test_a_tie_between_equal_grades_is_not_worth_a_warning() -> None:
    """Every order of it scores the same."""
    assert told({"a": [(2, 5), (2, 5), (1, 3)], "b": [(2, 5), (1, 4)]}) == []


def test_users_of_one_table_only_are_told_at_the_join() -> None:
    """Every score is 0, most likely because the ids were numbered anew."""
    labels = pd.DataFrame({"user": [1, 1], "item": [1, 2], "true": [4, 1]})
    results = pd.DataFrame({"user": [7, 7], "item": [1, 2], "rank": [1, 2]})
    with pytest.warns(rn.DataWarning, match="No user of the results is among the labels") as found:
        rn.RankedLists.from_labels(labels, results)
    assert len(found) == 1


def test_a_warning_points_at_the_callers_line() -> None:
    """Not into the package."""
    (only,) = told({"a": [(2, 5), (2, 1)], "b": [(2, 5), (1, 4)]})
    assert Path(only.filename) == Path(__file__)
    labels = pd.DataFrame({"user": [1, 1], "item": [1, 2], "true": [4, 1]})
    with pytest.warns(rn.DataWarning) as found:
        rn.RankedLists.from_labels(labels, labels.assign(user=7, rank=[1, 2]))
    assert Path(found[0].filename) == Path(__file__)


def test_reading_the_report_gives_no_further_warning() -> None:
    """Once is enough, also for warnings as errors."""
    with pytest.warns(rn.DataWarning):
        report = rn.evaluate({"a": [(2, 5), (2, 1)], "b": [(2, 5), (1, 4)]}, k=2, threshold=4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert str(report)
        assert len(report.summary) == 3
        assert report.counts["tied"] == 1
