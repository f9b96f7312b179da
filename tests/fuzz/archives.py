"""Packed CSV and lines of JSON, damaged."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import recsys_ndcg as rn
from tests.fuzz.damage import damage, write_named

ROWS: list[list[Any]] = [[str(n // 4), f"i{n % 4}", n % 7 + 0.5, float(n % 5)] for n in range(40)]
NAMES = ["user", "item", "estimated", "true"]
CSV = "".join(",".join(f"{one}" for one in row) + "\n" for row in [NAMES, *ROWS]).encode()
ODD: list[Any] = [None, True, [], {}, [[1]], "", "x", "4.5", 1e308, -1, 2**70, "\ud800", "\0"]
MEMBERS: tuple[list[str], ...] = (["p.csv"], ["p.csv", "__MACOSX/x"], ["a", "b"], [], ["p.jsonl"])


def case(chance: random.Random) -> bytes:
    """Write a file of one of the kinds, its name in the first line, and damage it."""
    kind = chance.choice([*KINDS])
    content = damage(chance, KINDS[kind](chance), chance.choice((0, 1, 1, 2, 5)))
    return kind.encode() + b"\n" + content


def _lines(chance: random.Random) -> bytes:
    rows: list[Any] = [dict(zip(NAMES, row, strict=True)) for row in ROWS]
    for _ in range(chance.choice((0, 1, 3))):
        row = chance.choice(rows)
        row[chance.choice(NAMES)] = chance.choice([*ODD, float("nan")])
    return "\n".join(map(json.dumps, rows)).encode()


def _zipped(chance: random.Random) -> bytes:
    stream = io.BytesIO()
    way = chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(stream, "w", way) as archive:
        for name in chance.choice(MEMBERS):
            archive.writestr(name, CSV)
    return stream.getvalue()


def _zstd(_: random.Random) -> bytes:
    import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - an extra

    packed: bytes = pa.compress(CSV, codec="zstd", asbytes=True)
    return packed


KINDS: dict[str, Callable[[random.Random], bytes]] = {
    "p.csv.gz": lambda _: gzip.compress(CSV, mtime=0), "p.csv.bz2": lambda _: bz2.compress(CSV),
    "p.csv.xz": lambda _: lzma.compress(CSV), "p.csv.zst": _zstd, "p.zip": _zipped,
    "p.jsonl": _lines,
}  # fmt: skip


def run(case: bytes, folder: Path) -> None:
    """Read the file by its name."""
    assert str(rn.evaluate(write_named(case, folder)))
