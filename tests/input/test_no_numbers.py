"""Values that are not numbers are rejected in every form of data, with their row and a fix."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pytest

import recsys_ndcg as rn
from tests.errors import assert_rejected, rejects

USERS, ITEMS, NUMBERS = [1, 1, 1], [7, 8, 9], [3.0, 1.0, 2.0]
Numbers = list[Any]


def columns(estimated: Numbers, true: Numbers) -> dict[str, Numbers]:
    """Return the columns of predictions."""
    return {"user": USERS, "item": ITEMS, "estimated": estimated, "true": true}


def predictions(estimated: Numbers, true: Numbers) -> list[Any]:
    """Return predictions as Surprise does."""
    return [(u, i, t, e, {}) for u, i, e, t in zip(USERS, ITEMS, estimated, true, strict=True)]


def triples(numbers: Numbers) -> list[Any]:
    """Return rows of labels, or of results."""
    return list(zip(USERS, ITEMS, numbers, strict=True))


def supplied(estimated: Numbers, true: Numbers) -> rn.RankedLists:
    """Join labels with results, given as lists per user."""
    results = {1: list(zip(ITEMS, estimated, strict=True))}
    return rn.RankedLists.from_labels({1: dict(zip(ITEMS, true, strict=True))}, results)


FORMS: dict[str, Callable[[Numbers, Numbers], Any]] = {
    "rows of labels and results": lambda e, t: rn.RankedLists.from_labels(*map(triples, (t, e))),
    "labels and results": lambda e, t: rn.RankedLists.from_labels(columns(e, t), columns(e, t)),
    "rows": lambda e, t: rn.evaluate(list(zip(USERS, ITEMS, e, t, strict=True))),
    "frame": lambda e, t: rn.evaluate(pd.DataFrame(columns(e, t), dtype=object)),
    "single list": lambda e, t: rn.ndcg_at_k(list(zip(e, t, strict=True)), 2),
    "pairs": lambda e, t: rn.evaluate({1: list(zip(e, t, strict=True))}),
    "predictions": lambda e, t: rn.evaluate(predictions(e, t)), "lists per user": supplied,
    "columns": lambda e, t: rn.evaluate(columns(e, t)),
    "trec": lambda e, t: rn.RankedLists.from_trec(
        {"1": dict(zip("abc", t, strict=True))}, {"1": dict(zip("abc", e, strict=True))}
    ),
}  # fmt: skip
DATES = "dates and times are not grades or scores, name the right column"
DURATIONS = "durations are not grades or scores, name the right column"
COMPLEX = "complex numbers have no order, take .real"
BAD: list[tuple[Any, str]] = [
    (pd.Timestamp("2020-01-01"), DATES), (dt.date(2020, 1, 1), DATES),
    (np.datetime64("2020-01-01", "ns"), DATES), (pd.Timedelta("1s"), DURATIONS),
    (dt.timedelta(1), DURATIONS), (np.timedelta64(5, "ns"), DURATIONS),
    (1 + 0j, COMPLEX), (np.array(1 + 0j), COMPLEX),
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("column", ["estimated", "true"])
@pytest.mark.parametrize(("bad", "fix"), BAD, ids=lambda one: f"{type(one).__name__}")
def test_times_and_complex_numbers_are_rejected(form: str, column: str, bad: Any, fix: str) -> None:
    """NumPy would convert its own to floats."""
    given = {"estimated": NUMBERS, "true": NUMBERS, column: [3.0, bad, 2.0]}
    with rejects(rf"{column}.*, which is not a number, in row 1 \(counted from 0\); {fix}"):
        FORMS[form](given["estimated"], given["true"])


ARRAYS = [
    (np.array([(1,), (2,)], dtype=[("a", float)]), "name one of their fields"),
    (np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]"), DATES),
    (np.array([1, 2], dtype=np.complex64), COMPLEX), (np.array([1, 2], dtype="m8[ns]"), DURATIONS),
]  # fmt: skip


@pytest.mark.parametrize(("grades", "fix"), ARRAYS)
@pytest.mark.parametrize("masked", [False, True])
def test_arrays_of_other_types_are_rejected(grades: Any, fix: str, *, masked: bool) -> None:
    """Converted to a list, times would be whole numbers."""
    if masked:
        grades = np.ma.array(grades, mask=[False, False])
    for act in (
        lambda: rn.evaluate({1: grades}),
        lambda: rn.ndcg_at_k(grades, 2),
        lambda: rn.RankedLists.from_arrays([1, 1], [7, 8], [2.0, 1.0], grades),
        lambda: rn.RankedLists.from_arrays([1, 1], [7, 8], grades, [2.0, 1.0]),
    ):
        assert_rejected(f"(true|estimated).*not a number.*{fix}", act)


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table, pd.DataFrame])
@pytest.mark.parametrize("grades", [[dt.timedelta(1)] * 2, [dt.date(2020, 1, 1)] * 2])
def test_columns_of_times_are_rejected_in_tables_of_every_library(make: Any, grades: Any) -> None:
    """Each library stores durations and dates in its own way."""
    data = {"user": [1, 1], "item": [7, 8], "estimated": [2.0, 1.0], "true": grades}
    with rejects("true.*not a number.*are not grades or scores, name the right column"):
        rn.evaluate(make(data))
