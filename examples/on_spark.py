"""Evaluate a model's predictions on a cluster, and write every user's scores there.

    spark-submit --master yarn --num-executors 20 --executor-cores 4 --py-files recsys_ndcg.zip \
        on_spark.py --predictions s3://bucket/predictions --scores s3://bucket/scores

The predictions have the columns user, item, estimated and true. Without --predictions, the script
draws some and runs on this machine: python on_spark.py
"""

import argparse
import os
import sys

from pyspark import SparkConf
from pyspark.sql import SparkSession

from recsys_ndcg.scale import spark

parser = argparse.ArgumentParser()
parser.add_argument("--predictions", help="a folder of Parquet files")
parser.add_argument("--scores", help="where every user's scores are written")
parser.add_argument("--threshold", type=float, default=4.0)
arguments = parser.parse_args()

if SparkConf().get("spark.master", "local").startswith("local"):
    # workers on this machine run this Python, which may not be the python3 of the PATH
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
session = SparkSession.builder.getOrCreate()
if arguments.predictions:
    predictions = session.read.parquet(arguments.predictions)
else:
    drawn = session.range(100_000).selectExpr(
        "id % 1000 as user",
        "cast(floor(id / 1000) as int) as item",
        "cast(1 + abs(hash(id)) % 5 as double) as true",
        "abs(hash(id, 'noise')) % 1000 / 125D as noise",
    )
    predictions = drawn.selectExpr("user", "item", "`true` + noise as estimated", "`true`")

metrics = ["ndcg", "precision", "recall"]
with spark.evaluate(predictions, metrics=metrics, k=10, threshold=arguments.threshold) as report:
    print(report)
    worst = report.per_user.orderBy("ndcg@10").limit(3)  # a Spark DataFrame
    print("The lowest ndcg@10:", [round(row["ndcg@10"], 4) for row in worst.collect()])
    if arguments.scores:
        report.per_user.write.parquet(arguments.scores)
session.stop()
