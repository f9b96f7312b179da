"""Bad data is rejected with a message: what was found, where, and how to fix it."""

from __future__ import annotations

import math
from collections.abc import Callable
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
RESULTS = pd.DataFrame({"user": [1, 1, 2], "item": [10, 12, 11], "rank": [1, 2, 1]})
#: Columns, of which a case replaces one.
PAIR: dict[str, Any] = {"user": [1, 1], "item": [1, 2], "estimated": [1, 2], "true": [1, 2]}


def join(labels: Any = LABELS, results: Any = RESULTS, **options: Any) -> rn.Report:
    """Evaluate labels and results."""
    return rn.evaluate(rn.RankedLists.from_labels(labels, results), **options)


def estimate(value: Any) -> Any:
    """Return predictions with this estimate in row 1."""
    return [OK[0], ("a", "y", value, 1), *OK[2:]]


def grade(value: Any) -> Any:
    """Return predictions with this grade in row 0."""
    return [("a", "x", 3.0, value), *OK[1:]]


EMPTY: list[Any] = [[], {}, (), FRAME[:0], pl.DataFrame(FRAME[:0]), iter(())]
DATA: list[tuple[Any, str]] = [
    *((empty, "no rows") for empty in EMPTY),
    # an estimate that is not a finite number; a diverged model gives NaN everywhere
    (estimate(math.inf), "estimated: an infinite value in row 1 .*finite"),
    (estimate("3.5"), "estimated: text such as '3.5' in row 1 .*convert"),
    (estimate([1.0]), "estimated.*not a number"),
    (FRAME.assign(estimated=math.nan), r"estimated: NaN in rows? 0, 1, 2 and 1 more"),
    # a grade without a usable gain
    (grade("4"), "true: text such as '4' in row 0 .*convert"),
    (grade(b"4"), "true: text such as b'4' in row 0 "),
    (grade(math.inf), "true: an infinite grade in row 0 "),
    (grade(-1), "grade -1.0 .*user 'a' item 'x'.* negative gain"),
    (grade(1024), r"grade 1024.0 .*user 'a' item 'x'.* too large .*=Convention\(gain='linear'\)"),
    # grades without information: 2.95 is the mean that Surprise's build_anti_testset() fills in
    ({"a": [(1, 2)], "b": []}, "User 'b' has an empty list"),
    (FRAME.assign(true=math.nan), "No item has a true value"),
    (FRAME.assign(true=2.95),
     r"Every true value is 2\.95 \(4 rows, 2 users\).*build_anti_testset"),
    # rows and columns of another shape: the row that differs, and the form that it should have
    ([OK[0], ("a", "y", 3.0)], r"Row 1 .*\('a', 'y', 3\.0\).*\(user, item, estimated, true\)"),
    ([OK[0], ("a", "y", 3.0, 4, {})], "Row 1 .*user, item, estimated, true"),
    ([("a", "x", 4, 3.0, {}), OK[1]], "Row 1 .*uid, iid, r_ui, est"),
    ([FRAME.to_dict("records")[0], OK[1]], "Row 0 .*each must be"),
    ({"a": [(1, 2, 3)]}, r"\(1, 2, 3\).*use only pairs \(estimated, true\)"),
    ({"a": [1, (2, 3)]}, "'a' has the entry .2, 3., and the first one is 1; use only pairs"),
    ([[3, 1, 2, 0, 2], [0, 1, 2, 3, 4]], r"Row 0 .*\(user, item, estimated, true\)"),
    ({"a": 3}, r"'a'.*\(estimated, true\)"),
    (None, "There is no data. Pass predictions, or labels= and results="),
    (FRAME["user"], "no columns 'item', 'estimated' and 'true'; it has index, user"),
    (PAIR | {"estimated": [1.0]}, "lengths.*: 1"),
    (PAIR | {"estimated": np.ones((2, 1))}, "estimated.*dimension"),
    (PAIR | {"user": np.ones((2, 2))}, "user.*dimension"),
    ({"user": 1, "item": 2, "estimated": 1.0, "true": 2}, "user.*(column|list|sequence)"),
    (PAIR | {"user": "ab"}, "user.*text"),
    # an item counted twice would score above 1
    ([*OK, OK[1]], "has the item .*=Convention.duplicates='max'."),
    # a list as an id comes from a column that was not exploded
    ([(["a"], "x", 3.0, 4), *OK], "user: an id is not hashable"),
    ([(["a"], "x", 4.0, 3.0, {})], "uid: an id is not hashable"),
    ([("a", ["x"], 4.0, 3.0, {})], "iid: an id is not hashable"),
    # a renamed column: the columns of the table
    (FRAME.drop(columns="true"), "no column 'true'; it has user, item, e"),
    (pd.DataFrame(OK), "no columns 'user', 'item', 'estimated' and 'true'; it has 0, 1, 2, 3"),
    (pd.concat([FRAME, FRAME], axis=1), "'user'.*(twice|2 times|once)"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "match"), DATA)
