"""What is read: the options that name files, and the lists, reports and models in these."""

from __future__ import annotations

import errno
import os
import sys
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from recsys_ndcg.cli.options import REQUIRED, argument, given_options, option, pairs_from
from recsys_ndcg.errors import InvalidInputError, is_encodable
from recsys_ndcg.input import FileKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.report import Report
    from recsys_ndcg.scoring import Plan

_WAYS = ({"FILE"}, {"--labels", "--results"}, {"--qrels", "--run"})


@dataclass(frozen=True)
class Written:
    """How files are written."""

    columns: str = option(
        "Our column names to the file's: estimated=est,true=r_ui; without a heading their "
        "places: user=1,item=2,estimated=3,true=4.",
        default="",
    )
    no_heading: bool = option(
        "The first line is data. Without --columns: user, item, estimated, true.",
        "--no-heading",
        default=False,
    )
    sep: str | None = option("What separates fields: one sign, tab, or '::'.  [default: found]")
    decimal: str = option("What stands before decimals: '.' or ','.", default=".")
    encoding: str | None = option("Such as latin-1 or utf-16.  [default: UTF-8]")

    def form(self) -> dict[str, Any]:
        """Return what the columns are called, and how text is written, as `evaluate` takes it."""
        from recsys_ndcg.input import TextFormat

        text = TextFormat(self.sep, self.decimal, self.encoding, not self.no_heading)
        return {"columns": pairs_from(self.columns, "--columns"), "text": text}


@dataclass(frozen=True)
class Scale:
    """How many files there are, and how much memory."""

    more: list[Path] | None = argument("More files of it.", "FILE")
    memory_limit: str | None = option(
        "How much memory may be used, such as 2GB: the rows of CSV and Parquet are then "
        "brought together on disk, as those of several files are in any case."
    )

    @property
    def files(self) -> dict[str, Path]:
        """The files beyond the first one, by what messages call them."""
        return {f"FILE {place}": path for place, path in enumerate(self.more or (), start=2)}


