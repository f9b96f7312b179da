"""Parquet files with columns of every type, damaged files, and files that unpack to too much."""

from __future__ import annotations

import datetime as dt
import decimal
import random
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recsys_ndcg as rn
from recsys_ndcg.files import contents
from tests.errors import assert_rejected, rejects
from tests.fuzz.damage import damage

pa, pq, dataset = map(pytest.importorskip, ("pyarrow", "pyarrow.parquet", "pyarrow.dataset"))
pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
ROWS = [("a", 1, 1.0, 1.0), ("a", 2, 2.0, 3.0), ("b", 1, 3.0, 2.0), ("b", 2, 4.0, 4.0)]
FRAME = pd.DataFrame(ROWS, columns=["user", "item", "estimated", "true"])
DATES = [dt.date(2020, 1, 1), dt.date(2020, 1, 2)] * 2


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    return tmp_path / "p.parquet"


def _written(path: Path, **columns: Any) -> Path:
    """Write the table with some columns replaced."""
    table = {name: pa.array(FRAME[name].tolist()) for name in FRAME} | columns
    pq.write_table(pa.table(table), path)
    return path


@pytest.mark.parametrize("index", ["user", ["user", "item"], "true"])
def test_the_index_of_a_written_table_is_read_as_a_column(path: Path, index: Any) -> None:
    """Pandas would hide it."""
    FRAME.set_index(index).to_parquet(path)
    assert rn.evaluate(path) == rn.evaluate(FRAME)


IDS = [
    *(pa.array([*"xyxy"], kind) for kind in (pa.string(), pa.large_string())), pa.array(DATES),
    pa.array([decimal.Decimal("1.5"), decimal.Decimal(2)] * 2),
    pa.array([2**63, 2**64 - 1, 5, 6], pa.uint64()), pa.array([1, 2, 1, 2]).dictionary_encode(),
    pa.array([*"xyxy"]).dictionary_encode(), pa.array([b"x", b"\xff", b"x", b"y"]),
    pa.array([dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2)] * 2),  # noqa: DTZ001
]  # fmt: skip


@pytest.mark.parametrize("ids", IDS, ids=lambda ids: str(ids.type))
def test_ids_of_every_type_are_read(path: Path, ids: Any) -> None:
    """As the values that Python has for them."""
    lists: Any = rn.RankedLists.from_frame(_written(path, item=ids))
    assert lists._data.item_ids.tolist() == sorted(set(ids.to_pylist()))


WITH_NULL = [1, None, 2, 4]
GRADES = [
    *(pa.array(WITH_NULL, kind) for kind in (pa.int64(), pa.float32(), pa.decimal128(1, 0))),
    pa.array(WITH_NULL).dictionary_encode(),
]


@pytest.mark.parametrize("true", GRADES, ids=lambda true: str(true.type))
def test_numbers_of_every_type_are_read_and_nulls_are_unlabelled(path: Path, true: Any) -> None:
    """Like NaN in pandas."""
    expected = rn.evaluate(FRAME.assign(true=[1, np.nan, 2, 4]))
    assert rn.evaluate(_written(path, true=true)) == expected


BAD = [
    ({"true": [[1.0]] * 4}, r"true: \[1.0\], which is not a number"),
    ({"item": [{"a": 1}] * 4}, "p.parquet: the column 'item' holds struct<"),
    ({"item": pa.array(["x", None, "x", "y"]).dictionary_encode()}, "item: a missing id in row"),
    ({"true": ["1", "2", "3", "4"]}, "true: text such as '1' in row 0"),
    ({"true": DATES}, "true: .*not a number"),
    ({"true": [dt.timedelta(1)] * 4}, "true: timedelta64.* is not a number"),
]


@pytest.mark.parametrize(("columns", "match"), BAD)
def test_a_column_of_another_type_is_rejected(path: Path, columns: Any, match: str) -> None:
    """With its name."""
    assert_rejected(match, rn.evaluate, _written(path, **columns))


