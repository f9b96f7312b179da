"""LightGBM trains, prints and stops by our metrics."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import recsys_ndcg as rn
from recsys_ndcg import integrations
from tests.integrations.ranking_data import Queries

lightgbm = pytest.importorskip("lightgbm")
TRAIN, VALID = Queries.draw(0), Queries.draw(1)
QUIET: dict[str, Any] = {"verbose": -1, "min_child_samples": 2, "num_threads": 1, "num_leaves": 5}
OPTIONS = {**QUIET, "objective": "lambdarank", "metric": "none"}
BOTH: dict[str, Any] = {"metrics": ["ndcg@5", "recall@5"], "threshold": 2}


def train(feval: Any, n_rounds: int = 5, **options: Any) -> tuple[Any, dict[str, Any]]:
    """Return the model, and the history of the validation set."""
    history: dict[str, Any] = {}
    data = lightgbm.Dataset(TRAIN.features, TRAIN.grades, group=TRAIN.sizes)
    valid = lightgbm.Dataset(VALID.features, VALID.grades, group=VALID.sizes, reference=data)
    callbacks = [lightgbm.record_evaluation(history), *options.pop("callbacks", [])]
    how = {"valid_sets": [valid], "valid_names": ["valid"], "callbacks": callbacks}
    return lightgbm.train(OPTIONS | options, data, n_rounds, feval=feval, **how), history["valid"]


def estimate(model: Any, n_rounds: int) -> NDArray[np.float64]:
    """Return the estimates of the validation set after some rounds."""
    return np.asarray(model.predict(VALID.features, num_iteration=n_rounds))


def test_every_round_has_the_means_of_evaluate() -> None:
    """Of several metrics, from one call."""
    model, history = train(integrations.lightgbm_metric(**BOTH))
    for number in range(5):
        means = VALID.evaluate(estimate(model, number + 1), **BOTH).mean
        assert {name: values[number] for name, values in history.items()} == dict(means)
    assert [*train(integrations.lightgbm_metric("ndcg", k=[3, 7]), 1)[1]] == ["ndcg@3", "ndcg@7"]


def test_the_ranker_of_the_scikit_learn_api_gives_the_same() -> None:
    """It passes grades first, and the sizes of the groups."""
    metric = integrations.lightgbm_metric(**BOTH)
    ranker = lightgbm.LGBMRanker(n_estimators=5, metric="none", **QUIET)
    valid: dict[str, Any] = {"eval_X": VALID.features, "eval_y": VALID.grades}
    if "eval_X" not in signature(ranker.fit).parameters:  # before LightGBM 4.7
        valid = {"eval_set": [(VALID.features, VALID.grades)]}
    valid |= {"eval_group": [VALID.sizes], "eval_names": ["valid"], "eval_metric": metric}
    ranker.fit(TRAIN.features, TRAIN.grades, group=TRAIN.sizes, **valid)
    _, history = train(metric)
    assert {name: ranker.evals_result_["valid"][name] for name in history} == history


def test_early_stopping_keeps_the_round_with_the_highest_mean() -> None:
    """And the one with the lowest error."""
    for name, find_best in (("ndcg@5", np.argmax), ("rmse", np.argmin)):
        stop = lightgbm.early_stopping(5, verbose=False)
        model, history = train(integrations.lightgbm_metric(name), 60, callbacks=[stop])
        assert model.best_iteration == find_best(history[name]) + 1 < len(history[name])


def test_a_query_without_relevant_items_is_left_out_and_counts_one_in_their_ndcg() -> None:
    """LightGBM issue 6823; their preset gives their numbers."""
    theirs = integrations.lightgbm_metric("ndcg@5", convention="lightgbm")
    model, history = train(None, metric="ndcg", eval_at=[5])
    estimated = estimate(model, 5)
    ((_, mean, _),) = theirs(VALID.grades, estimated, None, VALID.sizes)
    assert mean == pytest.approx(history["ndcg@5"][-1], abs=1e-12)
    report = VALID.evaluate(estimated, metrics="ndcg@5")
    assert report.counts["undefined ndcg@5"] == 1
    assert report["ndcg@5"] < history["ndcg@5"][-1]


def test_sizes_of_groups_cannot_be_cross_validated_but_lightgbm_can() -> None:
    """`LGBMRanker.fit(group=sizes)` has no size per row; `lightgbm.cv` splits whole groups."""
    data = lightgbm.Dataset(TRAIN.features, TRAIN.grades, group=TRAIN.sizes)
    how: dict[str, Any] = {"nfold": 2, "stratified": False, "num_boost_round": 3}
    result = lightgbm.cv(OPTIONS, data, feval=integrations.lightgbm_metric("ndcg@5"), **how)
    assert len(result["valid ndcg@5-mean"]) == 3


def test_data_without_groups_gets_the_line_to_write() -> None:
    """And weights are mentioned once."""
    data = lightgbm.Dataset(TRAIN.features, TRAIN.grades)
    with pytest.raises(rn.InvalidInputError, match=r"group=sizes.*eval_group"):
        lightgbm.train(
            QUIET, data, 1, valid_sets=[data], feval=integrations.lightgbm_metric("ndcg@5")
        )
    data = lightgbm.Dataset(
        TRAIN.features, TRAIN.grades, group=TRAIN.sizes, weight=np.full(len(TRAIN.grades), 2)
    )
    with pytest.warns(rn.DataWarning, match=r"weights .*no effect on ndcg@5") as caught:
        lightgbm.train(
            OPTIONS, data, 3, valid_sets=[data], feval=integrations.lightgbm_metric("ndcg@5")
        )
    assert len(caught) == 1


def test_labels_without_any_relevant_item_raise() -> None:
    """A mean of nothing would never stop the training."""
    with (
        pytest.warns(rn.DataWarning, match="threshold"),
        pytest.raises(rn.InvalidInputError, match="recall@5 is undefined for all 2 groups"),
    ):
        integrations.lightgbm_metric("recall@5", threshold=5)(
            [1, 0, 0, 1], np.zeros(4), None, [2, 2]
        )