def test_bad_predictions_are_rejected(data: Any, match: str) -> None:
    """With the first bad row, or with what is there instead of the expected form."""
    assert_rejected(match, rn.evaluate, data)


ACTS: list[tuple[Callable[[], Any], str]] = [
    (lambda: join(LABELS[:0]), "no rows|no entries|empty"),
    (lambda: join(results=RESULTS[:0]), "no rows"),
    (lambda: rn.RankedLists.from_trec({}, {}), "no items in any list"),
    (lambda: join(LABELS.assign(true=[math.inf, 1, 2]), metrics="precision@1", threshold=3),
     "true: an infinite grade in row 0"),
    (lambda: join(pd.concat([LABELS, LABELS])), "labels: user .* twice .*3 such repeats"),
    (lambda: join(results=pd.concat([RESULTS, RESULTS])), "results: user .* has the item "),
    (lambda: rn.jaccard_at_k([*OK, OK[0]], OK, 2), "has the item .* twice or more"),
    (lambda: rn.RankedLists.from_tuples(OK, duplicates="frist"), "Did you mean 'first'"),
    (lambda: rn.evaluate(FRAME, columns={"estimated": "est"}), "no column 'est'; it has user"),
    (lambda: rn.evaluate(FRAME, columns={"estimate": "est"}), "Did you mean 'estimated'"),
    (lambda: rn.evaluate(OK, columns={"user": "uid"}), "not a table"),
    (lambda: join(results=RESULTS.drop(columns="rank")), "no column 'rank' or 'estimated'"),
    (lambda: join(results=RESULTS.assign(rank=[1, math.nan, 1])), "rank.*row 1"),
    (lambda: rn.jaccard_at_k({"a": [(1.5, 2)]}, OK, 1), "no item ids"),
    (lambda: rn.RankedLists.from_trec({"t": [("a", 1)]}, {"t": {"a": 1.0}}), "'t'"),  # type: ignore[dict-item]
]  # fmt: skip


@pytest.mark.parametrize(("act", "match"), ACTS)
def test_bad_labels_results_and_columns_are_rejected(act: Callable[[], Any], match: str) -> None:
    """With the name of the table, and with its columns."""
    assert_rejected(match, act)


HUGE = 10**400
FORMS: dict[str, Any] = {
    "columns": lambda x: {"user": ["a", "a"], "item": [1, 2], "estimated": [3, 2], "true": [1, x]},
    "qrels": lambda x: rn.RankedLists.from_trec({"1": {"c": 1, "d": x}}, {"1": {"d": 1}}),
    "run": lambda x: rn.RankedLists.from_trec({"1": {"d": 1}}, {"1": {"c": 1, "d": x}}),
    "ranks": lambda x: join(results={"user": [1, 1], "item": [10, 12], "rank": [1, x]}),
    "predictions": lambda x: [("a", "x", 4, 3.0, {}), ("a", "y", x, 2.0, {})],
    "rows": lambda x: [("a", "x", 3.0, 4), ("a", "y", 2.0, x)], "grades": lambda x: {"a": [4, x]},
    "pairs": lambda x: {"a": [(3.0, 4), (2.0, x)]},
}  # fmt: skip


