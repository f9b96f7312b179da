"""Ranking evaluation of Spark DataFrames, on the workers of a cluster: classic and Connect.

Nothing here imports pyspark: what is asked of a DataFrame is asked in SQL.
"""

from recsys_ndcg.scale.spark.evaluation import evaluate as evaluate
from recsys_ndcg.scale.spark.report import SparkReport as SparkReport
