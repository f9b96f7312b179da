"""Spark reports what is reported in memory, refuses the same, and says what its workers lack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.errors import DataWarning, InvalidInputError
from recsys_ndcg.scale import spark
from tests.pages import ROOT, examples
from tests.scale import sessions
from tests.scale.alike import check_alike
from tests.scale.cases import CASES, Case, predictions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

pytestmark = sessions.marks()


def users_of(table: Any) -> pd.DataFrame:
    """Collect the scores of all users."""
    frame = pd.DataFrame([row.asDict() for row in table.collect()], columns=table.columns)
    return frame.set_index("user")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_as_in_memory(case: Case, loaded: Callable[[pd.DataFrame], Any]) -> None:
    """All that a report says of all users, and every user's scores to the last bit."""
    data: Any = case.data
    if isinstance(data, dict):
        frame: Any = {name: loaded(one) for name, one in data.items()}
    else:
        frame = loaded(data)
    with spark.evaluate(frame, partitions=case.parts or 3, **case.options) as report:
        check_alike(report, users_of(report.per_user), case.local())


def test_warnings_are_those_of_the_whole(loaded: Callable[[pd.DataFrame], Any]) -> None:
    """What looks like a mistake is said once, with the counts of all users; by the one door."""
    frame = predictions(1)
    for factor in (0, -1):
        frame["estimated"] = factor * frame["true"]
        with pytest.warns(DataWarning) as told:
            rn.evaluate(loaded(frame), threshold=9)
        with pytest.warns(DataWarning) as expected:
            rn.evaluate(frame, threshold=9)
        said = [str(one.message) for one in told if one.category is DataWarning]
        assert said == [str(one.message) for one in expected]


def test_options_of_other_ways_are_refused(loaded: Callable[[pd.DataFrame], Any]) -> None:
    """The rows stay on the cluster."""
    table = loaded(predictions(1))
    with pytest.raises(InvalidInputError, match="memory_limit= is not for tables of Spark"):
        rn.evaluate(table, memory_limit="2GB")
    with pytest.raises(InvalidInputError, match="per_user= is not for tables of Spark"):
        rn.evaluate(table, per_user="scores.parquet")
    with pytest.raises(InvalidInputError, match="Give both as tables of Spark"):
        rn.evaluate({"labels": table, "results": "top.parquet"})


def test_what_takes_each_user_is_refused(loaded: Callable[[pd.DataFrame], Any]) -> None:
    """The message says where the users are."""
    with spark.evaluate(loaded(predictions(1)), threshold=4, partitions=2) as report:
        for ask in (
            lambda: report.scores,
            lambda: report.take([3]),
            lambda: report.leaderboard("ndcg@10"),
            report.to_dict,
        ):
            with pytest.raises(InvalidInputError, match="in per_user, a Spark DataFrame"):
                ask()
        assert "ndcg@10" in str(report)


def test_the_median_of_many_users(
    loaded: Callable[[pd.DataFrame], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values far from it are not held, and it is the same."""
    monkeypatch.setattr(spark, "_MANY", 0)
    for users in (1, 2, 40, 401):
        frame = predictions(4, counts=[1 + one % 9 for one in range(users)])
        options: dict[str, Any] = {"metrics": ["ndcg@3", "rr@3", "recall@2"], "threshold": 5}
        with spark.evaluate(loaded(frame), partitions=2, **options) as report:
            expected = rn.evaluate(frame, **options).audited.median
            np.testing.assert_array_equal(report.audited.median, expected)


def test_metrics_and_gains_of_ones_own(loaded: Callable[[pd.DataFrame], Any]) -> None:
    """Functions that the workers cannot import are sent along."""

    @rn.metric
    def early(rank: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(0.5 ** (rank - 1))

    options: dict[str, Any] = {"metrics": ["early@3", "ndcg@5"], "threshold": 4}
    options["convention"] = rn.Convention(gain=lambda true: true**2, discount=lambda rank: 1 / rank)
    case = Case("", predictions(5), options)
    with spark.evaluate(loaded(predictions(5)), partitions=2, **options) as report:
        check_alike(report, users_of(report.per_user), case.local())


def test_grades_that_are_not_a_number_are_none(loaded: Callable[[pd.DataFrame], Any]) -> None:
    """To Spark NULL and NaN are two things, to us one."""
    frame = predictions(6)
    case = Case("", frame.assign(true=frame["true"].where(frame.index % 3 > 0)), {"threshold": 4})
    there = loaded(frame.assign(row=frame.index))
    nan = "cast('NaN' as double)"
    grade = f"case row % 6 when 0 then {nan} when 3 then null else `true` end as true"
    asked = there.selectExpr("user", "item", "estimated", grade)
    with spark.evaluate(asked, partitions=2, **case.options) as report:
        check_alike(report, users_of(report.per_user), case.local())


def test_names_that_are_known_are_said(loaded: Callable[[pd.DataFrame], Any]) -> None:
    """As in memory."""
    frame = predictions(6).rename(columns={"item": "movieId", "true": "rating"})
    with pytest.warns(DataWarning, match="Read movieId as item, rating as true"):
        spark.evaluate(loaded(frame), partitions=2).unpersist()


def test_users_are_of_the_type_that_they_were(loaded: Callable[[pd.DataFrame], Any]) -> None:
    """The table of scores can be joined with the others on the cluster."""
    frame = loaded(predictions(6).astype({"user": np.int16}))
    with spark.evaluate(frame, partitions=2) as report:
        assert report.per_user.dtypes == [
            ("user", "smallint"),
            ("n_items", "bigint"),
            ("n_relevant", "bigint"),
            ("ndcg@10", "double"),
        ]
        assert report.per_user.where("n_relevant is null").count() == report.counts["users"]


def test_the_page_runs(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a reader pastes, in the session that there is."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for code, _ in examples(ROOT / "docs" / "spark.md"):
        exec(compile(code, "spark.md", "exec"), names)  # noqa: S102 - ours
    assert names["report"].mean["precision@2"] == 0.5
    assert names["session"].version == session.version
    assert (tmp_path / "recsys_ndcg.zip").exists()


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("date_add(date'2020-01-01', cast(user as int))", "date"),
        ("timestamp_seconds(user)", "timestamp"),
        ("cast(user as decimal(9, 2))", "decimal(9,2)"),
        ("cast(cast(user as string) as binary)", "binary"),
        ("user / 2D", "double"),
        ("user % 2 = 0", "int"),
    ],
    ids=["dates", "times", "decimals", "bytes", "halves", "flags"],
)
def test_ids_of_other_types(kind: str, name: str, loaded: Callable[[pd.DataFrame], Any]) -> None:
    """They come back as they were, but for flags."""
    frame = loaded(predictions(6)).selectExpr(
        f"{kind} as user", "row_number() over (order by user, item) as item", "estimated", "`true`"
    )
    with spark.evaluate(frame, threshold=4, partitions=3) as report:
        assert report.per_user.dtypes[0] == ("user", name)
        found = {str(row["user"]) for row in report.per_user.collect()}
        assert len(found) == report.counts["users"]
        asked = frame.selectExpr("cast(user as int)" if name == "int" else "user").distinct()
        assert found == {str(row["user"]) for row in asked.collect()}
        assert report.counts["ratings"] == frame.count()
