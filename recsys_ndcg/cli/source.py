"""From the options that name files to lists."""

from __future__ import annotations

import sys
from typing import IO, TYPE_CHECKING, Any

from recsys_ndcg.cli.options import pairs_from
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.input.text.form import TextFormat
from recsys_ndcg.lists.ranked_lists import RankedLists

if TYPE_CHECKING:
    from pathlib import Path

    from recsys_ndcg.cli.parameters import Source

_WAYS = {
    "file": ("FILE",),
    "labels": ("--labels", "--results"),
    "qrels": ("--qrels", "--run"),
}
_ASKED = "Give FILE, or --labels and --results, or --qrels and --run."


def lists_of(source: Source, duplicates: str) -> RankedLists:
    """Read the lists from the files that are named.

    Raises
    ------
    InvalidInputError
        None is named, or too many are; or one cannot be read.
    """
    way = _way_of(source)
    if way == "file" and source.n_items is not None:
        msg = "--n-items tells what --results or --run were chosen from; FILE has no such lists."
        raise InvalidInputError(msg)
    text = TextFormat(source.sep, source.decimal, source.encoding, not source.no_heading)
    columns = pairs_from(source.columns, "--columns")
    if way == "qrels":
        if columns or text != TextFormat():
            msg = (
                "--columns, --sep, --decimal, --encoding and --no-heading say how a table is "
                "written; the files of --qrels and --run have a form of their own."
            )
            raise InvalidInputError(msg)
        places = _opened(source.qrels), _opened(source.run)
        return RankedLists.from_trec(*places, duplicates=duplicates, n_items=source.n_items)
    options: dict[str, Any] = {"columns": columns, "duplicates": duplicates, "text": text}
    if way == "labels":
        places = _opened(source.labels), _opened(source.results)
        return RankedLists.from_labels(*places, **options, n_items=source.n_items)
    return RankedLists.from_file(_opened(source.file), **options)


def files_of(source: Source) -> dict[str, Path | None]:
    """Return what is read, by what messages call it."""
    return {
        "the data": source.file,
        "--labels": source.labels,
        "--results": source.results,
        "--qrels": source.qrels,
        "--run": source.run,
    }


def is_dash(path: Path) -> bool:
    """Tell the sign for standard input or standard output from the name of a file."""
    return str(path) == "-"


def _way_of(source: Source) -> str:
    """Return in which of the three ways the data is named."""
    given = {
        option: value
        for options in _WAYS.values()
        for option in options
        if (value := getattr(source, option.lstrip("-").lower())) is not None
    }
    way = next((one for one, options in _WAYS.items() if set(options) == set(given)), None)
    if way is None:
        there = (
            f"{' and '.join(given)} {'is' if len(given) == 1 else 'are'}" if given else "None is"
        )
        msg = f"Where the predictions are is said in one way: {there} given. {_ASKED}"
        raise InvalidInputError(msg)
    if sum(map(is_dash, given.values())) > 1:
        msg = f"{' and '.join(given)}: only one can be standard input, '-'."
        raise InvalidInputError(msg)
    return way


def _opened(path: Any) -> Path | IO[bytes]:
    """Return a path, or standard input in place of '-'."""
    if not is_dash(path):
        named: Path = path
        return named
    if sys.stdin is None:
        msg = "-: standard input is closed. Give the name of a file."
        raise InvalidInputError(msg)
    return sys.stdin.buffer
