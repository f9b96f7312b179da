"""A number is read as it was written, whatever form it comes in; what is masked is not there."""

from __future__ import annotations

import decimal
import io
import math
import threading
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.input.dispatch import read_ratings
from tests.errors import rejects
from tests.input.tables import table_in
from tests.profiles import examples

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def _lists(true: Any = (4, 1, 5), estimated: Any = (3, 2, 1), item: Any = (7, 8, 9)) -> Any:
    return rn.RankedLists.from_arrays([1] * len(true), item, estimated, true)


@examples(0.5)
@given(st.lists(FINITE, min_size=1, max_size=50))
def test_a_file_gives_back_every_number_bit_for_bit(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[float]
) -> None:
    """As Python reads it: some versions of pandas end a digit earlier, and make ties."""
    path = tmp_path_factory.mktemp("numbers") / "p.csv"
    lines = [f"1,{place},{number!r},{number!r}" for place, number in enumerate(numbers)]
    path.write_text("\n".join(["user,item,estimated,true", *lines]))
    frame = table_in(path)
    assert frame["estimated"].tolist() == numbers
    assert frame["true"].tolist() == numbers


def test_a_long_file_gives_back_every_number(tmp_path: Path) -> None:
    """Of 200,000 estimates with all their digits, a fifth came back as their neighbours."""
    numbers = np.random.default_rng(0).normal(3.5, 1, 20_000)
    path = tmp_path / "p.csv"
    pd.DataFrame({"user": 1, "item": range(20_000), "estimated": numbers, "true": 1}).to_csv(
        path, index=False
    )
    assert (np.asarray(table_in(path)["estimated"]) == numbers).all()


@pytest.mark.parametrize("text", ["1_000", "0x10", "1,5", "1e", "--1", "nan5"])
def test_what_is_no_number_in_a_file_is_refused_with_its_line(tmp_path: Path, text: str) -> None:
    """Also what Python alone reads as one."""
    path = tmp_path / "p.tsv"
    path.write_text(f"user\titem\testimated\ttrue\n1\t1\t3.5\t1\n1\t2\t{text}\t1\n")
    with rejects("line 3: estimated is .* not a number", whole=False):
        rn.evaluate(path)


def _with(estimated: str, true: str = "4") -> str:
    return f"user;item;estimated;true\n1;7;{estimated};{true}\n1;8;2.0;1\n2;7;1.0;5\n"


DOORS: dict[str, Callable[[Path, str], Any]] = {
    "a file": lambda path, _: rn.evaluate(path),
    "a stream": lambda path, _: rn.evaluate(io.BytesIO(path.read_bytes())),
    "on disk": lambda path, _: rn.evaluate(path, memory_limit="1 GB"),
    "rows": lambda _, text: rn.evaluate([(1, 7, text, 4), (1, 8, 2.0, 1)]),
    "a frame": lambda _, text: rn.evaluate(
        pd.DataFrame({"user": [1, 1], "item": [7, 8], "estimated": [text, "2.0"], "true": [4, 1]})
    ),
    "qrels": lambda path, text: rn.RankedLists.from_trec(
        _write(path, f"1 0 7 {text}\n1 0 8 1\n"), {"1": {"7": 2.0, "8": 1.0}}
    ),
    "a run": lambda path, text: rn.RankedLists.from_trec(
        {"1": {"7": 2, "8": 1}}, _write(path, f"1 Q0 7 1 {text} me\n1 Q0 8 2 0.5 me\n")
    ),
    "ratings": lambda path, text: read_ratings(_write(path, f"user,item,rating\n1,7,{text}\n")),
}


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("text", ["\u0663", "\u0663.\u0665", "\uff14", "\u0967", "1_0"])
def test_digits_of_other_scripts_are_no_numbers_at_any_door(
    tmp_path: Path, door: str, text: str
) -> None:
    """Python reads them, DuckDB does not: the same file had a score in memory and none on disk."""
    if door == "on disk":
        pytest.importorskip("duckdb")
    path = _write(tmp_path / "p.csv", _with(text))
    with pytest.raises(rn.InvalidInputError):
        DOORS[door](path, text)
    _write(path, _with("3", text))
    with pytest.raises(rn.InvalidInputError):
        DOORS[door](path, text)


