"""A scorer for scikit-learn: cross-validation and searches by ranking metrics."""

from __future__ import annotations

from typing import Any

import numpy as np

from recsys_ndcg.convention import ConventionLike
from recsys_ndcg.errors import InvalidInputError, quote, require_libraries
from recsys_ndcg.integrations.group_scorer import GroupScorer
from recsys_ndcg.metrics import Metric
from recsys_ndcg.scoring import Cutoffs, Metrics

_ROUTED = ("groups", "qid")


class scorer(GroupScorer):  # noqa: N801 - called as a function
    """A scorer for scikit-learn that ranks each user's test rows.

    It is the mean over users of `recsys_ndcg.evaluate`, and higher is better: errors, such as
    rmse, are negated. Users whose score is undefined are left out of the mean.

    Parameters
    ----------
    metrics : name or metric object, or several
        ``"ndcg@10"``; with several, the scorer returns a dict, for ``cross_validate``.
    groups : str or pandas.Series
        Where to find the user of each row, if scikit-learn routes neither ``groups`` nor ``qid``:
        the name of a column of X; or a Series with the index of X.
    k, threshold, convention
        As for `recsys_ndcg.evaluate`.

    Raises
    ------
    UnknownMetricError, InvalidInputError
        An option cannot be read.
    MissingExtraError
        scikit-learn is not installed.

    Notes
    -----
    For ``scoring=`` of ``cross_val_score``, ``GridSearchCV`` and others. Rows are ranked by
    ``predict``; rows of a classifier by ``decision_function``, or if it has none, by
    ``predict_proba`` of the second class. With ``enable_metadata_routing`` it requests
    ``groups`` and ``qid``.

    Examples
    --------
    >>> import pandas as pd
    >>> import recsys_ndcg as rn
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.model_selection import GroupKFold, cross_val_score
    >>> table = pd.DataFrame({"user": [1, 1, 1, 2, 2, 2], "price": [5, 3, 4, 2, 8, 6]})
    >>> grades = pd.Series([1, 5, 2, 5, 4, 1])
    >>> by_user = rn.integrations.scorer("ndcg@10", groups=table["user"])
    >>> folds = GroupKFold(2).split(table, groups=table["user"])
    >>> cross_val_score(LinearRegression(), table[["price"]], grades, cv=folds, scoring=by_user)
    array([0.95525293, 1.        ])
    """

    def __init__(
        self,
        metrics: Metrics,
        *,
        groups: Any = "user",
        k: Cutoffs = "default",
        threshold: float | None = None,
        convention: ConventionLike = None,
    ) -> None:
        with require_libraries("sklearn", job="A scorer for scikit-learn", extra="sklearn"):
            super().__init__(metrics, k=k, threshold=threshold, convention=convention)
        self._is_single = isinstance(metrics, str | Metric) and len(self.plan.metrics) == 1
        self._groups = groups
        self._requests: dict[str, Any] = dict.fromkeys(_ROUTED, True)

    def __call__(
        self,
        estimator: Any,
        features: Any,
        grades: Any,
        *,
        groups: Any = None,
        qid: Any = None,
    ) -> float | dict[str, float]:
        """Return the mean over users of a fitted model's test rows; errors are negated.

        Parameters
        ----------
        estimator : estimator
            A fitted model.
        features, grades : table and column
            X and y of the test rows.
        groups, qid : column, optional
            The user of each row, routed by scikit-learn.

        Raises
        ------
        InvalidInputError
            The users are unknown, or as for `GroupScorer.compute_means`.
        """
        given = [one for one in (groups, qid) if one is not None]
        users = given[0] if given else self._find_users(features, grades)
        means = self.compute_means(users, grades, _estimate(estimator, features))
        signs = [1 if one.greater_is_better else -1 for one in self.plan.metrics]
        scores = {
            name: sign * mean for sign, (name, mean) in zip(signs, means.items(), strict=True)
        }
        return next(iter(scores.values())) if self._is_single else scores

    def _find_users(self, features: Any, grades: Any) -> Any:
        """Return the user of each row, from a column of the features or by their index."""
        if isinstance(self._groups, str):
            if self._groups in getattr(features, "columns", ()):
                return features[self._groups]
        else:
            index = getattr(features, "index", getattr(grades, "index", None))
            if index is not None and not callable(index):
                return self._look_up_users(index)
        has = f"no column {self._groups!r}" if isinstance(self._groups, str) else "no index"
        name = ", ".join(self.plan.names)
        msg = (
            f"{name} needs the user of each row, and X has {has}. Write sklearn.set_config("
            "enable_metadata_routing=True), and cross_val_score(..., params={'groups': users}) or "
            "GridSearchCV(...).fit(X, y, groups=users). Or write rn.integrations.scorer(..., "
            "groups=users), a pandas Series with the index of X, which is a pandas table."
        )
        raise InvalidInputError(msg)

    def _look_up_users(self, index: Any) -> Any:
        """Return the users of rows, from the Series that was given."""
        users = self._groups
        if not users.index.is_unique:
            row = users.index[users.index.duplicated()][0]
            msg = f"groups: its index has {quote(row)} twice, so rows cannot be found by it."
            raise InvalidInputError(msg + " Call reset_index(drop=True) on X, y and groups.")
        is_missing = ~index.isin(users.index)
        if is_missing.any():
            msg = (
                f"groups has no user for {int(is_missing.sum())} rows of X, the first with index "
                f"{quote(index[is_missing][0])}. Give a Series with the index of X."
            )
            raise InvalidInputError(msg)
        return users.loc[index]

    def set_score_request(self, **requests: Any) -> scorer:
        """Choose which metadata scikit-learn routes here: by default groups and qid.

        Parameters
        ----------
        **requests : bool, str or None
            For ``groups`` and ``qid``: whether it is requested, or the name under which it is
            passed.

        Returns
        -------
        scorer
            This one.

        Raises
        ------
        InvalidInputError
            Another name is requested.
        """
        others = requests.keys() - {*_ROUTED}
        if others:
            msg = f"A ranking scorer reads groups or qid, not {quote(min(others))}."
            raise InvalidInputError(msg)
        self._requests = requests
        return self

    def get_metadata_routing(self) -> Any:
        """Return the requests as scikit-learn's ``MetadataRequest``."""
        from sklearn.utils.metadata_routing import MetadataRequest  # noqa: PLC0415 - an extra

        request = MetadataRequest(owner=type(self).__name__)
        for name, alias in self._requests.items():
            request.score.add_request(param=name, alias=alias)
        return request


def _estimate(estimator: Any, features: Any) -> Any:
    """Return a classifier's decision function or probability of the second class, or predictions.

    Raises
    ------
    InvalidInputError
        The classifier has more than two classes.
    """
    from sklearn.base import is_classifier  # noqa: PLC0415 - an extra

    if not is_classifier(estimator):
        return estimator.predict(features)
    has_decision = hasattr(estimator, "decision_function")
    values = (estimator.decision_function if has_decision else estimator.predict_proba)(features)
    if np.ndim(values) == 2 and (has_decision or values.shape[1] != 2):
        msg = (
            f"{type(estimator).__name__} has {values.shape[1]} classes, which give no single order "
            "of the rows. Use a regressor or a ranker, or a classifier of relevant (1) and other "
            "(0) rows."
        )
        raise InvalidInputError(msg)
    return values if np.ndim(values) == 1 else values[:, 1]
