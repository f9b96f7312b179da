"""What Spark refuses: the same as is refused in memory, in the same words, by user and item."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.errors import InvalidInputError, UnknownMetricError
from recsys_ndcg.scale import spark
from tests.scale import sessions
from tests.scale.cases import Case, predictions

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = sessions.marks()
FRAME = predictions(31, n_users=30, n_rows=300)
USER, ITEM = FRAME.loc[7, ["user", "item"]].astype(int)
PLACE = f"user {USER} item {ITEM}"


def _at_seven(column: str, value: Any) -> pd.DataFrame:
    """Return predictions with another value in one row."""
    changed = FRAME.astype({column: object}) if not isinstance(value, float) else FRAME.copy()
    changed.loc[7, column] = value
    return changed


def _again() -> pd.DataFrame:
    return pd.concat([FRAME, FRAME.iloc[[7]]], ignore_index=True)


def _joined(user: Any) -> dict[str, pd.DataFrame]:
    labels = pd.DataFrame({"user": [1, 1], "item": [1, 2], "true": [1.0, 0.0]})
    return {
        "labels": labels,
        "results": labels.rename(columns={"true": "estimated"}).assign(user=user),
    }


#: Data, options, and what both say; the last is what Spark says in place of rows.
SAME: list[tuple[str, Any, dict[str, Any], list[str], str]] = [
    ("a column is missing", FRAME.drop(columns="estimated"), {}, ["has no column 'estimated'"], ""),
    ("a column is called otherwise", FRAME, {"columns": {"true": "grade"}},
     ["has no column 'grade'; it has user, item, estimated, true"], ""),
    ("no column of ours", FRAME, {"columns": {"grade": "true"}},
     ["no column 'grade' to rename"], ""),
    ("text grades", FRAME.astype({"true": str}), {},
     ["true: text such as '", "; convert the column to numbers first."], " at user "),
    ("dates as grades", FRAME.assign(true=dt.date(2026, 1, 1)), {},
     ["true: ", "dates and times are no grades or scores, name the right column."], ""),
    ("a user is missing", FRAME.assign(user=FRAME["user"].where(FRAME.index != 7).astype("Int64")),
     {}, ["user: a missing id ", "; fill it in or leave the row out."],
     f"user None item {ITEM};"),
    ("an item is missing", FRAME.assign(item=FRAME["item"].where(FRAME.index != 7).astype("Int64")),
     {}, ["item: a missing id ", "; fill it in or leave the row out."],
     f"user {USER} item None;"),
    ("an estimate is NaN", _at_seven("estimated", np.nan), {},
     ["estimated: NaN ", "each must be a finite number: if a model diverged"], f" at {PLACE};"),
    ("an estimate is infinite", _at_seven("estimated", -np.inf), {},
     ["estimated: an infinite value ", "each must be a finite number"], f" at {PLACE};"),
    ("a grade is infinite", _at_seven("true", np.inf), {},
     ["true: an infinite grade ", "use NaN for an unlabelled item"], f" at {PLACE};"),
    ("a negative gain", _at_seven("true", -1.0), {},
     [f"true: the grade -1.0 ({PLACE}) has "], PLACE),
    ("a gain too large", _at_seven("true", 2000.0), {},
     [f"true: the grade 2000.0 ({PLACE}) has "], PLACE),
    ("no rows", FRAME.iloc[:0], {}, ["There are no rows in the predictions."], ""),
    ("no labels", {**_joined(1), "labels": _joined(1)["labels"].iloc[:0]}, {},
     ["There are no rows in the labels."], ""),
    ("no threshold", FRAME, {"metrics": ["ndcg", "precision"]},
     ["precision@10 needs to know which items are relevant: pass threshold=4.0"], ""),
    ("all grades alike", FRAME.assign(true=3.0), {},
     ["Every true value is 3.0 (", "build_anti_testset"], ""),
    ("no grades at all", FRAME.assign(true=np.nan), {}, ["No item has a true value"], ""),
    ("undefined", FRAME.assign(true=1.0 * (FRAME["user"] > FRAME["user"].min())),
     {"convention": rn.Convention(undefined="raise")}, ["undefined"], f"{FRAME['user'].min()}"),
    ("unlabelled", _at_seven("true", np.nan), {"convention": rn.Convention(unlabelled="raise")},
     [f"1 items have no true value, the first {PLACE}."], ""),
    ("repeats", _again(), {}, ["predictions: ", "choose duplicates="],
     f"user {USER} has the item {ITEM} twice"),
    ("ids of two types", _joined("1"), {},
     ["user: the labels have ids of type number (such as 1), the results of type text (such as ",
      "'1'). Make them the same type, or nothing will match."], ""),
    ("no ranks", {"labels": FRAME[:2], "results": FRAME[7:8].assign(rank=0.3)}, {},
     ["rank: 0.3, which is no rank, ", "ranks are 1 for the best item, 2, 3"], PLACE),
    ("no score", {**_joined(1), "results": _joined(1)["results"].drop(columns="estimated")}, {},
     ["The results have neither a column 'rank' nor 'estimated'"], ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("data", "options", "same", "place"), [one[1:] for one in SAME], ids=[one[0] for one in SAME]
)
def test_as_in_memory(
    data: Any,
    options: dict[str, Any],
    same: list[str],
    place: str,
    loaded: Callable[[pd.DataFrame], Any],
) -> None:
    """The same words, and no trace of Java."""
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


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"convention": rn.Convention(ties="input")}, "ties='input' goes by the order of the rows"),
        ({"convention": rn.Convention(duplicates="first")}, "duplicates='first' goes by the order"),
        ({"convention": rn.Convention(duplicates="last")}, "Choose 'max' or 'mean'"),
        ({"partitions": 0}, "partitions must be a whole number of at least 1, not 0."),
        ({"partitions": True}, "partitions must be a whole number of at least 1, not True."),
        ({"k": 0}, "k"),
    ],
)
def test_what_spark_alone_refuses(
    options: dict[str, Any], said: str, loaded: Callable[[pd.DataFrame], Any]
) -> None:
    """What goes by the order of the rows, and what is no number of partitions."""
    with pytest.raises(InvalidInputError, match=said):
        spark.evaluate(loaded(FRAME), **options)


def test_other_data(loaded: Callable[[pd.DataFrame], Any]) -> None:
    """What is no DataFrame of Spark, or not two of them; a metric that there is not."""
    for data, said in (
        (
            FRAME,
            "That is a DataFrame, no Spark DataFrame: give one, or {'labels': ",
        ),
        (
            {"labels": FRAME},
            "That is a dict, no Spark DataFrame: give one, or {'labels': ",
        ),
    ):
        with pytest.raises(InvalidInputError) as error:
            spark.evaluate(data)
        assert said in str(error.value)
    with pytest.raises(UnknownMetricError, match="ndgc"):
        spark.evaluate(loaded(FRAME), metrics="ndgc")


def test_names_that_spark_does_not_tell_apart(loaded: Callable[[pd.DataFrame], Any]) -> None:
    """User and user are two columns to pandas alone."""
    frame = loaded(FRAME).selectExpr("*", "user as User")
    with pytest.raises(InvalidInputError, match="'user' and 'User' differ in capitals at most"):
        spark.evaluate(frame)


def test_ids_that_are_lists(loaded: Callable[[pd.DataFrame], Any]) -> None:
    """They cannot be told apart, nor hashed."""
    frame = loaded(FRAME).selectExpr("array(user) as user", "item", "estimated", "true")
    with pytest.raises(InvalidInputError, match=r"user: an id is not hashable \(array<bigint>\)"):
        spark.evaluate(frame)
