"""The registry of engines, and what they share: input tables, batches of whole users."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from importlib import import_module
from operator import add
from typing import Any

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.errors import InvalidInputError, label_messages, quote, warn
from recsys_ndcg.files import are_several_files, is_files
from recsys_ndcg.input import (
    Rows,
    Table,
    encode_ids,
    find_rank_columns,
    find_type_kind,
    match_lists,
    split_format,
)
from recsys_ndcg.lists import Facts, Grades, GroupedLists, join_tables, to_lists
from recsys_ndcg.report import Report, build_audit_report, build_report
from recsys_ndcg.scoring import Audit, Plan, Scores, Totals

IDS = ("user", "item")
#: Kinds of tables.
PREDICTIONS, LABELS, RESULTS = "predictions", "labels", "results"
RATINGS = "interactions"
_SPARK, _DUCKDB = "recsys_ndcg.scale.spark", "recsys_ndcg.scale.duckdb"
#: The columns that we add to rows from lists: the place in the list, and if another list differs.
POSITION, UNMATCHED = "recsys_ndcg_position", "recsys_ndcg_unmatched"
_MAX_JOINED = 1 << 15  # users in parts that are joined
#: The module of each engine, by the library and a class of its tables, or by the library.
ENGINES = {
    "pyspark": _SPARK,
    "duckdb.DuckDBPyRelation": _DUCKDB,
    "pyarrow.RecordBatchReader": _DUCKDB,
    "pyarrow.Dataset": _DUCKDB,
}


def find_engine(data: Any, memory_limit: object = None) -> Callable[..., Report] | None:
    """Return the engine for data larger than memory, or None for data in memory.

    An engine is the function ``evaluate_by_plan`` of its module. It takes data, a plan and
    options, and raises on options that it does not have.

    Examples
    --------
    >>> find_engine("big.csv") is None, find_engine("parts/*.parquet") is None
    (True, False)
    """
    tables = list_tables(data)
    modules = [_find_module(one) for one in tables]
    if _SPARK in modules and set(modules) != {_SPARK}:
        msg = "Only one of labels and results is a table of Spark. Give both as tables of Spark."
        raise InvalidInputError(msg)
    found = next(filter(None, modules), _DUCKDB if memory_limit is not None else None)
    # beside a table in memory, several files are read into memory, too
    is_beside = any(
        not (one or is_files(split_format(each)[0]))
        for one, each in zip(modules, tables, strict=True)
    )
    if found is None or (found == _DUCKDB and memory_limit is None and is_beside):
        return None
    engine: Callable[..., Report] = import_module(found).evaluate_by_plan
    return engine


def _find_module(data: object) -> str | None:
    if are_several_files(split_format(data)[0]):
        return _DUCKDB
    library = type(data).__module__.partition(".")[0].lstrip("_")
    names = [*(f"{library}.{kind.__name__}" for kind in type(data).__mro__), library]
    return next((ENGINES[name] for name in names if name in ENGINES), None)


def is_pair(data: Any) -> bool:
    """Return whether data are a mapping of labels and results.

    Examples
    --------
    >>> is_pair({"labels": "test.csv", "results": "top.csv"}), is_pair({"labels": [(4, 5)]})
    (True, False)
    """
    return isinstance(data, Mapping) and data.keys() - {"list_separator"} == {LABELS, RESULTS}


def list_tables(data: Any) -> list[Any]:
    """Return the labels and the results, or the only table.

    Examples
    --------
    >>> list_tables({"labels": "a.csv", "results": "b.csv"}), list_tables("p.csv")
    (['a.csv', 'b.csv'], ['p.csv'])
    """
    return [data[LABELS], data[RESULTS]] if is_pair(data) else [data]


def check_users_have_rows(plan: Plan) -> None:
    """Raise if users without rows count, as they are in no batch of users.

    Raises
    ------
    InvalidInputError
        The mean is over all users of training.
    """
    for one in plan.measurements:
        if one.convention.mean_over == "train":
            msg = (
                f"{one}: `mean_over='train'` counts users who have no list, and are in no batch of "
                "users. Evaluate all lists at once in memory, or choose `mean_over='lists'`."
            )
            raise InvalidInputError(msg)


def split_tables(
    data: Any, columns: Mapping[str, str] | None
) -> tuple[dict[str, tuple[Any, Mapping[str, str] | None]], str | None]:
    """Return the tables by kind, and what separates the ids in a cell, if it is given.

    The kinds are predictions, or labels and results; each table has its column names.
    """
    if not is_pair(data):
        return {PREDICTIONS: (data, columns)}, None
    tables = {
        name: (data[name], Table.select_columns(name, columns))
        for name in (LABELS, RESULTS)
        if name == RESULTS or data[name] is not None  # lists can be without labels
    }
    return tables, data.get("list_separator")


def map_columns(
    types: Mapping[str, Any],
    columns: Mapping[str, str] | None,
    table: str,
    separator: str | None = None,
    *,
    is_text: bool = False,
) -> tuple[dict[str, str], list[str]]:
    """Map our columns to a table's; a missing column raises as for tables in memory.

    Parameters
    ----------
    types : mapping
        The table's names to the types of the columns, of Arrow, polars or Spark.
    columns : mapping, optional
        Our names to the table's, as given by the user.
    table : str
        The kind of the table.
    separator : str, optional
        What separates ids in text.
    is_text : bool
        Whether it is from text: columns of ratings may be known by their places.

    Returns
    -------
    tuple
        Our names to the table's, and our names of the columns of lists; none if rows have one
        item.

    Raises
    ------
    InvalidInputError
        A column is missing, or the table has a column for each rank; some columns are lists, and
        others not; or nothing orders the results.

    Examples
    --------
    >>> map_columns({"user": "string", "item": "list<string>"}, None, "labels")
    ({'user': 'user', 'item': 'item'}, ['item'])
    """
    cells: dict[str, Any] = {"list": [[]], "text": [""]}
    empty = {name: cells.get(find_type_kind(kind), ()) for name, kind in types.items()}
    heading = Table(empty, columns, table, is_text=is_text)
    names = match_lists(heading)
    kind = heading.find_cell_kind(names["item"]) if names else ""
    is_unranked = table == RESULTS and not {"rank", "estimated"} & heading.matches.keys()
    if kind == "list" or (is_unranked and kind == "text"):
        heading.warn_of_names(names)
    elif not names and find_rank_columns([*types]):
        msg = (
            f"The {table} have a column for each rank, which is read only from data in memory. Put "
            "the items of each user into one column of lists."
        )
        raise InvalidInputError(msg)
    else:
        names = heading.use_columns(*heading.choose_columns())
        heading.warn_of_names(names)
    kinds = {ours: heading.find_cell_kind(theirs) for ours, theirs in names.items()}
    lists = [one for one, kind in kinds.items() if kind == "list" and one != "user"]
    others = [names[one] for one in names if one not in ("user", *lists)]
    if lists and others:
        msg = (
            f"{names[lists[0]]} holds lists, and {others[0]} single values. Give each item of "
            "the list one value, in a list of the same length."
        )
        raise InvalidInputError(msg)
    if not lists and separator and table in (LABELS, RESULTS) and kinds["item"] == "text":
        lists = ["item"]
    if table == RESULTS and not (lists or {"rank", "estimated"} & names.keys()):
        msg = (
            f"The results have no column 'rank' or 'estimated'. If a cell of {names['item']} holds "
            "several items, best first, pass what separates them: `list_separator=' '`."
        )
        raise InvalidInputError(msg)
    return names, lists


def add_list_columns(names: Mapping[str, str], table: str) -> dict[str, str]:
    """Return the names of columns with those that rows from lists have in addition."""
    is_ordered = table == RESULTS and not {"rank", "estimated"} & names.keys()
    return {**names, **({"rank": POSITION} if is_ordered else {}), "unmatched": UNMATCHED}


def check_distinct_columns(names: Mapping[str, str], there: Sequence[str]) -> None:
    """Raise if SQL cannot distinguish a column from another.

    Raises
    ------
    InvalidInputError
        Two names are equal, or differ only in upper and lower case.
    """
    for theirs in names.values():
        if list(there).count(theirs) > 1:
            msg = f"The table has the column {theirs!r} twice; keep one."
            raise InvalidInputError(msg)
        alike = [one for one in there if one.casefold() == theirs.casefold()]
        if len(alike) > 1:
            msg = (
                f"The columns {' and '.join(map(repr, alike))} differ only in upper and "
                "lower case, which DuckDB and Spark ignore. Rename or drop one of them."
            )
            raise InvalidInputError(msg)


def build_lists(
    tables: Mapping[str, Any],
    plan: Plan,
    n_items: int | None = None,
    id_warnings: list[set[str]] | None = None,
) -> GroupedLists:
    """Return the lists of some users from tables with all their rows.

    Parameters
    ----------
    tables : mapping
        Tables of pyarrow by kind, with our column names.
    plan : Plan
        The measurements.
    n_items : int, optional
        Number of candidates that the results were chosen from.
    id_warnings : list, optional
        If there are labels and results, the warnings about their ids are appended to it.

    Raises
    ------
    InvalidInputError
        A user has the same item twice.
    """
    if PREDICTIONS in tables:
        lists = to_lists(tables[PREDICTIONS], duplicates=plan.duplicates)
        return plan.add_background(lists)
    with label_messages(""):  # warnings about all rows of a table were given already
        results = Table(tables[RESULTS], kind=RESULTS).read_rows()
        labels = results.without_labels()
        if LABELS in tables:
            labels = Table(tables[LABELS], kind=LABELS).read_rows()
    kept = results.estimated != Rows.FILLER_SCORE  # fillers of the library implicit
    results = results if kept.all() else results.select(kept)
    with label_messages("") as messages:
        lists = join_tables(labels, results, plan.duplicates, part=True, n_items=n_items)
    if id_warnings is not None and len(labels.user) and len(results.user):
        id_warnings.append(set(messages))
    return plan.add_background(lists)


@dataclass(frozen=True)
class RowFacts:
    """The facts of all rows.

    Parameters
    ----------
    rows : int
        Number of rows in all tables.
    has_unlabelled : bool
        Whether items may lack a true value.
    grades : Grades
        The bounds of the true values, including repeated rows.
    """

    rows: int
    has_unlabelled: bool
    grades: Grades


@dataclass(frozen=True, eq=False)
class PartialReport:
    """The facts and scores of some users, none of whom is in another part.

    Parameters
    ----------
    facts : Facts
        The facts of their lists.
    totals : Totals
        The sums of their scores, in every role.
    kept : tuple of Scores, optional
        Every user's scores, part by part; None if they are not kept.

    Examples
    --------
    >>> from recsys_ndcg.lists import to_lists
    >>> from recsys_ndcg.scoring import Plan
    >>> plan, parts = Plan.of("ndcg@2"), []
    >>> for user in ("ann", "bob"):
    ...     lists = to_lists({user: [(4.5, 3), (3.0, 5)]})
    ...     parts.append(PartialReport.of(Audit.of(lists, plan, highest_grade=5.0)))
    >>> (parts[0] + parts[1]).report(plan).counts["users"]
    2
    """

    facts: Facts
    totals: Totals
    kept: tuple[Scores, ...] | None = None

    @classmethod
    def of(cls, audit: Audit, *, keep: bool = True) -> PartialReport:
        """Summarise measured lists.

        Parameters
        ----------
        audit : Audit
            Of all lists of these users, which it must hold (`Audit.of`).
        keep : bool
            Whether every user's scores are kept.
        """
        kept = (audit.scores_to_save,) if keep else None
        assert audit.source is not None, "it holds the lists"  # noqa: S101
        return cls(audit.source.facts, audit.totals_with_all_roles, kept)

    def __add__(self, other: PartialReport) -> PartialReport:
        """Merge two parts that were measured alike; users are kept if both keep them.

        Small scores are joined, as an array costs more than a user's numbers. A part is joined only
        with a part that is not smaller, so each user is copied a logarithmic number of times.
        """
        facts, totals = self.facts + other.facts, self.totals + other.totals
        if self.kept is None or other.kept is None:
            return PartialReport(facts, totals)
        kept = [*self.kept, *other.kept]
        while len(kept) > 1 and len(kept[-2].users) <= len(kept[-1].users) <= _MAX_JOINED:
            kept[-2:] = [Scores.concat(kept[-2:])]
        return PartialReport(facts, totals, tuple(kept))

    def report(
        self, plan: Plan, median: Floats | Callable[[], Floats] | None = None, where: str = ""
    ) -> Report:
        """Return the report of all users, sorted by id if they were kept.

        Parameters
        ----------
        plan : Plan
            What was measured.
        median : float64 array, shape (n_measurements,), or callable that returns it, optional
            Of all scores, if users are not kept.
        where : str
            A sentence on where their scores are then, or how to keep them.

        Raises
        ------
        InvalidInputError
            A user is in two parts, or such data cannot be evaluated.

        Warns
        -----
        DataWarning
            As `recsys_ndcg.evaluate` does.
        """
        plan.resolve(self.facts)
        signed = self.totals.make_signatures(self.facts)
        if self.kept is None:
            audit = Audit(signed, self.totals, known_median=median, no_scores_hint=where)
        else:
            scores = Scores.concat(self.kept)
            distinct, place = encode_ids(scores.users, "user")
            if len(distinct) < len(place):
                twice = distinct[np.bincount(place) > 1][0]
                msg = f"The user {quote(twice)} is in two parts. Give all rows of a user at once."
                raise InvalidInputError(msg)
            # ids of batches with integers and floats get one type if nothing is lost
            scores = replace(scores.take(np.argsort(place)), users=distinct)
            totals = Totals.of(scores)
            roles = {**self.totals.roles, **totals.roles}  # the sums of other roles are known
            over_lists = {**self.totals.over_lists, **totals.over_lists}
            audit = Audit(signed, replace(totals, roles=roles, over_lists=over_lists), scores)
        return build_audit_report(audit, self.facts, plan)


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
    """Measure batches of whole users, one in memory at a time.

    Parameters
    ----------
    batches : callable
        Returns an iterator over all batches. Each has all rows of some users, in pyarrow tables by
        kind, with our column names; a table may be empty.
    plan : Plan
        The measurements.
    facts : RowFacts
        The facts of all rows.
    n_items : int, optional
        Number of candidates that the results were chosen from.
    is_whole : bool
        Whether the first batch has all users.
    keep : callable
        Called with the scores of each batch, returns whether all scores so far stay in memory.
    median : callable, optional
        Returns the median of all scores if they do not.
    where : str
        A sentence on where each user's scores are then, or how to keep them.

    Returns
    -------
    Report
        It holds the lists if there is one batch.

    Raises
    ------
    InvalidInputError
        The data cannot be measured.

    Warns
    -----
    DataWarning
        As `recsys_ndcg.evaluate` does.
    """
    id_warnings: list[set[str]] = []
    lists = partial(build_lists, plan=plan, n_items=n_items, id_warnings=id_warnings)
    if is_whole:
        report = build_report(lists(next(batches())), plan)
        keep(report._data.scores)
    else:
        check_users_have_rows(plan)
        grades = facts.grades
        if plan.depends_on_merging(has_unlabelled=facts.has_unlabelled):
            grades = reduce(add, (Facts.of(lists(one)).all_grades for one in batches()))
        plan = plan.with_threshold(grades)

        def parts() -> Iterator[PartialReport]:
            is_kept = True
            for batch in batches():
                audit = Audit.of(lists(batch), plan, highest_grade=grades.highest)
                is_kept = keep(audit.scores) and is_kept
                yield PartialReport.of(audit, keep=is_kept)
                del batch, audit  # before the next batch is read

        whole = reduce(add, parts())
        # now, as the files of the scores are deleted before the report is used
        known = median() if median is not None and whole.kept is None else None
        report = whole.report(plan, known, where)
    # a warning about ids holds if every batch with labels and results has it
    for message in sorted(set.intersection(*id_warnings)) if id_warnings else ():
        warn(message)
    return report
