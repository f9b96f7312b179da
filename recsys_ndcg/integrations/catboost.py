"""A learning curve for CatBoost, whose own metrics do not see the groups."""

from __future__ import annotations

from inspect import signature
from typing import Any

import pandas as pd

from recsys_ndcg.convention import ConventionLike
from recsys_ndcg.errors import InvalidInputError, check_integer
from recsys_ndcg.integrations.group_scorer import GroupScorer
from recsys_ndcg.scoring import Cutoffs, Metrics, Totals


def catboost_curve(  # noqa: PLR0913 - as evaluate
    model: Any,
    pool: Any,
    metrics: Metrics = "ndcg@10",
    *,
    groups: Any = None,
    every: int = 1,
    k: Cutoffs = "default",
    threshold: float | None = None,
    convention: ConventionLike = None,
) -> pd.DataFrame:
    """Return the mean of metrics over groups after each tree of a CatBoost model.

    CatBoost passes no groups to a metric of the user's own, so it cannot stop early by one: choose
    the number of trees from this curve.

    Parameters
    ----------
    model : catboost.CatBoost
        A trained model.
    pool : catboost.Pool
        Features and grades.
    metrics : name or metric object, or several
        ``"ndcg@10"``, ``["ndcg@10", "recall@10"]``.
    groups : column, shape (n_rows,), optional
        The group of each row; by default those of the pool, ``Pool(X, y, group_id=users)``.
    every : int
        The number of trees between two rows.
    k, threshold, convention
        As for `recsys_ndcg.evaluate`.

    Returns
    -------
    pandas.DataFrame
        Indexed by the number of trees. For each metric its mean, and ``ci_low`` and ``ci_high``,
        the ends of the mean's 95 % interval.

    Raises
    ------
    InvalidInputError
        There are no groups or no grades, or as for `recsys_ndcg.evaluate`.

    Examples
    --------
    >>> import numpy as np
    >>> import recsys_ndcg as rn
    >>> from catboost import CatBoost, Pool
    >>> rows = np.arange(60.0).reshape(20, 3) % 7
    >>> pool = Pool(rows, rows[:, 0] // 2, group_id=[1] * 10 + [2] * 10)
    >>> options = {"loss_function": "YetiRank", "iterations": 3, "allow_writing_files": False}
    >>> model = CatBoost(options).fit(pool, silent=True)
    >>> curve = rn.integrations.catboost_curve(model, pool, "ndcg@5")
    >>> curve.columns.tolist(), curve.index.tolist()
    (['ndcg@5', 'ndcg@5 ci_low', 'ndcg@5 ci_high'], [1, 2, 3])

    The best number of trees: ``model.shrink(curve["ndcg@5"].idxmax())``.
    """
    check_integer("every", every, 1)
    if groups is None:
        groups = pool.get_group_id_hash()
    for what, missing in (("groups", groups is None), ("grades", not pool.has_label())):
        if missing:
            msg = f"The pool has no {what}. Write catboost.Pool(X, y, group_id=users)."
            raise InvalidInputError(msg)
    scorer = GroupScorer(metrics, k=k, threshold=threshold, convention=convention)
    # a classifier would predict classes
    has_type = "prediction_type" in signature(model.staged_predict).parameters
    options = {"prediction_type": "RawFormulaVal"} if has_type else {}
    rows: dict[int, dict[str, float]] = {}
    for number, estimated in enumerate(model.staged_predict(pool, eval_period=every, **options), 1):
        totals = Totals.of(scorer.score(groups, pool.get_label(), estimated))
        parts = zip(totals.names, totals.mean, *totals.mean_interval(), strict=True)
        rows[min(number * every, model.tree_count_)] = {
            f"{name}{end}": value
            for name, *values in parts
            for end, value in zip(("", " ci_low", " ci_high"), values, strict=True)
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("trees")
