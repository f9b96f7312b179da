"""Spark gives the report of `evaluate`, with the users in a table of the cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import recsys_ndcg as rn
from recsys_ndcg.errors import DataWarning
from recsys_ndcg.scale import spark
from tests.errors import assert_rejected
from tests.pages import examples, page_of
from tests.scale import sessions
from tests.scale.alike import check_alike
from tests.scale.cases import PARAMS, Case, predictions

pytestmark = sessions.marks()


def users_of(table: Any) -> pd.DataFrame:
    """Collect the scores of all users."""
    frame = pd.DataFrame([row.asDict() for row in table.collect()], columns=table.columns)
    return frame.set_index("user")


@pytest.mark.parametrize("case", PARAMS)
def test_it_reports_as_in_memory(case: Case, loaded: sessions.Load) -> None:
    """The whole report, and every user's scores to the last bit."""
    frames: dict[str, Any] = {name: loaded(one) for name, one in case.tables.items()}
    data = frames.get("predictions", frames)
    with spark.evaluate(data, partitions=case.parts or 3, **case.options) as report:
        check_alike(report, users_of(report.per_user), case.whole)


def test_warnings_are_those_of_the_whole(loaded: sessions.Load) -> None:
    """Each is given once, with the counts of all users; `rn.evaluate` takes the table too."""
    frame = predictions(1)
    for factor in (0, -1):
        frame["estimated"] = factor * frame["true"]
        with pytest.warns(DataWarning) as found:
            rn.evaluate(loaded(frame), threshold=9)
        with pytest.warns(DataWarning) as expected:
            rn.evaluate(frame, threshold=9)
        messages = [str(one.message) for one in found if one.category is DataWarning]
        assert messages == [str(one.message) for one in expected]


def test_options_of_other_engines_raise(loaded: sessions.Load) -> None:
    """The rows stay on the cluster."""
    table = loaded(predictions(1))
    both = {"labels": table, "results": "top.parquet"}
    limit, users = (f"{name}= is not for tables of Spark" for name in ("memory_limit", "per_user"))
    assert_rejected(limit, rn.evaluate, table, memory_limit="2GB", whole=False)
    assert_rejected(users, rn.evaluate, table, per_user="scores.parquet", whole=False)
    assert_rejected("Give both as tables of Spark", rn.evaluate, both)


def test_what_needs_each_user_raises(loaded: sessions.Load) -> None:
    """The message names the table of the users."""
    with spark.evaluate(loaded(predictions(1)), threshold=4, partitions=2) as report:
        message = "in per_user, a Spark DataFrame"
        assert_rejected(message, report.take, [3])
        assert_rejected(message, report.leaderboard, "ndcg@10")
        assert_rejected(message, report.to_dict)
        assert "ndcg@10" in str(report)


def test_the_median_is_exact(loaded: sessions.Load) -> None:
    """Though values far from it are not held."""
    for users in (1, 2, 40, 401):
        frame = predictions(4, counts=[1 + one % 9 for one in range(users)])
        options: dict[str, Any] = {"metrics": ["ndcg@3", "rr@3", "recall@2"], "threshold": 5}
        with spark.evaluate(loaded(frame), partitions=2, **options) as report:
            expected = rn.evaluate(frame, **options)._data.audit.median
            np.testing.assert_array_equal(report._data.audit.median, expected)


def test_custom_metrics_and_gains_are_sent_to_the_workers(loaded: sessions.Load) -> None:
    """They cannot import them."""

    @rn.metric
    def early(rank: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(0.5 ** (rank - 1))

    options: dict[str, Any] = {"metrics": ["early@3", "ndcg@5"], "threshold": 4}
    options["convention"] = rn.Convention(gain=lambda true: true**2, discount=lambda rank: 1 / rank)
    case = Case("", predictions(5), options)
    with spark.evaluate(loaded(predictions(5)), partitions=2, **options) as report:
        check_alike(report, users_of(report.per_user), case.whole)


def test_nan_and_null_grades_are_unlabelled(loaded: sessions.Load) -> None:
    """Though Spark distinguishes NULL and NaN."""
    frame = predictions(6)
    case = Case("", frame.assign(true=frame["true"].where(frame.index % 3 > 0)), {"threshold": 4})
    there = loaded(frame.assign(row=frame.index))
    nan = "cast('NaN' as double)"
    grade = f"case row % 6 when 0 then {nan} when 3 then null else `true` end as true"
    table = there.selectExpr("user", "item", "estimated", grade)
    with spark.evaluate(table, partitions=2, **case.options) as report:
        check_alike(report, users_of(report.per_user), case.whole)


def test_known_names_of_columns_are_reported(loaded: sessions.Load) -> None:
    """As in memory."""
    frame = predictions(6).rename(columns={"item": "movieId", "true": "rating"})
    with pytest.warns(DataWarning, match="Using movieId as item, rating as true"):
        spark.evaluate(loaded(frame), partitions=2).unpersist()


def test_the_examples_of_the_page_run(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a reader would paste them, in the session of the tests."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for code, _ in examples(page_of("spark")):
        exec(compile(code, "spark.md", "exec"), names)  # noqa: S102 - ours
    assert names["report"].mean["precision@2"] == 0.5
    assert names["session"].version == session.version
    assert (tmp_path / "recsys_ndcg.zip").exists()


USERS = {
    "date": "date_add(date'2020-01-01', cast(user as int))", "timestamp": "timestamp_seconds(user)",
    "decimal(9,2)": "cast(user as decimal(9, 2))", "smallint": "cast(user as smallint)",
    "binary": "cast(cast(user as string) as binary)", "double": "user / 2D", "int": "user % 2 = 0",
}  # fmt: skip


@pytest.mark.parametrize("name", USERS)
def test_ids_keep_their_type(name: str, loaded: sessions.Load) -> None:
    """But for flags: the scores can be joined with other tables on the cluster."""
    number = "row_number() over (order by user, item) as item"
    columns = [f"{USERS[name]} as user", number, "estimated", "`true`"]
    frame = loaded(predictions(6)).selectExpr(*columns)
    with spark.evaluate(frame, partitions=3) as report:
        counts = [("n_items", "bigint"), ("n_relevant", "bigint")]
        assert report.per_user.dtypes == [("user", name), *counts, ("ndcg@10", "double")]
        assert report.per_user.where("n_relevant is null").count() == report.counts["users"]
        found = {str(row["user"]) for row in report.per_user.collect()}
        assert len(found) == report.counts["users"]
        users = frame.selectExpr("cast(user as int)" if name == "int" else "user").distinct()
        assert found == {str(row["user"]) for row in users.collect()}
        assert report.counts["ratings"] == frame.count()
