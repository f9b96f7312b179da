"""Files saved before version 0.2: of reports, comparisons and runs, without a digest.

Version 0.3 no longer reads them: then remove this module and its calls in `archive`. In these
files, columns are inside the head, packed in one of three ways, and damage is not detected.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recsys_ndcg.files.contents import Content

#: The last format of each kind without a digest.
FORMATS = {"report": 4, "comparison": 1, "run": 2, "model": 2, "cell": 2}
_TYPES = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f8")
_COLUMNS = ("format", "users", "n_users", "lists", "scores", "orders", "segment_of")
_TABLES = ("scores", "numerator", "denominator", "chance", "best", "truth")  # of a model

Saved = tuple[dict[str, Any], dict[str, "NDArray[Any]"]]


def upgrade(stored: dict[str, Any], kind: str, size: int) -> Saved:
    """Return the head and the columns of a JSON file of `size` bytes, as in archives.

    Raises
    ------
    LookupError, TypeError, ValueError, AttributeError, zlib.error
        The file is damaged.
    """
    if kind not in {"report", "comparison"}:
        return {name: one for name, one in stored.items() if name != "format"}, {}
    head = {name: one for name, one in stored.items() if name not in _COLUMNS}
    segments = stored.get("segment_of")
    if kind == "report":
        tables = stored["scores"] | stored["orders"]
    else:
        models = head["models"]
        tables = {
            f"{name}.{model}": models[model].pop(name) for model in models for name in _TABLES
        }
        head["segments"] = None if segments is None else segments["names"]
    n_users, lists = stored["n_users"], stored["lists"]
    if 8 * n_users * (len(lists) + sum(map(len, tables.values()))) > Content.compute_size_limit(
        size
    ):
        raise ValueError(n_users)
    columns = {"user": _unpack_ids(stored["users"], n_users)}
    columns |= {name: _unpack(one, n_users) for name, one in lists.items()}
    for name, one in tables.items():
        columns[name] = np.column_stack([_unpack(one[it], n_users) for it in stored["metrics"]])
    if segments is not None:
        columns["segment"] = _unpack(segments["codes"], n_users)
    return head, columns


def upgrade_parquet(head: dict[str, Any], columns: Mapping[str, NDArray[Any]]) -> Saved:
    """Return the head and the columns of a Parquet file, as in archives."""
    flat = {"user": columns["user"]}
    tables: dict[str, list[NDArray[Any]]] = {}
    for name, column in columns.items():
        kind, _, rest = name.partition(".")
        if kind == "lists":
            flat[rest] = column
        elif kind in {"scores", "orders"}:
            tables.setdefault(rest.partition(".")[0], []).append(column)
    head = {name: one for name, one in head.items() if name not in _COLUMNS}
    return head, flat | {name: np.column_stack(one) for name, one in tables.items()}


def _unpack_ids(stored: Any, size: int) -> NDArray[Any]:
    if not isinstance(stored, list):
        return _unpack(stored, size)
    ids = np.empty(size, dtype=object)
    ids[:] = stored
    return ids.astype(np.float64) if {*map(type, stored)} == {float} else ids


def _unpack(packed: Any, size: int) -> NDArray[Any]:
    """Return a column of `size` values."""
    if "codes" in packed:
        values = packed["values"]
        distinct = _decode(values, min(values["size"], size))
        return np.asarray(distinct[_unpack(packed["codes"], size)])
    if "steps" in packed:
        kind = np.dtype(packed["of"])
        steps = np.cumsum(_decode(packed["steps"], size), dtype=kind)
        return np.asarray(steps + kind.type(packed["from"]))
    return _decode(packed, size)


def _decode(packed: Any, size: int) -> NDArray[Any]:
    if packed["type"] not in _TYPES or not size >= 0:
        raise ValueError(packed["type"])
    kind = np.dtype(packed["type"])
    data, n_bytes = base64.b64decode(packed["data"]), size * kind.itemsize
    if packed["packed"]:
        data = zlib.decompressobj().decompress(data, n_bytes + 1)
    if len(data) != n_bytes:
        raise ValueError(size)
    return np.frombuffer(data, kind).astype(packed.get("as", kind))
