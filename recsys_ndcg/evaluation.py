"""Evaluate predictions in any form, and return a report."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pandas as pd

from recsys_ndcg.background import Background, BackgroundOptions
from recsys_ndcg.calls import take_options
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.files import check_path, find_files, is_files, write_file
from recsys_ndcg.input import split_format
from recsys_ndcg.lists import GroupedLists, RankedLists, to_lists
from recsys_ndcg.parallel import limit_threads
from recsys_ndcg.ratings import split_catalogue
from recsys_ndcg.report import Report, build_report
from recsys_ndcg.scale import find_engine, is_pair, list_tables
from recsys_ndcg.scoring import Cutoffs, Metrics, Plan

if TYPE_CHECKING:
    from recsys_ndcg.convention import ConventionLike
    from recsys_ndcg.input import TextFormat

_SEQUENCES = (list, tuple, np.ndarray, pd.Series)


def _has_only(values: Iterable[Any], kind: Any) -> bool:
    return all(isinstance(one, kind) for one in values)


def _advise(first: Any = None, second: Any = None, /, *_: Any, **named: Any) -> str:  # noqa: ARG001 - of a call
    """Return what to write instead of a call with two tables without names."""
    if second is None:
        return ""
    pair = (first, second)
    heads = [next(iter(one), None) if isinstance(one, _SEQUENCES) else None for one in pair]
    has_arrays = all(getattr(one, "ndim", 0) == 2 and not hasattr(one, "columns") for one in pair)
    call = "evaluate(labels=test, results=recommended)"
    if isinstance(second, Integral):
        call = f"evaluate(data, k={second})"
    elif isinstance(heads[1], str) or (
        isinstance(second, str)
        and not (Path(second).suffix or isinstance(first, str | os.PathLike))
    ):
        call = f"evaluate(data, metrics={second!r})"
    elif all(isinstance(one, Mapping) and _has_only(one.values(), Mapping) for one in pair):
        call = "evaluate(labels=qrels, results=run)"
    elif has_arrays:
        call = "evaluate(labels=y_true, results=y_score)"
    elif _has_only(heads, Real):
        call = "ndcg_at_k(list(zip(y_score, y_true)), 10) for one list"
    elif _has_only(heads, list | set | np.ndarray):
        call = "evaluate(labels=actual, results=predicted)"
    return (
        "Only the predictions can be passed without a name. Libraries differ in which of two "
        f"tables comes first, so name both. Write {call}."
    )


@take_options(BackgroundOptions, advise=_advise)
def evaluate(  # noqa: PLR0913 - the contract
    data: Any = None,
    *,
    labels: Any = None,
    results: Any = None,
    list_separator: str | None = None,
    metrics: Metrics = None,
    k: Cutoffs = "default",
    threshold: float | None = None,
    convention: ConventionLike = None,
    columns: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    memory_limit: str | float | None = None,
    per_user: str | Path | None = None,
    progress: bool = True,
    **background: Unpack[BackgroundOptions],
) -> Report:
    """Rank each user's items by their estimates and score the lists.

    Parameters
    ----------
    data : predictions
        A pandas, polars or pyarrow table with the columns user, item, estimated and true; rows
        ``(user, item, estimated, true)``; Surprise predictions; ``{user: [(estimated, true)]}``;
        a dict of columns; the path of a file: CSV or JSON lines, compressed or not, Parquet,
        or pickled Surprise predictions, which are read without executing them; several
        files, as a list or a pattern, ``"folder/*.parquet"``; or `RankedLists`. TREC:
        ``{"qrels": ..., "run": ...}``, as in `RankedLists.from_trec`.
        A Spark DataFrame is measured on its workers: `recsys_ndcg.scale.spark.evaluate`.
    labels, results : tables, lists per user or arrays, optional
        In place of `data`, the relevant items and what was recommended, each in any of these forms:
        tables with a row per item, or with one per user: a list in a cell, ``"a b c"`` in a cell of
        text, or one column per rank; ``{user: [items]}``, best first, ``{user: {item: number}}``;
        rows ``(user, item, number)``; files of tables, JSON of these dicts, known formats of data
        sets; parallel lists, ``[[1, 2], [3]]``, of users 0, 1, 2 …; arrays of users × k item
        numbers, perhaps with one of scores, or of users × items, dense or sparse. Results alone are
        enough for metrics such as coverage.
    list_separator : str, optional
        What separates the ids in a cell of text that has several; "" if each cell is one id. By
        default it is decided by what matches the other table.
    metrics : names or metric objects, optional
        ``"ndcg@10"``, ``"precision@5"``, ``"rr"`` …; a name without ``@k`` is computed at each `k`.
        By default ndcg, precision and recall; only ndcg if relevance is not defined.
    k : int or several, optional
        The cutoffs of names without their own; None means no cutoff. By default 10, or the cutoff
        of the library in `convention`: none in trec_eval, for example.
    threshold : float, optional
        True values at or above this are relevant. Metrics that count relevant items, such as
        precision and recall, need it unless every true value is 0 or 1: then 1 is relevant. Some
        libraries in `convention` have one, 1 in trec_eval, for example.
    convention : Convention or str, optional
        All other choices that change a number; or a library's name, ``"catboost"``: each metric
        as that library computes it.
    columns : mapping, optional
        Maps our column names to the table's: ``{"estimated": "est", "true": "r_ui"}``. If two
        tables have other names, give a list: ``{"user": ["visitor", "uid"]}``.
    n_jobs : int, optional
        The number of threads, here and when the report computes more later. By default, and for
        -1, one per core, or fewer inside workers of joblib and `multiprocessing.Pool`. The
        results do not depend on it.
    memory_limit : str or number, optional
        The memory that the process may use, ``"2GB"``: files and streams are then sorted on disk
        (the extra `scale`). Several files, pyarrow datasets and readers, and DuckDB relations
        are always sorted on disk; by default the limit is half of the free memory.
    per_user : path, optional
        A file for the scores of every user, the table `Report.per_user`: Parquet, or CSV for data
        in memory.
    progress : bool
        Whether to show a progress bar for long work, on a terminal or in a notebook.
    **background
        As in `BackgroundOptions`, what is known besides the lists.

    Returns
    -------
    Report
        Scores per user, averaged and pooled, with their signatures. Use the report of a Spark
        DataFrame in a ``with`` block: it takes memory of the cluster.

    Raises
    ------
    InvalidInputError
        The data or an option cannot be used; the message names the place and the remedy.
    UnknownMetricError
        No metric has that name.

    Warns
    -----
    DataWarning
        The data is valid but suspicious, or the score means little: columns that look swapped,
        timestamps as estimates, a threshold that separates no items, lists of one item, scores
        below random order, estimates at a bound of the scale, ties that change a mean by at least
        0.001 and by more than half its 95 % interval.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> ann = [("ann", "a", 4.5, 5), ("ann", "b", 3.0, 2)]
    >>> bob = [("bob", "a", 2.0, 4), ("bob", "b", 3.5, 3)]
    >>> report = rn.evaluate(ann + bob, k=2, threshold=4)
    >>> report.per_user.round(3)
          n_items  n_relevant  ndcg@2  precision@2  recall@2
    user
    ann         2           1   1.000          0.5       1.0
    bob         2           1   0.848          0.5       1.0
    >>> report.mean["ndcg@2"].round(3), report.pooled["ndcg@2"].round(3)
    (np.float64(0.924), np.float64(0.944))
    """
    data = pair_tables(data, labels, results, list_separator)
    catalogue, n_items = split_catalogue(background.get("catalogue"))
    known = Background.of(**{**background, "catalogue": catalogue})
    plan = Plan.of(metrics, k=k, threshold=threshold, convention=convention, background=known)
    with limit_threads(n_jobs):
        how: dict[str, Any] = {"memory_limit": memory_limit, "per_user": per_user}
        return evaluate_by_plan(data, plan, columns, n_items=n_items, **how, progress=progress)


def pair_tables(data: Any, labels: Any, results: Any, list_separator: str | None = None) -> Any:
    """Return the predictions, or labels and results in one mapping.

    Raises
    ------
    InvalidInputError
        Both are given, or none, or labels without results.
    """
    is_one = labels is None and results is None and data is not None
    options = {} if list_separator is None else {"list_separator": list_separator}
    if is_one and not options:
        return data
    if is_one and is_pair(data):
        return {**data, **options}
    fault = ""
    if is_one:
        fault = "`list_separator=` is for labels and results; predictions have an item in each row."
    elif data is not None:
        fault = "Both predictions and `labels=` or `results=` are given. Pass one or the other."
    elif labels is None and results is None:
        fault = "There is no data. Pass predictions, or `labels=` and `results=`."
    elif results is None:
        fault = "There are labels, but no results. Pass the recommended lists as `results=`."
    InvalidInputError.raise_if(fault)
    return {"labels": labels, "results": results, **options}


def evaluate_by_plan(  # noqa: PLR0913 - with the options of the command line
    data: Any,
    plan: Plan,
    columns: Mapping[str, Any] | None = None,
    *,
    text: TextFormat | None = None,
    n_items: Any = None,
    memory_limit: str | float | None = None,
    per_user: str | Path | None = None,
    progress: bool = True,
) -> Report:
    """Evaluate data by a plan, in memory or with another engine.

    Raises
    ------
    InvalidInputError
        Two options conflict, or as for `evaluate`.
    """
    if per_user is not None:
        _check_output(data, per_user)
    engine = find_engine(data, memory_limit)
    if engine is not None:
        _check_n_items(data, n_items)
        options = {"memory_limit": memory_limit, "per_user": per_user, "n_items": n_items}
        report = engine(data, plan, columns=columns, text=text, **options, progress=progress)
        inputs = _describe_inputs(data, plan, columns, text, n_items)
        return replace(report, _data=replace(report._data, inputs=inputs))
    if per_user is None:
        return evaluate_in_memory(data, plan, columns, text, n_items)
    from recsys_ndcg.report import find_score_writer  # noqa: PLC0415 - rarely needed

    write = find_score_writer(os.fspath(per_user))  # raises before the evaluation
    report = evaluate_in_memory(data, plan, columns, text, n_items)
    write_file(per_user, write(report.per_user))
    return report


def _check_output(data: Any, per_user: str | Path) -> None:
    """Raise if the file for the users' scores is a file of the data."""
    check_path(per_user)
    for path in [path for one in list_tables(data) if is_files(one) for path in find_files(one)]:
        # os.path.exists() is False for a name that is too long; Path.exists() raises
        if path.exists() and os.path.exists(per_user) and path.samefile(per_user):  # noqa: PTH110
            msg = f"{per_user}: this is a file of the data. Give `per_user=` a name of its own."
            raise InvalidInputError(msg)


