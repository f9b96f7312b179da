"""The curve of a CatBoost model: evaluate after each tree."""

from __future__ import annotations

from typing import Any

import pytest

import recsys_ndcg as rn
from recsys_ndcg import integrations
from tests.integrations.ranking_data import Queries

catboost = pytest.importorskip("catboost")
TRAIN, VALID = Queries.draw(0), Queries.draw(1)
OPTIONS = {"iterations": 7, "depth": 3, "allow_writing_files": False, "silent": True}
BOTH: dict[str, Any] = {"metrics": ["ndcg@5", "recall@5"], "threshold": 2}
pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")


def make_pool(queries: Queries) -> Any:
    """Return the queries as a pool."""
    return catboost.Pool(queries.features, queries.grades, group_id=queries.users)


def test_each_row_is_the_report_of_evaluate() -> None:
    """With its interval; also every few trees, and the last."""
    model = catboost.CatBoostRanker(loss_function="YetiRank", **OPTIONS).fit(make_pool(TRAIN))
    curve = integrations.catboost_curve(model, make_pool(VALID), **BOTH, every=3)
    assert curve.index.tolist() == [3, 6, 7]
    for trees, row in curve.iterrows():
        summary = VALID.evaluate(model.predict(VALID.features, ntree_end=trees), **BOTH).summary
        for name in BOTH["metrics"]:
            found = row[[name, f"{name} ci_low", f"{name} ci_high"]].tolist()
            # the pool has other ids, in another order
            expected = summary.loc[name, ["mean", "ci_low", "ci_high"]].tolist()
            assert found == pytest.approx(expected, rel=1e-12)


def test_a_regressor_and_a_classifier_rank_by_their_formula() -> None:
    """A classifier's classes would be two ties; groups can be given."""
    for kind, grades in (("Regressor", VALID.grades), ("Classifier", VALID.grades >= 2)):
        pool = catboost.Pool(VALID.features, grades.astype(int))
        model = getattr(catboost, f"CatBoost{kind}")(**OPTIONS).fit(pool)
        curve = integrations.catboost_curve(model, pool, "ndcg@5", groups=VALID.users)
        raw = model.predict(VALID.features, prediction_type="RawFormulaVal")
        lists = rn.RankedLists.from_arrays(VALID.users, None, raw, grades)
        assert curve["ndcg@5"].iloc[-1] == rn.evaluate(lists, metrics="ndcg@5")["ndcg@5"]


@pytest.mark.filterwarnings("ignore:Failed to import numba")
def test_a_metric_of_the_users_own_sees_no_groups() -> None:
    """So nothing but staged predictions can rank them."""
    seen = []

    class Watch:
        def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
            seen.append((len(approxes[0]), len(target), weight))
            return 0.0, 1.0

        def get_final_error(self, error: float, weight: float) -> float:
            return error / weight

        def is_max_optimal(self) -> bool:
            return True

    options = {**OPTIONS, "loss_function": "YetiRank", "eval_metric": Watch(), "thread_count": 1}
    catboost.CatBoost(options).fit(make_pool(TRAIN), eval_set=make_pool(VALID))
    assert set(seen) <= {(len(one.grades), len(one.grades), None) for one in (TRAIN, VALID)}
    assert seen


def test_a_pool_without_groups_or_grades_gets_the_line_to_write() -> None:
    """And no model is asked."""
    with pytest.raises(rn.InvalidInputError, match=r"no groups.*group_id=users"):
        integrations.catboost_curve(None, catboost.Pool(VALID.features, VALID.grades))
    with pytest.raises(rn.InvalidInputError, match="no grades"):
        integrations.catboost_curve(None, catboost.Pool(VALID.features), groups=VALID.users)
    with pytest.raises(rn.InvalidInputError, match="every"):
        integrations.catboost_curve(None, make_pool(VALID), every=0)
