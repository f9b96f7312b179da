"""What is read: the options that name files, and the lists and reports in these."""

from __future__ import annotations

import errno
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from recsys_ndcg.cli.options import given_options, pairs_from
from recsys_ndcg.errors import InvalidInputError, reading
from recsys_ndcg.input import FileKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from recsys_ndcg.input import TextFormat
    from recsys_ndcg.lists import RankedLists
    from recsys_ndcg.report import Report
    from recsys_ndcg.scoring import Plan

Saved = TypeVar("Saved")

_WAYS = ({"FILE"}, {"--labels", "--results"}, {"--qrels", "--run"})
_ASKED = "Give FILE, or --labels and --results, or --qrels and --run."


@dataclass(frozen=True)
class DataOptions:
    """Where the predictions are."""

    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help=f"Predictions: {FileKind.describe_all()}, made by Surprise. '-' reads text from "
            "standard input.",
            show_default=False,
        ),
    ] = None
    labels: Annotated[
        Path | None,
        typer.Option(help="In place of FILE: what is known (user, item, true); with --results."),
    ] = None
    results: Annotated[
        Path | None,
        typer.Option(help="What was recommended (user, item, rank or estimated)."),
    ] = None
    qrels: Annotated[
        Path | None, typer.Option(help="In place of FILE: judgements of TREC; with --run.")
    ] = None
    run: Annotated[Path | None, typer.Option(help="A run of TREC.")] = None
    n_items: Annotated[
        int | None,
        typer.Option(
            "--n-items",
            help="The size of the catalogue that --results or --run were chosen from: chance is "
            "then that of lists drawn from it.",
        ),
    ] = None


@dataclass(frozen=True)
class Written:
    """How files are written."""

    columns: Annotated[
        str,
        typer.Option(
            help="Our column names to the file's: estimated=est,true=r_ui; without a heading their "
            "places: user=1,item=2,estimated=3,true=4."
        ),
    ] = ""
    no_heading: Annotated[
        bool,
        typer.Option(
            "--no-heading",
            help="The first line is data. Without --columns: user, item, estimated, true.",
        ),
    ] = False
    sep: Annotated[
        str | None,
        typer.Option(help="What separates fields: one sign, tab, or '::'.  [default: found]"),
    ] = None
    decimal: Annotated[str, typer.Option(help="What stands before decimals: '.' or ','.")] = "."
    encoding: Annotated[
        str | None,
        typer.Option(help="Such as latin-1 or utf-16.  [default: UTF-8]"),
    ] = None


@dataclass(frozen=True)
class Scale:
    """How many files there are, and how much memory."""

    more: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="More files of it.", show_default=False),
    ] = None
    memory_limit: Annotated[
        str | None,
        typer.Option(
            help="How much memory may be used, such as 2GB: the rows of CSV and Parquet are then "
            "brought together on disk, as those of several files are in any case."
        ),
    ] = None

    def measured(
        self,
        source: DataOptions,
        written: Written,
        plan: Plan,
        per_user: Path | None = None,
        *,
        quiet: bool,
    ) -> tuple[Report, bool]:
        """Return the report, and whether the scores of users were written as they came.

        Raises
        ------
        InvalidInputError
            The options do not go together, or the data cannot be read.
        """
        from recsys_ndcg.evaluation import evaluated
        from recsys_ndcg.scale import engine_for

        data = self._data(source)
        if data is None:
            return report_of(source, written, plan), False
        columns, text = how_written(written)
        streamed = engine_for(data, self.memory_limit) is not None  # not all of them may be kept
        report = evaluated(
            data,
            plan,
            columns,
            text=text,
            n_items=source.n_items,
            memory_limit=self.memory_limit,
            per_user=per_user if streamed else None,
            progress=not quiet,
        )
        return report, streamed

    @property
    def files(self) -> dict[str, Path]:
        """The files beyond the first one, by what messages call them."""
        return {f"FILE {place}": path for place, path in enumerate(self.more or (), start=2)}

    def _data(self, source: DataOptions) -> Any:
        """Return what is read, as `recsys_ndcg.evaluate` takes it; None of a stream, or TREC."""
        given = files_of(source)
        check_way(given, source.n_items)
        several = bool(self.more) or self.memory_limit is not None
        if "--qrels" in given or any(map(is_dash, given.values())):
            if several:
                msg = (
                    "Several files, and --memory-limit, are for tables in files of their own, and "
                    "neither for standard input nor for --qrels and --run."
                )
                raise InvalidInputError(msg)
            return None
        if "--labels" in given:
            if self.more:
                msg = "Give --labels and --results, or files of predictions, not both."
                raise InvalidInputError(msg)
            return {"labels": given["--labels"], "results": given["--results"]}
        return [given["FILE"], *self.more] if self.more else given["FILE"]


def report_of(source: DataOptions, written: Written, plan: Plan) -> Report:
    """Measure the lists in the files that are named.

    Raises
    ------
    InvalidInputError
        As for `lists_of`; or nothing can be measured of them.
    """
    from recsys_ndcg.evaluation import measured

    return measured(lists_of(source, written, plan.duplicates), plan)


def lists_of(source: DataOptions, written: Written, duplicates: str) -> RankedLists:
    """Read the lists from the files that are named.

    Raises
    ------
    InvalidInputError
        None is named, or too many are; or one cannot be read.
    """
    from recsys_ndcg.input import TextFormat
    from recsys_ndcg.lists import RankedLists

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
    from recsys_ndcg.input import TextFormat

    text = TextFormat(written.sep, written.decimal, written.encoding, not written.no_heading)
    return pairs_from(written.columns, "--columns"), text


def files_of(source: DataOptions) -> dict[str, Path]:
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


def check_there(path: Path) -> None:
    """Refuse a file that is not there, before anything is measured.

    Raises
    ------
    InvalidInputError
        It is not, or is a folder.
    """
    with reading(path):
        if not is_dash(path) and path.stat() and path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))


def saved_in(
    source: DataOptions, kinds: Mapping[str, Callable[[Path], Saved]], *late: Any, beside: str
) -> Saved | None:
    """Return what was saved in FILE, if it is of one of the kinds.

    Parameters
    ----------
    source : DataOptions
        What is read.
    kinds : mapping of str to callable
        What loads it, by the name of what may be saved there.
    *late : options
        Those that come too late to change what is saved.
    beside : str
        Which options may stand beside FILE, for the message.

    Raises
    ------
    InvalidInputError
        There is no such file, or options come too late.
    """
    from recsys_ndcg.files import is_saved

    given = files_of(source)
    for path in given.values():
        check_there(path)
    for kind, load in kinds.items() if source.file is not None else ():
        if is_saved(given["FILE"], kind):
            if given_options(*late) or len(given) > 1:
                msg = (
                    f"{source.file} is a saved {kind}, in which all is measured: give it{beside} "
                    "alone."
                )
                raise InvalidInputError(msg)
            return load(given["FILE"])
    return None