def evaluate_in_memory(
    data: Any,
    plan: Plan,
    columns: Mapping[str, Any] | None = None,
    text: TextFormat | None = None,
    n_items: Any = None,
) -> Report:
    """Evaluate data by a plan in memory.

    Raises
    ------
    InvalidInputError
        The data cannot be read, or a measurement cannot be computed.
    """
    lists = read_lists(data, plan, columns, text, n_items)
    report = build_report(plan.add_background(lists), plan)
    inputs = _describe_inputs(data, plan, columns, text, n_items)
    return replace(report, _data=replace(report._data, inputs=inputs))


def _describe_inputs(
    data: Any, plan: Plan, columns: Mapping[str, Any] | None, text: TextFormat | None, n_items: Any
) -> dict[str, str]:
    """Return `Report.inputs`: Python for the arguments that are files."""
    known = {} if plan.background is None else plan.background.paths
    inputs = {name: repr(path) for name, path in known.items()}
    is_named = is_pair(data) or (isinstance(data, Mapping) and data.keys() == {"qrels", "run"})
    tables = dict(data) if is_named else {"": data}
    options: dict[str, Any] = {"columns": dict(columns)} if columns else {}
    changed = {"list_separator": tables.pop("list_separator", None), "n_items": n_items}
    options |= {name: value for name, value in changed.items() if value is not None}
    sources = [split_format(one)[0] for one in tables.values()]
    if data is None or not all(one is None or is_files(one) for one in sources):
        return inputs
    files = ", ".join(f"{name!r}: {_write_files(one)}" for name, one in tables.items())
    files = f"{{{files}}}" if is_named else _write_files(data)
    given = {name: repr(value) for name, value in options.items()}
    if text is not None and text != type(text)():
        given["text"] = f"rn.{text!r}"
    if given.keys() <= {"columns"}:
        return inputs | given | {"data": files}
    read = "from_file" if not is_named else "from_labels" if is_pair(data) else "from_trec"
    arguments = ", ".join(f"{name}={value}" for name, value in given.items())
    stars = "**" if is_named else ""
    return inputs | {"data": f"rn.RankedLists.{read}({stars}{files}, {arguments})"}


