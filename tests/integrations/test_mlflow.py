"""MLflow evaluates retrievers by our metrics."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg import integrations

mlflow = pytest.importorskip("mlflow")
RESULTS = [["a", "b", "c"], ["d", "a"], ["c", "b"], ["a"]]
LABELS: list[Any] = [["b", "z"], {"d": 3, "e": 2}, [], ("a",)]


@pytest.fixture
def _store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    pytest.importorskip("sqlalchemy")
    pytest.importorskip("alembic")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    artifacts = mlflow.create_experiment("retrieval", (tmp_path / "artifacts").as_uri())
    mlflow.set_experiment(experiment_id=artifacts)
    yield
    mlflow.set_tracking_uri(None)


def expected() -> rn.Report:
    """Return the report of the same lists."""
    labels = {
        row: one if isinstance(one, dict) else dict.fromkeys(one, 1)
        for row, one in enumerate(LABELS)
    }
    data = {"labels": labels, "results": dict(enumerate(RESULTS))}
    return rn.evaluate(data, metrics=["ndcg@2", "recall@2"], threshold=1)


@pytest.mark.filterwarnings("ignore")  # MLflow's own
@pytest.mark.slow
@pytest.mark.usefixtures("_store")
def test_a_run_logs_the_numbers_of_evaluate() -> None:
    """And the table has the score of each row."""
    metrics = [integrations.mlflow_metric(name, threshold=1) for name in ("ndcg@2", "recall@2")]
    table = pd.DataFrame({"found": RESULTS, "wanted": LABELS})
    with mlflow.start_run():
        result = mlflow.models.evaluate(
            data=table, predictions="found", targets="wanted", extra_metrics=metrics
        )
    for name, row in expected().summary.iterrows():
        for end in ("mean", "ci_low", "ci_high"):
            key = f"{str(name).replace('@', '_at_')}/{end}"
            assert result.metrics[key] == pytest.approx(row[end], rel=1e-12)


def test_a_row_without_labels_has_no_score() -> None:
    """It is not 0, and not in the mean; neither is a row without anything."""
    metric = integrations.mlflow_metric("ndcg@2", threshold=1)
    value = metric.eval_fn([*RESULTS, [], ["a"]], [*LABELS, [], []], {})
    assert value.scores[4:] == [None, None]
    report = expected()
    assert value.scores[2] is None
    assert [one for one in value.scores if one is not None] == (
        report.per_user["ndcg@2"].dropna().tolist()
    )
    assert value.aggregate_results["mean"] == report["ndcg@2"]


def test_the_direction_and_the_rows_are_checked() -> None:
    """MLflow sorts runs by the direction; a text would be read letter by letter."""
    assert integrations.mlflow_metric("ndcg@10").greater_is_better
    assert integrations.mlflow_metric("ndcg@10").name == "ndcg_at_10"
    with pytest.raises(rn.InvalidInputError, match="A row is a list of items"):
        integrations.mlflow_metric("ndcg").eval_fn(["abc"], [["a"]], {})
    with pytest.raises(rn.InvalidInputError, match="duplicates"):
        integrations.mlflow_metric("ndcg").eval_fn([["a", "a"]], [["a"]], {})
