"""Bad data is refused with a message that says what was found, where, and what to do."""

from __future__ import annotations

import datetime as dt
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recsys_ndcg as rn
from tests.errors import rejects

if TYPE_CHECKING:
    from collections.abc import Callable

OK: list[tuple[Any, Any, Any, Any]] = [
    ("a", "x", 3.0, 4), ("a", "y", 2.0, 1), ("b", "x", 1.0, 5), ("b", "y", 2.0, 3),
]  # fmt: skip
FRAME = pd.DataFrame(OK, columns=["user", "item", "estimated", "true"])
LABELS = pd.DataFrame({"user": [1, 1, 2], "item": [10, 11, 10], "true": [4, 1, 5]})
RESULTS = pd.DataFrame({"user": [1, 1, 2], "item": [10, 12, 11], "rank": [1, 2, 1]})


def join(labels: Any = LABELS, results: Any = RESULTS, **options: Any) -> rn.Report:
    """Evaluate labels and results."""
    return rn.evaluate(rn.RankedLists.from_labels(labels, results), **options)


@pytest.mark.parametrize(
    ("estimate", "match"),
    [
        (math.nan, "estimated: NaN in row 1 .*finite"),
        (None, "estimated: NaN in row 1 "),
        (math.inf, "estimated: an infinite value in row 1 "),
        (-math.inf, "estimated: an infinite value in row 1 "),
        ("3.5", "estimated: text such as '3.5' in row 1 .*convert"),
        (1j, "estimated.*not a number"),
        ([1.0], "estimated.*not a number"),
        (dt.datetime(2020, 1, 1), "estimated.*not a number"),  # noqa: DTZ001
    ],
)
def test_an_estimate_that_cannot_be_ranked_is_refused_with_its_row(
    estimate: Any, match: str
) -> None:
    """Also None, text and dates, which come from a table read carelessly."""
    with rejects(match):
        rn.evaluate([OK[0], ("a", "y", estimate, 1), *OK[2:]])


HUGE = 10**400
FORMS: dict[str, Any] = {
    "rows": lambda x: [("a", "x", 3.0, 4), ("a", "y", 2.0, x)],
    "estimates": lambda x: [("a", "x", 3.0, 4), ("a", "y", x, 1)],
    "pairs": lambda x: {"a": [(3.0, 4), (2.0, x)]},
    "grades": lambda x: {"a": [4, x]},
    "columns": lambda x: {"user": ["a", "a"], "item": [1, 2], "estimated": [3, 2], "true": [1, x]},
    "predictions": lambda x: [("a", "x", 4, 3.0, {}), ("a", "y", x, 2.0, {})],
    "estimates of predictions": lambda x: [("a", "x", 4, 3.0, {}), ("a", "y", 1, x, {})],
}


@pytest.mark.parametrize("huge", [HUGE, -HUGE, 10**5000], ids=["10^400", "-10^400", "10^5000"])
@pytest.mark.parametrize("form", FORMS)
def test_a_number_beyond_all_floats_is_refused_with_its_row(form: str, huge: int) -> None:
    """Python counts further than 64 bits, and writes no number of 4301 digits."""
    with rejects("(true|estimated).*: a number beyond 1.8e308 in row 1 "):
        rn.evaluate(FORMS[form](huge))


def test_a_number_beyond_all_floats_is_refused_in_trec_data_and_labels_too() -> None:
    """As a grade, a score and a rank."""
    with rejects("qrels: a number beyond 1.8e308 in row 0"):
        rn.RankedLists.from_trec({"1": {"d": HUGE}}, {"1": {"d": 1}})
    with rejects("run: a number beyond 1.8e308 in row 0"):
        rn.RankedLists.from_trec({"1": {"d": 1}}, {"1": {"d": HUGE}})
    with rejects("rank: a number beyond 1.8e308 in row 2"):
        join(results={"user": [1, 1, 2], "item": [10, 12, 11], "rank": [1, 2, HUGE]})


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
def test_an_option_beyond_all_floats_is_refused(
    act: Callable[[int], Any], match: str, huge: int
) -> None:
    """Whether or not Python can write it."""
    with rejects(match):
        act(huge)


def test_the_first_rows_of_many_are_named_and_the_rest_counted() -> None:
    """A diverged model gives NaN everywhere; the message stays short."""
    with rejects(r"estimated: NaN in rows? 0, 1, 2 and 1 more"):
        rn.evaluate(FRAME.assign(estimated=math.nan))


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_dates_in_place_of_estimates_are_refused_in_every_resolution(unit: str) -> None:
    """Pandas turns nanoseconds into whole numbers without being asked."""
    dates = np.array(["2020-01-01", "2020-01-02"] * 2, dtype=f"datetime64[{unit}]")
    with rejects("estimated.*not (a )?number"):
        rn.evaluate({**FRAME.to_dict("list"), "estimated": dates})


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
def test_a_grade_without_a_usable_gain_is_refused(grade: Any, match: str) -> None:
    """The message names the grade and who gave it."""
    with rejects(match):
        rn.evaluate([("a", "x", 3.0, grade), *OK[1:]])


@pytest.mark.parametrize("gain", ["exponential", "linear"])
def test_gains_whose_sum_does_not_fit_a_number_are_refused(gain: str) -> None:
    """Each gain is finite, but the ideal DCG is infinite and the score would be NaN."""
    top = 1023.0 if gain == "exponential" else 1.7e308
    rows = [("a", item, 5.0 - item, top) for item in range(3)]
    with rejects("too large"):
        rn.evaluate([*rows, ("a", 3, 0.0, 1)], convention=rn.Convention(gain=gain))


