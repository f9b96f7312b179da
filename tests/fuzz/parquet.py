"""Parquet files, damaged, of odd types, or of far more rows than they have room for."""

from __future__ import annotations

import datetime as dt
import decimal
import io
import json
import random
from functools import cache
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np

import recsys_ndcg as rn
from tests.fuzz.damage import damage

N = 40
COMPRESSIONS = ("none", "snappy", "gzip", "zstd", "brotli", "lz4")
ENCODINGS = (None, None, "DELTA_BINARY_PACKED", "DELTA_BYTE_ARRAY", "BYTE_STREAM_SPLIT", "PLAIN")
METADATA: list[Any] = [
    None, 5, [], {}, "", {"index_columns": ["user"]}, {"index_columns": [None], "columns": [5]},
    {"index_columns": [{"kind": "range"}], "columns": [{}], "column_indexes": [{}]},
]  # fmt: skip
#: Values of columns of other types than one expects.
VALUES: list[list[Any]] = [
    [[1], [2, 3], None], [{"a": 1}, {"a": None}], [{"a": [{"b": [1]}]}], [b"\xff", b"", None],
    [decimal.Decimal("1.5"), decimal.Decimal("-2.25"), None], ["é", "", None, "x" * 3000],
    [dt.date(2020, 1, 1), dt.date(1, 1, 1)], [dt.datetime(2020, 1, 1, tzinfo=dt.UTC)],
    [dt.datetime(9999, 12, 31)], [dt.timedelta(days=1)], [dt.time(1)],  # noqa: DTZ001
    [True, None], [None], [2**63, 2**64 - 1], [float("nan"), float("inf"), 1e308],
]  # fmt: skip


def case(chance: random.Random) -> bytes:
    """Write a table somehow, and change some of its bytes, mostly where it describes itself."""
    content = _table(chance) if chance.random() < 0.5 else _plain(chance.randrange(3))
    return damage(chance, content, chance.choice((0, 1, 1, 2, 4, 30)), len(content) - 600)


def _columns(n: int) -> dict[str, Any]:
    rows = np.arange(n)
    users, items = rows // 4 % 1000, rows % 4 + rows // 4000 * 4
    return {"user": users, "item": items, "estimated": rows * 7 % 11 / 3, "true": rows * 3 % 5.0}


@cache
def _plain(place: int) -> bytes:
    """Return a table as pandas writes it."""
    import pandas as pd  # noqa: PLC0415 - once

    frame = pd.DataFrame(_columns(N))
    if place:
        frame["user"] = "u" + frame["user"].astype(str)
    if place == 2:
        frame["item"] = frame["item"].astype("category")
    written = io.BytesIO()
    (frame.set_index("user") if place == 1 else frame).to_parquet(written)
    return written.getvalue()


def _table(chance: random.Random) -> bytes:
    """Return a table of odd columns, under odd descriptions, written in one of many ways."""
    import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
    from pyarrow import parquet  # noqa: PLC0415

    n = chance.choice((0, 1, N, N, 3000)) if chance.random() < 0.97 else 5_000_000
    columns: dict[str, Any] = {name: pa.array(one) for name, one in _columns(n).items()}
    if n == 5_000_000:
        columns = dict.fromkeys(columns, pa.array(np.zeros(n, dtype=np.int8)))
    elif n and chance.random() < 0.6:
        columns[chance.choice([*columns])] = _column(chance, n)
    table = pa.table(columns)
    if chance.random() < 0.3:
        metadata = json.dumps(chance.choice(METADATA)).encode()
        name = chance.choice((b"pandas", b"pandas", b"ARROW:schema"))
        table = table.replace_schema_metadata({name: metadata})
    written = io.BytesIO()
    encoding = chance.choice(ENCODINGS) if n < 5_000_000 else None  # a bomb must be small
    how: dict[str, Any] = {"use_dictionary": encoding is None, "column_encoding": encoding}
    for options in (how, {}):
        options["compression"] = chance.choice(COMPRESSIONS)
        options["store_schema"] = chance.random() < 0.7
        options["row_group_size"] = chance.choice((7, 1 << 20)) if n <= N else None
        try:
            parquet.write_table(table, written, **options)
        except (pa.ArrowException, OSError, KeyError, TypeError):  # no such encoding of the type
            written = io.BytesIO()
        else:
            return written.getvalue()
    return _plain(0)


def _column(chance: random.Random, n: int) -> Any:
    """Return a column of another type than one expects."""
    import pyarrow as pa  # noqa: PLC0415

    values = chance.choice(VALUES)
    array = pa.array([*islice(cycle(values), n)], pa.uint64() if 2**63 in values else None)
    if chance.random() < 0.3 and not array.type.num_fields:
        return array.dictionary_encode()
    return array


def run(case: bytes, folder: Path) -> None:
    """Read it as predictions."""
    path = folder / "p.parquet"
    path.write_bytes(case)
    report = rn.evaluate(path)
    assert report.counts["ratings"] >= 1
    assert str(report)
