"""Parquet files of every type of column, damaged, and larger than they look."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import random
import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recsys_ndcg as rn
from tests.errors import rejects

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
dataset = pytest.importorskip("pyarrow.dataset")

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
FRAME = pd.DataFrame(
    {
        "user": ["a", "a", "b", "b"],
        "item": [1, 2, 1, 2],
        "estimated": [1.0, 2.0, 3.0, 4.0],
        "true": [1.0, 3.0, 2.0, 4.0],
    }
)


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    return tmp_path / "p.parquet"


def _written(path: Path, **columns: Any) -> Path:
    """Write the table with some columns in place of its own."""
    table = {name: pa.array(FRAME[name].tolist()) for name in FRAME} | columns
    pq.write_table(pa.table(table), path)
    return path


@pytest.mark.parametrize("index", ["user", ["user", "item"], "true"])
def test_what_was_the_index_of_a_table_is_a_column(path: Path, index: Any) -> None:
    """Pandas would hide it."""
    FRAME.set_index(index).to_parquet(path)
    assert rn.evaluate(path) == rn.evaluate(FRAME)


@pytest.mark.parametrize(
    "ids",
    [
        pa.array(["x", "y", "x", "y"]),
        pa.array(["x", "y", "x", "y"]).dictionary_encode(),
        pa.array(["x", "y", "x", "y"], pa.large_string()),
        pa.array([2**63, 2**64 - 1, 5, 6], pa.uint64()),
        pa.array([1, 2, 1, 2], pa.int8()),
        pa.array([1, 2, 1, 2]).dictionary_encode(),
        pa.array([True, False, True, False]),
        pa.array([b"x", b"\xff", b"x", b"y"]),
        pa.array([decimal.Decimal("1.5"), decimal.Decimal(2)] * 2),
        pa.array([dt.date(2020, 1, 1), dt.date(2020, 1, 2)] * 2),
        pa.array([dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2)] * 2),  # noqa: DTZ001
    ],
    ids=lambda ids: str(ids.type),
)
def test_ids_of_every_type_are_as_they_were_written(path: Path, ids: Any) -> None:
    """Each as Python has it."""
    lists = rn.RankedLists.from_frame(_written(path, item=ids))
    assert lists.item_ids is not None
    assert lists.item_ids.tolist() == sorted(set(ids.to_pylist()))


def test_dates_with_a_time_zone_are_those_of_greenwich(path: Path) -> None:
    """Whatever the zone is called."""
    zone = dt.timezone(dt.timedelta(hours=2))
    days = [dt.datetime(2020, 1, day, tzinfo=zone) for day in (1, 2, 1, 2)]
    lists = rn.RankedLists.from_frame(_written(path, item=pa.array(days)))
    assert lists.item_ids is not None
    assert lists.item_ids[0] == days[0].astimezone(dt.UTC).replace(tzinfo=None)


@pytest.mark.parametrize(
    "true",
    [
        pa.array([1, None, 2, 4]),
        pa.array([1, None, 2, 4], pa.uint8()),
        pa.array([1, None, 2, 4]).dictionary_encode(),
        pa.array([1.0, None, 2.0, 4.0], pa.float32()),
        pa.array([decimal.Decimal(1), None, decimal.Decimal(2), decimal.Decimal(4)]),
    ],
    ids=lambda true: str(true.type),
)
def test_numbers_of_every_type_are_read_and_what_is_null_is_unlabelled(
    path: Path, true: Any
) -> None:
    """As NaN of pandas is."""
    expected = rn.evaluate(FRAME.assign(true=[1, np.nan, 2, 4]))
    assert rn.evaluate(_written(path, true=true)) == expected


@pytest.mark.parametrize(
    ("column", "values", "match"),
    [
        ("true", pa.array([[1.0]] * 4), "p.parquet: the column 'true' holds list<.*> *; it must"),
        ("item", pa.array([[1]] * 4), "p.parquet: the column 'item' holds list<"),
        ("item", pa.array([{"a": 1}] * 4), "p.parquet: the column 'item' holds struct<"),
        ("item", pa.array(["x", None, "x", "y"]), "item: a missing id in row 1 "),
        ("item", pa.array(["x", None, "x", "y"]).dictionary_encode(), "item: a missing id in row"),
        ("true", pa.array(["1", "2", "3", "4"]), "true: text such as '1' in row 0"),
        ("true", pa.array([b"1", b"2", b"3", b"4"]), "true: text such as b'1' in row 0"),
        ("true", pa.array([dt.date(2020, 1, 1)] * 4), "true: .*not a number"),
        ("true", pa.array([dt.timedelta(1)] * 4), "true: timedelta64.* is not a number"),
    ],
)
def test_a_column_of_another_type_is_refused(
    path: Path, column: str, values: Any, match: str
) -> None:
    """By its name."""
    with rejects(match):
        rn.evaluate(_written(path, **{column: values}))


def test_a_column_that_is_not_needed_can_hold_anything(path: Path) -> None:
    """It is not read."""
    expected = rn.evaluate(FRAME)
    assert rn.evaluate(_written(path, other=pa.array([{"a": [1]}] * 4))) == expected
    with rejects("no column 'user'; it has who, item, estimated, true"):
        FRAME.rename(columns={"user": "who"}).to_parquet(path)
        rn.evaluate(path)


def test_a_column_that_is_there_twice_is_refused(path: Path) -> None:
    """Whichever was meant."""
    array = pa.array([1, 2, 1, 2])
    names = ["user", "item", "item", "estimated", "true"]
    pq.write_table(pa.table([array] * 5, names=names), path)
    with rejects("p.parquet: has the column 'item' twice"):
        rn.evaluate(path)


@pytest.mark.parametrize("column", ["user", "estimated"])
def test_a_column_without_a_name_is_read_or_refused(path: Path, column: str) -> None:
    """DuckDB has no such column; messages show it in quotes."""
    FRAME.rename(columns={column: ""}).to_parquet(path)
    expected = rn.evaluate(FRAME)
    assert rn.evaluate(path, columns={column: ""}) == expected
    assert rn.evaluate(pd.read_parquet(path), columns={column: ""}) == expected
    assert rn.evaluate(pl.read_parquet(path), columns={column: ""}) == expected
    with rejects(f"no column '{column}'; it has .*''"):
        rn.evaluate(path)
    for data in (path, dataset.dataset(path), pl.scan_parquet(path)):
        with rejects(f"{column}: within a memory limit, a column that is read needs a name"):
            rn.evaluate(data, columns={column: ""}, memory_limit="4GB")
    FRAME.assign(**{"": 1}).to_parquet(path)
    assert rn.evaluate(path) == rn.evaluate(path, memory_limit="4GB") == expected


METADATA: list[Any] = [
    b"", b"{", b"null", b"[]", b"{}", b'{"index_columns": 5}', b'{"index_columns": ["no"]}',
    b'{"columns": [{}], "index_columns": []}', b'{"index_columns": [{"kind": "range"}]}',
    b'{"index_columns": [null], "columns": [null]}',
    json.dumps({"index_columns": ["user"], "columns": [{"name": "user"}], "column_indexes": []}),
    json.dumps(
        {
            "index_columns": [],
            "columns": [{"name": "item", "field_name": "item", "numpy_type": "foo"}],
            "column_indexes": [{"name": None, "numpy_type": "bar", "pandas_type": "baz"}],
        }
    ),
]  # fmt: skip


@pytest.mark.parametrize("metadata", METADATA)
def test_what_pandas_wrote_beside_the_columns_is_ignored(path: Path, metadata: Any) -> None:
    """It gave KeyErrors and TypeErrors where it was damaged."""
    table = pa.Table.from_pandas(FRAME).replace_schema_metadata({b"pandas": metadata})
    pq.write_table(table, path)
    assert rn.evaluate(path) == rn.evaluate(FRAME)


def test_a_damaged_file_is_read_or_refused(path: Path) -> None:
    """A byte another, or the end cut off; `tests/fuzz` has more of it."""
    FRAME.to_parquet(path)
    whole, chance = path.read_bytes(), random.Random(0)  # noqa: S311
    told: list[str] = []
    for _ in range(150):
        content = bytearray(whole)
        if chance.random() < 0.2:
            del content[chance.randrange(len(content)) :]
        else:
            content[chance.randrange(len(content))] = chance.randrange(256)
        path.write_bytes(content)
        try:
            rn.evaluate(path)
        except rn.InvalidInputError as error:
            told.append(str(error))
    assert len(told) > 20
    assert not [one for one in told if "\n" in one]


def _all_the_same(n_rows: int) -> Any:
    zeros, ones = pa.array(np.zeros(n_rows, dtype=np.int32)), pa.array(np.ones(n_rows))
    ids = pa.DictionaryArray.from_arrays(zeros, pa.array(["a"]))
    return pa.table({"user": ids, "item": ids, "estimated": ones, "true": ones})


def test_a_small_file_of_very_many_rows_is_refused_before_they_are_built(path: Path) -> None:
    """Ten million rows that are all the same; the message says how to have them."""
    table = _all_the_same(1_000_000)
    with pq.ParquetWriter(path, table.schema, data_page_size=1 << 30) as writer:
        for _ in range(10):
            writer.write_table(table)
    assert path.stat().st_size < 200_000
    tracemalloc.start()
    with rejects(
        r"p.parquet: 10,000,000 rows in a file of .* bytes. .*pass the table", whole=False
    ):
        rn.evaluate(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000


def test_numbers_that_inflate_to_very_much_are_refused(path: Path) -> None:
    """A dictionary of long texts that are all alike."""
    ids = [f"{'x' * 10_000_000}{place}" for place in range(12)]
    rows = {"user": ids, "item": range(12), "estimated": range(12), "true": range(12)}
    pq.write_table(pa.table({k: pa.array(v) for k, v in rows.items()}), path, compression="zstd")
    assert path.stat().st_size < 100_000
    with rejects("p.parquet: 120,.* bytes in a file of", whole=False):
        rn.evaluate(path)


def test_a_long_id_is_not_copied_for_every_row(path: Path) -> None:
    """Ten thousand rows of a text of a megabyte: ten gigabytes if it were."""
    n = 10_000
    rows = {
        "user": pa.DictionaryArray.from_arrays(
            pa.array(np.zeros(n, dtype=np.int32)), pa.array(["x" * 1_000_000])
        ),
        "item": pa.array(range(n)),
        "estimated": pa.array(np.arange(n) % 7.0),
        "true": pa.array(np.arange(n) % 5.0),
    }
    pq.write_table(pa.table(rows), path, store_schema=False)  # so that it is read as plain text
    assert rn.evaluate(path).counts["ratings"] == n
