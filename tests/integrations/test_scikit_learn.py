"""scikit-learn cross-validates and searches by our metrics, and always knows the users."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg import integrations
from tests.integrations.ranking_data import Queries

pytest.importorskip("sklearn")
from sklearn import set_config
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

DATA = Queries.draw(0, n_queries=40)
SHUFFLED = np.random.default_rng(1).permutation(len(DATA.grades))
X = pd.DataFrame(DATA.features[SHUFFLED], columns=list("abcd"), index=SHUFFLED)
Y, USERS = (pd.Series(one[SHUFFLED], index=SHUFFLED) for one in (DATA.grades, DATA.users))
FOLDS = GroupKFold(3)
pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")


@pytest.fixture
def _routing() -> Iterator[None]:
    set_config(enable_metadata_routing=True)
    yield
    set_config(enable_metadata_routing=False)


def expected(metric: str = "ndcg@5", model: Any = None, **options: Any) -> list[float]:
    """Return the mean of each fold, by hand."""
    means = []
    for train, test in FOLDS.split(X, Y, USERS):
        fitted = clone(model or Ridge()).fit(X.iloc[train], Y.iloc[train])
        columns = USERS.iloc[test], None, fitted.predict(X.iloc[test]), Y.iloc[test]
        lists = rn.RankedLists.from_arrays(*columns)
        means.append(rn.evaluate(lists, metrics=metric, **options)[metric])
    return means


@pytest.mark.usefixtures("_routing")
@pytest.mark.parametrize("name", ["groups", "qid"])
def test_users_are_routed_to_cross_validation(name: str) -> None:
    """As groups, which the folds read too, or as qid."""
    scorer = integrations.scorer("ndcg@5")
    cv: Any = FOLDS if name == "groups" else [*FOLDS.split(X, Y, USERS)]
    for features in (X, X.to_numpy()):
        how = {"cv": cv, "scoring": scorer, "params": {name: USERS.to_numpy()}}
        assert cross_val_score(Ridge(), features, Y, **how).tolist() == expected()


@pytest.mark.usefixtures("_routing")
def test_users_are_routed_to_a_search() -> None:
    """It clones the scorer, and scores in processes."""
    pipeline = make_pipeline(StandardScaler(), Ridge())
    search = GridSearchCV(
        pipeline,
        {"ridge__alpha": [0.1, 1e4]},
        scoring=integrations.scorer("ndcg@5"),
        cv=FOLDS,
        n_jobs=2,
    )
    search = clone(search).fit(X, Y, groups=USERS)
    model = make_pipeline(StandardScaler(), Ridge(alpha=0.1))
    assert search.cv_results_["mean_test_score"][0] == np.mean(expected(model=model))
    scorer = integrations.scorer("ndcg@5").set_score_request(groups="who", qid=False)
    how = {"cv": [*FOLDS.split(X, Y, USERS)], "scoring": scorer, "params": {"who": USERS}}
    assert cross_val_score(Ridge(), X, Y, **how).tolist() == expected()
    with pytest.raises(rn.InvalidInputError, match="groups or qid, not 'weight'"):
        scorer.set_score_request(weight=True)


def test_users_are_a_column_or_have_the_index_of_the_rows() -> None:
    """Which needs no routing; without it scikit-learn shows groups to the folds only."""
    how: dict[str, Any] = {"groups": USERS, "cv": FOLDS, "error_score": "raise"}
    table = X.assign(user=USERS)
    model = make_pipeline(ColumnsOf("abcd"), Ridge())
    for estimator, data, scorer in (
        (model, table, integrations.scorer("ndcg@5", groups="user")),
        (Ridge(), X, integrations.scorer("ndcg@5", groups=USERS.sort_index())),
        (
            Ridge(),
            X.to_numpy(),
            integrations.scorer("ndcg@5", groups=USERS),
        ),  # the grades have the index
    ):
        assert cross_val_score(estimator, data, Y, scoring=scorer, **how).tolist() == expected()
    blind = make_scorer(lambda _true, _estimated, groups=None: float(groups is not None))
    assert cross_val_score(Ridge(), X, Y, scoring=blind, **how).tolist() == [0, 0, 0]


class ColumnsOf(StandardScaler):  # type: ignore[misc] # sklearn has no types
    """Keeps some columns."""

    def __init__(self, names: str = "") -> None:
        self.names = names
        super().__init__()

    def fit(self, _features: Any, _grades: Any = None) -> ColumnsOf:
        """Learn nothing."""
        return self

    def transform(self, features: Any, copy: Any = None) -> Any:  # noqa: ARG002
        """Return the columns."""
        return features[list(self.names)]

    def __sklearn_is_fitted__(self) -> bool:
        """Return that it is."""
        return True


def test_without_users_the_line_to_write_is_printed() -> None:
    """Or which rows have none."""
    model = Ridge().fit(X, Y)
    with pytest.raises(
        rn.InvalidInputError, match=r"no column 'user'.*enable_metadata_routing.*pa"
    ):
        integrations.scorer("ndcg@5")(model, X, Y)
    with pytest.raises(rn.InvalidInputError, match="X has no index"):
        integrations.scorer("ndcg@5", groups=USERS)(
            Ridge().fit(X.to_numpy(), Y), X.to_numpy(), list(Y)
        )
    with pytest.raises(rn.InvalidInputError, match=r"no user for 1 rows .* index \d+"):
        integrations.scorer("ndcg@5", groups=USERS.iloc[1:])(model, X, Y)
    with pytest.raises(rn.InvalidInputError, match=r"index has \d+ twice.*reset_index"):
        integrations.scorer("ndcg@5", groups=pd.concat([USERS, USERS]))(model, X, Y)
    with pytest.warns(UserWarning, match=r"(?s)Scoring failed.*needs the user"):
        scores = cross_val_score(Ridge(), X, Y, scoring=integrations.scorer("ndcg@5"), cv=2)
    assert np.isnan(scores).all()


def test_errors_are_negated_and_several_metrics_are_a_dict() -> None:
    """Higher is better in scikit-learn."""
    scorer = integrations.scorer(["ndcg@5", "recall@5", "rmse"], groups=USERS, threshold=2)
    folds = cross_validate(Ridge(), X, Y, groups=USERS, cv=FOLDS, scoring=scorer)
    assert folds["test_recall@5"].tolist() == expected("recall@5", threshold=2)
    assert folds["test_rmse"].tolist() == [-one for one in expected("rmse")]


def test_classifiers_rank_by_decision_or_probability() -> None:
    """Of the second class; more classes have no order."""
    binary = (Y >= 2).astype(int)
    scorer = integrations.scorer("ndcg@5", groups=USERS)
    for model, method in (
        (LogisticRegression(), "decision_function"),
        (RandomForestClassifier(5), "predict_proba"),
    ):
        model.fit(X, binary)
        values = getattr(model, method)(X)
        values = values if values.ndim == 1 else values[:, 1]
        lists = rn.RankedLists.from_arrays(USERS, None, values, binary)
        assert scorer(model, X, binary) == rn.evaluate(lists, metrics="ndcg@5")["ndcg@5"]
    with pytest.raises(rn.InvalidInputError, match=r"has 4 classes.*regressor"):
        scorer(LogisticRegression().fit(X, Y), X, Y)


@pytest.mark.usefixtures("_routing")
def test_rankers_of_xgboost_are_cross_validated_and_rankers_of_lightgbm_cannot_be() -> None:
    """LightGBM's takes the sizes of groups, of which there is not one per row."""
    xgboost = pytest.importorskip("xgboost")
    lightgbm = pytest.importorskip("lightgbm")
    ranker = xgboost.XGBRanker(n_estimators=3).set_fit_request(qid=True)
    folds = [*FOLDS.split(DATA.features, DATA.grades, DATA.users)]
    how: dict[str, Any] = {
        "cv": folds,
        "scoring": integrations.scorer("ndcg@5"),
        "error_score": "raise",
    }
    data = DATA.features, DATA.grades
    scores = cross_val_score(ranker, *data, params={"qid": DATA.users}, **how)
    assert (scores > 0.5).all()
    ranker = lightgbm.LGBMRanker(n_estimators=3, verbose=-1).set_fit_request(group=True)
    with pytest.raises(lightgbm.basic.LightGBMError, match="Sum of query counts"):
        cross_val_score(ranker, *data, params={"group": DATA.sizes, "groups": DATA.users}, **how)
