"""Parquet files, damaged, of odd types, or of far more rows than they have room for."""

from __future__ import annotations

import datetime as dt
import decimal
import io
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import recsys_ndcg as rn

if TYPE_CHECKING:
    import random

N = 40
COMPRESSIONS = ("none", "snappy", "gzip", "zstd", "brotli", "lz4")
ENCODINGS = (None, None, "DELTA_BINARY_PACKED", "DELTA_BYTE_ARRAY", "BYTE_STREAM_SPLIT", "PLAIN")
METADATA: list[Any] = [
    None, 5, [], {}, "", {"index_columns": ["user"]}, {"index_columns": [None], "columns": [5]},
    {"index_columns": [{"kind": "range"}], "columns": [{}], "column_indexes": [{}]},
]  # fmt: skip


def case(chance: random.Random) -> bytes:
    """Write a table somehow, and change some of its bytes, mostly where it describes itself."""
    content = bytearray(_table(chance) if chance.random() < 0.5 else _plain(chance.randrange(3)))
    for _ in range(chance.choice((0, 1, 1, 2, 4, 30))):
        end = len(content)
        begin = max(0, end - 600) if chance.random() < 0.6 else 0
        place = chance.randrange(begin, end)
        change = chance.random()
        if change < 0.4:
            content[place] = chance.randrange(256)
        elif change < 0.7:
            content[place] ^= 1 << chance.randrange(8)
        elif change < 0.9:  # a number of several bytes, as thrift writes them
            number = (b"\xff" * chance.randrange(1, 9) + b"\x7f")[: end - place]
            content[place : place + len(number)] = number
        elif change < 0.95:
            del content[place : place + chance.randrange(1, 40)]
        else:
            del content[chance.randrange(9, end) :]
        content = content if len(content) > 20 else bytearray(b"PAR1" * 6)
    return bytes(content)


@cache
def _plain(place: int) -> bytes:
    """Return a table as pandas writes it."""
    import pandas as pd  # noqa: PLC0415 - once

    users = np.arange(N) // 4
    frame = pd.DataFrame(
        {
            "user": [f"u{user}" for user in users] if place else users,
            "item": pd.Categorical(np.arange(N) % 4) if place == 2 else np.arange(N) % 4,
            "estimated": np.arange(N) * 7 % 11 / 3,
            "true": np.arange(N) * 3 % 5.0,
        }
    )
    written = io.BytesIO()
    (frame.set_index("user") if place == 1 else frame).to_parquet(written)
    return written.getvalue()


def _table(chance: random.Random) -> bytes:
    """Return a table of odd columns, under odd descriptions, written in one of many ways."""
    import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
    from pyarrow import parquet  # noqa: PLC0415

    n = chance.choice((0, 1, N, N, 3000)) if chance.random() < 0.97 else 5_000_000
    columns = {
        "user": pa.array(np.arange(n) // 4 % 1000),
        "item": pa.array(np.arange(n) % 4 + np.arange(n) // 4000 * 4),
        "estimated": pa.array(np.arange(n) * 7 % 11 / 3),
        "true": pa.array(np.arange(n) * 3 % 5.0),
    }
    if n == 5_000_000:
        columns = dict.fromkeys(columns, pa.array(np.zeros(n, dtype=np.int8)))
    elif n and chance.random() < 0.6:
        columns[chance.choice([*columns])] = _column(chance, n)
    table = pa.table(columns)
    if chance.random() < 0.3:
        told = json.dumps(chance.choice(METADATA)).encode()
        name = chance.choice((b"pandas", b"pandas", b"ARROW:schema"))
        table = table.replace_schema_metadata({name: told})
    written = io.BytesIO()
    encoding = chance.choice(ENCODINGS) if n < 5_000_000 else None  # a bomb must be small
    how: dict[str, Any] = {"use_dictionary": encoding is None, "column_encoding": encoding}
    for options in (how, {}):
        try:
            parquet.write_table(
                table,
                written,
                compression=chance.choice(COMPRESSIONS),
                store_schema=chance.random() < 0.7,
                row_group_size=chance.choice((7, 1 << 20)) if n <= N else None,
                **options,
            )
        except (pa.ArrowException, OSError, KeyError, TypeError):  # no such encoding of the type
            written = io.BytesIO()
        else:
            return written.getvalue()
    return _plain(0)


def _column(chance: random.Random, n: int) -> Any:
    """Return a column of another type than one expects."""
    import pyarrow as pa  # noqa: PLC0415

    made: list[Any] = [
        lambda: [[1], [2, 3], None][: min(n, 3)] * (n // 3 + 1),
        lambda: [{"a": 1}, {"a": None}] * n,
        lambda: [{"a": [{"b": [1]}]}] * n,
        lambda: [decimal.Decimal("1.5"), decimal.Decimal("-2.25"), None] * n,
        lambda: [dt.date(2020, 1, 1), dt.date(1, 1, 1)] * n,
        lambda: [dt.datetime(2020, 1, 1, tzinfo=dt.UTC)] * n,
        lambda: [dt.datetime(9999, 12, 31)] * n,  # noqa: DTZ001
        lambda: [dt.timedelta(days=1)] * n,
        lambda: [dt.time(1)] * n,
        lambda: [b"\xff", b"", None] * n,
        lambda: ["é", "", None, "x" * 3000] * n,
        lambda: [True, None] * n,
        lambda: [None] * n,
        lambda: [2**63, 2**64 - 1] * n,
        lambda: [float("nan"), float("inf"), 1e308] * n,
    ]
    place = chance.randrange(len(made))
    kind = pa.uint64() if place == 13 else None
    array = pa.array(made[place]()[:n], kind)
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
