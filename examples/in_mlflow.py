"""Log two models to MLflow: parameters, scores under names that it accepts, whole reports.

Needs the extra `trackers` (mlflow-skinny, and the libraries of its local store). Everything is
written to a temporary folder, and nothing is sent anywhere.
"""

import logging
import os
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")  # no usage statistics
os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
import mlflow

logging.disable(logging.INFO)  # messages about database tables

# a fifth of the ratings are the test set
ratings = sample_ratings().sample(frac=1, random_state=0)
test, train = ratings[: len(ratings) // 5], ratings[len(ratings) // 5 :]


def estimates(shrinkage):
    """Return the mean rating of each test item, shrunk towards the mean of all items."""
    mean, by_item = train["rating"].mean(), train.groupby("item")["rating"]
    known = (by_item.sum() + shrinkage * mean) / (by_item.count() + shrinkage)
    table = test.rename(columns={"rating": "true"})
    return table.assign(estimated=test["item"].map(known).fillna(mean))


with TemporaryDirectory() as folder, chdir(folder):
    # new versions of MLflow do not accept a folder (file:...)
    mlflow.set_tracking_uri("sqlite:///runs.db")
    experiment = mlflow.create_experiment("item means", Path("artifacts").absolute().as_uri())

    reports = {}
    for shrinkage in (0, 5):
        report = rn.evaluate(estimates(shrinkage), metrics=["ndcg@10", "recall@10"], threshold=4)
        reports[f"shrinkage={shrinkage}"] = report
        with mlflow.start_run(experiment_id=experiment, run_name=f"shrinkage={shrinkage}"):
            mlflow.log_params({"shrinkage": shrinkage, "signature": report.signature("ndcg@10")})
            mlflow.log_metrics(report.to_metrics())
            report.save("report.json")
            mlflow.log_artifact("report.json")
    with mlflow.start_run(experiment_id=experiment, run_name="both"):
        comparison = rn.compare(reports)
        mlflow.log_metrics(comparison.to_metrics())
        mlflow.set_tag("verdict", comparison.verdict)

    # read the store again, as another program would
    client = mlflow.MlflowClient()
    runs = client.search_runs([experiment], order_by=["attributes.start_time"])
    single = [run for run in runs if "ndcg_at_10" in run.data.metrics]
    table = pd.DataFrame({run.info.run_name: run.data.metrics for run in single})
    print(table.round(4).to_string())
    for run in single:
        kept = client.download_artifacts(run.info.run_id, "report.json", ".")
        print(f"{run.info.run_name}: {rn.Report.load(kept).counts['users']} users in its report")
    for name, value in runs[-1].data.metrics.items():
        if name.endswith(("at_10", "tier")):
            print(f"{name}: {value:.4g}")
    print(runs[-1].data.tags["verdict"])