def _write_files(table: Any) -> str:
    """Return Python for the name of a file, or of several, perhaps with a format; or for None."""
    files, text = split_format(table)
    if isinstance(files, list | tuple):
        files = [*map(os.fspath, files)]
    name = repr(os.fspath(files) if isinstance(files, os.PathLike) else files)
    return name if text is None else f"({name}, rn.{text!r})"


def read_lists(
    data: Any,
    plan: Plan,
    columns: Mapping[str, Any] | None = None,
    text: TextFormat | None = None,
    n_items: Any = None,
) -> GroupedLists:
    """Read predictions, labels and results, or qrels and a run of TREC.

    Raises
    ------
    InvalidInputError
        The data cannot be read, or an option does not apply to it.
    """
    if isinstance(data, Report):
        msg = "The data is a Report. Evaluate the predictions instead."
        raise InvalidInputError(msg)
    how: dict[str, Any] = {"duplicates": plan.duplicates, "n_items": n_items}
    if is_pair(data):
        return RankedLists.from_labels(**data, columns=columns, text=text, **how)._data
    if isinstance(data, Mapping) and data.keys() == {"qrels", "run"}:
        if columns or (text is not None and text != type(text)()):
            msg = (
                "Options of tables (columns, separator, decimal, heading, encoding) do not apply "
                "to qrels and runs, which have a fixed format."
            )
            raise InvalidInputError(msg)
        return RankedLists.from_trec(**data, **how)._data
    _check_n_items(data, n_items)
    return to_lists(data, columns=columns, duplicates=plan.duplicates, text=text)


def _check_n_items(data: Any, n_items: Any) -> None:
    """Raise if the size of a catalogue is given for predictions."""
    if n_items is not None and not is_pair(data):
        msg = "`n_items` has no effect on predictions: only results or a run come from a catalogue."
        raise InvalidInputError(msg)