def test_the_digits_that_are_read_are_named(tmp_path: Path) -> None:
    """The number looks right to those who write it."""
    path = _write(tmp_path / "p.csv", _with("\u0663.\u0665"))
    with rejects("line 2: estimated is .*write numbers with the digits 0 to 9", whole=False):
        rn.evaluate(path)


@pytest.mark.parametrize("space", [" ", "\t", "\xa0", "\u2009", "\u3000"])
def test_spaces_around_a_number_do_not_matter_in_memory_or_on_disk(
    tmp_path: Path, space: str
) -> None:
    """Those that do not break, too."""
    pytest.importorskip("duckdb")
    plain, spaced = _write(tmp_path / "p.csv", _with("3", "4")), tmp_path / "s.csv"
    _write(spaced, _with(f"{space}3", f"4{space}"))
    expected = rn.evaluate(plain).per_user
    pd.testing.assert_frame_equal(rn.evaluate(spaced).per_user, expected)
    pd.testing.assert_frame_equal(rn.evaluate(spaced, memory_limit="1 GB").per_user, expected)


@pytest.mark.parametrize("first", ['"u1","i1","4.0"', "u1,i1,4.0", '"u1", "i1", 4.0'])
def test_ratings_in_quotes_are_no_heading(tmp_path: Path, first: str) -> None:
    """The first rating was left out."""
    path = tmp_path / "r.csv"
    path.write_text(first + "\n" + '"u2","i2","3.0"\n')
    assert read_ratings(path)["rating"].tolist() == [4.0, 3.0]
    path.write_text("user,item,rating\n" + first + "\n")
    assert read_ratings(path)["rating"].tolist() == [4.0]
    path.write_text("u1,i1,\nu2,i2,3.0\n")
    with rejects("line 1: rating is missing", whole=False):
        read_ratings(path)


def test_ratings_of_a_million_columns_are_refused(tmp_path: Path) -> None:
    """Whatever separates them."""
    path = tmp_path / "r.dat"
    for separator in ("::", ",", "\t"):
        path.write_text(separator.join(["1"] * 100_000))
        with rejects("more than 1000 columns", whole=False):
            read_ratings(path)


def test_ratings_with_a_very_long_field_are_told(tmp_path: Path) -> None:
    """Longer than Python's reader of CSV takes."""
    path = tmp_path / "r.csv"
    path.write_text(f"u1,{'i' * 200_000},4.0\nu2,i2,3.0\n")
    assert read_ratings(path)["rating"].tolist() == [4.0, 3.0]


