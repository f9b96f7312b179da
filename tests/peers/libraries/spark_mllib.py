"""Spark MLlib: RankingMetrics on ranked and on relevant items, a row for each list.

It gives means alone. It needs Java, so that it is not run with the other libraries.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

from pyspark.mllib.evaluation import RankingMetrics
from pyspark.sql import SparkSession

from tests.peers.cases import Case

DISTRIBUTION = "pyspark"


@cache
def _session() -> Any:
    """Return a local session without a web page."""
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"mean": value}}}."""
    liked = case.liked()
    rows = [(case.best_first(user), [*liked.get(user, ())]) for user in case.run]
    with warnings.catch_warnings(action="ignore"):  # of the deprecated SQLContext, in its own code
        metrics = RankingMetrics(_session().sparkContext.parallelize(rows, 1))
    values = {
        f"ndcg@{case.k}": metrics.ndcgAt(case.k),
        f"precision@{case.k}": metrics.precisionAt(case.k),
        f"recall@{case.k}": metrics.recallAt(case.k),
        f"ap@{case.k}": metrics.meanAveragePrecisionAt(case.k),
        "ap": metrics.meanAveragePrecision,
    }
    return {"spark_mllib": {name: {"mean": value} for name, value in values.items()}}
