"""What Spark's workers do, without Spark: batches in, scores and what is left of them out."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import pandas as pd
import pytest

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.scale.spark import REST, Job, SparkReport
from recsys_ndcg.scoring.plan import Plan
from tests.scale.alike import check_alike
from tests.scale.cases import CASES, Case, predictions

pa: Any = pytest.importorskip("pyarrow")


def _rows(case: Case) -> Any:
    """Return a table as Spark has it, labels and results one below the other."""
    data, columns = case.data, case.options.get("columns") or {}
    names = {theirs: ours for ours, theirs in columns.items()}
    if isinstance(data, pd.DataFrame):
        wanted = data.rename(columns=names)[["user", "item", "estimated", "true"]]
        return pa.Table.from_pandas(wanted, preserve_index=False)
    labels, results = (data[one].rename(columns=names) for one in ("labels", "results"))
    both = [labels.assign(listed=False), results.assign(listed=True)]
    return pa.Table.from_pandas(pd.concat(both, ignore_index=True), preserve_index=False)


def _partitions(table: Any, count: int) -> list[Any]:
    """Return the rows of some users each; some parts may be empty."""
    place = pd.factorize(table.column("user").to_pandas())[0] % count
    return [table.filter(pa.array(place == one)) for one in range(count)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_as_in_memory(case: Case) -> None:
    """Partitions of some users each, in odd batches."""
    table, expected = _rows(case), case.local()
    plan = Plan.of(**{name: one for name, one in case.options.items() if name != "columns"})
    partitions = [
        one.to_batches(max_chunksize=37)
        for one in _partitions(table, case.parts or 3)
        if one.num_rows
    ]
    looking = Job(plan, grades_only=True)
    rests = [batch.column(REST)[0].as_py() for one in partitions for batch in looking.measured(one)]
    grades = reduce(add, map(looking.unpacked, rests))
    plan = plan.with_threshold(grades)
    job = Job(plan, grades.highest)
    parts = [pd.concat([batch.to_pandas() for batch in job.measured(one)]) for one in partitions]
    assert all(one[REST].notna().tolist() == [False] * (len(one) - 1) + [True] for one in parts)
    whole = reduce(add, (job.unpacked(one[REST].iloc[-1]) for one in parts))
    users = pd.concat([one[:-1] for one in parts]).drop(columns=REST).set_index("user")
    with warnings.catch_warnings():  # said of `expected`, too
        warnings.simplefilter("ignore")
        report = SparkReport.of(whole, plan, table=None)
    report.audited.__dict__["median"] = expected.audited.median  # a job of Spark's
    check_alike(report, users, expected)


def _job(**options: Any) -> Job:
    return Job(Plan.of(**options), 5.0)


def test_an_error_of_ours_is_handed_on() -> None:
    """It is no failed task: Spark would try that again."""
    frame = predictions(1)
    table = pa.Table.from_pandas(pd.concat([frame, frame[:1]]), preserve_index=False)
    (batch,) = _job().measured(table.to_batches())
    user, item = frame.loc[0, ["user", "item"]].astype(int)
    with pytest.raises(InvalidInputError, match=f"user {user} has the item {item} twice"):
        _job().unpacked(batch.column(REST)[-1].as_py())
    assert batch.num_rows == 1


def test_another_version_is_refused() -> None:
    """Scores of two versions are not one report."""
    table = pa.Table.from_pandas(predictions(1), preserve_index=False)
    (batch,) = replace(_job(), version="0.0.1").measured(table.to_batches())
    with pytest.raises(InvalidInputError, match=r"but 0\.0\.1 asks"):
        _job().unpacked(batch.column(REST)[-1].as_py())


def test_an_empty_partition_leaves_nothing() -> None:
    """There may be more of them than users."""
    assert list(_job().measured([])) == []


@pytest.mark.parametrize("places", [0, 2])
def test_ids_that_are_decimals_come_back_as_such(places: int) -> None:
    """Whole ones are whole numbers while they are measured, and have the table's type again."""
    frame = predictions(1)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    kind = pa.decimal128(20, places)
    table = table.set_column(0, "user", pa.array(frame["user"].tolist(), kind))
    batch, _ = _job(metrics="rr", threshold=4).measured(table.to_batches())
    assert batch.column("user").type == kind
    assert set(batch.column("user").to_pylist()) == set(frame["user"].tolist())
