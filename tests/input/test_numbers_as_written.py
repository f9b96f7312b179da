"""Numbers are read exactly as written, in every form of data; masked values are missing."""

from __future__ import annotations

import decimal
import io
import math
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.lists import to_lists
from recsys_ndcg.ratings import read_ratings
from tests.errors import assert_rejected
from tests.input.tables import table_in, write
from tests.profiles import examples

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def _lists(true: Any = (4, 1, 5), estimated: Any = (3, 2, 1), item: Any = (7, 8, 9)) -> Any:
    return rn.RankedLists.from_arrays([1] * len(true), item, estimated, true)


@examples(0.5)
@given(st.lists(FINITE, min_size=1, max_size=50))
@example(np.random.default_rng(0).normal(3.5, 1, 20_000).tolist())
def test_a_file_gives_back_every_number(tmp_path_factory: Any, numbers: list[float]) -> None:
    """Bit for bit: a less exact parser changes a fifth of them, and so makes ties."""
    lines = [f"1,{place},{number!r},{number!r}" for place, number in enumerate(numbers)]
    text = "\n".join(["user,item,estimated,true", *lines])
    frame = table_in(write(tmp_path_factory.getbasetemp(), text, "numbers.csv"))
    assert frame["estimated"].tolist() == frame["true"].tolist() == numbers


def _table(estimated: str, true: str = "4") -> str:
    return f"user;item;estimated;true\n1;7;{estimated};{true}\n1;8;2.0;1\n2;7;1.0;5\n"


NAMES = ["user", "item", "estimated", "true"]


def _rows_with(text: str) -> Any:
    return [(1, 7, text, 4), (1, 8, "2.0", 1)]


FORMS: dict[str, Callable[[Path, str], Any]] = {
    "a file": lambda folder, text: rn.evaluate(write(folder, _table(text))),
    "a file, true values": lambda folder, text: rn.evaluate(write(folder, _table("3", text))),
    "a stream": lambda _, text: rn.evaluate(io.BytesIO(_table(text).encode())),
    "on disk": lambda folder, text: rn.evaluate(write(folder, _table(text)), memory_limit="4 GB"),
    "rows": lambda _, text: rn.evaluate([(1, 7, text, 4), (1, 8, 2.0, 1)]),
    "a frame": lambda _, text: rn.evaluate(pd.DataFrame(_rows_with(text), columns=NAMES)),
    "qrels": lambda folder, text: rn.RankedLists.from_trec(
        write(folder, f"1 0 7 {text}\n1 0 8 1\n"), {"1": {"7": 2.0, "8": 1.0}}
    ),
    "a run": lambda folder, text: rn.RankedLists.from_trec(
        {"1": {"7": 2, "8": 1}}, write(folder, f"1 Q0 7 1 {text} me\n1 Q0 8 2 0.5 me\n")
    ),
    "ratings": lambda folder, text: read_ratings(write(folder, f"user,item,rating\n1,7,{text}\n")),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", ["\u0663", "\u0663.\u0665", "\uff14", "1_0", "0x10"])
def test_only_plain_digits_are_numbers_in_every_form(tmp_path: Path, form: str, text: str) -> None:
    """Python reads other digits, DuckDB does not: scores would depend on the memory limit."""
    with pytest.raises(rn.InvalidInputError):
        FORMS[form](tmp_path, text)


@pytest.mark.parametrize("text", ["1_000", "0x10", "1,5", "1e", "--1", "nan5", "\u0663.\u0665"])
def test_text_that_is_not_a_number_is_rejected_with_its_line(tmp_path: Path, text: str) -> None:
    """If its digits look like a number, the message lists the digits that are read."""
    match = "line 2: estimated is .*" + ("digits 0 to 9" if text > "z" else "not a number")
    assert_rejected(match, rn.evaluate, write(tmp_path, _table(text)), whole=False)


@pytest.mark.parametrize("space", [" ", "\t", "\xa0", "\u2009", "\u3000"])
def test_spaces_around_a_number_are_ignored(tmp_path: Path, space: str) -> None:
    """In memory and on disk; also non-breaking ones."""
    spaced = write(tmp_path, _table(f"{space}3", f"4{space}"), "s.csv")
    expected = rn.evaluate(write(tmp_path, _table("3", "4"))).per_user
    pd.testing.assert_frame_equal(rn.evaluate(spaced).per_user, expected)
    pd.testing.assert_frame_equal(rn.evaluate(spaced, memory_limit="4 GB").per_user, expected)


FIRST_RATINGS = ['"u1","i1","4.0"', "u1,i1,4.0", '"u1", "i1", 4.0', f"u1,{'i' * 200_000},4.0"]


@pytest.mark.parametrize("first", FIRST_RATINGS)
def test_the_first_rating_is_not_taken_for_a_heading(tmp_path: Path, first: str) -> None:
    """In quotes, or with a field that is longer than Python's reader of CSV accepts."""
    texts = {first + '\n"u2","i2","3.0"\n': [4.0, 3.0], f"user,item,rating\n{first}\n": [4.0]}
    for text, ratings in texts.items():
        assert read_ratings(write(tmp_path, text))["rating"].tolist() == ratings


def test_ratings_that_are_missing_or_have_too_many_columns_are_rejected(tmp_path: Path) -> None:
    """With each separator."""
    texts = {"u1,i1,\nu2,i2,3.0\n": "line 1: rating is missing"}
    texts |= {one.join(["1"] * 100_000): "more than 10000 columns" for one in ("::", ",", "\t")}
    for text, match in texts.items():
        assert_rejected(match, read_ratings, write(tmp_path, text), whole=False)


def _rows_of(columns: dict[str, Any]) -> Any:
    return list(zip(*columns.values(), strict=True))


SHORT_FORMS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "predictions": lambda table: [(u, i, true, est, {}) for u, i, est, true in _rows_of(table)],
    "mapping": lambda table: {1: [row[2:] for row in _rows_of(table)]}, "polars": pl.DataFrame,
    "frame": pd.DataFrame, "rows": _rows_of, "array": dict,
}  # fmt: skip


