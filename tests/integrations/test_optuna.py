"""Optuna prunes a trial only where its interval parts from the best one's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import recsys_ndcg as rn
from recsys_ndcg import integrations
from tests.integrations.ranking_data import Queries

optuna = pytest.importorskip("optuna")
optuna.logging.set_verbosity(optuna.logging.WARNING)
DATA = Queries.draw(0, n_queries=60)


def search(
    noises: list[float],
    result: Callable[[NDArray[np.float64]], Any] = lambda one: DATA.evaluate(one, metrics="ndcg@5"),
    direction: str = "maximize",
    **options: Any,
) -> list[str]:
    """Return how trials end whose estimates are the grades with noise, in two steps each."""
    pruner = integrations.OptunaPruner(**options)
    study = optuna.create_study(direction=direction, pruner=pruner)
    for noise in noises:
        study.enqueue_trial({"noise": noise})

    def train(trial: Any) -> float:
        noise = trial.suggest_float("noise", 0, 1000)
        rng = np.random.default_rng(trial.number)
        for step in range(2):
            estimated = DATA.grades + noise * rng.normal(size=len(DATA.grades))
            pruner.report(trial, result(estimated), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return float(trial.study.trials[trial.number].intermediate_values[1])

    study.optimize(train, n_trials=len(noises))
    return [trial.state.name for trial in study.trials]


def test_equal_trials_go_on_and_a_hopeless_one_is_pruned() -> None:
    """The best of many equal trials is the best by chance."""
    ends = search([3.0] * 25 + [1000.0, 0.0, 0.1, 2.0])
    assert ends[:25] == ["COMPLETE"] * 25
    assert ends[-4:] == ["PRUNED", "COMPLETE", "COMPLETE", "PRUNED"]
    assert search([0.5, 1000.0]) == ["COMPLETE", "PRUNED"]


def test_errors_are_minimised() -> None:
    """The worst trial then has the highest interval, and each is compared with the lowest one."""

    def measure_error(estimated: NDArray[np.float64]) -> Any:
        return DATA.evaluate(estimated, metrics="rmse")

    ends = search([1.0, 9.0, 0.1, 5.0], measure_error, "minimize")
    assert ends == ["COMPLETE", "PRUNED", "COMPLETE", "PRUNED"]
    ends = search([5.0, 0.1, 1.0], measure_error, "minimize")
    assert ends == ["COMPLETE", "COMPLETE", "PRUNED"]


def test_scores_of_users_do_as_well_as_a_report() -> None:
    """NaN is a user without a score; a report of several metrics needs a name."""

    def score_users(estimated: NDArray[np.float64]) -> Any:
        return DATA.evaluate(estimated, metrics="ndcg@5").per_user["ndcg@5"]

    noises = [0.0, 1000.0, 2.0]
    assert search(noises, score_users) == search(noises)
    kept: list[list[Any]] = []
    for options in ({}, {"metric": "ndcg"}):
        study, pruner = (
            optuna.create_study(pruner=integrations.OptunaPruner()),
            integrations.OptunaPruner(),
        )
        report = DATA.evaluate(DATA.features[:, 0], metrics=["ndcg@5", *["rmse"] * len(options)])
        for result in (report, report.per_user["ndcg@5"]):
            trial = study.ask()
            pruner.report(trial, result, 3, **(options if result is report else {}))
            kept.append(study.trials[-1].user_attrs["recsys_ndcg step 3"])
    for *numbers, kinds in kept:
        assert numbers == pytest.approx(kept[0][:-1], rel=1e-12)
        assert kinds["bounded"]
    several: list[tuple[Any, bool]] = [
        ([0.0, 1.0, math.nan], True),
        ([-1.0, 0.0], False),
        ([2, 1], False),
    ]
    for step, (scores, is_bounded) in enumerate(several, 4):
        pruner.report(trial, scores, step)
        *numbers, kinds = study.trials[-1].user_attrs[f"recsys_ndcg step {step}"]
        assert numbers[:3] == pytest.approx([2, np.nanmean(scores), math.sqrt(0.5)])
        assert kinds["bounded"] == is_bounded


def test_a_step_without_an_interval_is_an_error() -> None:
    """Optuna's own report has only the mean."""
    study = optuna.create_study(pruner=integrations.OptunaPruner())
    trial = study.ask()
    assert not trial.should_prune()
    trial.report(0.5, 0)
    with pytest.raises(rn.InvalidInputError, match=r"pruner\.report\(trial, report, step\)"):
        trial.should_prune()
    with pytest.raises(rn.InvalidInputError, match="level"):
        integrations.OptunaPruner(level=95)
