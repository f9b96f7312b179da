"""Cross-validations and searches can be compared; the unit of analysis is the user."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recsys_ndcg as rn
from recsys_ndcg.significance import estimate_optimism
from recsys_ndcg.surprise import (
    SVD,
    BaselineOnly,
    GridSearchCV,
    KFold,
    KNNBaseline,
    RepeatedKFold,
    ShuffleSplit,
    cross_validate,
)
from tests.errors import assert_rejected, rejects
from tests.surprise.samples import DATA, THREE, mean_error

MEASURES = ["rmse", "ndcg@10", "precision@5", "ndcg@10:catalogue"]


def _validate(algo: Any, *, seed: int = 0) -> Any:
    return cross_validate(algo, DATA, MEASURES, cv=KFold(3, random_state=seed), threshold=4)


@pytest.fixture(scope="module")
def models() -> dict[str, Any]:
    """Return two models, cross-validated."""
    return {"SVD": _validate(SVD(random_state=0)), "KNN": _validate(KNNBaseline(verbose=False))}


def test_scores_are_averaged_within_each_user(models: dict[str, Any]) -> None:
    """Each user counts once; the spread between folds is a column of its own."""
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
        board = found.leaderboards["ndcg@10"].loc[name]
        assert board["spread"] == pytest.approx(np.std(validated["test_ndcg@10"], ddof=1))
        scores = by_user["ndcg@10"]
        error = scores.std(ddof=1) / np.sqrt(len(scores))
        assert (board["ci_high"] - board["ci_low"]) / 2 == pytest.approx(1.96 * error, rel=0.05)
    assert found.leaderboard["users"].max() == len(found.users) < sum(models["SVD"].n_users)
    n_users = len(found.users)
    text = f"over 3 folds of one partition, so the tests have one score for each of {n_users} users"
    assert text in " ".join(found.remarks)


@pytest.mark.parametrize(
    ("splits", "runs"),
    [
        (KFold(3, random_state=0), 0),
        (RepeatedKFold(3, 2, random_state=0), 2),
        (ShuffleSplit(3, test_size=0.5, random_state=0), 3),
    ],
)
def test_folds_of_one_partition_are_one_run(splits: Any, runs: int) -> None:
    """A run begins with the fold that tests a rating again."""
    names = {"SVD": SVD(random_state=0), "base": BaselineOnly(verbose=False)}
    models = {
        name: cross_validate(algo, DATA, ["ndcg@10"], cv=splits) for name, algo in names.items()
    }
    pair = rn.compare(models).pairwise.iloc[0]
    assert pair["runs"] == runs
    means = np.array([one["test_ndcg@10"] for one in models.values()])
    if runs == 3:
        complete = [one.averaged_scores.run_scores[:, :, 0] for one in models.values()]
        known = ~np.isnan(complete[0]).any(axis=0)
        own = np.diff([one[:, known].mean(axis=1) for one in complete], axis=0)
        assert pair["sd_runs"] == pytest.approx(own.std(ddof=1))
        assert means.shape == (2, 3)


def test_chance_is_averaged_within_each_user_too(models: dict[str, Any]) -> None:
    """From the reports of the folds."""
    board = rn.compare(models, metrics=["ndcg@10"]).leaderboard
    chance: dict[str, list[float]] = {}
    for trainset, testset in THREE.split(DATA):
        report = rn.evaluate(SVD(random_state=0).fit(trainset).test(testset))
        for user, value in report.per_user_audit("ndcg@10")["chance"].items():
            chance.setdefault(str(user), []).append(value)
    means = [np.mean(values) for values in chance.values()]
    assert board["chance"].to_numpy() == pytest.approx(np.mean(means))


def test_a_list_of_seeds_or_of_cross_validations_is_one_model() -> None:
    """Its scores are averaged within each user."""
    trainset, testset = next(KFold(4, random_state=0).split(DATA))
    runs = [rn.evaluate(SVD(random_state=seed).fit(trainset).test(testset)) for seed in range(3)]
    one = rn.evaluate(KNNBaseline(verbose=False).fit(trainset).test(testset))
    board = rn.compare({"SVD": runs, "KNN": one}).leaderboard
    means = [run.mean["ndcg@10"] for run in runs]
    assert board.loc["SVD", "mean"] == pytest.approx(np.mean(means))
    assert board.loc["SVD", "spread"] == pytest.approx(np.std(means, ddof=1))
    assert np.isnan(board["spread"]["KNN"])
    folds = [_validate(SVD(n_epochs=2, random_state=seed)) for seed in range(2)]
    both = rn.compare({"SVD": folds, "Baseline": _validate(BaselineOnly(verbose=False))})
    assert len(both._data.model_scores["SVD"].run_means) == 6


def test_each_combination_of_a_search_is_a_model(models: dict[str, Any]) -> None:
    """It is named by the parameters that differ."""
    grid = {"n_factors": [5, 20], "n_epochs": [2], "random_state": [0]}
    search = GridSearchCV(SVD, grid, MEASURES, cv=THREE, threshold=4)
    search.fit(DATA)
    found = rn.compare(search)
    assert found.models == ["n_factors=5", "n_factors=20"]
    for place, name in enumerate(found.models):
        scores = [search.cv_results[f"split{fold}_test_ndcg@10"][place] for fold in range(3)]
        assert found.leaderboard["spread"][name] == pytest.approx(np.std(scores, ddof=1))
    mixed = rn.compare({"SVD": search, "KNN": models["KNN"]}, metrics=["ndcg@10:catalogue"])
    assert mixed.models == ["SVD: n_factors=5", "SVD: n_factors=20", "KNN"]
    assert mixed.metrics == ["ndcg@10:catalogue"]


def test_the_best_of_a_search_is_too_good(tmp_path: Path) -> None:
    """By how much, in each measure, and as a remark on a comparison; also from a file."""
    grid = {"n_factors": [5, 20], "n_epochs": [2, 9], "random_state": [0]}
    measures = ["rmse", "ndcg@10", "ndcg@10:catalogue", mean_error]
    search = GridSearchCV(SVD, grid, measures, cv=THREE, keep_per_user=True)
    search.fit(DATA)
    optimism = search.optimism
    assert list(optimism) == search.measures
    assert np.isnan(optimism["mean_error"])
    for name, sign in (("rmse", -1), ("ndcg@10", 1), ("ndcg@10:catalogue", 1)):
        found = rn.compare(search, metrics=[name])
        means = found.leaderboard["mean"]
        best = str(means.index[int((sign * means).argmax())])
        scores = np.column_stack([found.per_user[name, one] for one in found.models])
        expected = estimate_optimism(sign * scores)
        assert optimism[name] == expected > 0
        assert found.optimism == {best: expected}
        size = f"{expected:.4f}" if expected >= 0.001 else f"{expected:.2g}"
        remark = f"{means[best]:.4f} is about {size} too "
        remark += "high" if sign > 0 else "low"
        (line,) = [one for one in found.remarks if remark in one]
        assert line.startswith(f"{best} is the best of 4 models that a search tried")
        found.save(tmp_path / "c.json")
        again = rn.Comparison.load(tmp_path / "c.json")
        assert (again.optimism, again.remarks) == (found.optimism, found.remarks)
    chance = rn.compare(search, metrics=["ndcg@10"], baseline="chance")
    assert list(chance.optimism.values()) == [optimism["ndcg@10"]]
    two = rn.compare({"one": search, "other": _validate(SVD(random_state=0))}, metrics=["ndcg@10"])
    assert list(two.optimism.values()) == [optimism["ndcg@10"]]


def test_only_the_best_of_a_search_is_called_too_good(models: dict[str, Any]) -> None:
    """Models by hand were not chosen; a search without users' scores cannot tell."""
    found = rn.compare(models)
    assert found.optimism == {}
    assert not [line for line in found.remarks if "a search tried" in line]
    options: dict[str, Any] = {"cv": THREE, "keep_per_user": False}
    search = GridSearchCV(SVD, {"n_epochs": [1, 2]}, ["ndcg@10"], **options)
    assert_rejected("Nothing has been searched yet", lambda: search.optimism)
    search.fit(DATA)
    assert_rejected("keep_per_user=True", lambda: search.optimism)


def test_models_without_comparable_scores_are_rejected(models: dict[str, Any]) -> None:
    """Other folds, only errors, no scores of users, or no fit."""
    options: dict[str, Any] = {"cv": THREE, "threshold": 4, "keep_per_user": False}
    search = GridSearchCV(SVD, {"n_epochs": [1, 2]}, MEASURES, **options)
    assert_rejected("Nothing has been searched yet", rn.compare, search)
    search.fit(DATA)
    assert_rejected("keep_per_user=True", rn.compare, search)
    with rejects("measured on different ratings.*in the same folds"):
        rn.compare({**models, "Baseline": _validate(BaselineOnly(verbose=False), seed=1)})
    with rejects("fcp: No measure here ranks anything"):
        errors = cross_validate(rn.surprise.NormalPredictor(), DATA, ["fcp"], cv=3)
        rn.compare({"fcp": errors, "KNN": models["KNN"]})
