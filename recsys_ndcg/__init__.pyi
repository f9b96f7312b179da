from recsys_ndcg import datasets as datasets  # a module
from recsys_ndcg import errors as errors  # a module
from recsys_ndcg import folds as folds  # a module
from recsys_ndcg import integrations as integrations  # a module
from recsys_ndcg import metrics as metrics  # a module
from recsys_ndcg import results as results  # a module
from recsys_ndcg.background.background import propensity as propensity
from recsys_ndcg.comparison.comparison import Comparison as Comparison
from recsys_ndcg.comparison.meta_analysis import across as across
from recsys_ndcg.comparison.reading_models import compare as compare
from recsys_ndcg.comparison.two_models import jaccard_at_k as jaccard_at_k
from recsys_ndcg.comparison.two_models import rbo as rbo
from recsys_ndcg.convention.convention import Convention as Convention
from recsys_ndcg.errors import DataWarning as DataWarning
from recsys_ndcg.errors import InvalidInputError as InvalidInputError
from recsys_ndcg.errors import RecsysNdcgError as RecsysNdcgError
from recsys_ndcg.errors.classes import MissingExtraError as MissingExtraError
from recsys_ndcg.errors.classes import UnknownMetricError as UnknownMetricError
from recsys_ndcg.evaluation import evaluate as evaluate
from recsys_ndcg.experiments.trials import experiment as experiment
from recsys_ndcg.experiments.trials import load_runs as load_runs
from recsys_ndcg.input.text_format import TextFormat as TextFormat
from recsys_ndcg.lists.ranked_lists import RankedLists as RankedLists
from recsys_ndcg.metrics.auc import AUC as AUC
from recsys_ndcg.metrics.coverage import Judged as Judged
from recsys_ndcg.metrics.hits import AP as AP
from recsys_ndcg.metrics.hits import RR as RR
from recsys_ndcg.metrics.hits import Hit as Hit
from recsys_ndcg.metrics.metric import Metric as Metric
from recsys_ndcg.metrics.ndcg import CG as CG
from recsys_ndcg.metrics.ndcg import DCG as DCG
from recsys_ndcg.metrics.ndcg import NDCG as NDCG
from recsys_ndcg.metrics.own import metric as metric
from recsys_ndcg.metrics.precision_recall import F1 as F1
from recsys_ndcg.metrics.precision_recall import RBP as RBP
from recsys_ndcg.metrics.precision_recall import Precision as Precision
from recsys_ndcg.metrics.precision_recall import Recall as Recall
from recsys_ndcg.metrics.precision_recall import RPrecision as RPrecision
from recsys_ndcg.metrics.rating_error import MAE as MAE
from recsys_ndcg.metrics.rating_error import MSE as MSE
from recsys_ndcg.metrics.rating_error import RMSE as RMSE
from recsys_ndcg.one_list import average_precision_at_k as average_precision_at_k
from recsys_ndcg.one_list import dcg_at_k as dcg_at_k
from recsys_ndcg.one_list import ndcg_at_k as ndcg_at_k
from recsys_ndcg.one_list import precision_at_k as precision_at_k
from recsys_ndcg.one_list import recall_at_k as recall_at_k
from recsys_ndcg.one_list import reciprocal_rank as reciprocal_rank
from recsys_ndcg.published_numbers import explain_number as explain_number
from recsys_ndcg.reconciliation import reconcile as reconcile
from recsys_ndcg.report.report import Report as Report
from recsys_ndcg.sampling import what_sampling_would_say as what_sampling_would_say
from recsys_ndcg.scale.accumulator import Accumulator as Accumulator
from recsys_ndcg.scoring.signature import Signature as Signature
from recsys_ndcg.significance.student import power as power
from recsys_ndcg.split_checks.split_report import check_split as check_split
from recsys_ndcg.version import __version__ as __version__

__all__: list[str]  # noqa: PYI035 - computed from the lines above
