from recsys_ndcg.experiments.comparison import ExperimentComparison as ExperimentComparison
from recsys_ndcg.experiments.folder import RunFolder as RunFolder
from recsys_ndcg.experiments.trials import experiment as experiment
from recsys_ndcg.experiments.trials import from_toml as from_toml
from recsys_ndcg.experiments.trials import load_runs as load_runs
