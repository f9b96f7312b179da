"""Cross-validations and searches as models to compare: the unit of analysis is the user."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from tests.errors import rejects

pytest.importorskip("surprise")

from recsys_ndcg.surprise import (
    SVD,
    BaselineOnly,
    Dataset,
    GridSearchCV,
    KFold,
    KNNBaseline,
    NormalPredictor,
    Reader,
    cross_validate,
)

MEASURES = ["rmse", "ndcg@10", "precision@5", "ndcg@10:catalogue"]


@pytest.fixture(scope="module")
def data() -> Any:
    """Return ratings."""
    ratings = sample_ratings()[["user", "item", "rating"]].head(4000)
    return Dataset.load_from_df(ratings, Reader(rating_scale=(0.5, 5)))


def _validated(algo: Any, data: Any, *, seed: int = 0, **choices: Any) -> Any:
    return cross_validate(
        algo, data, MEASURES, cv=KFold(3, random_state=seed), **{"threshold": 4, **choices}
    )


@pytest.fixture(scope="module")
def models(data: Any) -> dict[str, Any]:
    """Return two models, cross-validated."""
    return {
        "SVD": _validated(SVD(random_state=0), data),
        "KNN": _validated(KNNBaseline(verbose=False), data),
    }


def test_scores_are_averaged_within_each_user(models: dict[str, Any]) -> None:
    """Once each, whatever folds they are in."""
    found = rn.compare(models)
    for name, validated in models.items():
        by_user = validated.per_user.groupby(level="user").mean()
        for metric in found.metrics:
            ours = found.per_user[metric, name]
            theirs = by_user[metric].reindex(ours.index)
            np.testing.assert_allclose(ours, theirs, rtol=1e-13)
            board = found.leaderboards[metric].loc[name]
            assert board["mean"] == pytest.approx(by_user[metric].mean())
            assert board["pooled"] == pytest.approx(validated.pooled[metric])
    lists = sum(models["SVD"].n_users)
    assert found.leaderboard["users"].max() == len(found.users) < lists
    told = " ".join(found.remarks)
    assert (
        f"averaged within each user over 3 folds or seeds: the unit is the user, {len(found.users)}"
        in told
    )


def test_the_spread_between_folds_is_a_number_of_its_own(models: dict[str, Any]) -> None:
    """Not in the interval, which is over users."""
    board = rn.compare(models, metrics=["ndcg@10"]).leaderboard
    for name, validated in models.items():
        assert board.loc[name, "spread"] == pytest.approx(np.std(validated["test_ndcg@10"], ddof=1))
        scores = validated.per_user["ndcg@10"].groupby(level="user").mean()
        half = float(board["ci_high"][name] - board["ci_low"][name]) / 2
        error = scores.std(ddof=1) / np.sqrt(len(scores))
        assert half == pytest.approx(1.96 * error, rel=0.02)


def test_chance_is_that_of_the_folds_lists(models: dict[str, Any], data: Any) -> None:
    """As a report of each fold has it."""
    board = rn.compare(models, metrics=["ndcg@10"]).leaderboard
    chance = []
    for trainset, testset in KFold(3, random_state=0).split(data):
        report = rn.evaluate(SVD(random_state=0).fit(trainset).test(testset))
        chance.append(report.per_user_audit("ndcg@10")["chance"])
    by_user = np.concatenate(chance), np.concatenate([one.index for one in chance])
    mean = {user: by_user[0][by_user[1] == user].mean() for user in set(by_user[1])}
    assert board["chance"].to_numpy() == pytest.approx(np.mean(list(mean.values())))


def test_rated_and_catalogue_may_disagree_and_that_is_said(models: dict[str, Any]) -> None:
    """Both protocols stand side by side."""
    found = rn.compare(models, metrics=["ndcg@10", "ndcg@10:catalogue"])
    one, two = (found.leaderboards[metric]["mean"] for metric in found.metrics)
    assert ((one["SVD"] - one["KNN"]) * (two["SVD"] - two["KNN"]) < 0) == any(
        "ndcg@10 and ndcg@10:catalogue order 1 of 1 pairs differently" in line
        for line in found.remarks
    )


def test_other_folds_are_other_lists(models: dict[str, Any], data: Any) -> None:
    """Though all ratings are the same."""
    other = _validated(BaselineOnly(verbose=False), data, seed=1)
    with rejects("measured on different ratings.*in the same folds"):
        rn.compare({**models, "Baseline": other})


def test_seeds_are_averaged_within_each_user_too(data: Any) -> None:
    """A list of reports, or of cross-validations, is one model."""
    trainset, testset = next(KFold(4, random_state=0).split(data))
    runs = [rn.evaluate(SVD(random_state=seed).fit(trainset).test(testset)) for seed in range(3)]
    flat = rn.evaluate(KNNBaseline(verbose=False).fit(trainset).test(testset))
    board = rn.compare({"SVD": runs, "KNN": flat}).leaderboard
    means = [run.mean["ndcg@10"] for run in runs]
    assert board.loc["SVD", "mean"] == pytest.approx(np.mean(means))
    assert board.loc["SVD", "spread"] == pytest.approx(np.std(means, ddof=1))
    assert np.isnan(board["spread"]["KNN"])
    folds = [_validated(SVD(random_state=seed), data) for seed in range(2)]
    both = rn.compare({"SVD": folds, "KNN": _validated(KNNBaseline(verbose=False), data)})
    assert len(both.contenders["SVD"].runs) == 6


def test_each_combination_of_a_search_is_a_model(models: dict[str, Any], data: Any) -> None:
    """Named by what is different in it."""
    grid = {"n_factors": [5, 20], "n_epochs": [2], "random_state": [0]}
    search = GridSearchCV(
        SVD, grid, MEASURES, cv=KFold(3, random_state=0), threshold=4, keep_per_user=True
    )
    search.fit(data)
    found = rn.compare(search)
    assert found.models == ["n_factors=5", "n_factors=20"]
    assert found.leaderboard["spread"].tolist() == pytest.approx(
        [
            np.std(
                [search.cv_results[f"split{fold}_test_ndcg@10"][place] for fold in range(3)], ddof=1
            )
            for place in (found.models.index(name) for name in found.leaderboard.index)
        ]
    )
    mixed = rn.compare({"SVD": search, "KNN": models["KNN"]}, metrics=["ndcg@10"])
    assert mixed.models == ["SVD: n_factors=5", "SVD: n_factors=20", "KNN"]
    alone = rn.compare(search, metrics=["ndcg@10:catalogue"])
    means = search.cv_results["mean_test_ndcg@10:catalogue"]
    order = [found.models.index(name) for name in alone.leaderboard.index]
    assert means[order[0]] > means[order[1]]
    assert alone.metrics == ["ndcg@10:catalogue"]
    search.keep_per_user = False
    search.fit(data)
    with rejects("keep_per_user=True"):
        rn.compare(search)


def test_what_has_no_scores_of_users_is_told(models: dict[str, Any], data: Any) -> None:
    """Errors alone, or a search that was never fitted."""
    errors = cross_validate(NormalPredictor(), data, ["fcp"], cv=3)
    with rejects("fcp: No measure here ranks anything"):
        rn.compare({"fcp": errors, "KNN": models["KNN"]})
    with rejects("Nothing has been searched yet"):
        rn.compare(GridSearchCV(SVD, {"n_epochs": [1, 2]}, MEASURES, threshold=4))
