"""Ranking evaluation for recommenders, with every choice that moves the number beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recsys_ndcg import metrics as _metrics
from recsys_ndcg.comparison.comparing import compare
from recsys_ndcg.comparison.comparison import Comparison
from recsys_ndcg.comparison.overlap import jaccard_at_k, rbo
from recsys_ndcg.convention.convention import Convention
from recsys_ndcg.errors import (
    DataWarning,
    InvalidInputError,
    MissingExtraError,
    RecsysNdcgError,
    UnknownMetricError,
)
from recsys_ndcg.evaluation import evaluate
from recsys_ndcg.input.text.form import TextFormat
from recsys_ndcg.lists.ranked_lists import RankedLists
from recsys_ndcg.metrics import Metric
from recsys_ndcg.metrics.own import metric
from recsys_ndcg.one_list import (
    average_precision_at_k,
    dcg_at_k,
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
)
from recsys_ndcg.reconciliation import reconcile
from recsys_ndcg.report.report import Report
from recsys_ndcg.report.signatures import Signature
from recsys_ndcg.significance.power import power
from recsys_ndcg.version import __version__ as __version__

__all__ = [
    "Comparison",
    "Convention",
    "DataWarning",
    "InvalidInputError",
    "Metric",
    "MissingExtraError",
    "RankedLists",
    "RecsysNdcgError",
    "Report",
    "Signature",
    "TextFormat",
    "UnknownMetricError",
    "average_precision_at_k",
    "compare",
    "dcg_at_k",
    "evaluate",
    "jaccard_at_k",
    "metric",
    "ndcg_at_k",
    "power",
    "precision_at_k",
    "rbo",
    "recall_at_k",
    "reciprocal_rank",
    "reconcile",
]

if TYPE_CHECKING:  # found by `__getattr__` when the program runs
    from recsys_ndcg.metrics.ap import AP as AP
    from recsys_ndcg.metrics.auc import AUC as AUC
    from recsys_ndcg.metrics.cg import CG as CG
    from recsys_ndcg.metrics.dcg import DCG as DCG
    from recsys_ndcg.metrics.f1 import F1 as F1
    from recsys_ndcg.metrics.hit import Hit as Hit
    from recsys_ndcg.metrics.judged import Judged as Judged
    from recsys_ndcg.metrics.mae import MAE as MAE
    from recsys_ndcg.metrics.mse import MSE as MSE
    from recsys_ndcg.metrics.ndcg import NDCG as NDCG
    from recsys_ndcg.metrics.precision import Precision as Precision
    from recsys_ndcg.metrics.rbp import RBP as RBP
    from recsys_ndcg.metrics.recall import Recall as Recall
    from recsys_ndcg.metrics.rmse import RMSE as RMSE
    from recsys_ndcg.metrics.rprecision import RPrecision as RPrecision
    from recsys_ndcg.metrics.rr import RR as RR

_CLASSES = {kind.__name__: kind for kind in _metrics.METRICS.values()}


def __getattr__(name: str) -> type[_metrics.Metric]:
    """Find the metric classes, ``rn.NDCG(10)``, by their names."""
    if name in _CLASSES:
        return _CLASSES[name]
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    """List the metric classes with the other names."""
    return sorted([*globals(), *_CLASSES])
