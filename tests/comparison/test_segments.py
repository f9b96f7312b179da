"""For whom a model is better, against counting by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import recsys_ndcg as rn
from tests.comparison.models import Rows, models, ratings
from tests.errors import rejects


def test_each_segment_is_the_comparison_of_its_users() -> None:
    """Means, intervals, chance, differences; p corrected by Holm for segments and models."""
    both = models(users=90)
    groups = {user: "even" if int(user[1:]) % 2 == 0 else "odd" for user, *_ in both["good"]}
    table: Any = rn.compare(both, metrics=["ndcg@3"], by=groups).segments.loc["ndcg@3"]
    assert table.index.get_level_values("segment").unique().tolist() == ["even", "odd"]
    raw: list[tuple[Any, float]] = []
    for name in ("even", "odd"):
        own = {
            model: [row for row in rows if groups[row[0]] == name] for model, rows in both.items()
        }
        alone = rn.compare(own, metrics=["ndcg@3"], correction="none")
        board = alone.leaderboard
        for model in both:
            row = table.loc[(name, model)]
            for column in ("users", "mean", "ci_low", "ci_high", "pooled", "chance"):
                assert row[column] == pytest.approx(board.loc[model, column]), column
        for model in ("fair", "poor"):
            row = table.loc[(name, model)]
            scores = alone.per_user["ndcg@3"]
            test = stats.ttest_rel(scores[model], scores["good"])
            assert row["difference"] == pytest.approx((scores[model] - scores["good"]).mean())
            assert row["p"] == pytest.approx(test.pvalue, rel=1e-6)
            raw.append(((name, model), float(row["p"])))
        assert np.isnan(table.loc[(name, "good"), "difference"])
    highest = 0.0
    for place, (key, p) in enumerate(sorted(raw, key=lambda one: one[1])):
        highest = max(highest, min(1.0, p * (len(raw) - place)))
        assert table.loc[key, "p_corrected"] == pytest.approx(highest)


def test_errors_are_better_the_smaller_they_are_in_segments_too() -> None:
    """The difference is in the metric's units."""
    table = rn.compare(models(), metrics=["rmse"], by="list_length").segments.loc["rmse"]
    rows = table.xs("poor", level="model")
    assert (rows["difference"] > 0).all()
    assert (rows["difference_low"] < rows["difference"]).all()
    assert (rows["difference"] < rows["difference_high"]).all()


def _two(first: dict[str, float]) -> dict[str, Rows]:
    """Return two models; in some groups the first is the better one, in the others the second."""
    true = ratings(240, longest=6)
    one, two = [], []
    for user, item, grade in true:
        good = first["few" if int(user[1:]) % 4 == 0 else "many"] > 0
        one.append((user, item, grade if good else -grade, grade))
        two.append((user, item, -grade if good else grade, grade))
    return {"one": one, "two": two}


@pytest.mark.filterwarnings("ignore:one. ndcg@3 is .* in random order")
def test_a_segment_against_the_whole_is_named() -> None:
    """With how far, and how surely."""
    both = _two({"few": 1, "many": -1})
    groups = pd.Series(
        {user: "few" if int(user[1:]) % 4 == 0 else "many" for user, *_ in both["one"]}
    )
    found = rn.compare(both, metrics=["ndcg@3"], by=groups)
    rows = found.segments.loc["ndcg@3"].xs("two", level="model")
    assert rows["against_whole"].tolist() == [True, False]
    (line,) = [one for one in found.remarks if one.startswith("Against the whole")]
    assert "in segment few, two is" in line
    assert "below one in ndcg@3" in line


def test_simpsons_paradox_is_named_where_it_happens() -> None:
    """Pooled over users whom the two models weigh differently."""
    rows: dict[str, Rows] = {"one": [], "two": []}

    def add(name: str, user: str, hits: int, recommended: int) -> None:
        for place in range(20):
            item, grade = f"i{place}", 5.0 if place < 10 else 1.0
            among = place < hits or 10 <= place < 10 + recommended - hits
            rows[name].append(
                (user, item, 9.0 - place / 100 if among else 1.0 - place / 100, grade)
            )

    for user in range(30):
        easy = f"easy{user}"
        add("one", easy, 9, 10)  # 90 % of few
        add("two", easy, 1, 1)
        hard = f"hard{user}"
        add("one", hard, 0, 1)
        add("two", hard, 2, 12)
    convention = rn.Convention(recommend_from=5.0, short_list="n")
    found = rn.compare(
        rows,
        metrics=["precision@20"],
        threshold=4,
        convention=convention,
        by=lambda table: table.index.str[:4],
    )
    pooled = found.leaderboard["pooled"]
    parts = found.segments.loc["precision@20"]["pooled"]
    for segment in ("easy", "hard"):
        assert parts[segment, "two"] > parts[segment, "one"]
    assert pooled["two"] < pooled["one"]
    (line,) = [one for one in found.remarks if "Simpson" in one]
    assert "in every segment two is on the other side of one in pooled precision@20" in line


def test_users_in_no_segment_are_counted() -> None:
    """And are no part of the whole that segments are held against."""
    both = models()
    groups = {user: "some" for user, *_ in both["good"] if user < "u0020"}
    found = rn.compare(both, metrics=["ndcg@3"], by=groups)
    assert "40 of 60 users are in no segment." in found.remarks
    assert found.segments["users"].max() == 20


def test_built_in_segments_and_columns() -> None:
    """By activity; by a column of the data that the models were given in."""
    both = {
        name: pd.DataFrame(rows, columns=["user", "item", "estimated", "true"])
        for name, rows in models().items()
    }
    for table in both.values():
        table["country"] = np.where(table["user"] < "u0030", "de", "fr")
    found = rn.compare(both, metrics=["ndcg@3"], by="country").segments
    assert found.index.get_level_values("segment").unique().tolist() == ["de", "fr"]
    assert found["users"].unique().tolist() == [30]
    rows = rn.compare(models(), metrics=["ndcg@3"], by="activity").segments
    assert rows.groupby(level="model")["users"].sum().tolist() == [60] * 3
    with rejects("cold"):
        rn.compare(models(), by="cold")
    cold = rn.compare(models(), by="cold", train=["u0001", "u0002"]).segments["users"]
    assert cold.groupby(level="segment", sort=False).first().to_dict() == {
        "known": 2,
        "unknown": 58,
    }


@pytest.mark.parametrize(
    "groups", [{"nobody": "x"}, "continent", {}, 7, lambda table: table.index[:3]]
)
def test_groups_that_are_none_are_refused(groups: object) -> None:
    """Users who are not there, a column that is not there, a number."""
    table = pd.DataFrame(models()["good"], columns=["user", "item", "estimated", "true"])
    with pytest.raises(rn.InvalidInputError):
        rn.compare({"a": table, "b": models()["poor"]}, by=groups)
