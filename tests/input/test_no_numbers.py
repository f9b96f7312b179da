"""What is no number is refused at every door, with its row and what to do."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pytest

import recsys_ndcg as rn
from tests.errors import rejects

if TYPE_CHECKING:
    from collections.abc import Callable

USERS, ITEMS, NUMBERS = [1, 1, 1], [7, 8, 9], [3.0, 1.0, 2.0]
Numbers = list[Any]


def columns(estimated: Numbers, true: Numbers) -> dict[str, Numbers]:
    """Return the columns of predictions."""
    return {"user": USERS, "item": ITEMS, "estimated": estimated, "true": true}


def predictions(estimated: Numbers, true: Numbers) -> list[Any]:
    """Return them as Surprise does."""
    return [(u, i, t, e, {}) for u, i, e, t in zip(USERS, ITEMS, estimated, true, strict=True)]


def supplied(estimated: Numbers, true: Numbers) -> rn.RankedLists:
    """Join labels with results, each a list of a user."""
    results = {1: list(zip(ITEMS, estimated, strict=True))}
    return rn.RankedLists.from_labels({1: dict(zip(ITEMS, true, strict=True))}, results)


DOORS: dict[str, Callable[[Numbers, Numbers], Any]] = {
    "rows": lambda e, t: rn.evaluate(list(zip(USERS, ITEMS, e, t, strict=True))),
    "pairs": lambda e, t: rn.evaluate({1: list(zip(e, t, strict=True))}),
    "one list": lambda e, t: rn.ndcg_at_k(list(zip(e, t, strict=True)), 2),
    "predictions": lambda e, t: rn.evaluate(predictions(e, t)),
    "from_surprise": lambda e, t: rn.RankedLists.from_surprise(predictions(e, t)),
    "frame": lambda e, t: rn.evaluate(pd.DataFrame(columns(e, t), dtype=object)),
    "columns": lambda e, t: rn.evaluate(columns(e, t)),
    "arrays": lambda e, t: rn.RankedLists.from_arrays(USERS, ITEMS, e, t),
    "labels and results": lambda e, t: rn.RankedLists.from_labels(columns(e, t), columns(e, t)),
    "rows of labels and results": lambda e, t: rn.RankedLists.from_labels(
        list(zip(USERS, ITEMS, t, strict=True)), list(zip(USERS, ITEMS, e, strict=True))
    ),
    "lists per user": supplied,
    "trec": lambda e, t: rn.RankedLists.from_trec(
        {"1": dict(zip("abc", t, strict=True))}, {"1": dict(zip("abc", e, strict=True))}
    ),
}  # fmt: skip
DATES = "dates and times are no grades or scores, name the right column"
DURATIONS = "durations are no grades or scores, name the right column"
COMPLEX = "complex numbers have no order, take .real"
BAD: list[tuple[Any, str]] = [
    (pd.Timestamp("2020-01-01"), DATES),
    (dt.datetime(2020, 1, 1), DATES),  # noqa: DTZ001
    (dt.date(2020, 1, 1), DATES),
    (dt.time(1), DATES),
    (np.datetime64("2020-01-01"), DATES),
    (np.datetime64("2020-01-01", "ns"), DATES),
    (pd.Period("2020"), DATES),
    (pd.Timedelta("1s"), DURATIONS),
    (dt.timedelta(1), DURATIONS),
    (np.timedelta64(5), DURATIONS),
    (np.timedelta64(5, "ns"), DURATIONS),
    (1 + 0j, COMPLEX),
    (np.complex64(1), COMPLEX),
    (np.complex128(1), COMPLEX),
    (np.array(1 + 0j), COMPLEX),
]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("column", ["estimated", "true"])
@pytest.mark.parametrize(("bad", "advice"), BAD, ids=lambda one: f"{type(one).__name__}")
def test_times_and_complex_numbers_are_refused(
    door: str, column: str, bad: Any, advice: str
) -> None:
    """NumPy makes floats of its own, which would be ranked as large grades, or by a half."""
    given = {"estimated": NUMBERS, "true": NUMBERS, column: [3.0, bad, 2.0]}
    said = {"trec": {"estimated": "run", "true": "qrels"}}.get(door, {}).get(column, column)
    with rejects(rf"{said}.*, which is not a number, in row 1 \(counted from 0\); {advice}"):
        DOORS[door](given["estimated"], given["true"])


@pytest.mark.parametrize(
    ("grades", "advice"),
    [
        (np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]"), DATES),
        (np.array([1, 2], dtype="m8[ns]"), DURATIONS),
        (np.array([1, 2], dtype=np.complex64), COMPLEX),
        (np.array([(1,), (2,)], dtype=[("a", float)]), "name one of their fields"),
    ],
    ids=["dates", "durations", "complex", "records"],
)
@pytest.mark.parametrize("masked", [False, True])
def test_arrays_of_them_are_refused_wherever_they_stand(
    grades: Any, advice: str, *, masked: bool
) -> None:
    """A list of a user or of its own, whose entries Python has as whole numbers."""
    if masked:
        grades = np.ma.array(grades, mask=[False, False])
    for act in (
        lambda: rn.evaluate({1: grades}),
        lambda: rn.ndcg_at_k(grades, 2),
        lambda: rn.RankedLists.from_arrays([1, 1], [7, 8], [2.0, 1.0], grades),
        lambda: rn.RankedLists.from_arrays([1, 1], [7, 8], grades, [2.0, 1.0]),
    ):
        with rejects(f"(true|estimated).*not a number.*{advice}"):
            act()


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table, pd.DataFrame])
@pytest.mark.parametrize(
    "grades", [[dt.timedelta(1), dt.timedelta(2)], [dt.date(2020, 1, 1), dt.date(2020, 1, 2)]]
)
def test_columns_of_them_are_refused_in_tables_of_every_library(make: Any, grades: Any) -> None:
    """Durations and dates, which each library holds in its way."""
    data = {"user": [1, 1], "item": [7, 8], "estimated": [2.0, 1.0], "true": grades}
    with rejects("true.*not a number.*are no grades or scores, name the right column"):
        rn.evaluate(make(data))


def test_text_in_a_column_of_pyarrow_is_no_number() -> None:
    """Its scalars would become floats."""
    data = {"user": [1, 1], "item": [7, 8], "estimated": [2.0, 1.0], "true": pa.array(["1", "2"])}
    with rejects("true: text such as '1' in rows? 0"):
        rn.evaluate(data)


FIRST: tuple[Any, ...] = ("ann", "x", 4.0, 3.5, {})


@pytest.mark.parametrize(
    ("later", "match"),
    [
        (("ann", "y", 4.0, "3.5", {}), r"estimated \(est\): text such as '3.5' in row 1 .*convert"),
        (("ann", "y", "4", 3.5, {}), r"true \(r_ui\): text such as '4' in row 1 .*convert"),
        ("ann,y", r"Row 1 \(counted from 0\) is 'ann,y'; each must be \(uid, iid, r_ui, est"),
        (("ann", "y", 4.0, 3.5), r"Row 1 .*each must be \(uid"),
        (("ann", "y", 4.0, 3.5, 9.0, {}), r"Row 1 .*each must be \(uid"),
        ({"uid": "ann", "iid": "y", "r_ui": 4.0, "est": 3.5, "details": {}}, "Row 1 .*each must"),
        ({1, 2, 3, 4, 5}, "Row 1 .*each must"),
        (None, "Row 1 .*is None; each must"),
        (("ann", "y", 4.0, 3.5, 7), "Row 1 .*its details must be a dict"),
        (("ann", "y", [4.0], 3.5, {}), r"true \(r_ui\): \[4.0\], which is not a number, in row 1"),
    ],
)
def test_a_later_row_that_is_no_prediction_is_refused(later: Any, match: str) -> None:
    """With its row; that of one entry more was read from its second entry on."""
    for act in (rn.evaluate, rn.RankedLists.from_surprise):
        with rejects(match):
            act([FIRST, later])


@pytest.mark.parametrize("later", [{1, 2, 3, 4}, {"a": 1, "b": 2, "c": 3, "d": 4}, "abcd", 5])
def test_a_later_row_that_is_no_row_is_refused(later: Any) -> None:
    """Its length alone says nothing."""
    with rejects(r"Row 1 .*each must be \(user, item, estimated, true\)"):
        rn.evaluate([("ann", "x", 3.5, 4.0), later])