def test_unused_columns_may_have_any_type_and_names_must_be_unique(path: Path) -> None:
    """A column that is there twice is rejected."""
    nested = pa.array([{"a": [1]}] * 4)
    assert rn.evaluate(_written(path, other=nested)) == rn.evaluate(FRAME)
    array = pa.array([1, 2, 1, 2])
    names = ["user", "item", "item", "estimated", "true"]
    pq.write_table(pa.table([array] * 5, names=names), path)
    assert_rejected("p.parquet: has the column 'item' twice", rn.evaluate, path)


@pytest.mark.parametrize("column", ["user", "estimated"])
def test_a_column_without_a_name_is_read_or_rejected(path: Path, column: str) -> None:
    """DuckDB cannot read it; messages show it in quotes."""
    FRAME.rename(columns={column: ""}).to_parquet(path)
    expected = rn.evaluate(FRAME)
    for table in (path, pd.read_parquet(path), pl.read_parquet(path)):
        assert rn.evaluate(table, columns={column: ""}) == expected
    assert_rejected(f"no column '{column}'; it has .*''", rn.evaluate, path)
    for data in (path, dataset.dataset(path), pl.scan_parquet(path)):
        with rejects(f"{column}: the heading of its column is empty.*memory limit"):
            rn.evaluate(data, columns={column: ""}, memory_limit="4GB")
    FRAME.assign(**{"": 1}).to_parquet(path)
    assert rn.evaluate(path) == rn.evaluate(path, memory_limit="4GB") == expected


@pytest.mark.parametrize("metadata", [b"{", b"null", b'{"index_columns": ["no"]}'])
def test_the_metadata_of_pandas_is_ignored(path: Path, metadata: Any) -> None:
    """Damaged metadata would raise KeyError or TypeError in pandas."""
    table = pa.Table.from_pandas(FRAME).replace_schema_metadata({b"pandas": metadata})
    pq.write_table(table, path)
    assert rn.evaluate(path) == rn.evaluate(FRAME)


def test_a_damaged_file_is_read_or_rejected(path: Path) -> None:
    """With some bytes changed, or cut off; `tests/fuzz` tries more."""
    FRAME.to_parquet(path)
    whole, chance = path.read_bytes(), random.Random(0)  # noqa: S311
    messages: list[str] = []
    for _ in range(80):
        path.write_bytes(damage(chance, whole, 1))
        try:
            rn.evaluate(path)
        except rn.InvalidInputError as error:
            messages.append(str(error))
    assert len(messages) > 10
    assert "\n" not in "".join(messages)


def test_a_small_file_of_very_many_rows_is_rejected_before_they_are_built(path: Path) -> None:
    """Ten million identical rows; the message explains how to read them anyway."""
    zeros, ones = pa.array(np.zeros(1_000_000, dtype=np.int32)), pa.array(np.ones(1_000_000))
    ids = pa.DictionaryArray.from_arrays(zeros, pa.array(["a"]))
    table = pa.table({"user": ids, "item": ids, "estimated": ones, "true": ones})
    with pq.ParquetWriter(path, table.schema, data_page_size=1 << 30) as writer:
        for _ in range(10):
            writer.write_table(table)
    tracemalloc.start()
    match = r"p.parquet: 10,000,000 rows in a file of .* bytes. .*pass the table"
    assert_rejected(match, rn.evaluate, path, whole=False)
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()


def test_a_parquet_bomb_is_rejected(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dictionary of long texts that are nearly the same."""
    monkeypatch.setattr(contents, "BYTES_ANYWAY", 1 << 20)
    ids = [f"{'x' * 1_000_000}{place}" for place in range(12)]
    rows = {"user": ids, "item": range(12), "estimated": range(12), "true": range(12)}
    pq.write_table(pa.table({k: pa.array(v) for k, v in rows.items()}), path, compression="zstd")
    assert_rejected("p.parquet: 12,.* bytes in a file of", rn.evaluate, path, whole=False)