@pytest.mark.parametrize("huge", [HUGE, -HUGE, 10**5000], ids=["10^400", "-10^400", "10^5000"])
@pytest.mark.parametrize("form", FORMS)
def test_a_number_that_fits_no_float_is_rejected_with_its_row(form: str, huge: int) -> None:
    """Python has longer integers, and does not print numbers of more than 4300 digits."""
    with rejects("(true|estimated|qrels|run|rank).*: a number beyond 1.8e308 in row 1 "):
        rn.evaluate(FORMS[form](huge))


OPTIONS: list[tuple[Callable[[int], Any], str]] = [
    (lambda x: rn.evaluate(OK, threshold=x), "threshold must be a finite number"),
    (lambda x: rn.evaluate(OK, k=x), "k must be a whole number"),
    (lambda x: rn.evaluate(OK, metrics=f"ndcg@{'9' * x.bit_length()}"), "k must be|not a num"),
    (lambda x: rn.evaluate(OK).intervals(x), "level must be between 0 and 1"),
    (lambda x: rn.Convention(tie_tolerance=x), "tie_tolerance must be a finite number"),
    (lambda x: rn.Convention(gain={0: 0, 1: x}), "gain must map"),
    (lambda x: rn.Convention(undefined=x), "undefined must be one of"),
]


@pytest.mark.parametrize("huge", [HUGE, 10**5000], ids=["10^400", "10^5000"])
@pytest.mark.parametrize(("act", "match"), OPTIONS)
def test_an_option_that_fits_no_float_is_rejected(act: Any, match: str, huge: int) -> None:
    """Whether or not Python can print it."""
    assert_rejected(match, act, huge)


def test_a_word_that_is_no_choice_is_rejected_with_the_choices() -> None:
    """Only a choice that is close is named again."""
    known = "^short_list must be one of 'k', 'n', 'drop', not "
    assert_rejected(rf"{known}'xyz'\.$", rn.Convention, short_list="xyz")
    assert_rejected(rf"{known}'dorp'\. Did you mean 'drop'\?$", rn.Convention, short_list="dorp")


@pytest.mark.parametrize("gain", ["exponential", "linear"])
def test_gains_whose_sum_overflows_are_rejected(gain: Any) -> None:
    """Each gain is finite, but the ideal DCG is infinite and the score would be NaN."""
    top = 1023.0 if gain == "exponential" else 1.7e308
    rows = [*(("a", item, 5.0 - item, top) for item in range(3)), ("a", 3, 0.0, 1)]
    assert_rejected("too large", rn.evaluate, rows, convention=rn.Convention(gain=gain))


@pytest.mark.parametrize("column", ["user", "item"])
@pytest.mark.parametrize("missing", [None, math.nan, pd.NA, pd.NaT])
def test_a_missing_id_is_rejected(column: str, missing: Any) -> None:
    """Otherwise all rows without a user would become one user."""
    ids = [missing, *FRAME[column][1:]]
    columns = FRAME.to_dict("list") | {column: ids}
    assert_rejected(f"{column}: a missing id in row 0 ", rn.evaluate, columns)


@pytest.mark.parametrize("column", ["user", "item"])
def test_ids_of_different_types_in_two_tables_are_rejected(column: str) -> None:
    """The most common silent zero: "1" in the file, 1 in the model."""
    match = rf"{column}: the labels .*number \(such as \d+\), the results .*text \(such as '\d+'\)"
    assert_rejected(match, join, results=RESULTS.astype({column: str}))
    with rejects("(text|str).*(number|int)|(number|int).*(text|str)"):
        rn.jaccard_at_k([("1", 7, 3.0, 4)], [(1, 7, 3.0, 4)], 1)


NO_NAMES: list[Any] = [
    (5, "columns must map .*not 5"),
    ({"user": [["a"]]}, "columns: user is the name of a column, or a list"),
    ({"user": []}, "columns: user is the name of a column, or a list"),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "match"), NO_NAMES)
@pytest.mark.parametrize("data", [FRAME, FRAME.to_dict("list")])
def test_columns_that_are_not_names_are_rejected(data: Any, columns: Any, match: str) -> None:
    """Before a table looks them up: each library would raise another error."""
    assert_rejected(match, rn.evaluate, data, columns=columns)
