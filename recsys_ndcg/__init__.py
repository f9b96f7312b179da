"""Ranking evaluation for recommenders, with every choice that moves the number beside it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from recsys_ndcg.lazy import imported
from recsys_ndcg.version import __version__ as __version__

if TYPE_CHECKING:  # found by `__getattr__` when the program runs
    from recsys_ndcg.comparison.comparing import compare as compare
    from recsys_ndcg.comparison.comparison import Comparison as Comparison
    from recsys_ndcg.comparison.overlap import jaccard_at_k as jaccard_at_k
    from recsys_ndcg.comparison.overlap import rbo as rbo
    from recsys_ndcg.convention.convention import Convention as Convention
    from recsys_ndcg.errors import DataWarning as DataWarning
    from recsys_ndcg.errors import InvalidInputError as InvalidInputError
    from recsys_ndcg.errors import MissingExtraError as MissingExtraError
    from recsys_ndcg.errors import RecsysNdcgError as RecsysNdcgError
    from recsys_ndcg.errors import UnknownMetricError as UnknownMetricError
    from recsys_ndcg.evaluation import evaluate as evaluate
    from recsys_ndcg.experiments.experiment import experiment as experiment
    from recsys_ndcg.experiments.loading import load_runs as load_runs
    from recsys_ndcg.input.text.form import TextFormat as TextFormat
    from recsys_ndcg.lists.ranked_lists import RankedLists as RankedLists
    from recsys_ndcg.metrics import Metric as Metric
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
    from recsys_ndcg.metrics.own import metric as metric
    from recsys_ndcg.metrics.precision import Precision as Precision
    from recsys_ndcg.metrics.rbp import RBP as RBP
    from recsys_ndcg.metrics.recall import Recall as Recall
    from recsys_ndcg.metrics.rmse import RMSE as RMSE
    from recsys_ndcg.metrics.rprecision import RPrecision as RPrecision
    from recsys_ndcg.metrics.rr import RR as RR
    from recsys_ndcg.reconciliation import reconcile as reconcile
    from recsys_ndcg.report.report import Report as Report
    from recsys_ndcg.scale.accumulator import Accumulator as Accumulator
    from recsys_ndcg.scoring.one_list import average_precision_at_k as average_precision_at_k
    from recsys_ndcg.scoring.one_list import dcg_at_k as dcg_at_k
    from recsys_ndcg.scoring.one_list import ndcg_at_k as ndcg_at_k
    from recsys_ndcg.scoring.one_list import precision_at_k as precision_at_k
    from recsys_ndcg.scoring.one_list import recall_at_k as recall_at_k
    from recsys_ndcg.scoring.one_list import reciprocal_rank as reciprocal_rank
    from recsys_ndcg.scoring.signatures import Signature as Signature
    from recsys_ndcg.significance.power import power as power

__all__ = [
    "Accumulator",
    "Comparison",
    "Convention",
    "DataWarning",
    "InvalidInputError",
    "Metric",
    "MissingExtraError",
    "RankedLists",
    "RecsysNdcgError",
    "Report",
    "UnknownMetricError",
    "average_precision_at_k",
    "compare",
    "dcg_at_k",
    "evaluate",
    "experiment",
    "jaccard_at_k",
    "load_runs",
    "metric",
    "ndcg_at_k",
    "precision_at_k",
    "rbo",
    "recall_at_k",
    "reciprocal_rank",
    "reconcile",
]

#: Where each name is: looked up when it is first asked for, as pandas takes long to import.
_PLACES = {
    "Accumulator": "scale.accumulator",
    "Comparison": "comparison.comparison",
    "Convention": "convention.convention",
    "DataWarning": "errors",
    "InvalidInputError": "errors",
    "Metric": "metrics",
    "MissingExtraError": "errors",
    "RankedLists": "lists.ranked_lists",
    "RecsysNdcgError": "errors",
    "Report": "report.report",
    "Signature": "scoring.signatures",
    "TextFormat": "input.text.form",
    "UnknownMetricError": "errors",
    "average_precision_at_k": "scoring.one_list",
    "compare": "comparison.comparing",
    "dcg_at_k": "scoring.one_list",
    "evaluate": "evaluation",
    "experiment": "experiments.experiment",
    "jaccard_at_k": "comparison.overlap",
    "load_runs": "experiments.loading",
    "metric": "metrics.own",
    "ndcg_at_k": "scoring.one_list",
    "power": "significance.power",
    "precision_at_k": "scoring.one_list",
    "rbo": "comparison.overlap",
    "recall_at_k": "scoring.one_list",
    "reciprocal_rank": "scoring.one_list",
    "reconcile": "reconciliation",
}
_ROOMS = {room: room for room in {place.partition(".")[0] for place in _PLACES.values()}}


def _classes() -> dict[str, Any]:
    """Return the classes of our own metrics, ``rn.NDCG(10)``, by their names."""
    ours = f"{__name__}.metrics."
    kinds = import_module(f"{__name__}.metrics").METRICS.values()
    return {one.__name__: one for one in kinds if one.__module__.startswith(ours)}


if not TYPE_CHECKING:  # or every name would be known to a type checker

    def __getattr__(name: str) -> Any:
        """Import what a name stands for, and keep it."""
        kinds = _classes() if name[:1].isupper() and name not in _PLACES else {}
        value = kinds[name] if name in kinds else imported(__name__, name, _ROOMS | _PLACES)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """List what is not imported yet with the other names."""
    return sorted({*globals(), *_PLACES, *_classes()})