@dataclass(frozen=True)
class DataOptions:
    """Where the predictions are."""

    file: Path | None = argument(
        f"Predictions: {FileKind.describe_all()}, made by Surprise. "
        "'-' reads text from standard input.",
        "FILE",
    )
    labels: Path | None = option(
        "In place of FILE: what is known (user, item, true); with --results."
    )
    results: Path | None = option("What was recommended (user, item, rank or estimated).")
    qrels: Path | None = option("In place of FILE: judgements of TREC; with --run.")
    run: Path | None = option("A run of TREC.")
    n_items: int | None = option(
        "The size of the catalogue that --results or --run were chosen from: chance is "
        "then that of lists drawn from it."
    )

    @property
    def files(self) -> dict[str, Path]:
        """What is read, by the options that name it."""
        named = {
            "FILE": self.file,
            "--labels": self.labels,
            "--results": self.results,
            "--qrels": self.qrels,
            "--run": self.run,
        }
        return {option: path for option, path in named.items() if path is not None}

    def check(self) -> None:
        """Refuse options that name the data in none of the three ways, or in several."""
        given = self.files
        if set(given) not in _WAYS:
            msg = (
                "Say in one way where the predictions are: by FILE, or --labels and --results, or "
                f"--qrels and --run. Given: {' and '.join(given) or 'none of them'}."
            )
            raise InvalidInputError(msg)
        if sum(map(is_dash, given.values())) > 1:
            msg = f"{' and '.join(given)}: only one can be standard input, '-'."
            raise InvalidInputError(msg)

    def data(self) -> Any:
        """Return what is read, as `recsys_ndcg.evaluate` takes it.

        Raises
        ------
        InvalidInputError
            As for `check`; or standard input is closed.
        """
        self.check()
        opened = {option.strip("-"): _opened(path) for option, path in self.files.items()}
        return opened.get("FILE", opened)

    def with_baseline(self, word: str) -> dict[str, Path]:
        """Return the file that is measured, and the baseline's, by their names; both are there.

        Raises
        ------
        InvalidInputError
            As for `check`; or a file is not there, or is given twice.
        """
        self.check()
        *_, path = self.files.values()
        models = named([("", path), read_entry(word)])
        check_there(*self.files.values(), *models.values())
        return models

    def evaluate(
        self,
        written: Written,
        plan: Plan,
        scale: Scale | None = None,
        *,
        per_user: Path | None = None,
        progress: bool = False,
    ) -> Report:
        """Measure the lists in the files.

        Raises
        ------
        InvalidInputError
            The options do not go together, the data cannot be read, or nothing can be measured of
            it.
        """
        from recsys_ndcg.evaluation import evaluated

        scale = Scale() if scale is None else scale
        data = self.data()
        several = bool(scale.more) or scale.memory_limit is not None
        if several and (self.qrels is not None or any(map(is_dash, self.files.values()))):
            msg = (
                "Several files, and --memory-limit, are for tables in files of their own, and "
                "neither for standard input nor for --qrels and --run."
            )
            raise InvalidInputError(msg)
        return evaluated(
            [data, *scale.more] if scale.more else data,
            plan,
            **written.form(),
            n_items=self.n_items,
            memory_limit=scale.memory_limit,
            per_user=per_user,
            progress=progress,
        )

    def evaluate_each(
        self,
        models: Mapping[str, Path],
        written: Written,
        plan: Plan,
        gated: Sequence[Metric],
        *,
        progress: bool,
    ) -> dict[str, Report]:
        """Return the report of each file, in place of what is named here beside what is known.

        Parameters
        ----------
        models : mapping of str to path
            By their names: a saved report is taken as it is, predictions are measured by the plan.
        written : Written
            How the files are written.
        plan : Plan
            What is measured.
        gated : sequence of Metric
            What a saved report must have.
        progress : bool
            Whether a bar counts the files, where a person watches.

        Raises
        ------
        InvalidInputError
            A file cannot be read, or nothing can be measured of it.
        """
        from recsys_ndcg.comparison import map_models
        from recsys_ndcg.files import Archive
        from recsys_ndcg.report import Report

        place = "results" if self.labels else "run" if self.qrels else "file"

        def work(_: str, path: Path) -> Report:
            if not Archive.is_saved(path):
                own: dict[str, Any] = {"file": None, "results": None, "run": None, place: path}
                return replace(self, **own).evaluate(written, plan)
            report = Report.load(path)
            lacking = [str(one) for one in gated if str(one) not in report.metrics]
            if lacking:
                has = ", ".join(report.metrics)
                msg = f"it was not measured in {', '.join(lacking)}; it has {has}."
                raise InvalidInputError(msg)
            return report

        # what is saved is quickly found to be damaged
        order = sorted(models, key=lambda name: not Archive.is_saved(models[name]))
        found = map_models({name: models[name] for name in order}, work, progress=progress)
        return {name: found[name] for name in models}

    def load(self, kinds: Sequence[Any], *late: Any, beside: str) -> Any:
        """Return what was saved in FILE, if it is of one of the kinds.

        Parameters
        ----------
        kinds : sequence of type
            Of what may be saved there, such as `Report`.
        *late : options
            Those that come too late to change what is saved.
        beside : str
            Which options may stand beside FILE, for the message.

        Raises
        ------
        InvalidInputError
            There is no such file, or options come too late.
        """
        from recsys_ndcg.files import Archive

        given = self.files
        check_there(*given.values())
        for kind in kinds if self.file is not None else ():
            name = kind.__name__.lower()
            if Archive.is_saved(given["FILE"], name):
                if given_options(*late) or len(given) > 1:
                    msg = (
                        f"{self.file} is a saved {name}, in which all is measured: give it{beside} "
                        "alone."
                    )
                    raise InvalidInputError(msg)
                return kind.load(given["FILE"])
        return None


