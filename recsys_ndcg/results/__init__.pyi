from recsys_ndcg.background.background import Propensity as Propensity
from recsys_ndcg.comparison.comparison import Comparison as Comparison
from recsys_ndcg.comparison.meta_analysis import MetaAnalysis as MetaAnalysis
from recsys_ndcg.comparison.two_models import Movers as Movers
from recsys_ndcg.experiments.comparison import ExperimentComparison as ExperimentComparison
from recsys_ndcg.experiments.runs import SavedRuns as SavedRuns
from recsys_ndcg.experiments.trends import Trends as Trends
from recsys_ndcg.findings.gates import Gate as Gate
from recsys_ndcg.folds.folds import FoldRun as FoldRun
from recsys_ndcg.published_numbers import NumberExplanation as NumberExplanation
from recsys_ndcg.report.label_weights import Sensitivity as Sensitivity
from recsys_ndcg.report.report import Report as Report
from recsys_ndcg.report.segments import Segments as Segments
from recsys_ndcg.split_checks.split_report import SplitReport as SplitReport

__all__: list[str]  # noqa: PYI035 - computed from the lines above
