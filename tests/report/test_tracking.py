"""What trackers take: flat, numbers alone, under names that nobody refuses."""

from __future__ import annotations

import math
import posixpath
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.report.saving import COLUMNS, tracker_keys

if TYPE_CHECKING:
    from pathlib import Path

ENDS = ["", *(f"_{one}" for one in (*COLUMNS[1:], "tier"))]
HOSTILE = [
    "a=1",
    "a:1",
    "A 1",
    "a/1",
    "..",
    "",
    " ",
    "x" * 300,
    "x" * 301,
    "ü@5",
    "a\n1",
    "\u202ea",
    "a_1",
]
NAMES = st.text(st.sampled_from("aA@:/=._- \n\u202e_ü2"), max_size=6) | st.text(max_size=400)


def accepted(key: str) -> bool:
    """Tell what MLflow takes: by its characters, as a path, and by its length."""
    return (
        re.fullmatch(r"[/\w.\- :]+", key) is not None
        and posixpath.normpath(key) == key
        and not key.startswith(("..", "/"))
        and key != "."
        and len(key) <= 250
    )


@given(st.lists(NAMES, unique=True, max_size=12), st.lists(NAMES, unique=True, max_size=4))
def test_keys_are_accepted_and_different(models: list[str], metrics: list[str]) -> None:
    """Of all models and metrics with all endings, to databases that know no capitals, too."""
    of_models, of_metrics = tracker_keys(models), tracker_keys(metrics, ENDS)
    assert [*of_models] == models
    found = [
        f"{model}/{metric}{end}"
        for model in of_models.values()
        for metric in of_metrics.values()
        for end in ENDS
    ]
    assert len({key.casefold() for key in found}) == len(models) * len(metrics) * len(ENDS)
    assert all(map(accepted, found))


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["ndcg@10", "ndcg@10:catalogue"], ["ndcg_at_10", "ndcg_at_10_catalogue"]),
        (["a@1", "a_at_1", "A=1"], ["a_at_1", "a_at_1_2", "A_1"]),
        (["x", "x_pooled", "x_2"], ["x", "x_pooled_2", "x_2"]),
        (["KNN", "knn", "k-NN (50)"], ["KNN", "knn_2", "k-NN _50_"]),
        ([".", "..", ""], ["_", "__", "__2"]),
        (["rr"], ["rr"]),
    ],
)
def test_names_become_keys(names: list[str], expected: list[str]) -> None:
    """The first has the name, and the others are numbered; nothing is lost."""
    assert [*tracker_keys(names, ENDS).values()] == expected


def test_long_names_are_cut_and_stay_different() -> None:
    """MLflow refuses a key of more than 250 characters."""
    long = ["x" * 300, "x" * 301, "ü" * 200]
    test_keys_are_accepted_and_different.hypothesis.inner_test(long, long)  # type: ignore[attr-defined]


@pytest.fixture(name="report")
def _report() -> rn.Report:
    rows = {user: [(4.5, 5), (3.0, 2), (2.0, user % 3 + 2)] for user in range(9)}
    rows[99] = [(3.0, 1), (2.0, 3)]
    return rn.evaluate(rows, metrics=["ndcg@2", "recall@2", "rmse"], threshold=4)


def test_a_report_is_what_its_summary_says(report: rn.Report) -> None:
    """Plain floats, the mean under the name."""
    found = report.to_metrics()
    assert all(type(name) is str and type(value) is float for name, value in found.items())
    assert all(map(math.isfinite, found.values()))
    table = report.summary
    told = {}
    for metric, name in zip(table.index, ["ndcg_at_2", "recall_at_2", "rmse"], strict=True):
        for column in ["mean", "pooled", "ci_low", "ci_high", "chance", "adjusted", "users"]:
            value = table.loc[metric, column]
            if not np.isnan(value):
                told[name if column == "mean" else f"{name}_{column}"] = value
    assert found == told
    assert found["recall_at_2_users"] == 9


def test_what_there_is_no_number_for_is_left_out() -> None:
    """Of one user there is no interval."""
    found = rn.evaluate({"ann": [(4, 5), (3, 2)]}, metrics="ndcg@2").to_metrics()
    assert "ndcg_at_2" in found
    assert not [name for name in found if "_ci_" in name]


def test_a_comparison_has_each_model(report: rn.Report) -> None:
    """As the leaderboards say, by model and metric."""
    comparison = rn.compare({"a=1": report, "a:1": report.take(report.users)})
    found = comparison.to_metrics()
    assert all(type(value) is float and math.isfinite(value) for value in found.values())
    for model, key in [("a=1", "a_1"), ("a:1", "a_1_2")]:
        for metric, name in [("ndcg@2", "ndcg_at_2"), ("rmse", "rmse")]:
            row = comparison.leaderboards[metric].loc[model]
            assert found[f"{key}/{name}"] == row["mean"]
            assert found[f"{key}/{name}_pooled"] == row["pooled"]
            assert found[f"{key}/{name}_ci_low"] == row["ci_low"]
            assert found[f"{key}/{name}_tier"] == row["tier"]
    assert len([name for name in found if name.endswith("_pooled")]) == 2 * 3


@pytest.mark.filterwarnings("ignore")  # theirs
def test_mlflow_takes_and_returns_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real client, and its local store."""
    for library in ("mlflow", "sqlalchemy", "alembic"):
        pytest.importorskip(library, reason="the extra trackers")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.chdir(tmp_path)
    import mlflow  # noqa: PLC0415 - an extra

    client: Any = mlflow.MlflowClient(f"sqlite:///{tmp_path / 'runs.db'}")
    run = client.create_run(client.create_experiment("hostile", tmp_path.as_uri()))
    rows = {user: [(4.5, 5), (3.0, 2), (2.0, user % 3)] for user in range(9)}
    reports = {name: rn.evaluate(rows, metrics="ndcg@2") for name in HOSTILE if name.strip()}
    found = rn.compare(reports).to_metrics()
    assert len(found) == len(reports) * len(ENDS)
    for name, value in found.items():
        client.log_metric(run.info.run_id, name, value)
    assert client.get_run(run.info.run_id).data.metrics == found
