"""What engines share: which one measures data, what it is given, and batches of whole users."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from importlib import import_module
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.errors import InvalidInputError, label_messages, quote, warn
from recsys_ndcg.files import check_path
from recsys_ndcg.input import Rows, Table, encode
from recsys_ndcg.lists import Facts, GroupedLists, RankedLists, join
from recsys_ndcg.report import Report
from recsys_ndcg.scoring import Audit, Plan, Scores, Totals

if TYPE_CHECKING:
    from recsys_ndcg.scale.facts import RowFacts

IDS = ("user", "item")
#: What tables are.
PREDICTIONS, LABELS, RESULTS = "predictions", "labels", "results"
_WILD = "*?["
_SPARK, _DUCKDB = "recsys_ndcg.scale.spark", "recsys_ndcg.scale.duckdb"
_SMALL = 1 << 15  # users of parts that are joined
#: The module of an engine, by the library and a class of its tables, or by the library alone.
ENGINES = {
    "pyspark": _SPARK,
    "duckdb.DuckDBPyRelation": _DUCKDB,
    "pyarrow.RecordBatchReader": _DUCKDB,
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
    names = [*(f"{library}.{kind.__name__}" for kind in type(data).__mro__), library]
    return next((ENGINES[name] for name in names if name in ENGINES), None)


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


def given_tables(
    data: Any, columns: Mapping[str, str] | None
) -> dict[str, tuple[Any, Mapping[str, str] | None]]:
    """Return what is given by what it is: predictions, or labels and results.

    Each comes with what its columns are said to be called.
    """
    if not is_pair(data):
        return {PREDICTIONS: (data, columns)}
    return {name: (data[name], Table.columns_of(name, columns)) for name in (LABELS, RESULTS)}


def names_in(there: Sequence[str], columns: Mapping[str, str] | None, table: str) -> dict[str, str]:
    """Return what a table calls our columns, in the words of any table for what is not there."""
    heading = Table(dict.fromkeys(there, ()), columns)
    names = heading.called(*heading.wanted(table))
    heading.say_names()
    return names


def check_capitals(names: Mapping[str, str], there: Sequence[str]) -> None:
    """Refuse columns that SQL cannot tell from others.

    Raises
    ------
    InvalidInputError
        Some names differ in capitals at most, or not at all.
    """
    for theirs in names.values():
        if list(there).count(theirs) > 1:
            msg = f"The table has the column {theirs!r} twice; keep one."
            raise InvalidInputError(msg)
        alike = [one for one in there if one.casefold() == theirs.casefold()]
        if len(alike) > 1:
            msg = (
                f"The columns {' and '.join(map(repr, alike))} differ in capitals at most, so that "
                "DuckDB and Spark take them for one. Rename or drop one of them."
            )
            raise InvalidInputError(msg)


def lists_of(
    tables: Mapping[str, Any],
    plan: Plan,
    n_items: int | None = None,
    said: list[set[str]] | None = None,
) -> GroupedLists:
    """Return all rows of some users as lists, as if they had been read from memory.

    Parameters
    ----------
    tables : mapping
        Tables of pyarrow's by what they are, with columns of our names.
    plan : Plan
        What is measured.
    n_items : int, optional
        How many candidates the results were chosen from.
    said : list, optional
        Where there are labels and results, what would be warned of their ids is added to it.

    Raises
    ------
    InvalidInputError
        The same user and item stand there twice.
    """
    if PREDICTIONS in tables:
        return RankedLists.of(tables[PREDICTIONS], duplicates=plan.duplicates)
    with label_messages(""):  # what is to be said of each table was said of all its rows
        labels = Table(tables[LABELS]).rows(LABELS)
        results = Table(tables[RESULTS]).rows(RESULTS)
    kept = results.estimated != Rows.LOWEST  # what implicit did not recommend was told, too
    results = results if kept.all() else results.only(kept)
    with label_messages("") as told:
        lists = join(labels, results, plan.duplicates, RankedLists, part=True, n_items=n_items)
    if said is not None and len(labels.user) and len(results.user):
        said.append(set(told))
    return lists


@dataclass(frozen=True, eq=False)
class PartialReport:
    """What is left of the lists of some users, none of whom is in another part.

    Parameters
    ----------
    facts : Facts
        What is known of the lists.
    totals : Totals
        Of the scores, in every role.
    kept : tuple of Scores, optional
        Those of every user, part by part; None where they are not kept.

    Examples
    --------
    >>> from recsys_ndcg import RankedLists
    >>> from recsys_ndcg.scoring import Plan
    >>> plan, parts = Plan.of("ndcg@2"), []
    >>> for user in ("ann", "bob"):
    ...     lists = RankedLists.from_tuples({user: [(4.5, 3), (3.0, 5)]})
    ...     parts.append(PartialReport.of(Audit.of(lists, plan, highest=5.0)))
    >>> (parts[0] + parts[1]).report(plan).counts["users"]
    2
    """

    facts: Facts
    totals: Totals
    kept: tuple[Scores, ...] | None = None

    @classmethod
    def of(cls, audit: Audit, *, keep: bool = True) -> PartialReport:
        """Return what is left of lists that are measured and at hand (`Audit.of`).

        Parameters
        ----------
        audit : Audit
            Of all lists of these users.
        keep : bool
            Whether the scores of every user are kept.
        """
        kept = (audit.kept_scores,) if keep else None
        assert audit.source is not None, "the lists are at hand"  # noqa: S101
        return cls(audit.source.facts, audit.full_totals, kept)

    def __add__(self, other: PartialReport) -> PartialReport:
        """Return that of the users of both, measured alike; users are kept if both keep them.

        The last scores are joined while they are small: each array costs more than a user's
        numbers. Some are joined with such as are no fewer, so that each user is copied as often as
        the users of a batch double until there are enough.
        """
        facts, totals = self.facts + other.facts, self.totals + other.totals
        if self.kept is None or other.kept is None:
            return PartialReport(facts, totals)
        kept = [*self.kept, *other.kept]
        while len(kept) > 1 and len(kept[-2].users) <= len(kept[-1].users) <= _SMALL:
            kept[-2:] = [Scores.concat(kept[-2:])]
        return PartialReport(facts, totals, tuple(kept))

    def report(
        self, plan: Plan, median: Floats | Callable[[], Floats] | None = None, where: str = ""
    ) -> Report:
        """Return the report of all users, in ascending order of their ids if they were kept.

        Parameters
        ----------
        plan : Plan
            By which all were measured.
        median : float64 array, shape (n_measurements,), or callable that returns it, optional
            Of all scores, where the users are not kept.
        where : str
            Where their scores are then, or how to have them.

        Raises
        ------
        InvalidInputError
            A user is in two parts, or no score of such data means anything.

        Warns
        -----
        DataWarning
            As `recsys_ndcg.evaluate` does.
        """
        plan.settled(self.facts)
        signed = self.totals.sign(self.facts)
        if self.kept is None:
            audit = Audit(signed, self.totals, known_median=median, where=where)
        else:
            scores = Scores.concat(self.kept)
            distinct, place = encode(scores.users, "user")
            if len(distinct) < len(place):
                twice = distinct[np.bincount(place) > 1][0]
                msg = f"The user {quote(twice)} is in two parts. Give all rows of a user at once."
                raise InvalidInputError(msg)
            # of batches with whole numbers and floats, ids are of one kind where nothing is lost
            scores = replace(scores.take(np.argsort(place)), users=distinct)
            totals = Totals.of(scores)
            roles = {**self.totals.roles, **totals.roles}  # those of ties and labels are known
            audit = Audit(signed, replace(totals, roles=roles), scores)
        return Report.of_audit(audit, self.facts, plan)


def evaluate_batches(  # noqa: PLR0913 - one parameter per thing that engines differ in
    batches: Callable[[], Iterator[Mapping[str, Any]]],
    plan: Plan,
    facts: RowFacts,
    *,
    n_items: int | None = None,
    is_whole: bool = False,
    keep: Callable[[Scores], bool] = lambda _: True,
    median: Callable[[], Floats] | None = None,
    where: str = "",
) -> Report:
    """Measure batches of whole users, each let go before the next one is read.

    Parameters
    ----------
    batches : callable
        Gives them, each time from the first one on: all rows of some users, in tables of pyarrow's
        by what they are, with columns of our names; one may have no rows.
    plan : Plan
        What is measured.
    facts : RowFacts
        Of all rows.
    n_items : int, optional
        How many candidates the results were chosen from.
    is_whole : bool
        Whether the first batch has all users.
    keep : callable
        Told the scores of each batch, it returns whether those of all users so far stay in memory.
    median : callable, optional
        Returns the median of all scores where they do not.
    where : str
        Where the scores of each user are then, or how to have them.

    Returns
    -------
    Report
        Of one batch, it holds the lists.

    Raises
    ------
    InvalidInputError
        The data cannot be measured.

    Warns
    -----
    DataWarning
        As `recsys_ndcg.evaluate` does.
    """
    said: list[set[str]] = []
    lists = partial(lists_of, plan=plan, n_items=n_items, said=said)
    if is_whole:
        report = Report.of_lists(lists(next(batches())), plan)
        keep(report.scores)
    else:
        grades = facts.grades
        if plan.hangs_on_merging(unlabelled=facts.has_unlabelled):
            grades = reduce(add, (Facts.of(lists(one)).all_true for one in batches()))
        plan = plan.with_threshold(grades)

        def parts() -> Iterator[PartialReport]:
            is_kept = True
            for batch in batches():
                audit = Audit.of(lists(batch), plan, highest=grades.highest)
                is_kept = keep(audit.scores) and is_kept
                yield PartialReport.of(audit, keep=is_kept)
                del batch, audit  # before there is more

        whole = reduce(add, parts())
        # now, as the files of the scores are gone when the report is asked for it
        known = median() if median is not None and whole.kept is None else None
        report = whole.report(plan, known, where)
    # of ids that were said to differ wherever there were labels and results
    for told in sorted(set.intersection(*said)) if said else ():
        warn(told)
    return report
