"""Which engine measures data, and what each of them is: facts of tables, and batches of users."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.files import check_path

if TYPE_CHECKING:
    from recsys_ndcg.report import Report

IDS = ("user", "item")
#: What tables are.
PREDICTIONS, LABELS, RESULTS = "predictions", "labels", "results"
_WILD = "*?["
_SPARK, _DUCKDB = "recsys_ndcg.scale.spark", "recsys_ndcg.scale.duckdb"
#: The module of an engine, by the library and the class of its tables, or by the library alone.
ENGINES = {
    "pyspark": _SPARK,
    "duckdb.DuckDBPyRelation": _DUCKDB,
    "pyarrow.RecordBatchReader": _DUCKDB,
    "pyarrow.FileSystemDataset": _DUCKDB,
    "pyarrow.InMemoryDataset": _DUCKDB,
    "pyarrow.UnionDataset": _DUCKDB,
    "pyarrow.Dataset": _DUCKDB,
}


def engine_for(data: Any, memory_limit: object = None) -> Callable[..., Report] | None:
    """Return what measures data that need not be in memory; None if the memory is the place.

    It is the function ``evaluate_by_plan`` of an engine's module. This takes data, a plan and
    options, and refuses options that mean nothing to the engine.

    Examples
    --------
    >>> engine_for("big.csv") is None, engine_for("parts/*.parquet") is None
    (True, False)
    """
    tables = list(data.values()) if is_pair(data) else [data]
    modules = [_module_for(one) for one in tables]
    if _SPARK in modules and set(modules) != {_SPARK}:
        msg = "Labels and results come in different ways. Give both as tables of Spark."
        raise InvalidInputError(msg)
    found = next(filter(None, modules), _DUCKDB if memory_limit is not None else None)
    if found is None:
        return None
    engine: Callable[..., Report] = import_module(found).evaluate_by_plan
    return engine


def _module_for(data: object) -> str | None:
    if is_files(data) and (isinstance(data, list | tuple) or _is_pattern(str(data))):
        return _DUCKDB
    library = type(data).__module__.partition(".")[0].lstrip("_")
    return ENGINES.get(f"{library}.{type(data).__name__}", ENGINES.get(library))


def is_pair(data: Any) -> bool:
    """Tell labels and results from every other mapping.

    Examples
    --------
    >>> is_pair({"labels": "test.csv", "results": "top.csv"}), is_pair({"labels": [(4, 5)]})
    (True, False)
    """
    return isinstance(data, Mapping) and data.keys() == {LABELS, RESULTS}


def is_files(data: object) -> bool:
    """Tell the path of a file, a pattern of such, and lists of these."""
    some = data if isinstance(data, list | tuple) else [data]
    return len(some) > 0 and all(isinstance(one, str | os.PathLike) for one in some)


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
        if not _is_pattern(name):
            found.append(name)
            continue
        matching = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - from anywhere
        if not matching:
            msg = f"{name}: no file has such a name."
            raise InvalidInputError(msg)
        found += matching
    return [Path(name) for name in found]


def _is_pattern(path: str) -> bool:
    """Tell a pattern from the name of a file, which may hold the same signs."""
    return any(sign in path for sign in _WILD) and not Path(path).exists()