@pytest.mark.parametrize("kind", [np.float16, np.float32])
@pytest.mark.parametrize("form", ["array", "frame", "polars", "rows", "predictions", "mapping"])
def test_short_floats_are_the_decimals_that_they_stand_for(kind: Any, form: str) -> None:
    """0.7 in 32 bits is less than 0.7, and missed a threshold of 0.7."""
    if form == "polars" and kind is np.float16:
        pytest.skip("polars has no such floats")
    true = np.array([0.7, 0.1, 0.35], dtype=kind)
    columns = {"user": [1, 1, 1], "item": [1, 2, 3], "estimated": true[::-1], "true": true}
    rows = list(zip(*columns.values(), strict=True))
    data: Any = {
        "array": columns,
        "frame": pd.DataFrame(columns),
        "polars": pl.DataFrame(columns),
        "rows": rows,
        "predictions": [(user, item, r_ui, est, {}) for user, item, est, r_ui in rows],
        "mapping": {1: [(est, r_ui) for _, _, est, r_ui in rows]},
    }[form]
    lists = rn.RankedLists.of(data)
    assert lists.true.tolist() == [0.7, 0.1, 0.35]
    assert lists.estimated.tolist() == [0.35, 0.1, 0.7]
    report = rn.evaluate(lists, metrics=["precision@3"], threshold=0.7)
    assert report["precision@3"] == 1 / 3
    recommended = rn.evaluate(
        lists, metrics=["precision"], threshold=0.7, convention=rn.Convention(recommend_from=0.7)
    )
    assert recommended["precision@10"] == 0


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        *(("f4", one) for one in (0.7, 1000.3, 0.0001234, 0.123457, 123456e10)),
        *(("f2", one) for one in (17.1, 0.007)),
        *((kind, 0.1) for kind in (">f4", ">f2")),
    ],
)
def test_a_short_float_reaches_the_threshold_that_it_was_written_as(
    kind: str, number: float
) -> None:
    """In a column, a masked one, a list and a list of pairs; and as the threshold itself."""
    true = np.array([number, number / 2], dtype=kind)
    columns = {"user": [1, 1], "item": [1, 2], "estimated": [2.0, 1.0], "true": true}
    how: dict[str, Any] = {"metrics": ["precision@1"], "threshold": number}
    assert rn.evaluate(columns, **how)["precision@1"] == 1
    masked = np.ma.array(true, mask=[False, True])
    assert rn.evaluate(columns | {"true": masked}, **how)["precision@1"] == 1
    assert rn.evaluate({1: masked}, **how)["precision@1"] == 1
    assert rn.precision_at_k(true, 1, threshold=number) == 1
    pairs = np.column_stack([np.array([2, 1], dtype=kind), true])
    assert rn.precision_at_k(pairs, 1, threshold=number) == 1
    how["threshold"] = true[0]
    assert rn.evaluate(columns | {"true": [number, 0.0]}, **how)["precision@1"] == 1


def test_short_floats_as_options_are_the_decimals_that_they_stand_for() -> None:
    """A limit, the top grade, the grades of a mapping."""
    rows = {"ann": [(0.7, 0.7), (0.1, 0.1)]}
    short = np.float32(0.7)
    for choices in (
        {"recommend_from": short},
        {"ideal": "max", "max_grade": short},
        {"gain": {short: 1, np.float32(0.1): 0}},
    ):
        exact: Any = {"recommend_from": 0.7, "max_grade": 0.7, "gain": {0.7: 1, 0.1: 0}}
        convention = rn.Convention().replace(**choices)
        assert convention == convention.replace(
            **{name: exact[name] for name in choices if name != "ideal"}
        )
        rn.evaluate(rows, metrics=["ndcg", "precision"], threshold=0.7, convention=convention)


@pytest.mark.parametrize("other", [np.float32(0.7), "0.7", None])
def test_every_prediction_is_looked_at(other: Any) -> None:
    """Not the first alone: the order of the rows would decide how the others are read."""
    rows: list[Any] = [("a", 1, 0.7, 0.9, {}), ("a", 2, other, 0.5, {}), ("a", 3, 0.1, 0.2, {})]
    found = set()
    for order in (rows, rows[::-1]):
        try:
            report = rn.evaluate(order, metrics=["precision@2"], threshold=0.7)
            found.add(report["precision@2"])
        except rn.InvalidInputError as error:
            found.add("text" in str(error))
    assert found == {{str: True, type(None): 0.5}.get(type(other), 1.0)}


@examples(1)
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=2))
def test_short_floats_keep_their_places(numbers: list[float]) -> None:
    """No two become one, and none passes another; in 32 bits they are what they were."""
    short = np.array(numbers, dtype=np.float32)
    read = _lists(np.ones(len(short)), short, range(len(short))).estimated
    assert (read.astype(np.float32) == short).all()
    assert (np.less.outer(read, read) == np.less.outer(short, short)).all()


MASKED = np.ma.array([4, 1, 5], mask=[True, False, False])
PAIRS = np.ma.array([[3.0, 4.0], [2.0, 1.0]], mask=[[False, True], [False, False]])


