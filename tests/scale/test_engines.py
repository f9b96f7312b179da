"""Threads, and Spark's workers without Spark, give the report of `evaluate`."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import pandas as pd
import pytest

from recsys_ndcg import parallel
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.parallel import limit_threads
from recsys_ndcg.scale.spark import REST, Job, SparkReport
from recsys_ndcg.scoring import Plan
from tests.scale.alike import check_alike
from tests.scale.cases import PARAMS, Case, predictions

pa: Any = pytest.importorskip("pyarrow")


@pytest.mark.parametrize("case", PARAMS)
def test_small_blocks_in_threads_give_the_same(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many small blocks in three threads, and one block in one."""
    with limit_threads(1):
        whole = case.whole
    for name, size in {"_MAX_ROWS": 64, "_MIN_ROWS": 16, "_FEW_ROWS": 1, "_MAX_CELLS": 512}.items():
        monkeypatch.setattr(parallel, name, size)
    with limit_threads(3):
        report = case.local()
        assert report == whole
        check_alike(report, report.per_user, whole)


def _spark_rows(case: Case) -> Any:
    """Return a table as Spark has it, results below the labels."""
    columns = case.options.get("columns") or {}
    names = {theirs: ours for ours, theirs in columns.items()}
    tables = [table.rename(columns=names) for table in case.tables.values()]
    if len(tables) == 1:
        rows = tables[0][["user", "item", "estimated", "true"]]
    else:
        labels, results = tables
        both = [labels.assign(listed=False), results.assign(listed=True)]
        rows = pd.concat(both, ignore_index=True)
    return pa.Table.from_pandas(rows, preserve_index=False)


def _partitions(table: Any, count: int) -> list[list[Any]]:
    """Return batches of the rows of some users each."""
    place = pd.factorize(table.column("user").to_pandas())[0] % count
    parts = [table.filter(pa.array(place == one)) for one in range(count)]
    return [one.to_batches(max_chunksize=37) for one in parts if one.num_rows]


@pytest.mark.parametrize("case", PARAMS)
def test_jobs_of_spark_give_the_same(case: Case) -> None:
    """Partitions of some users each, in odd batches; first for the grades, then for the scores."""
    expected = case.whole
    plan = Plan.of(**{name: one for name, one in case.options.items() if name != "columns"})
    partitions = _partitions(_spark_rows(case), case.parts or 3)
    looking = Job(plan, grades_only=True)
    rests = [batch.column(REST)[0].as_py() for one in partitions for batch in looking.measure(one)]
    grades = reduce(add, map(looking.unpack, rests))
    plan = plan.with_threshold(grades)
    job = Job(plan, grades.highest)
    parts = [pd.concat([batch.to_pandas() for batch in job.measure(one)]) for one in partitions]
    assert all(one[REST].notna().tolist() == [False] * (len(one) - 1) + [True] for one in parts)
    whole = reduce(add, (job.unpack(one[REST].iloc[-1]) for one in parts))
    users = pd.concat([one[:-1] for one in parts]).drop(columns=REST).set_index("user")
    with warnings.catch_warnings():  # `expected` has the same
        warnings.simplefilter("ignore")
        report = SparkReport.of(whole, plan, table=None)
    report._data.audit.__dict__["median"] = expected._data.audit.median  # a job of Spark's
    check_alike(report, users, expected)


def _job(**options: Any) -> Job:
    return Job(Plan.of(**options), 5.0)


def _left_by(job: Job, frame: pd.DataFrame) -> Any:
    """Return what a worker leaves of predictions that it cannot measure."""
    (batch,) = job.measure(pa.Table.from_pandas(frame, preserve_index=False).to_batches())
    return job.unpack(batch.column(REST)[-1].as_py())


def test_an_error_of_a_worker_is_raised_by_the_driver() -> None:
    """In the worker it would be a failed task, which Spark tries again."""
    frame = predictions(1)
    user, item = frame.loc[0, ["user", "item"]].astype(int)
    with pytest.raises(InvalidInputError, match=f"user {user} has the item {item} twice"):
        _left_by(_job(), pd.concat([frame, frame[:1]]))
    with pytest.raises(InvalidInputError, match=r"but the driver has 0\.0\.1"):
        _left_by(replace(_job(), version="0.0.1"), frame)
    assert list(_job().measure([])) == []  # there may be more partitions than users


@pytest.mark.parametrize("places", [0, 2])
def test_decimal_ids_keep_their_type(places: int) -> None:
    """Whole ones are whole numbers while they are measured."""
    frame = predictions(1)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    kind = pa.decimal128(20, places)
    table = table.set_column(0, "user", pa.array(frame["user"].tolist(), kind))
    batch, _ = _job(metrics="rr", threshold=4).measure(table.to_batches())
    assert batch.column("user").type == kind
    assert set(batch.column("user").to_pylist()) == set(frame["user"].tolist())
