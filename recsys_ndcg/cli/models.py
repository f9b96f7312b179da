"""The models that are compared: which file each is, what it is called, and by which test."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recsys_ndcg.cli.data import DataOptions, Written, check_there, is_dash, report_of, same_file
from recsys_ndcg.cli.options import beginning, given_options
from recsys_ndcg.errors import InvalidInputError, escape_surrogates
from recsys_ndcg.input import FileKind
from recsys_ndcg.lazy import lazy
from recsys_ndcg.significance import CORRECTIONS, TESTS, Testing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from recsys_ndcg.cli.options import Choices
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.report import Report
    from recsys_ndcg.scoring import Plan


def _users() -> Iterable[str]:
    from recsys_ndcg.comparison import USERS

    return USERS


def _segments() -> Iterable[str]:
    from recsys_ndcg.report import BUILT_IN

    return BUILT_IN


_TEST_NAMES, _CORRECTION_NAMES = beginning(lambda: TESTS), beginning(lambda: CORRECTIONS)
Users = Annotated[
    str,
    typer.Option(
        help="all: different users are refused; common: those that all models have are compared.",
        autocompletion=beginning(_users),
    ),
]
Margin = Annotated[
    float | None,
    typer.Option(help="Up to which a difference does not matter, such as 0.005."),
]
Alpha = Annotated[float, typer.Option(help="How often equal models may be called different.")]


@dataclass(frozen=True)
class Statistics:
    """The options of a comparison."""

    baseline: Annotated[
        str | None,
        typer.Option(
            help="Against which model users are won and lost, or chance.  [default: the first]"
        ),
    ] = None
    by: Annotated[
        str | None,
        typer.Option(
            help="Also for segments of the users: a file of user, segment, or activity, "
            "list_length, relevant, cold.",
            autocompletion=beginning(_segments),
        ),
    ] = None
    train: Annotated[
        Path | None,
        typer.Option(help="What the models were trained on, for --by activity and --by cold."),
    ] = None
    users: Users = "all"
    test: Annotated[
        str,
        typer.Option(help=f"{', '.join(TESTS)}.", autocompletion=_TEST_NAMES),
    ] = "t"
    correction: Annotated[
        str | None,
        typer.Option(
            help=f"For many pairs: {', '.join(CORRECTIONS)}.  [default: max-T, or holm]",
            autocompletion=_CORRECTION_NAMES,
        ),
    ] = None
    alpha: Alpha = 0.05
    margin: Margin = None
    draws: Annotated[int, typer.Option(help="Of signs, of users, and of what max-T needs.")] = (
        10_000
    )
    seed: Annotated[int, typer.Option(help="Of the draws.")] = 0

    def asked(self, models: Collection[str], other: str | None = None) -> dict[str, Any]:
        """Return what `recsys_ndcg.compare` is asked for, checked before anything is measured.

        Parameters
        ----------
        models : collection of str
            Their names.
        other : str, optional
            The one that stands in for a baseline that is not named.

        Raises
        ------
        InvalidInputError
            An option cannot be used.
        """
        from recsys_ndcg.comparison import check_options

        choices = {"alpha": self.alpha, "draws": self.draws, "seed": self.seed}
        how = Testing.of(self.test, self.correction or None, **choices)
        check_options(models, users=self.users, margin=self.margin, baseline=self.baseline)
        if self.by is not None and self.by not in _segments():
            check_there(Path(self.by))
        if self.train is not None:
            check_there(self.train)
        return {
            **asdict(how),
            "baseline": self.baseline or other,
            "by": self.by,
            "train": self.train,
            "users": self.users,
            "margin": self.margin,
        }


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
    stems = iter(_told_apart([path for name, path in given if not name]))
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
            names = [
                "/".join([*path.parts[1:-1][::-1][:depth][::-1], last(path)]) for path in whole
            ]
            if len(set(names)) == len(names):
                return names
    return [str(path) for path in paths]


def _stem(path: Path) -> str:
    if is_dash(path):
        return "standard input"
    return FileKind.stem_of(path.name, ".run") or path.name or str(path)


@dataclass(frozen=True)
class Entries:
    """The files of the models, and how they are read.

    Parameters
    ----------
    given : tuple of pairs
        A name, "" for none, and a file for each model.
    source : DataOptions
        What is known, where the files hold results: labels, or judgements.
    written : Written
        How the files are written.
    """

    given: tuple[tuple[str, Path], ...]
    source: DataOptions
    written: Written

    @lazy
    def files(self) -> dict[str, Path]:
        """The files by the names of their models."""
        return named(self.given)

    def and_also(self, word: str | None) -> tuple[Entries, str | None]:
        """Return these and one more, and its name; the word may name one of them, or its file."""
        if word is None or word in self.files:
            return self, word
        entry = read_entry(word)
        for name, path in self.files.items():
            if same_file(path, entry[1]):
                return self, name
        more = replace(self, given=(*self.given, entry))
        return more, list(more.files)[-1]

    def check(self, choices: Choices) -> None:
        """Refuse what cannot be compared, before anything is measured.

        Raises
        ------
        InvalidInputError
            A file is not there, or there are too few; or choices come too late.
        """
        from recsys_ndcg.files import is_saved

        if len(self.files) < 2:
            only = "".join(f" There is only {name!r}." for name in self.files)
            msg = f"A comparison needs at least two models.{only} 'evaluate' is for one."
            raise InvalidInputError(msg)
        beside = {"--labels": self.source.labels, "--qrels": self.source.qrels}
        known = {option: path for option, path in beside.items() if path is not None}
        if len(known) > 1:
            msg = "--labels and --qrels are given: what is known is said in one way."
            raise InvalidInputError(msg)
        for option, path in known.items():
            if is_dash(path):
                msg = f"{option}: every model needs it, and standard input is read once."
                raise InvalidInputError(msg)
        for path in (*self.files.values(), *known.values()):
            check_there(path)
        late = given_options(choices, self.source, self.written)
        if late and all(map(is_saved, self.files.values())):
            msg = (
                f"Every model is a saved report, so that {' and '.join(late)} would change "
                "nothing. Leave it, or give the predictions."
            )
            raise InvalidInputError(msg)

    def reports(
        self, plan: Plan, gated: Sequence[Metric], *, progress: bool = True
    ) -> dict[str, Report]:
        """Return the reports: saved ones as they are, predictions measured by a plan.

        Parameters
        ----------
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
        from recsys_ndcg.comparison import of_each_model
        from recsys_ndcg.files import is_saved
        from recsys_ndcg.report import Report

        found = {name: Report.load(path) for name, path in self.files.items() if is_saved(path)}
        for name, report in found.items():
            lacking = [str(one) for one in gated if str(one) not in report.metrics]
            if lacking:
                msg = (
                    f"{name}: it was not measured in {', '.join(lacking)}; it has "
                    f"{', '.join(report.metrics)}."
                )
                raise InvalidInputError(msg)
        others = {name: path for name, path in self.files.items() if name not in found}

        def work(_name: str, path: Path) -> Report:
            return report_of(self._source_of(path), self.written, plan)

        found |= of_each_model(others, work, progress=progress)
        return {name: found[name] for name in self.files}

    def _source_of(self, path: Path) -> DataOptions:
        """Return where one model's lists are, in the way that the options say."""
        if self.source.labels is not None:
            return replace(self.source, file=None, results=path)
        if self.source.qrels is not None:
            return replace(self.source, file=None, run=path)
        return replace(self.source, file=path)
