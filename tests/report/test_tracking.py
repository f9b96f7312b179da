"""Numbers for experiment trackers: a flat dict, under keys that trackers accept."""

from __future__ import annotations

import math
import posixpath
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.report import build_tracker_keys
from recsys_ndcg.report.saving import COLUMNS
from tests.profiles import examples

ENDS = ["", *(f"_{one}" for one in (*COLUMNS[1:], "tier"))]
HOSTILE = ["a=1", "a:1", "A 1", "a/1", "..", "x" * 300, "x" * 301, "ü@5", "a\n1", "\u202ea", "a_1"]
NAMES = st.text(st.sampled_from("aA@:/=._- \n\u202e_ü2"), max_size=6) | st.text(max_size=400)


def _is_accepted(key: str) -> bool:
    """Return whether MLflow accepts a key: its characters, as a path, and its length."""
    allowed = r"(?!\.\.|/|\.$)[/\w.\- :]{1,250}"
    return re.fullmatch(allowed, key) is not None and posixpath.normpath(key) == key


@examples(5)
@given(st.lists(NAMES, unique=True, max_size=8), st.lists(NAMES, unique=True, max_size=3))
def test_keys_are_accepted_and_different(models: list[str], metrics: list[str]) -> None:
    """With all suffixes, in databases that ignore case, too."""
    of_models, of_metrics = build_tracker_keys(models), build_tracker_keys(metrics, ENDS)
    assert [*of_models] == models
    parts = product(of_models.values(), of_metrics.values(), ENDS)
    found = [f"{model}/{metric}{end}" for model, metric, end in parts]
    assert len({key.casefold() for key in found}) == len(models) * len(metrics) * len(ENDS)
    assert all(map(_is_accepted, found))


def test_equal_keys_are_numbered() -> None:
    """The first name keeps the key."""
    for keys in (
        {"ndcg@10": "ndcg_at_10", "ndcg@10:catalogue": "ndcg_at_10_catalogue"},
        {"a@1": "a_at_1", "a_at_1": "a_at_1_2", "A=1": "A_1"},
        {"x": "x", "x_pooled": "x_pooled_2", "x_2": "x_2"},
        {".": "_", "..": "__", "": "__2"},
        {"x" * 300: "x" * 110, "x" * 301: "x" * 110 + "_2"},
    ):
        assert build_tracker_keys([*keys], ENDS) == keys


@pytest.fixture(name="report")
def _report() -> rn.Report:
    rows = {user: [(4.5, 5), (3.0, 2), (2.0, user % 3 + 2)] for user in range(9)}
    rows[99] = [(3.0, 1), (2.0, 3)]
    return rn.evaluate(rows, metrics=["ndcg@2", "recall@2", "rmse"], threshold=4)


def test_the_numbers_of_a_report_are_those_of_its_summary(report: rn.Report) -> None:
    """Python floats, the mean under the metric's name; what is undefined is left out."""
    found = report.to_metrics()
    assert all(type(name) is str and type(value) is float for name, value in found.items())
    expected = {
        f"{str(metric).replace('@', '_at_')}{'' if column == 'mean' else f'_{column}'}": value
        for metric, row in report.summary[[*COLUMNS]].iterrows()
        for column, value in row.items()
        if not math.isnan(value)
    }
    assert found == expected
    one = rn.evaluate({"ann": [(4, 5), (3, 2)]}, metrics="ndcg@2").to_metrics()
    assert not [name for name in one if "_ci_" in name]


def test_the_numbers_of_a_comparison_are_those_of_its_leaderboards(report: rn.Report) -> None:
    """By model and metric."""
    comparison = rn.compare({"a=1": report, "a:1": report.take(report.users)})
    found = comparison.to_metrics()
    models, metrics = {"a=1": "a_1", "a:1": "a_1_2"}, {"ndcg@2": "ndcg_at_2", "rmse": "rmse"}
    for (model, key), (metric, name) in product(models.items(), metrics.items()):
        row = comparison.leaderboards[metric].loc[model]
        assert found[f"{key}/{name}"] == row["mean"]
        for column in ("pooled", "ci_low", "tier"):
            assert found[f"{key}/{name}_{column}"] == row[column]
    assert len([name for name in found if name.endswith("_pooled")]) == 2 * 3
    assert "chance/rmse_tier" not in rn.compare({"a": report}, baseline="chance").to_metrics()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # theirs
def test_mlflow_stores_all_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real client, and its local store."""
    for library in ("mlflow", "sqlalchemy", "alembic"):
        pytest.importorskip(library, reason="the extra trackers")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.chdir(tmp_path)
    import mlflow  # noqa: PLC0415 - an extra

    client: Any = mlflow.MlflowClient(f"sqlite:///{tmp_path / 'runs.db'}")
    run = client.create_run(client.create_experiment("hostile", tmp_path.as_uri()))
    rows = {user: [(4.5, 5), (3.0, 2), (2.0, user % 3)] for user in range(9)}
    reports = {name: rn.evaluate(rows, metrics="ndcg@2") for name in HOSTILE}
    found = rn.compare(reports).to_metrics()
    assert len(found) == len(reports) * len(ENDS)
    for name, value in found.items():
        client.log_metric(run.info.run_id, name, value)
    assert client.get_run(run.info.run_id).data.metrics == found
