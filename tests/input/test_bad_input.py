"""Bad data is rejected with a message: what was found, where, and how to fix it."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recsys_ndcg as rn
from tests.errors import assert_rejected, rejects

OK: list[tuple[Any, Any, Any, Any]] = [
    ("a", "x", 3.0, 4), ("a", "y", 2.0, 1), ("b", "x", 1.0, 5), ("b", "y", 2.0, 3),
]  # fmt: skip
FRAME = pd.DataFrame(OK, columns=["user", "item", "estimated", "true"])
LABELS = pd.DataFrame({"user": [1, 1, 2], "item": [10, 11, 10], "true": [4, 1, 5]})
NO_ROWS: list[Any] = [[], {}, (), FRAME[:0], pl.from_pandas(FRAME[:0]), iter(OK[:0])]
RESULTS = pd.DataFrame({"user": [1, 1, 2], "item": [10, 12, 11], "rank": [1, 2, 1]})


def join(labels: Any = LABELS, results: Any = RESULTS, **options: Any) -> rn.Report:
    """Evaluate labels and results."""
    return rn.evaluate(rn.RankedLists.from_labels(labels, results), **options)


@pytest.mark.parametrize(
    ("estimate", "match"),
    [
        (math.nan, "estimated: NaN in row 1 .*finite"),
        (math.inf, "estimated: an infinite value in row 1 "),
        ("3.5", "estimated: text such as '3.5' in row 1 .*convert"),
        ([1.0], "estimated.*not a number"),
    ],
)
def test_an_estimate_that_is_not_a_finite_number_is_rejected_with_its_row(
    estimate: Any, match: str
) -> None:
    """Also None and text, which come from a table read carelessly."""
    assert_rejected(match, rn.evaluate, [OK[0], ("a", "y", estimate, 1), *OK[2:]])


HUGE = 10**400
FORMS: dict[str, Any] = {
    "qrels": lambda x: rn.RankedLists.from_trec({"1": {"c": 1, "d": x}}, {"1": {"d": 1}}),
    "run": lambda x: rn.RankedLists.from_trec({"1": {"d": 1}}, {"1": {"c": 1, "d": x}}),
    "ranks": lambda x: join(results={"user": [1, 1], "item": [10, 12], "rank": [1, x]}),
    "rows": lambda x: [("a", "x", 3.0, 4), ("a", "y", 2.0, x)],
    "pairs": lambda x: {"a": [(3.0, 4), (2.0, x)]},
    "grades": lambda x: {"a": [4, x]},
    "columns": lambda x: {"user": ["a", "a"], "item": [1, 2], "estimated": [3, 2], "true": [1, x]},
    "predictions": lambda x: [("a", "x", 4, 3.0, {}), ("a", "y", x, 2.0, {})],
}


@pytest.mark.parametrize("huge", [HUGE, -HUGE, 10**5000], ids=["10^400", "-10^400", "10^5000"])
@pytest.mark.parametrize("form", FORMS)
def test_a_number_that_fits_no_float_is_rejected_with_its_row(form: str, huge: int) -> None:
    """Python has longer integers, and does not print those of more than 4300 digits."""
    with rejects("(true|estimated|qrels|run|rank).*: a number beyond 1.8e308 in row 1 "):
        rn.evaluate(FORMS[form](huge))


@pytest.mark.parametrize("huge", [HUGE, 10**5000], ids=["10^400", "10^5000"])
@pytest.mark.parametrize(
    ("act", "match"),
    [
        (lambda x: rn.evaluate(OK, threshold=x), "threshold must be a finite number"),
        (lambda x: rn.evaluate(OK, k=x), "k must be a whole number"),
        (lambda x: rn.evaluate(OK, metrics=f"ndcg@{'9' * x.bit_length()}"), "k must be|not a num"),
        (lambda x: rn.evaluate(OK).intervals(x), "level must be between 0 and 1"),
        (lambda x: rn.Convention(tie_tolerance=x), "tie_tolerance must be a finite number"),
        (lambda x: rn.Convention(gain={0: 0, 1: x}), "gain must map"),
        (lambda x: rn.Convention(undefined=x), "undefined must be one of"),
    ],
)
def test_an_option_that_fits_no_float_is_rejected(
    act: Callable[[int], Any], match: str, huge: int
) -> None:
    """Whether or not Python can print it."""
    assert_rejected(match, act, huge)


def test_a_message_shows_the_first_rows_and_counts_the_others() -> None:
    """A diverged model gives NaN everywhere; the message stays short."""
    with rejects(r"estimated: NaN in rows? 0, 1, 2 and 1 more"):
        rn.evaluate(FRAME.assign(estimated=math.nan))


@pytest.mark.parametrize(
    ("grade", "match"),
    [
        ("4", "true: text such as '4' in row 0 .*convert"),
        (b"4", "true: text such as b'4' in row 0 "),
        (math.inf, "true: an infinite grade in row 0 "),
        (-1, "grade -1.0 .*user 'a' item 'x'.* negative gain"),
        (1024, "grade 1024.0 .*user 'a' item 'x'.* too large .*=Convention\\(gain='linear'\\)"),
        ({"stars": 4}, "true.*not a number"),
    ],
)
def test_a_grade_without_a_usable_gain_is_rejected(grade: Any, match: str) -> None:
    """The message shows the grade, the user and the item."""
    assert_rejected(match, rn.evaluate, [("a", "x", 3.0, grade), *OK[1:]])


@pytest.mark.parametrize("gain", ["exponential", "linear"])
def test_gains_whose_sum_overflows_are_rejected(gain: str) -> None:
    """Each gain is finite, but the ideal DCG is infinite and the score would be NaN."""
    top = 1023.0 if gain == "exponential" else 1.7e308
    rows = [("a", item, 5.0 - item, top) for item in range(3)]
    with rejects("too large"):
        rn.evaluate([*rows, ("a", 3, 0.0, 1)], convention=rn.Convention(gain=gain))


@pytest.mark.parametrize(
    ("act", "match"),
    [
        *((partial(rn.evaluate, data), "no rows") for data in NO_ROWS),
        (lambda: join(LABELS[:0]), "no rows|no entries|empty"),
        (lambda: join(results=RESULTS[:0]), "no rows"),
        (lambda: rn.evaluate({"a": [(1, 2)], "b": []}), "User 'b' has an empty list"),
        (lambda: rn.RankedLists.from_trec({}, {}), "no entries"),
        (lambda: rn.evaluate(FRAME.assign(true=math.nan)), "No item has a true value"),
        (
            lambda: rn.evaluate(FRAME.assign(true=2.95)),
            r"Every true value is 2\.95 \(4 rows, 2 users\).*build_anti_testset",
        ),
        (
            lambda: join(LABELS.assign(true=[math.inf, 1, 2]), metrics="precision@1", threshold=3),
            "true: an infinite grade in row 0",
        ),
    ],
)
def test_data_without_information_is_rejected(act: Callable[[], Any], match: str) -> None:
    """No rows, no labels, or the mean that Surprise's build_anti_testset() fills in."""
    assert_rejected(match, act)


