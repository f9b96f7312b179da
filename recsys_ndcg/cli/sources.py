"""The options that name input files, and how these files are read."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from cyclopts import Parameter

from recsys_ndcg.cli.options import (
    Flag,
    Integer,
    Pairs,
    Text,
    list_changed_options,
    list_under,
    option,
    parse_pairs,
)
from recsys_ndcg.errors import InvalidInputError, is_encodable
from recsys_ndcg.input import FileKind

if TYPE_CHECKING:
    from recsys_ndcg.input import TextFormat
    from recsys_ndcg.report import Report
    from recsys_ndcg.scoring import Plan

#: A file and its format: ratings.txt,sep=tab,encoding=latin-1.
_FORMATTED = re.compile(r"(.+?)((?:,(?:sep|decimal|encoding|heading)=(?:,|[^,]*))+)")
_INPUTS = ({"FILE"}, {"--labels", "--results"}, {"--results"}, {"--qrels", "--run"})


class FormattedPath(type(Path())):  # type: ignore[misc] # Path itself has no subclasses in 3.11
    """A path with the format of its text."""

    options: Mapping[str, str]


def parse_file(text: str) -> Path:
    """Return a path; the format of a text file may follow it.

    Examples
    --------
    >>> path = parse_file("ratings.txt,sep=tab,heading=no")
    >>> str(path), path.options
    ('ratings.txt', {'sep': 'tab', 'heading': 'no'})
    """
    found = _FORMATTED.fullmatch(text)
    if found is None or os.path.lexists(text):
        return Path(text)
    formatted = FormattedPath(found[1])
    formatted.options = dict(re.findall(r",(\w+)=(,|[^,]*)", found[2]))
    return formatted


File = Annotated[Path, option("FILE", converter=lambda _, tokens: parse_file(tokens[0].value))]
Character = Annotated[str, option("CHARACTER")]
Predictions = Annotated[
    File,
    Parameter(
        name="FILE",
        help=f"Predictions: {FileKind.describe_all()}, made by Surprise. '-' is text from standard "
        "input.",
    ),
]


def add_format(path: Path, source: Any = None, default: TextFormat | None = None) -> Any:
    """Return a path, or another source, with the format that was given with the path.

    Raises
    ------
    InvalidInputError
        The format has an invalid value.
    """
    source = path if source is None else source
    if not isinstance(path, FormattedPath):
        return source
    from recsys_ndcg.errors import check_choice
    from recsys_ndcg.input import TextFormat

    given: dict[str, Any] = dict(path.options)
    if "heading" in given:
        check_choice("heading", given["heading"], ("yes", "no"))
        given["heading"] = given["heading"] == "yes"
    if "sep" in given:
        given["separator"] = given.pop("sep") or "/"  # which a Path does not keep at its end
    return source, replace(default or TextFormat(), **given)


@list_under("Text files")
@dataclass(frozen=True)
class FormatOptions:
    """The format of text files.

    Parameters
    ----------
    columns : str
        Map required columns to the file's: user=uid,item=iid. Without a header line, to
        positions: user=1,item=2,estimated=3,true=4. If two files have other names, give both:
        user=visitor,user=uid.
    no_heading : bool
        The file has no header line. Default columns: user, item, estimated, true.
    sep : str, optional
        Field separator of FILE, labels and results: one character, tab, or '::'. Any file may
        have its own format behind a comma: train.txt,sep=tab,encoding=latin-1,heading=no.
        [default: detected]
    decimal : str
        Decimal separator: '.' or ','.
    encoding : str, optional
        Text encoding, such as latin-1 or utf-16.  [default: UTF-8]
    list_sep : str, optional
        What separates several ids in a cell, such as ',' or ' '; '' if a cell is one id.
        [default: detected]
    """

    columns: Pairs = ""
    no_heading: Flag = False
    sep: Character | None = None
    decimal: Character = "."
    encoding: Text | None = None
    list_sep: Character | None = None

    @property
    def text(self) -> TextFormat:
        """The format of files that do not have their own."""
        from recsys_ndcg.input import TextFormat

        heading = False if self.no_heading else None
        return TextFormat(self.sep, self.decimal, self.encoding, heading)

    def to_keywords(self) -> dict[str, Any]:
        """Return the keywords of `evaluate` for the columns and the text format."""
        return {"columns": parse_pairs(self.columns, "--columns"), "text": self.text}


@list_under("Measures beyond accuracy")
@dataclass(frozen=True)
class ItemOptions:
    """What is known besides the lists, for measures beyond accuracy.

    Parameters
    ----------
    catalogue : Path, optional
        All items that can be recommended: a file with a column item. Chance is then a random
        choice of them.
    features : Path, optional
        Features of the items: a file with a column item and a column per feature. Texts such as
        drama|war are sets.
    base : Path, optional
        Recommendations of another model (user, item, and rank or estimated), for unexpected and
        overlap.
    groups : Path, optional
        The group of each user: a file with a column user and one more, for measures of groups.
    weights : Path, optional
        The weight of each item's labels, such as one over its propensity: a file with a column
        item and one more.
    train : Path, optional
        The rows that the model was trained on (user, item): popularity, novelty, seen items; and
        for --by of compare.
    """

    catalogue: File | None = None
    features: File | None = None
    base: File | None = None
    groups: File | None = None
    weights: File | None = None
    train: File | None = None

    def add_to(self, plan: Plan) -> Plan:
        """Return a plan with what the files say.

        Raises
        ------
        InvalidInputError
            A file is missing or cannot be read.
        """
        number = str(self.catalogue)
        if number.isdecimal() and not Path(number).exists():
            msg = f"--catalogue is the file of the items. For their number, use --n-items {number}."
            raise InvalidInputError(msg)
        given = {name: path for name, path in vars(self).items() if path is not None}
        check_files_exist(*given.values())
        return plan.with_known(**{name: add_format(path) for name, path in given.items()})


@list_under("Predictions")
@dataclass(frozen=True)
class DataOptions:
    """The predictions: FILE or the options that replace it.

    Parameters
    ----------
    labels : Path, optional
        Instead of FILE: the labels (user, item, true), with --results.
    results : Path, optional
        The recommendations (user, item, and rank or estimated), with --labels; alone for measures
        that need no labels, such as coverage.
    qrels : Path, optional
        Instead of FILE: TREC judgements, with --run.
    run : Path, optional
        A TREC run, with --qrels.
    n_items : int, optional
        Number of items in the catalogue that the recommendations were chosen from. The chance
        level is then the score of random lists of these items.
    """

    labels: File | None = None
    results: File | None = None
    qrels: File | None = None
    run: File | None = None
    n_items: Integer | None = None
    paths: Annotated[Sequence[Path], Parameter(parse=False)] = ()
    memory_limit: Annotated[str | None, Parameter(parse=False)] = None

    @property
    def files(self) -> dict[str, Path]:
        """The input files, by their options; standard input if none is given and it has data."""
        named = {"FILE": self.paths[0] if self.paths else None}
        named |= {
            f"--{name}": getattr(self, name) for name in ("labels", "results", "qrels", "run")
        }
        given = {name: path for name, path in named.items() if path is not None}
        return given or ({"FILE": Path("-")} if _has_piped_data() else {})

    def take(self, *paths: Path | None) -> Self:
        """Return these options with FILE, if it is given."""
        return replace(self, paths=[path for path in paths if path is not None])

    @property
    def all_files(self) -> dict[str, Path]:
        """The same, and further files with rows of the same table."""
        more = enumerate(self.paths[1:], start=2)
        return self.files | {f"FILE {place}": path for place, path in more}

    def check(self) -> None:
        """Raise unless the options name one input."""
        given = self.files
        if set(given) not in _INPUTS:
            found = f"Given: {' and '.join(given)}." if given else "No input."
            msg = (
                f"{found} Pass FILE, '-' for standard input, --results with or without --labels, "
                "or --qrels with --run."
            )
            raise InvalidInputError(msg)
        if sum(map(is_dash, given.values())) > 1:
            msg = f"{' and '.join(given)}: only one can be standard input, '-'."
            raise InvalidInputError(msg)

    def data(self, text_format: FormatOptions) -> Any:
        """Return the input as `recsys_ndcg.evaluate` takes it.

        Raises
        ------
        InvalidInputError
            The options do not name one input, or standard input is closed.
        """
        from recsys_ndcg.evaluation import pair_tables

        self.check()
        opened: dict[str, Any] = {
            option.strip("-"): _open_input(path, text_format.text)
            for option, path in self.files.items()
        }
        if opened.keys() == {"results"}:
            opened["labels"] = None
        return pair_tables(opened.get("FILE", opened), None, None, text_format.list_sep)

    def evaluate(
        self,
        text_format: FormatOptions,
        plan: Plan,
        *,
        per_user: Path | None = None,
        progress: bool = False,
    ) -> Report:
        """Evaluate the lists in the files.

        Raises
        ------
        InvalidInputError
            The options exclude each other, or the data cannot be read or evaluated.
        """
        from recsys_ndcg.evaluation import evaluate_by_plan

        data = self.data(text_format)
        several = len(self.paths) > 1 or self.memory_limit is not None
        if several and (self.qrels is not None or any(map(is_dash, self.files.values()))):
            msg = (
                "Several files and --memory-limit work with tables in files only, not with "
                "standard input or with --qrels and --run."
            )
            raise InvalidInputError(msg)
        if more := self.paths[1:]:  # all have the format of the first
            data = ([data[0], *more], data[1]) if isinstance(data, tuple) else [data, *more]
        return evaluate_by_plan(
            data,
            plan,
            **text_format.to_keywords(),
            n_items=self.n_items,
            memory_limit=self.memory_limit,
            per_user=per_user,
            progress=progress,
        )

    def evaluate_each(
        self,
        models: Mapping[str, Path],
        text_format: FormatOptions,
        plan: Plan,
        gated: Sequence[str],
        *,
        progress: bool,
    ) -> dict[str, Report]:
        """Return each model's report.

        Parameters
        ----------
        models : mapping of str to path
            Their files by name: saved reports are loaded, predictions are evaluated.
        text_format : FormatOptions
            The format of text files.
        plan : Plan
            The measurements.
        gated : sequence of str
            The metrics that a saved report must have.
        progress : bool
            Whether a terminal shows a progress bar of the files.

        Raises
        ------
        InvalidInputError
            A file cannot be read or evaluated.
        """
        from recsys_ndcg.comparison import map_models
        from recsys_ndcg.files import Archive
        from recsys_ndcg.report import Report

        place = "results" if self.labels else "run" if self.qrels else "paths"

        def work(_: str, path: Path) -> Report:
            if not Archive.is_saved(path):
                own: dict[str, Any] = {"paths": (), "results": None, "run": None}
                own[place] = [path] if place == "paths" else path
                return replace(self, memory_limit=None, **own).evaluate(text_format, plan)
            report = Report.load(path)
            lacking = [name for name in gated if name not in report.metrics]
            if lacking:
                has = ", ".join(report.metrics)
                msg = f"the saved report has no {', '.join(lacking)}. It has {has}."
                raise InvalidInputError(msg)
            return report

        # loading is quick, so a damaged file is reported before anything is evaluated
        order = sorted(models, key=lambda name: not Archive.is_saved(models[name]))
        found = map_models({name: models[name] for name in order}, work, progress=progress)
        return {name: found[name] for name in models}

    def load_saved(self, kinds: Sequence[Any], *late: Any, allowed: str) -> Any:
        """Return the object saved in FILE, or None if it is not of one of the kinds.

        Parameters
        ----------
        kinds : sequence of type
            The classes that FILE may hold, such as `Report`.
        *late : options
            Those that would have no effect on a saved object.
        allowed : str
            The options that are allowed with FILE, for the message.

        Raises
        ------
        InvalidInputError
            There is no such file, or an option has no effect.
        """
        from recsys_ndcg.files import Archive

        given = self.all_files
        check_files_exist(*self.files.values())
        for kind in kinds if self.paths else ():
            name = kind.__name__.lower()
            if Archive.is_saved(given["FILE"], name):
                if list_changed_options(*late) or len(given) > 1 or self.memory_limit:
                    msg = (
                        f"{self.paths[0]} is a saved {name}, which cannot be evaluated again. Pass "
                        f"only FILE{allowed}."
                    )
                    raise InvalidInputError(msg)
                return kind.load(given["FILE"])
        return None


@dataclass(frozen=True)
class ManyFilesOptions(DataOptions):
    """The same, for more rows than fit into memory.

    Parameters
    ----------
    memory_limit : str, optional
        Memory limit, such as 2GB, for CSV and Parquet files: rows are then grouped by user on
        disk. With several files this happens without the option, too.
    """

    memory_limit: Annotated[str | None, option("SIZE")] = None


@dataclass(frozen=True)
class ModelOptions(DataOptions):
    """The labels or judgements for the files of all models.

    Parameters
    ----------
    labels : Path, optional
        The labels (user, item, true): every file then holds results.
    qrels : Path, optional
        TREC judgements: every file is then a TREC run.
    n_items : int, optional
        Number of items in the catalogue that the recommendations were chosen from.
    """

    results: Annotated[Path | None, Parameter(parse=False)] = None
    run: Annotated[Path | None, Parameter(parse=False)] = None

    def check_models(self, models: Mapping[str, Path], *late: Any) -> None:
        """Raise if a file is missing, or if options have no effect on saved reports."""
        from recsys_ndcg.files import Archive

        shared = {"--labels": self.labels, "--qrels": self.qrels}
        given = {name: path for name, path in shared.items() if path is not None}
        for name, path in given.items():
            if is_dash(path):
                msg = f"{name} is read for each model, so it cannot be standard input. Pass a file."
                raise InvalidInputError(msg)
        check_files_exist(*models.values(), *given.values())
        options = list_changed_options(self, *late)
        if options and all(map(Archive.is_saved, models.values())):
            msg = (
                f"Every model is a saved report, on which {' and '.join(options)} has no effect. "
                "Remove it, or pass predictions."
            )
            raise InvalidInputError(msg)


def name_with_baseline(
    words: Sequence[str], baseline: str | None
) -> tuple[dict[str, Path], str | None]:
    """Return the files of models by name, with the baseline's file, and the baseline's name."""
    given = [parse_entry(one) for one in words]
    files = name_models(given)
    if baseline is None or baseline in files:
        return files, baseline
    entry = parse_entry(baseline)
    for name, path in files.items():
        if is_same_file(path, entry[1]):
            return files, name
    files = name_models([*given, entry])
    return files, list(files)[-1]


def escape_surrogates(values: Any) -> Any:
    r"""Return ids with lone surrogates as escapes, or as they are if none has any.

    Examples
    --------
    >>> print(*escape_surrogates(["zoë\ud800", 7]))
    zoë\ud800 7
    """
    if all(is_encodable(one) for one in values if isinstance(one, str)):
        return values
    return [
        one.encode(errors="backslashreplace").decode() if isinstance(one, str) else one
        for one in values
    ]


def is_dash(path: Path) -> bool:
    """Return whether a path is "-", standard input or standard output."""
    return str(path) == "-"


def is_same_file(first: Path, second: Path) -> bool:
    """Return whether two paths name one file, even if it does not exist yet."""
    try:
        if first.exists() and second.exists():
            return first.samefile(second) and first.is_file()
        return first.resolve() == second.resolve()
    except (OSError, ValueError, RuntimeError):  # opening it raises the error
        return False


def _has_piped_data() -> bool:
    """Return whether another program or a file writes to standard input; wait for it to begin."""
    stream = sys.stdin
    if stream is None or stream.closed or stream.isatty():
        return False
    buffer: Any = stream.buffer  # a BufferedReader
    return bool(buffer.peek(1))


def _open_input(path: Path, default: TextFormat) -> Any:
    """Return a path, or standard input for '-', perhaps with its format."""
    if not is_dash(path):
        return add_format(path, default=default)
    if sys.stdin is None:
        msg = "-: standard input is closed. Pass the name of a file."
        raise InvalidInputError(msg)
    return add_format(path, sys.stdin.buffer, default)


def check_files_exist(*paths: Path) -> None:
    """Raise if a file is missing.

    Raises
    ------
    InvalidInputError
        A file is missing, or is a folder.
    """
    from recsys_ndcg.files import convert_read_errors

    for path in paths:
        with convert_read_errors(path):
            if not is_dash(path) and path.stat() and path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))


def name_models(given: Sequence[tuple[str, Path]]) -> dict[str, Path]:
    """Return the files by the names of their models.

    A model without a name gets its file's name without suffix, or the path below the common folder
    if several files have that name. Bytes that are not UTF-8 become escapes.

    Raises
    ------
    InvalidInputError
        Two models have the same file or the same name.

    Examples
    --------
    >>> def names(*words): return [*name_models([parse_entry(word) for word in words])]
    >>> names("a.csv", "out/b.csv.gz", "best=c.parquet", "d.v2.json", "-", ".csv")
    ['a', 'b', 'best', 'd.v2', 'standard input', '.csv']
    >>> names("monday/svd.csv", "tuesday/svd.csv"), names("x/one/svd.csv", "y/one/svd.csv")
    (['monday/svd.csv', 'tuesday/svd.csv'], ['x/one/svd.csv', 'y/one/svd.csv'])
    >>> names("/tmp/svd.csv", "/tmp/svd.json"), names("A=svd.csv", "two/svd.csv")
    (['svd.csv', 'svd.json'], ['A', 'svd'])
    >>> names("out/lr=0.1.csv", "out/lr=0.2.csv")
    ['lr=0.1', 'lr=0.2']
    """
    for (_, one), (_, other) in combinations(given, 2):
        if (is_dash(one) and is_dash(other)) or is_same_file(one, other):
            msg = f"{other} is given twice. A model cannot be compared with itself."
            raise InvalidInputError(msg)
    unnamed = [path for name, path in given if not name]
    stems = [*map(_stem_of, unnamed)]
    root = os.path.commonpath([*(path.absolute().parent for path in unnamed)] or [Path()])
    shown = (
        stem if stems.count(stem) == 1 else os.path.relpath(path, root)
        for stem, path in zip(stems, unnamed, strict=True)
    )
    names = escape_surrogates([name or next(shown) for name, _ in given])
    for place, name in enumerate(names):
        if name in names[:place]:
            msg = f"Two models are called {name!r}. Give one of them another name: NAME=FILE."
            raise InvalidInputError(msg)
    return dict(zip(names, (path for _, path in given), strict=True))


def parse_entry(word: str) -> tuple[str, Path]:
    """Parse ``FILE`` or ``NAME=FILE``: return the model's name, or "", and its file."""
    name, equals, path = word.partition("=")
    if equals and path and name.strip() and os.sep not in name and not os.path.lexists(word):
        return name.strip(), parse_file(path)
    return "", parse_file(word)


def _stem_of(path: Path) -> str:
    if is_dash(path):
        return "standard input"
    return FileKind.strip_suffixes(path.name, ".run") or path.name or str(path)
