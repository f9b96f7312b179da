"""From the options that name files to lists."""

from __future__ import annotations

import sys
from typing import IO, TYPE_CHECKING, Any

from recsys_ndcg.cli.options import pairs_from
from recsys_ndcg.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from recsys_ndcg.cli.parameters import Source, Written
    from recsys_ndcg.input.text.form import TextFormat
    from recsys_ndcg.lists.ranked_lists import RankedLists

_WAYS = ({"FILE"}, {"--labels", "--results"}, {"--qrels", "--run"})
_ASKED = "Give FILE, or --labels and --results, or --qrels and --run."


def lists_of(source: Source, written: Written, duplicates: str) -> RankedLists:
    """Read the lists from the files that are named.

    Raises
    ------
    InvalidInputError
        None is named, or too many are; or one cannot be read.
    """
    from recsys_ndcg.input.text.form import TextFormat
    from recsys_ndcg.lists.ranked_lists import RankedLists

    given = files_of(source)
    check_way(given, source.n_items)
    columns, text = how_written(written)
    places = map(_opened, given.values())
    if "--qrels" in given:
        if columns or text != TextFormat():
            msg = (
                "--columns, --sep, --decimal, --encoding and --no-heading say how a table is "
                "written; the files of --qrels and --run have a form of their own."
            )
            raise InvalidInputError(msg)
        return RankedLists.from_trec(*places, duplicates=duplicates, n_items=source.n_items)
    options: dict[str, Any] = {"columns": columns, "duplicates": duplicates, "text": text}
    if "--labels" in given:
        return RankedLists.from_labels(*places, **options, n_items=source.n_items)
    return RankedLists.from_file(*places, **options)


def how_written(written: Written) -> tuple[dict[str, str] | None, TextFormat]:
    """Return what the columns are called, and how text is written."""
    from recsys_ndcg.input.text.form import TextFormat

    text = TextFormat(written.sep, written.decimal, written.encoding, not written.no_heading)
    return pairs_from(written.columns, "--columns"), text


def files_of(source: Source) -> dict[str, Path]:
    """Return what is read, by the options that name it."""
    named = {
        "FILE": source.file,
        "--labels": source.labels,
        "--results": source.results,
        "--qrels": source.qrels,
        "--run": source.run,
    }
    return {option: path for option, path in named.items() if path is not None}


def is_dash(path: Path) -> bool:
    """Tell the sign for standard input or standard output from the name of a file."""
    return str(path) == "-"


def same_file(first: Path, second: Path) -> bool:
    """Tell whether two names are those of one file, also before there is any."""
    try:
        if first.exists() and second.exists():
            return first.samefile(second) and first.is_file()
        return first.resolve() == second.resolve()
    except (OSError, ValueError, RuntimeError):  # told when it is opened
        return False


def check_way(given: Mapping[str, Path], n_items: int | None = None) -> None:
    """Refuse options that name the data in none of the three ways, or in several."""
    if "FILE" in given and n_items is not None:
        msg = "--n-items tells what --results or --run were chosen from; FILE has no such lists."
        raise InvalidInputError(msg)
    if set(given) not in _WAYS:
        there = (
            f"{' and '.join(given)} {'is' if len(given) == 1 else 'are'}" if given else "None is"
        )
        msg = f"Where the predictions are is said in one way: {there} given. {_ASKED}"
        raise InvalidInputError(msg)
    if sum(map(is_dash, given.values())) > 1:
        msg = f"{' and '.join(given)}: only one can be standard input, '-'."
        raise InvalidInputError(msg)


def _opened(path: Path) -> Path | IO[bytes]:
    """Return a path, or standard input in place of '-'."""
    if not is_dash(path):
        return path
    if sys.stdin is None:
        msg = "-: standard input is closed. Give the name of a file."
        raise InvalidInputError(msg)
    return sys.stdin.buffer