@pytest.mark.parametrize("kind", [np.float16, np.float32, ">f4"])
@pytest.mark.parametrize("form", SHORT_FORMS)
def test_short_floats_are_read_as_the_decimals_they_stand_for(kind: Any, form: str) -> None:
    """0.7 in 32 bits is less than 0.7, and would miss a threshold of 0.7."""
    if form == "polars" and kind is not np.float32:
        pytest.skip("polars has no such floats")
    true = np.array([0.7, 0.1, 0.35], dtype=kind)
    columns = {"user": [1, 1, 1], "item": [1, 2, 3], "estimated": true[::-1], "true": true}
    lists = to_lists(SHORT_FORMS[form](columns))
    assert lists.true.tolist() == [0.7, 0.1, 0.35]
    assert lists.estimated.tolist() == [0.35, 0.1, 0.7]
    assert rn.evaluate(lists, metrics=["precision@3"], threshold=0.7)["precision@3"] == 1 / 3


@pytest.mark.parametrize("number", [0.7, 1000.3, 0.0001234, 123456e10])
def test_a_short_float_reaches_the_threshold_it_was_written_as(number: float) -> None:
    """Masked, in a list or in pairs; and as the threshold itself."""
    true = np.array([number, number / 2], dtype="f4")
    masked = np.ma.array(true, mask=[False, True])
    pairs = np.column_stack([np.array([2, 1], dtype="f4"), true])
    for one in (true, masked, pairs):
        assert rn.evaluate({1: one}, metrics="precision@1", threshold=number).mean.iloc[0] == 1
        assert rn.precision_at_k(one, 1, threshold=number) == 1
    assert rn.precision_at_k([number, 0.0], 1, threshold=true[0]) == 1


