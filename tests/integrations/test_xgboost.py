"""XGBoost trains and stops by our metrics, whose means are over groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import recsys_ndcg as rn
from recsys_ndcg import integrations
from tests.integrations.ranking_data import Queries

xgboost = pytest.importorskip("xgboost")
TRAIN, VALID = Queries.draw(0), Queries.draw(1)
OPTIONS = {"objective": "rank:ndcg", "disable_default_eval_metric": True, "max_depth": 3}
OPTIONS |= {"nthread": 1}


def make_matrix(queries: Queries, **options: Any) -> Any:
    """Return the queries as a DMatrix."""
    return xgboost.DMatrix(queries.features, queries.grades, qid=queries.users, **options)


def train(metric: Any, n_rounds: int = 5, **options: Any) -> tuple[Any, dict[str, Any]]:
    """Return the model, and the history of the validation set."""
    history: dict[str, Any] = {}
    how = {"custom_metric": metric, "evals_result": history, "verbose_eval": False, **options}
    data, evals = make_matrix(TRAIN), [(make_matrix(VALID), "valid")]
    return xgboost.train(OPTIONS, data, n_rounds, evals=evals, **how), history["valid"]


def test_every_round_has_the_means_of_evaluate() -> None:
    """To the six digits that XGBoost keeps; over groups, not over rows."""
    how: dict[str, Any] = {"metrics": ["ndcg@5", "ap@5", "rr"], "threshold": 2}
    model, history = train(integrations.xgboost_metric(**how))
    assert [*history] == ["ndcg@5", "map@5", "map-rr"]
    for number in range(5):
        estimated = model.predict(make_matrix(VALID), iteration_range=(0, number + 1))
        report = VALID.evaluate(estimated, **how)
        found = [values[number] for values in history.values()]
        assert found == pytest.approx(report.mean.tolist(), abs=6e-7)
        (_, exact), *_ = integrations.xgboost_metric(**how)(estimated, make_matrix(VALID))
        assert exact == report["ndcg@5"]


@pytest.mark.parametrize("name", ["ndcg@5", "ap@5", "recall@5", "precision@5", "rr", "rmse"])
def test_early_stopping_knows_which_way_is_better(name: str) -> None:
    """Of a name that begins otherwise it keeps the worst round."""
    metric = integrations.xgboost_metric(name, threshold=2)
    model, history = train(metric, 60, early_stopping_rounds=8)
    ((_, values),) = history.items()
    assert len(values) < 60
    assert model.best_iteration == (np.argmin if name == "rmse" else np.argmax)(values)
    assert len(set(values)) > 1


def test_the_ranker_would_average_over_rows_and_gets_the_line_to_write() -> None:
    """It calls a function for each group, and gives groups of one row 1."""
    ranker = xgboost.XGBRanker(n_estimators=1, eval_metric=integrations.xgboost_metric("ndcg@5"))
    valid = {"eval_set": [(VALID.features, VALID.grades)], "eval_qid": [VALID.users]}
    with pytest.raises(rn.InvalidInputError, match=r"averages over rows.*custom_metric=rn\.integrations\.xgb"):
        ranker.fit(TRAIN.features, TRAIN.grades, qid=TRAIN.users, **valid, verbose=False)

    def count_rows(true: Any, estimated: Any) -> float:
        assert len(true) == len(estimated)
        return float(len(true))

    ranker = xgboost.XGBRanker(n_estimators=1, eval_metric=count_rows)
    ranker.fit(TRAIN.features, TRAIN.grades, qid=TRAIN.users, **valid, verbose=False)
    theirs = ranker.evals_result()["validation_0"]["count_rows"][0]
    assert theirs == pytest.approx(np.average(VALID.sizes, weights=VALID.sizes), abs=1e-6)
    assert theirs > VALID.sizes.mean() + 1


def test_data_without_groups_gets_the_line_to_write() -> None:
    """Unsorted groups are refused by XGBoost; weights are mentioned once."""
    data = xgboost.DMatrix(TRAIN.features, TRAIN.grades)
    how: dict[str, Any] = {"evals": [(data, "train")], "verbose_eval": False}
    with pytest.raises(rn.InvalidInputError, match=r"no groups.*qid=users.*sorted"):
        xgboost.train(
            {"nthread": 1}, data, 1, **how, custom_metric=integrations.xgboost_metric("ndcg")
        )
    with pytest.raises(ValueError, match="non-decreasing"):
        xgboost.DMatrix(TRAIN.features, TRAIN.grades, qid=TRAIN.users[::-1])
    data = make_matrix(TRAIN, weight=np.ones(len(TRAIN.sizes)))
    how["evals"] = [(data, "train")]
    with pytest.warns(rn.DataWarning, match="weights") as caught:
        xgboost.train(OPTIONS, data, 3, **how, custom_metric=integrations.xgboost_metric("ndcg@5"))
    assert len(caught) == 1
    one_group = xgboost.DMatrix(TRAIN.features, TRAIN.grades, group=[len(TRAIN.grades)])
    one_group.set_weight([2.0])
    with pytest.warns(rn.DataWarning, match="weights"):
        integrations.xgboost_metric("ndcg@5")(TRAIN.features[:, 0], one_group)
