from recsys_ndcg.metrics.auc import AUC as AUC
from recsys_ndcg.metrics.calibration import UPD as UPD
from recsys_ndcg.metrics.calibration import Calibration as Calibration
from recsys_ndcg.metrics.cascade import ERRIA as ERRIA
from recsys_ndcg.metrics.cascade import NERRIA as NERRIA
from recsys_ndcg.metrics.cascade import AlphaDCG as AlphaDCG
from recsys_ndcg.metrics.cascade import AlphaNDCG as AlphaNDCG
from recsys_ndcg.metrics.categories import Categories as Categories
from recsys_ndcg.metrics.categories import CategoryEntropy as CategoryEntropy
from recsys_ndcg.metrics.concentration import Entropy as Entropy
from recsys_ndcg.metrics.concentration import Gini as Gini
from recsys_ndcg.metrics.concentration import Simpson as Simpson
from recsys_ndcg.metrics.coverage import Coverage as Coverage
from recsys_ndcg.metrics.coverage import Judged as Judged
from recsys_ndcg.metrics.coverage import NRetrieved as NRetrieved
from recsys_ndcg.metrics.coverage import UserCoverage as UserCoverage
from recsys_ndcg.metrics.distances import FITTING_KINDS as FITTING_KINDS  # unlisted
from recsys_ndcg.metrics.distances import find_distance_warning as find_distance_warning  # unlisted
from recsys_ndcg.metrics.distances import find_distances as find_distances  # unlisted
from recsys_ndcg.metrics.distances import sum_candidates as sum_candidates  # unlisted
from recsys_ndcg.metrics.diversity import Diversity as Diversity
from recsys_ndcg.metrics.exposure import AWRF as AWRF
from recsys_ndcg.metrics.exposure import EED as EED
from recsys_ndcg.metrics.exposure import EEL as EEL
from recsys_ndcg.metrics.exposure import EER as EER
from recsys_ndcg.metrics.group_bias import BiasDisparity as BiasDisparity
from recsys_ndcg.metrics.group_bias import ItemGap as ItemGap
from recsys_ndcg.metrics.hits import AP as AP
from recsys_ndcg.metrics.hits import RR as RR
from recsys_ndcg.metrics.hits import Hit as Hit
from recsys_ndcg.metrics.intent_aware import MAPIA as MAPIA
from recsys_ndcg.metrics.intent_aware import PIA as PIA
from recsys_ndcg.metrics.intent_aware import SubtopicRecall as SubtopicRecall
from recsys_ndcg.metrics.item_means import ItemMean as ItemMean
from recsys_ndcg.metrics.item_means import Score as Score
from recsys_ndcg.metrics.metric import Metric as Metric
from recsys_ndcg.metrics.metric import SavedMetric as SavedMetric  # unlisted
from recsys_ndcg.metrics.metric import check_k as check_k  # unlisted
from recsys_ndcg.metrics.ndcg import CG as CG
from recsys_ndcg.metrics.ndcg import DCG as DCG
from recsys_ndcg.metrics.ndcg import NDCG as NDCG
from recsys_ndcg.metrics.novelty import EFD as EFD
from recsys_ndcg.metrics.novelty import EPC as EPC
from recsys_ndcg.metrics.novelty import IPSHit as IPSHit
from recsys_ndcg.metrics.novelty import Novelty as Novelty
from recsys_ndcg.metrics.over_lists import OverLists as OverLists  # unlisted
from recsys_ndcg.metrics.over_lists import find_universe as find_universe  # unlisted
from recsys_ndcg.metrics.over_lists import sum_random_exposures as sum_random_exposures  # unlisted
from recsys_ndcg.metrics.overlap import Overlap as Overlap
from recsys_ndcg.metrics.overlap import Personalization as Personalization
from recsys_ndcg.metrics.overlap import Seen as Seen
from recsys_ndcg.metrics.overlap import Unexpected as Unexpected
from recsys_ndcg.metrics.overlap import Unseen as Unseen
from recsys_ndcg.metrics.parity import REO as REO
from recsys_ndcg.metrics.parity import RSP as RSP
from recsys_ndcg.metrics.parity import PopREO as PopREO
from recsys_ndcg.metrics.parity import PopRSP as PopRSP
from recsys_ndcg.metrics.popularity import Cold as Cold
from recsys_ndcg.metrics.popularity import Popularity as Popularity
from recsys_ndcg.metrics.popularity import PopularityLift as PopularityLift
from recsys_ndcg.metrics.popularity import Tail as Tail
from recsys_ndcg.metrics.precision_recall import F1 as F1
from recsys_ndcg.metrics.precision_recall import RBP as RBP
from recsys_ndcg.metrics.precision_recall import Precision as Precision
from recsys_ndcg.metrics.precision_recall import Recall as Recall
from recsys_ndcg.metrics.precision_recall import RPrecision as RPrecision
from recsys_ndcg.metrics.rating_error import MAE as MAE
from recsys_ndcg.metrics.rating_error import MSE as MSE
from recsys_ndcg.metrics.rating_error import RMSE as RMSE
from recsys_ndcg.metrics.registry import METRICS as METRICS  # unlisted
from recsys_ndcg.metrics.registry import check_name as check_name  # unlisted
from recsys_ndcg.metrics.registry import list_metric_names as list_metric_names  # unlisted
from recsys_ndcg.metrics.registry import parse_metrics as parse_metrics  # unlisted
from recsys_ndcg.metrics.registry import register_metric as register_metric  # unlisted
from recsys_ndcg.metrics.requirements import Requirement as Requirement  # unlisted
from recsys_ndcg.metrics.serendipity import Serendipity as Serendipity

__all__: list[str]  # noqa: PYI035 - computed from the lines above