def test_an_infinite_grade_is_refused_in_labels_too() -> None:
    """It would count as relevant under any threshold."""
    with rejects("true: an infinite grade in row 0"):
        join(LABELS.assign(true=[math.inf, 1, 2]), metrics="precision@1", threshold=3)


@pytest.mark.parametrize(
    "data",
    [[], {}, (), FRAME[:0], pl.from_pandas(FRAME[:0]), (row for row in OK[:0])],
    ids=["list", "mapping", "tuple", "pandas", "polars", "generator"],
)
def test_no_rows_are_refused(data: Any) -> None:
    """An empty report would look like a result."""
    with rejects("no rows"):
        rn.evaluate(data)


def test_empty_labels_and_empty_results_are_refused() -> None:
    """A filter that let nothing through is found at once."""
    with rejects("no rows|no entries|empty"):
        join(LABELS[:0])
    with rejects("no rows"):
        join(results=RESULTS[:0])
    with rejects("User 'b' has an empty list"):
        rn.evaluate({"a": [(1, 2)], "b": []})
    with rejects("no entries"):
        rn.RankedLists.from_trec({}, {})


def test_true_values_that_are_all_missing_or_all_the_same_are_refused() -> None:
    """Surprise's build_anti_testset() fills in the global mean."""
    with rejects("No item has a true value"):
        rn.evaluate(FRAME.assign(true=math.nan))
    with rejects(r"Every true value is 2\.95 \(4 rows, 2 users\).*build_anti_testset"):
        rn.evaluate(FRAME.assign(true=2.95))


@pytest.mark.parametrize(
    ("data", "match"),
    [
        ([OK[0], ("a", "y", 3.0)], r"Row 1 .*\('a', 'y', 3\.0\).*\(user, item, estimated, true\)"),
        ([OK[0], ("a", "y", 3.0, 4, {})], "Row 1 .*user, item, estimated, true"),
        ([("a", "x", 4, 3.0, {}), OK[1]], "Row 1 .*uid, iid, r_ui, est"),
        ([1, 2, 3], "Row 0 .*1.*each must be"),
        ([FRAME.to_dict("records")[0], OK[1]], "Row 0 .*each must be"),
        ({"a": [(1, 2, 3)]}, r"\(1, 2, 3\).*each must be \(estimated, true\)"),
        ({"a": [1, (2, 3)]}, "'a' has the entry .2, 3., and the first one is 1; each must be"),
        ([[3, 1, 2, 0, 2], [0, 1, 2, 3, 4]], r"Row 0 .*\(user, item, estimated, true\)"),
        ({"a": 3}, r"'a'.*\(estimated, true\)"),
        (5, "Cannot read an? int"),
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
def test_data_of_another_shape_is_refused(data: Any, match: str) -> None:
    """The row that differs is shown, with the form it should have."""
    with rejects(match):
        rn.evaluate(data)


@pytest.mark.parametrize(
    ("act", "match"),
    [
        (
            lambda: rn.evaluate([*OK, OK[1]]),
            r"predictions: user .* has the item .*convention=Convention\(duplicates='max'\)",
        ),
        (
            lambda: join(pd.concat([LABELS, LABELS])),
            "labels: user .* twice .*3 such repeats",
        ),
        (lambda: join(results=pd.concat([RESULTS, RESULTS])), "results: user .* has the item "),
        (
            lambda: rn.jaccard_at_k([*OK, OK[0]], OK, 2),
            "has the item .* twice or more",
        ),
        (lambda: rn.RankedLists.from_tuples(OK, duplicates="frist"), "Did you mean 'first'"),
    ],
)
def test_the_same_user_and_item_twice_is_refused(act: Callable[[], Any], match: str) -> None:
    """Counted twice, an item would score above 1."""
    with rejects(match):
        act()


@pytest.mark.parametrize("column", ["user", "item"])
@pytest.mark.parametrize("missing", [None, math.nan, pd.NA, pd.NaT])
def test_a_missing_id_is_refused(column: str, missing: Any) -> None:
    """Rows without a user would become a user."""
    ids = [missing, *FRAME[column][1:]]
    with rejects(f"{column}: a missing id in row 0 "):
        rn.evaluate({**FRAME.to_dict("list"), column: ids})


def test_an_id_that_cannot_be_compared_is_refused() -> None:
    """A list as an id comes from a column that was not exploded."""
    with rejects("user: an id is not hashable"):
        rn.evaluate([(["a"], "x", 3.0, 4), *OK])
    with rejects("iid: an id is not hashable"):
        rn.evaluate([("a", ["x"], 4.0, 3.0, {})])


@pytest.mark.parametrize("column", ["user", "item"])
def test_ids_of_different_types_in_two_tables_are_refused(column: str) -> None:
    """The commonest silent zero: "1" in the file, 1 in the model."""
    match = rf"{column}: the labels .*number \(such as \d+\), the results .*text \(such as '\d+'\)"
    with rejects(match):
        join(results=RESULTS.astype({column: str}))


def test_ids_of_different_types_are_refused_in_the_overlap_of_lists_too() -> None:
    """A Jaccard of 0 for everybody would look like a finding."""
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
def test_a_table_without_a_column_is_refused_with_those_it_has(
    act: Callable[[], Any], match: str
) -> None:
    """A renamed column is the usual cause."""
    with rejects(match):
        act()


@pytest.mark.parametrize(
    ("columns", "match"),
    [(5, "columns must map .*not 5"), ({"user": ["a"]}, "columns: user is the name of one column")],
)
@pytest.mark.parametrize("data", [FRAME, FRAME.to_dict("list")])
def test_columns_that_are_no_names_are_refused(data: Any, columns: Any, match: str) -> None:
    """Not looked up, which fails in as many ways as there are tables."""
    with rejects(match):
        rn.evaluate(data, columns=columns)