def test_short_floats_as_options_are_the_decimals_they_stand_for() -> None:
    """A limit, the top grade, the grades of a mapping."""
    short = np.float32(0.7)
    options: Any = {"recommend_from": short, "max_grade": short, "gain": {short: 1, 0.1: 0}}
    exact: Any = {"recommend_from": 0.7, "max_grade": 0.7, "gain": {0.7: 1, 0.1: 0}}
    assert rn.Convention(ideal="max", **options) == rn.Convention(ideal="max", **exact)


@examples(1)
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=2))
def test_short_floats_keep_their_order(numbers: list[float]) -> None:
    """Different numbers stay different, and converting them back gives the same."""
    short = np.array(numbers, dtype=np.float32)
    read = _lists(np.ones(len(short)), short, range(len(short))).estimated
    assert (read.astype(np.float32) == short).all()
    assert (np.less.outer(read, read) == np.less.outer(short, short)).all()


MASKED = np.ma.array([4, 1, 5], mask=[True, False, False])
PAIRS = np.ma.array([[3.0, 4.0], [2.0, 1.0]], mask=[[False, True], [False, False]])


def test_a_masked_grade_is_unlabelled() -> None:
    """In an array, a column, a list of grades, pairs, rows and predictions."""
    for true in (MASKED, MASKED.astype(np.float32), MASKED.astype(object)):
        assert math.isnan(_lists(true).true[0])
        assert _lists(true).true[1:].tolist() == [1, 5]
    short = np.ma.array([0.7, 0.2, 0.7], mask=[True, False, False], dtype=np.float32)
    assert _lists(short).true[1:].tolist() == [0.2, 0.7]
    columns = {"user": [1, 1, 1], "item": [1, 2, 3], "estimated": [3, 2, 1], "true": MASKED}
    rows = [(1, 7, 3.0, np.ma.masked), (1, 8, 2.0, 4)]
    predictions: Any = [(1, 7, np.ma.masked, 3.0, {}), (1, 8, 4.0, 2.0, {})]
    for data in (columns, {1: PAIRS}, {1: MASKED}, rows, predictions):
        lists = to_lists(data)
        assert lists.pool.count_unlabelled(lists).tolist() == [1]
    assert rn.ndcg_at_k(MASKED, 3) == rn.ndcg_at_k([math.nan, 1, 5], 3)


def test_a_masked_estimate_or_id_is_missing() -> None:
    """The value under the mask is never used."""
    assert_rejected("estimated: NaN in row 0 ", _lists, estimated=MASKED)
    for ids in (MASKED, np.ma.array(["x", "y", "z"], mask=[True, False, False])):
        assert_rejected("item: a masked value in row 0 .*leave the row out", _lists, item=ids)


def test_numbers_of_128_bits_and_decimals_are_read() -> None:
    """NumPy has neither; databases have both."""
    wide = pl.Series([2**100, 2**100, 1], dtype=pl.Int128)
    frame = pl.DataFrame({"user": wide, "item": [1, 2, 3], "estimated": wide})
    lists = to_lists(frame.with_columns(true=pl.col("item").cast(pl.Int128)))
    assert (lists.users.tolist(), lists.true.tolist()) == ([1, 2**100], [3, 1, 2])
    numbers = [decimal.Decimal("3.7"), decimal.Decimal("2.1"), decimal.Decimal(1)]
    assert _lists(numbers, numbers).estimated.tolist() == [3.7, 2.1, 1.0]


def test_reading_in_threads_does_not_change_the_warning_filters(tmp_path: Path) -> None:
    """They belong to the process: one thread could restore what another thread had set."""
    rows = "".join(f"1,{item},{item},1\n" for item in range(500))
    path = write(tmp_path, "user,item,estimated,true\n" + rows)
    before = list(warnings.filters)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(table_in, [path] * 80))
    assert list(warnings.filters) == before