@dataclass(frozen=True)
class Models:
    """The files of the models, and what is known apart from them."""

    models: list[str] = argument(
        "One per model: predictions, of any kind that 'evaluate' reads, or a saved report. "
        "NAME=FILE gives it a name.",
        "FILES...",
        REQUIRED,
    )
    labels: Path | None = option("What is known (user, item, true): every file then holds results.")
    qrels: Path | None = option("Judgements of TREC: every file is then a run.")
    n_items: int | None = option("The size of the catalogue that results were chosen from.")

    @property
    def source(self) -> DataOptions:
        """What is known, in each model's place of FILE."""
        return DataOptions(labels=self.labels, qrels=self.qrels, n_items=self.n_items)

    def files(self, baseline: str | None) -> tuple[dict[str, Path], str | None]:
        """Return the files by name, and the baseline's name: one of theirs, or of one file more."""
        given = [read_entry(one) for one in self.models]
        files = named(given)
        if baseline is None or baseline in files:
            return files, baseline
        entry = read_entry(baseline)
        for name, path in files.items():
            if same_file(path, entry[1]):
                return files, name
        files = named([*given, entry])
        return files, list(files)[-1]

    def check(self, files: Mapping[str, Path], *late: Any) -> None:
        """Refuse files that are not there, and options that come too late for what is in them."""
        from recsys_ndcg.files import Archive

        for name, path in self.source.files.items():
            if is_dash(path):
                msg = f"{name}: every model needs it, and standard input is read once."
                raise InvalidInputError(msg)
        check_there(*files.values(), *self.source.files.values())
        options = given_options(*late)
        if options and all(map(Archive.is_saved, files.values())):
            msg = (
                f"Every model is a saved report, so that {' and '.join(options)} would change "
                "nothing. Leave it, or give the predictions."
            )
            raise InvalidInputError(msg)


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


def _opened(path: Path) -> Path | IO[bytes]:
    """Return a path, or standard input in place of '-'."""
    if not is_dash(path):
        return path
    if sys.stdin is None:
        msg = "-: standard input is closed. Give the name of a file."
        raise InvalidInputError(msg)
    return sys.stdin.buffer


def check_there(*paths: Path) -> None:
    """Refuse files that are not there, before anything is measured.

    Raises
    ------
    InvalidInputError
        One is not, or is a folder.
    """
    from recsys_ndcg.files import reading

    for path in paths:
        with reading(path):
            if not is_dash(path) and path.stat() and path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))


def named(given: Sequence[tuple[str, Path]]) -> dict[str, Path]:
    """Return the files by the names of their models.

    A file without a name has that of the file, without its end; equal ones are told apart by
    their folders. Bytes of a name that are not UTF-8 are written as escapes.

    Raises
    ------
    InvalidInputError
        Two models are one file, or have one name.

    Examples
    --------
    >>> [*named([("", Path("out/svd.csv.gz")), ("best", Path("out/knn.parquet"))])]
    ['svd', 'best']
    >>> [*named([("", Path("monday/svd.csv")), ("", Path("tuesday/svd.csv"))])]
    ['monday/svd', 'tuesday/svd']
    """
    for (_, one), (_, other) in combinations(given, 2):
        if (is_dash(one) and is_dash(other)) or same_file(one, other):
            msg = f"{other} is given twice: a model is not compared with itself."
            raise InvalidInputError(msg)
    stems = iter(_short_names([path for name, path in given if not name]))
    names = escape_surrogates([name or next(stems) for name, _ in given])
    for place, name in enumerate(names):
        if name in names[:place]:
            msg = f"Two models are called {name!r}: give one of them another name, NAME=FILE."
            raise InvalidInputError(msg)
    return dict(zip(names, (path for _, path in given), strict=True))


def read_entry(word: str) -> tuple[str, Path]:
    """Return the name of a model, if it is given one, ``NAME=FILE``, and its file."""
    name, equals, path = word.partition("=")
    if equals and path and name.strip() and os.sep not in name and not os.path.lexists(word):
        return name.strip(), Path(path)
    return "", Path(word)


def _short_names(paths: Sequence[Path]) -> list[str]:
    """Return short names of files: equal ones with as many folders as they need."""
    places = [Path(os.path.abspath(path)).parts[1:] for path in paths]  # noqa: PTH100 - links stay
    steps = [
        ["/".join([*one[-depth:-1], last(path)]) for one, path in zip(places, paths, strict=True)]
        for last in (_stem, lambda path: path.name)  # svd.csv and svd.json of one folder
        for depth in range(1, max(map(len, places), default=0) + 1)
    ]
    return [
        next((step[place] for step in steps if step.count(step[place]) == 1), str(path))
        for place, path in enumerate(paths)
    ]


def _stem(path: Path) -> str:
    if is_dash(path):
        return "standard input"
    return FileKind.stem_of(path.name, ".run") or path.name or str(path)
