"""The models that are compared: which file each is, and what it is called."""

from __future__ import annotations

import errno
import os
import re
import warnings
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from recsys_ndcg.cli.parameters import Source
from recsys_ndcg.cli.source import is_dash, lists_of, same_file
from recsys_ndcg.comparison.entering import is_saved
from recsys_ndcg.errors import DataWarning, InvalidInputError, reading, warn
from recsys_ndcg.evaluation import measured
from recsys_ndcg.report.report import Report

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from recsys_ndcg.cli.parameters import Written
    from recsys_ndcg.scoring.plan import Plan

_ENDS = re.compile(
    r"(\.(csv|tsv|txt|jsonl|ndjson|json|parquet|pq|feather|arrow|pickle|pkl|run))?"
    r"(\.(gz|zst|bz2|xz|zip))?$",
    re.IGNORECASE,
)


def entries_of(words: Sequence[str]) -> dict[str, Path]:
    """Return the files by the names of their models.

    ``NAME=path`` gives a name; else it is that of the file without its end, and equal ones are
    told apart by their folders.

    Raises
    ------
    InvalidInputError
        Two models are one file, or have one name.

    Examples
    --------
    >>> [*entries_of(["out/svd.csv.gz", "best=out/knn.parquet"])]
    ['svd', 'best']
    >>> [*entries_of(["monday/svd.csv", "tuesday/svd.csv"])]
    ['monday/svd', 'tuesday/svd']
    """
    pairs = [_named(word) for word in words]
    for (_, one), (_, other) in combinations(pairs, 2):
        if (is_dash(one) and is_dash(other)) or same_file(one, other):
            msg = f"{other} is given twice: a model is not compared with itself."
            raise InvalidInputError(msg)
    stems = iter(_told_apart([path for name, path in pairs if not name]))
    names = [name or next(stems) for name, _ in pairs]
    for place, name in enumerate(names):
        if name in names[:place]:
            msg = f"Two models are called {name!r}: give one of them another name, name=path."
            raise InvalidInputError(msg)
    return dict(zip(names, (path for _, path in pairs), strict=True))


def _named(word: str) -> tuple[str, Path]:
    """Return the name of a model, if it is given one, and its file."""
    name, equals, path = word.partition("=")
    if equals and path and name.strip() and os.sep not in name and not os.path.lexists(word):
        return name.strip(), Path(path)
    return "", Path(word)


def _told_apart(paths: Sequence[Path]) -> list[str]:
    """Return short names of files: equal ones with as many folders as they need."""
    names = [_stem(path) for path in paths]
    for name in set(names):
        alike = [place for place, one in enumerate(names) if one == name]
        if len(alike) > 1:
            longer = _with_folders([paths[place] for place in alike])
            for place, one in zip(alike, longer, strict=True):
                names[place] = one
    return names


def _with_folders(paths: Sequence[Path]) -> list[str]:
    whole = [Path(os.path.abspath(path)) for path in paths]  # noqa: PTH100 - links stay
    for last in (_stem, lambda path: path.name):  # svd.csv and svd.json of one folder
        for depth in range(max(len(path.parts) for path in whole)):
            names = ["/".join([*path.parts[1:-1][::-1][:depth][::-1], last(path)]) for path in whole]
            if len(set(names)) == len(names):
                return names
    return [str(path) for path in paths]


def _stem(path: Path) -> str:
    return _ENDS.sub("", path.name, count=1) or path.name or str(path)


def check_there(paths: Mapping[str, Path]) -> None:
    """Refuse files that are not there, before any of them is measured.

    Raises
    ------
    InvalidInputError
        One is not, or is a folder.
    """
    for path in paths.values():
        with reading(path):
            if not is_dash(path) and path.stat() and path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))


def reports_of(
    entries: Mapping[str, Path], source: Source, written: Written, plan: Plan
) -> dict[str, Report]:
    """Return the reports of the models: saved ones as they are, predictions measured by a plan.

    Parameters
    ----------
    entries : mapping
        The files by the names of the models.
    source : Source
        What is known, where the files hold results: labels, or judgements.
    written : Written
        How the files are written.
    plan : Plan
        What is measured.

    Raises
    ------
    InvalidInputError
        A file cannot be read, or nothing can be measured of it.
    """
    found = {name: Report.load(path) for name, path in entries.items() if is_saved(path)}
    for name, path in entries.items():
        if name not in found:
            with _called(name, path):
                lists = lists_of(_source_of(path, source), written, plan.duplicates)
                found[name] = measured(lists, plan)
    return {name: found[name] for name in entries}


def _source_of(path: Path, source: Source) -> Source:
    """Return where one model's lists are, in the way that the options say."""
    if source.labels is not None:
        return replace(source, file=None, results=path)
    if source.qrels is not None:
        return replace(source, file=None, run=path)
    return replace(source, file=path)


@contextmanager
def _called(name: str, path: Path) -> Iterator[None]:
    """Say of which model an error or a warning is."""
    caught: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", DataWarning)
            yield
    except InvalidInputError as error:
        told = str(error)
        msg = told if told.startswith(str(path)) else f"{name}: {told}"
        raise InvalidInputError(msg) from None
    finally:
        for one in caught:
            warn(f"{name}: {one.message}")
