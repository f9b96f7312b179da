from recsys_ndcg.experiments.comparison import ExperimentComparison as ExperimentComparison
from recsys_ndcg.experiments.folder import RunFolder as RunFolder
from recsys_ndcg.experiments.trials import from_toml as from_toml