@pytest.mark.parametrize(
    ("data", "match"),
    [
        ([OK[0], ("a", "y", 3.0)], r"Row 1 .*\('a', 'y', 3\.0\).*\(user, item, estimated, true\)"),
        ([OK[0], ("a", "y", 3.0, 4, {})], "Row 1 .*user, item, estimated, true"),
        ([("a", "x", 4, 3.0, {}), OK[1]], "Row 1 .*uid, iid, r_ui, est"),
        ([FRAME.to_dict("records")[0], OK[1]], "Row 0 .*each must be"),
        ({"a": [(1, 2, 3)]}, r"\(1, 2, 3\).*each must be \(estimated, true\)"),
        ({"a": [1, (2, 3)]}, "'a' has the entry .2, 3., and the first one is 1; each must be"),
        ([[3, 1, 2, 0, 2], [0, 1, 2, 3, 4]], r"Row 0 .*\(user, item, estimated, true\)"),
        ({"a": 3}, r"'a'.*\(estimated, true\)"),
        (None, "Cannot read a NoneType"),
        (FRAME["user"], "Cannot read a Series"),
        ({"user": [1, 1], "item": [1, 2], "estimated": [1.0], "true": [1, 2]}, "lengths.*: 1"),
        ({"user": [1, 1], "item": [1, 2], "estimated": np.ones((2, 1)), "true": [1, 2]},
         "estimated.*dimension"),
        ({"user": np.ones((2, 2)), "item": [1, 2], "estimated": [1, 2], "true": [1, 2]},
         "user.*dimension"),
        ({"user": 1, "item": 2, "estimated": 1.0, "true": 2}, "user.*(column|list|sequence)"),
        ({"user": "ab", "item": [1, 2], "estimated": [1, 2], "true": [1, 2]}, "user.*text"),
    ],
)  # fmt: skip
def test_data_of_another_shape_is_rejected(data: Any, match: str) -> None:
    """The message shows the row that differs and the form that it should have."""
    assert_rejected(match, rn.evaluate, data)


