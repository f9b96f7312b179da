"""Several files: paths, and patterns of paths."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import Any

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.files.contents import check_path

_WILD = "*?["


def is_files(data: object) -> bool:
    """Return whether data are a path, a pattern of paths, or a list of these."""
    some = data if isinstance(data, list | tuple) else [data]
    return len(some) > 0 and all(isinstance(one, str | os.PathLike) for one in some)


def are_several_files(data: object) -> bool:
    """Return whether data are a list of paths, or a pattern."""
    return is_files(data) and (isinstance(data, list | tuple) or _is_pattern(str(data)))


def are_existing_files(data: object) -> bool:
    """Return whether data are paths, or texts that are the names of files, and no ids."""
    if not is_files(data):
        return False
    some = data if isinstance(data, list | tuple) else [data]
    return all(not isinstance(one, str) or os.path.exists(one) for one in some)  # noqa: PTH110


def find_files(data: Any) -> list[Path]:
    """Return the files of paths and patterns, in their order; the matches of a pattern are sorted.

    Raises
    ------
    InvalidInputError
        No file matches a pattern.
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
            msg = f"{name}: no file matches this pattern."
            raise InvalidInputError(msg)
        found += matching
    return [Path(name) for name in found]


def _is_pattern(path: str) -> bool:
    """Return whether a path is a pattern, and not the name of a file with such characters."""
    return any(sign in path for sign in _WILD) and not os.path.exists(path)  # noqa: PTH110 - Path's raises for a name that is too long