def test_a_masked_grade_is_unlabelled() -> None:
    """In an array of any kind, a column, a list of its own or one of pairs."""
    for true in (MASKED, MASKED.astype(np.float32), MASKED.astype(object)):
        assert math.isnan(_lists(true).true[0])
        assert _lists(true).true[1:].tolist() == [1, 5]
    short = np.ma.array([0.7, 0.2, 0.7], mask=[True, False, False], dtype=np.float32)
    assert _lists(short).true[1:].tolist() == [0.2, 0.7]
    columns = {"user": [1, 1, 1], "item": [1, 2, 3], "estimated": [3, 2, 1], "true": MASKED}
    assert rn.RankedLists.of(columns).n_unlabelled == 1
    for lists in ({1: PAIRS}, {1: MASKED}):
        assert rn.RankedLists.of(lists).n_unlabelled == 1
    rows = [(1, 7, 3.0, np.ma.masked), (1, 8, 2.0, 4)]
    assert rn.RankedLists.of(rows).n_unlabelled == 1
    predictions: Any = [(1, 7, np.ma.masked, 3.0, {}), (1, 8, 4.0, 2.0, {})]
    assert rn.RankedLists.of(predictions).n_unlabelled == 1
    assert rn.ndcg_at_k(MASKED, 3) == rn.ndcg_at_k([math.nan, 1, 5], 3)


def test_a_masked_estimate_or_id_is_missing() -> None:
    """What stands under the mask is nobody's."""
    with rejects("estimated: NaN in row 0 "):
        _lists(estimated=MASKED)
    with rejects("item: a masked value in row 0 .*leave the row out"):
        _lists(item=MASKED)
    with rejects("item: a masked value in row 0 "):
        _lists(item=np.ma.array(["x", "y", "z"], mask=[True, False, False]))


@pytest.mark.parametrize("number", [10**400, -(10**400)])
def test_a_number_that_fits_no_float_is_refused_with_its_row(number: int) -> None:
    """In rows, predictions, lists and columns."""
    fault = r"true.*: a number beyond 1.8e308 in row 1 .*convert"
    with rejects(fault):
        rn.evaluate([(1, 1, 3.0, 4), (1, 2, 2.0, number)])
    with rejects(fault):
        rn.evaluate([(1, 1, 4, 3.0, {}), (1, 2, number, 2.0, {})])
    with rejects(fault):
        rn.evaluate({1: [(3.0, 4), (2.0, number)]})
    with rejects(fault):
        rn.evaluate({"user": [1, 1], "item": [1, 2], "estimated": [1, 2], "true": [4, number]})


def test_numbers_of_128_bits_are_read() -> None:
    """NumPy has none."""
    wide = pl.Series([2**100, 2**100, 1], dtype=pl.Int128)
    frame = pl.DataFrame(
        {"user": wide, "item": [1, 2, 3], "estimated": pl.Series([3, 2, 1], dtype=pl.Int128)}
    )
    lists = rn.RankedLists.of(frame.with_columns(true=pl.col("estimated")))
    assert lists.users.tolist() == [1, 2**100]
    assert lists.true.tolist() == [1, 3, 2]


def test_decimals_are_read() -> None:
    """From a data base, say."""
    numbers = [decimal.Decimal("3.7"), decimal.Decimal("2.1"), decimal.Decimal(1)]
    assert _lists(numbers, numbers).estimated.tolist() == [3.7, 2.1, 1.0]


def test_reading_in_threads_leaves_the_filters_of_warnings_as_they_were(tmp_path: Path) -> None:
    """They belong to the process; one thread would put back what another had set."""
    path = tmp_path / "p.csv"
    path.write_text("user,item,estimated,true\n" + "".join(f"1,{i},{i},1\n" for i in range(500)))
    before = list(warnings.filters)
    threads = [
        threading.Thread(target=lambda: [table_in(path) for _ in range(10)]) for _ in range(8)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert list(warnings.filters) == before