@pytest.mark.parametrize(
    ("act", "match"),
    [
        (lambda: rn.evaluate([*OK, OK[1]]), "has the item .*=Convention.duplicates='max'."),
        (lambda: join(pd.concat([LABELS, LABELS])), "labels: user .* twice .*3 such repeats"),
        (lambda: join(results=pd.concat([RESULTS, RESULTS])), "results: user .* has the item "),
        (lambda: rn.jaccard_at_k([*OK, OK[0]], OK, 2), "has the item .* twice or more"),
        (lambda: rn.RankedLists.from_tuples(OK, duplicates="frist"), "Did you mean 'first'"),
    ],
)
def test_a_repeated_user_and_item_is_rejected(act: Callable[[], Any], match: str) -> None:
    """Counted twice, an item would score above 1."""
    assert_rejected(match, act)


@pytest.mark.parametrize("column", ["user", "item"])
@pytest.mark.parametrize("missing", [None, math.nan, pd.NA, pd.NaT])
def test_a_missing_id_is_rejected(column: str, missing: Any) -> None:
    """Otherwise all rows without a user would become one user."""
    ids = [missing, *FRAME[column][1:]]
    with rejects(f"{column}: a missing id in row 0 "):
        rn.evaluate({**FRAME.to_dict("list"), column: ids})


def test_an_id_that_is_not_hashable_is_rejected() -> None:
    """A list as an id comes from a column that was not exploded."""
    assert_rejected("user: an id is not hashable", rn.evaluate, [(["a"], "x", 3.0, 4), *OK])
    assert_rejected("iid: an id is not hashable", rn.evaluate, [("a", ["x"], 4.0, 3.0, {})])


@pytest.mark.parametrize("column", ["user", "item"])
def test_ids_of_different_types_in_two_tables_are_rejected(column: str) -> None:
    """The most common silent zero: "1" in the file, 1 in the model."""
    match = rf"{column}: the labels .*number \(such as \d+\), the results .*text \(such as '\d+'\)"
    assert_rejected(match, join, results=RESULTS.astype({column: str}))
    with rejects("(text|str).*(number|int)|(number|int).*(text|str)"):
        rn.jaccard_at_k([("1", 7, 3.0, 4)], [(1, 7, 3.0, 4)], 1)


@pytest.mark.parametrize(
    ("act", "match"),
    [
        (lambda: rn.evaluate(FRAME.drop(columns="true")), "no column 'true'; it has user, item, e"),
        (lambda: rn.evaluate(pl.from_pandas(FRAME).drop("item")), "no column 'item'; it has user"),
        (lambda: rn.evaluate(pd.DataFrame(OK)), "no column 'user'; it has 0, 1, 2, 3"),
        (lambda: rn.evaluate(FRAME, columns={"estimated": "est"}), "no column 'est'; it has user"),
        (lambda: rn.evaluate(FRAME, columns={"estimate": "est"}), "Did you mean 'estimated'"),
        (lambda: rn.evaluate(OK, columns={"user": "uid"}), "not a table"),
        (lambda: rn.evaluate(pd.concat([FRAME, FRAME], axis=1)), "'user'.*(twice|2 times|once)"),
        (lambda: join(results=RESULTS.drop(columns="rank")), "neither.*'rank' nor 'estimated'"),
        (lambda: join(LABELS.drop(columns="item")), "no column 'item'; it has user, true"),
        (lambda: join(results=RESULTS.assign(rank=[1, math.nan, 1])), "rank.*row 1"),
        (lambda: rn.jaccard_at_k({"a": [(1.5, 2)]}, OK, 1), "no item ids"),
        (lambda: rn.RankedLists.from_trec({"t": [("a", 1)]}, {"t": {"a": 1.0}}), "'t'"),  # type: ignore[dict-item]
    ],
)
def test_a_missing_column_is_rejected_with_the_columns_of_the_table(
    act: Callable[[], Any], match: str
) -> None:
    """A renamed column is the usual cause."""
    assert_rejected(match, act)


@pytest.mark.parametrize(
    ("columns", "match"),
    [(5, "columns must map .*not 5"), ({"user": ["a"]}, "columns: user is the name of one column")],
)
@pytest.mark.parametrize("data", [FRAME, FRAME.to_dict("list")])
def test_columns_that_are_not_names_are_rejected(data: Any, columns: Any, match: str) -> None:
    """Before a table looks them up: each library would raise another error."""
    assert_rejected(match, rn.evaluate, data, columns=columns)
