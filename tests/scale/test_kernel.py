"""What Spark's workers do, without Spark: batches in, scores and what is left of them out."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from itertools import pairwise
from operator import or_
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.lists.facts import Grades
from recsys_ndcg.scale.chunks import Form
from recsys_ndcg.scale.spark import kernel
from recsys_ndcg.scale.spark.kernel import REST, Job, measured, unpacked, whole_users
from recsys_ndcg.scale.spark.report import SparkAudit, SparkReport
from recsys_ndcg.scoring.plan import Plan
from tests.scale.alike import check_alike
from tests.scale.cases import CASES, Case, predictions

pa: Any = pytest.importorskip("pyarrow")


def _rows(case: Case) -> tuple[Any, bool]:
    """Return a table as Spark has it, and whether it is of labels and results."""
    data, columns = case.data, case.options.get("columns") or {}
    names = {theirs: ours for ours, theirs in columns.items()}
    if isinstance(data, pd.DataFrame):
        wanted = data.rename(columns=names)[["user", "item", "estimated", "true"]]
        return pa.Table.from_pandas(wanted, preserve_index=False), False
    labels, results = (data[one].rename(columns=names) for one in ("labels", "results"))
    results = results.rename(columns={"rank": "estimated"})
    if "true" not in labels:
        labels = labels.assign(true=1.0)
    both = [labels.assign(listed=False), results.assign(listed=True)]
    whole = pd.concat(both, ignore_index=True)[["user", "item", "estimated", "true", "listed"]]
    return pa.Table.from_pandas(whole, preserve_index=False), True


def _partitions(table: Any, count: int) -> list[Any]:
    """Return the rows of some users each, sorted by user; some parts may be empty."""
    place = pd.factorize(table.column("user").to_pandas())[0] % count
    return [table.filter(pa.array(place == one)).sort_by("user") for one in range(count)]


@pytest.mark.parametrize("in_order", [False, True], ids=["whole", "in chunks"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_as_in_memory(case: Case, in_order: bool, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001 - pytest's
    """Partitions that are taken whole, and those that are cut between users, in odd batches."""
    monkeypatch.setattr(kernel, "_ROWS", 100)
    table, joined = _rows(case)
    options = {name: one for name, one in case.options.items() if name != "columns"}
    expected = case.local()
    plan, true = Plan.of(**options), table.column("true").to_pandas().to_numpy(dtype=float)
    if plan.duplicates == "mean":
        means = table.to_pandas().groupby(["user", "item"])["true"].mean()
        true = means.to_numpy(dtype=np.float64)
    grades = Grades.of(true)
    plan = plan.with_threshold(grades)
    form = Form(plan.duplicates, joined, ranked=joined and "rank" in case.data["results"])
    job = Job(plan, grades.highest, form, in_order=in_order)
    parts = [
        pd.concat([batch.to_pandas() for batch in measured(job, one.to_batches(max_chunksize=37))])
        for one in _partitions(table, case.parts or 3)
        if one.num_rows
    ]
    assert all(one[REST].notna().tolist() == [False] * (len(one) - 1) + [True] for one in parts)
    tally = reduce(or_, (unpacked(one[REST].iloc[-1], plan)[0] for one in parts))
    users = pd.concat(parts).drop(columns=REST).set_index("user")
    report = SparkReport(SparkAudit(tally, users))
    report.audited.__dict__["median"] = expected.audited.median  # a job of Spark's
    check_alike(report, users, expected)


@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=12),
    st.lists(st.integers(0, 9), max_size=20),
    st.integers(1, 15),
)
def test_nobody_is_cut_in_two(counts: list[int], cuts: list[int], rows: int) -> None:
    """Wherever batches end, and however many rows make a table."""
    users = np.repeat(np.arange(len(counts)), counts)
    ends = np.unique(np.minimum(np.cumsum([0, *cuts]), len(users)))
    edges = [*ends.tolist(), len(users)]
    batches = [
        pa.RecordBatch.from_pydict({"user": users[start:end], "row": np.arange(start, end)})
        for start, end in pairwise(edges)
    ]
    found = list(whole_users(batches, rows))
    assert pa.concat_tables(found).column("row").to_pylist() == list(range(len(users)))
    seen = [set(one.column("user").to_pylist()) for one in found]
    assert sum(map(len, seen)) == len(counts)
    assert all(one.num_rows for one in found)
    assert len(list(whole_users(batches, None))) == 1


def _job(**options: Any) -> Job:
    return Job(Plan.of(**options), 5.0, Form(), in_order=False)


def test_an_error_of_ours_is_handed_on() -> None:
    """It is no failed task: Spark would try that again."""
    frame = predictions(1)
    table = pa.Table.from_pandas(pd.concat([frame, frame[:1]]), preserve_index=False)
    (batch,) = measured(_job(), table.to_batches())
    user, item = frame.loc[0, ["user", "item"]].astype(int)
    with pytest.raises(InvalidInputError, match=f"user {user} has the item {item} twice"):
        unpacked(batch.column(REST)[-1].as_py(), _job().plan)
    assert batch.num_rows == 1


def test_another_version_is_refused() -> None:
    """Scores of two versions are not one report."""
    table = pa.Table.from_pandas(predictions(1), preserve_index=False)
    (batch,) = measured(replace(_job(), version="0.0.1"), table.to_batches())
    with pytest.raises(InvalidInputError, match=r"but 0\.0\.1 asks"):
        unpacked(batch.column(REST)[-1].as_py(), _job().plan)


def test_an_empty_partition_leaves_nothing() -> None:
    """There may be more of them than users."""
    assert list(measured(_job(), [])) == []
