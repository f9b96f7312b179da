"""Spark raises the errors of `evaluate`, in the same words, with the user and the item."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.errors import InvalidInputError, UnknownMetricError
from recsys_ndcg.scale import spark
from tests.errors import assert_rejected
from tests.scale import sessions
from tests.scale.cases import Case, predictions

pytestmark = sessions.marks()
FRAME = predictions(31, n_users=30, n_rows=300)
USER, ITEM = FRAME.loc[7, ["user", "item"]].astype(int)
PLACE = f"user {USER} item {ITEM}"


def _at_seven(column: str, value: Any) -> pd.DataFrame:
    """Return predictions with another value in one row."""
    changed = FRAME.astype({column: object}) if not isinstance(value, float) else FRAME.copy()
    changed.loc[7, column] = value
    return changed


LABELS = pd.DataFrame({"user": [1, 1], "item": [1, 2], "true": [1.0, 0.0]})
RESULTS = LABELS.rename(columns={"true": "estimated"})
#: Data, options, and parts of both messages; the last is what Spark names in place of rows.
SAME: list[tuple[str, Any, dict[str, Any], list[str], str]] = [
    ("a column is called otherwise", FRAME, {"columns": {"true": "grade"}},
     ["has no column 'grade'; it has user, item, estimated, true"], ""),
    ("text grades", FRAME.astype({"true": str}), {},
     ["true: text such as '", "; convert the column to numbers first."], " at user "),
    ("dates as grades", FRAME.assign(true=dt.date(2026, 1, 1)), {},
     ["true: ", "dates and times are not grades or scores, name the right column."], ""),
    ("a user is missing", FRAME.assign(user=FRAME["user"].where(FRAME.index != 7).astype("Int64")),
     {}, ["user: a missing id ", "; fill it in or leave the row out."],
     f"user None item {ITEM};"),
    ("an estimate is NaN", _at_seven("estimated", np.nan), {},
     ["estimated: NaN ", "each must be a finite number: if a model diverged"], f" at {PLACE};"),
    ("a negative gain", _at_seven("true", -1.0), {},
     [f"true: the grade -1.0 ({PLACE}) has "], PLACE),
    ("no rows", FRAME.iloc[:0], {}, ["There are no rows in the predictions."], ""),
    ("unlabelled", _at_seven("true", np.nan), {"convention": rn.Convention(unlabelled="raise")},
     [f"1 items have no true value, the first {PLACE}."], ""),
    ("repeats", pd.concat([FRAME, FRAME.iloc[[7]]], ignore_index=True), {},
     ["predictions: ", "Remove them, or merge them: "],
     f"user {USER} has the item {ITEM} twice"),
    ("ids of two types", {"labels": LABELS, "results": RESULTS.assign(user="1")}, {},
     ["user: the labels have ids of type number (such as 1), the results of type text (such as ",
      "'1'). Make them the same type, or nothing will match."], ""),
    ("no ranks", {"labels": FRAME[:2], "results": FRAME[7:8].assign(rank=0.3)}, {},
     ["rank: 0.3, which is not a rank, ", "ranks are 1 for the best item, 2, 3"], PLACE),
]  # fmt: skip


@pytest.mark.parametrize("case", SAME, ids=[one[0] for one in SAME])
def test_errors_are_those_of_evaluate(
    case: tuple[str, Any, dict[str, Any], list[str], str], loaded: sessions.Load
) -> None:
    """The same words, and no trace of Java."""
    _, data, options, same, place = case
    frame = {k: loaded(v) for k, v in data.items()} if isinstance(data, dict) else loaded(data)
    with pytest.raises(InvalidInputError) as ours:
        spark.evaluate(frame, partitions=2, **options)
    with pytest.raises(InvalidInputError) as theirs:
        Case("", data, options).local()
    for part in same:
        assert part in str(ours.value)
        assert part in str(theirs.value)
    assert place in str(ours.value)
    assert " in row " not in str(ours.value)
    assert "Py4J" not in repr(ours.value.__cause__)


OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"convention": rn.Convention(ties="input")}, "ties='input' depends on the order of the"),
    ({"convention": rn.Convention(duplicates="first")}, "='first' depends on the order"),
    ({"convention": rn.Convention(duplicates="last")}, "Choose 'max' or 'mean'"), ({"k": 0}, "k"),
    ({"partitions": 0}, "partitions must be a whole number of at least 1, not 0."),
    ({"partitions": True}, "partitions must be a whole number of at least 1, not True."),
]  # fmt: skip


@pytest.mark.parametrize(("options", "message"), OPTIONS)
def test_options_that_spark_does_not_have_raise(
    options: dict[str, Any], message: str, loaded: sessions.Load
) -> None:
    """Those that depend on the order of the rows, and invalid numbers of partitions."""
    assert_rejected(message, spark.evaluate, loaded(FRAME), **options)


def test_other_data_raises(loaded: sessions.Load) -> None:
    """What is not a DataFrame of Spark, or not two of them; an unknown metric."""
    for data, kind in ((FRAME, "DataFrame"), ({"labels": FRAME}, "dict")):
        match = f"{kind} is not a Spark DataFrame. Use recsys_ndcg.evaluate for other data"
        assert_rejected(match, spark.evaluate, data, whole=False)
    with pytest.raises(UnknownMetricError, match="ndgc"):
        spark.evaluate(loaded(FRAME), metrics="ndgc")


def test_columns_that_differ_in_capitals_raise(loaded: sessions.Load) -> None:
    """User and user are two columns to pandas, but not to Spark."""
    frame = loaded(FRAME).selectExpr("*", "user as User")
    assert_rejected("'User' differ only in upper and lower", spark.evaluate, frame)


def test_ids_that_are_lists_raise(loaded: sessions.Load) -> None:
    """They have no hash."""
    frame = loaded(FRAME).selectExpr("array(user) as user", "item", "estimated", "true")
    assert_rejected("user: ids of type array<bigint> are not hashable", spark.evaluate, frame)
