from recsys_ndcg.integrations.catboost import catboost_curve as catboost_curve
from recsys_ndcg.integrations.lightgbm import lightgbm_metric as lightgbm_metric
from recsys_ndcg.integrations.mlflow import mlflow_metric as mlflow_metric
from recsys_ndcg.integrations.optuna import OptunaPruner as OptunaPruner
from recsys_ndcg.integrations.scikit_learn import scorer as scorer
from recsys_ndcg.integrations.training_loops import keras_callback as keras_callback
from recsys_ndcg.integrations.training_loops import torchmetric as torchmetric
from recsys_ndcg.integrations.xgboost import xgboost_metric as xgboost_metric

__all__: list[str]  # noqa: PYI035 - computed from the lines above
