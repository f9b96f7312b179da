"""Which way data goes: through memory, through the disk, or through Spark."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recsys_ndcg.errors import InvalidInputError, check_path

_PAIR = {"labels", "results"}
_WILD = "*?["
#: Libraries whose tables and streams need not fit the memory, by the names of their classes.
_STREAMS = {
    ("duckdb", "DuckDBPyRelation"),
    ("pyarrow", "RecordBatchReader"),
    ("pyarrow", "FileSystemDataset"),
    ("pyarrow", "InMemoryDataset"),
    ("pyarrow", "UnionDataset"),
    ("pyarrow", "Dataset"),
}


def door_of(data: Any, memory_limit: object = None) -> str:
    """Return which way data goes: ``"memory"``, ``"disk"`` or ``"spark"``.

    Examples
    --------
    >>> door_of("big.csv"), door_of("big.csv", "2GB"), door_of("parts/*.parquet")
    ('memory', 'disk', 'disk')
    """
    tables = list(data.values()) if is_pair(data) else [data]
    spark = [_library(one) == "pyspark" for one in tables]
    if any(spark):
        if not all(spark):
            msg = "Labels and results come in different ways. Give both as tables of Spark."
            raise InvalidInputError(msg)
        return "spark"
    elsewhere = any(is_several(one) or _streams(one) for one in tables)
    return "disk" if elsewhere or memory_limit is not None else "memory"


def is_pair(data: Any) -> bool:
    """Tell labels and results from every other mapping.

    Examples
    --------
    >>> is_pair({"labels": "test.csv", "results": "top.csv"}), is_pair({"labels": [(4, 5)]})
    (True, False)
    """
    return isinstance(data, Mapping) and data.keys() == _PAIR


def is_files(data: object) -> bool:
    """Tell the path of a file, a pattern of such, and lists of these."""
    some = data if isinstance(data, list | tuple) else [data]
    return len(some) > 0 and all(isinstance(one, str | os.PathLike) for one in some)


def is_several(data: object) -> bool:
    """Tell a pattern or a list from the path of one file.

    Examples
    --------
    >>> is_several("parts/*.parquet"), is_several(["a.csv"]), is_several("a.csv")
    (True, True, False)
    """
    if isinstance(data, list | tuple):
        return is_files(data)
    return isinstance(data, str | os.PathLike) and is_pattern(os.fspath(data))


def paths_of(data: Any) -> list[Path]:
    """Return the files that are meant, in the order they are given; those of a pattern by name.

    Raises
    ------
    InvalidInputError
        No file has a name of that pattern.
    """
    found: list[str] = []
    for one in data if isinstance(data, list | tuple) else [data]:
        check_path(one)
        name = os.fspath(one)
        if not is_pattern(name):
            found.append(name)
            continue
        matching = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - from anywhere
        if not matching:
            msg = f"{name}: no file has such a name."
            raise InvalidInputError(msg)
        found += matching
    return [Path(name) for name in found]


def is_pattern(path: str) -> bool:
    """Tell a pattern from the name of a file, which may hold the same signs."""
    return any(sign in path for sign in _WILD) and not Path(path).exists()


def _streams(data: object) -> bool:
    return (_library(data), type(data).__name__) in _STREAMS


def _library(data: object) -> str:
    return type(data).__module__.partition(".")[0].lstrip("_")
