"""The plots of a comparison show its numbers, and say them."""

from __future__ import annotations

import numpy as np
import pytest

import recsys_ndcg as rn
from tests.comparison.models import models
from tests.errors import rejects

pytest.importorskip("altair")


@pytest.fixture(name="comparison", scope="module")
def _comparison() -> rn.Comparison:
    return rn.compare(models(), metrics=["ndcg@3", "rmse"])


def test_each_kind_says_its_numbers(comparison: rn.Comparison) -> None:
    """As the text alternative."""
    board = comparison.leaderboard
    tiers = comparison.plot().to_dict()
    assert f"{board['mean']['good']:.4f}" in tiers["description"]
    assert f"chance {board['chance']['good']:.4f}" in tiers["description"]
    differences = comparison.plot("differences", a="poor", b="good").to_dict()
    row = comparison.pairwise.query("metric == 'ndcg@3' and a == 'good' and b == 'poor'").iloc[0]
    assert f"good better: {row['wins']} users" in differences["description"]
    assert f"mean {row['difference']:.4f}" in differences["description"]
    activity = comparison.plot("activity").to_dict()
    assert "good" in activity["description"]
    errors = comparison.plot("tiers", metric="rmse").to_dict()
    assert "the best first: good" in errors["description"]


def test_what_cannot_be_plotted_is_told(comparison: rn.Comparison) -> None:
    """Kinds, metrics, models."""
    with rejects("kind must be one of 'tiers', .*, 'trade-off', not 'tier'"):
        comparison.plot("tier")
    with rejects("has no metric 'rr'"):
        comparison.plot(metric="rr")
    with rejects("There is no model 'x'"):
        comparison.plot("differences", a="x")
    with rejects("has no metric 'rr'"):
        comparison.plot("trade-off", against="rr")
    with rejects("between two metrics, not 'rmse' and itself"):
        comparison.plot("trade-off", metric="rmse", against="rmse")
    with rejects("No model has a parameter 'reg'. A search gives its models theirs"):
        comparison.plot("trade-off", colour="reg")
    with rejects("compare in another one, too, than ndcg@10"):
        rn.compare(models()).plot("trade-off")


def test_two_models_and_two_metrics_are_set_against_each_other(comparison: rn.Comparison) -> None:
    """The baseline across; the next metric upward."""
    row = comparison.pairwise.query("metric == 'rmse' and a == 'good' and b == 'poor'").iloc[0]
    said = comparison.plot("scatter", metric="rmse", a="poor", b="good").to_dict()["description"]
    assert said.startswith("rmse of good against that of poor, of 60 users: mean ")
    assert f"below it: good better: {row['wins']} users" in said
    assert "lower is better" in said
    board, errors = (comparison.leaderboards[name]["mean"] for name in ("ndcg@3", "rmse"))
    told = f"good {board['good']:.4f} and {errors['good']:.4f}"
    said = comparison.plot("trade-off").to_dict()["description"]
    assert said.startswith("Trade-off of ndcg@3 (higher is better) and rmse (lower is better): ")
    assert told in said
    said = comparison.plot("trade-off", metric="rmse").to_dict()["description"]
    assert f"good {errors['good']:.4f} and {board['good']:.4f}" in said


def test_nobody_in_both_is_told() -> None:
    """Nothing is drawn."""
    one = {"ann": [(1, 1), (2, 2)], "bob": [(1, 2), (2, 1)]}
    other = {user: [(5 - est, true) for est, true in rows] for user, rows in one.items()}
    with pytest.warns(rn.DataWarning, match="nothing is relevant"):
        found = rn.compare({"a": one, "b": other}, metrics=["recall@10", "rmse"], threshold=4)
    with rejects("Nobody has a score in recall@10"):
        found.plot("scatter")
    with rejects("No model has a score in both recall@10 and rmse"):
        found.plot("trade-off")


def test_a_catalogues_baselines_are_rules() -> None:
    """Where a report knows them."""
    pytest.importorskip("surprise")
    from recsys_ndcg.datasets import sample_ratings  # noqa: PLC0415
    from recsys_ndcg.surprise import (  # noqa: PLC0415 - an extra
        SVD,
        BaselineOnly,
        Dataset,
        KFold,
        Reader,
        evaluate_catalogue,
    )

    table = sample_ratings()[["user", "item", "rating"]].head(3000)
    data = Dataset.load_from_df(table, Reader(rating_scale=(0.5, 5)))
    trainset, testset = next(KFold(4, random_state=0).split(data))
    reports = {
        type(algo).__name__: evaluate_catalogue(algo.fit(trainset), trainset, testset)
        for algo in (SVD(random_state=0), BaselineOnly(verbose=False))
    }
    found = rn.compare(reports)
    popular = float(reports["SVD"].baselines["ndcg@10"]["MostPopular"])
    said = found.plot().to_dict()["description"]
    assert f"MostPopular {popular:.4f}" in said
    overlap = found.overlap(5, per_user=True)["SVD", "BaselineOnly", "jaccard"]
    for user in reports["SVD"].users[:20].tolist():
        items = [set(one.explain(user, 5)["item"].dropna()) for one in reports.values()]
        expected = len(items[0] & items[1]) / len(items[0] | items[1])
        assert np.isclose(overlap[user], expected)
    with rejects("keeps the first 10 ranks"):
        found.overlap(50)
