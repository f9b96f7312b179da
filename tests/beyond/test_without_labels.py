"""Recommendations without a test set: measures that need no labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.commands import run
from tests.errors import assert_rejected

RESULTS = pd.DataFrame(
    {"user": [1, 1, 2, 2], "item": ["a", "b", "a", "c"], "estimated": [2.0, 1.0, 2.0, 1.0]}
)
GIVEN: dict[str, Any] = {"catalogue": ["a", "b", "c", "d"], "train": [(1, "a"), (2, "b")]}
MEASURES = ["coverage@2", "popularity@2", "seen@1"]


@pytest.mark.parametrize("form", [RESULTS, {1: ["a", "b"], 2: ["a", "c"]}])
def test_measures_of_items_need_no_labels(form: Any) -> None:
    """As a pair without labels, and as lists."""
    wanted = {"coverage@2": 0.75, "popularity@2": 0.75, "seen@1": 0.5}
    data = {"labels": None, "results": form}
    lists = rn.RankedLists.from_labels(None, form)
    for one in (data, lists):
        assert rn.evaluate(one, metrics=MEASURES, **GIVEN).mean.to_dict() == wanted


@pytest.mark.parametrize("metric", ["ndcg@2", "serendipity@2"])
def test_other_measures_are_rejected(metric: str) -> None:
    """By name, also beside one that needs no labels."""
    data = {"labels": None, "results": RESULTS}
    how = {"metrics": ["coverage@2", metric], "threshold": 1, **GIVEN}
    assert_rejected(f"No item has a true value, which {metric} needs", rn.evaluate, data, **how)


def test_they_can_be_in_several_files(tmp_path: Path) -> None:
    """The same numbers as from one table."""
    pytest.importorskip("duckdb")
    for user, rows in RESULTS.groupby("user"):
        rows.to_csv(tmp_path / f"{user}.csv", index=False)
    metrics = [*MEASURES, "entropy@2", "personalization@2"]
    found = [
        rn.evaluate({"labels": None, "results": one}, metrics=metrics, **GIVEN).mean.to_dict()
        for one in (str(tmp_path / "*.csv"), RESULTS)
    ]
    assert found[0] == found[1]


def test_the_command_takes_results_alone(tmp_path: Path) -> None:
    """Without --labels, also with a memory limit."""
    results, items = tmp_path / "results.csv", tmp_path / "items.csv"
    RESULTS.to_csv(results, index=False)
    items.write_text("item\na\nb\nc\nd\n")
    words: list[str | Path] = [
        "evaluate",
        "--results",
        results,
        "--metrics",
        "coverage@2",
        "--catalogue",
        items,
    ]
    assert "0.7500" in run(*words).stdout
    pytest.importorskip("duckdb")
    assert "0.7500" in run(*words, "--memory-limit", "4GB").stdout


def test_a_comparison_takes_what_is_known_besides_the_lists() -> None:
    """Once for all models that are predictions; for reports it would have no effect."""
    lists = {"first": RESULTS, "second": {1: ["c", "d"], 2: ["d", "b"]}}
    models = {name: {"labels": None, "results": form} for name, form in lists.items()}
    reports = {name: rn.evaluate(data, metrics=MEASURES, **GIVEN) for name, data in models.items()}
    found = rn.compare(models, metrics=MEASURES, **GIVEN)
    assert found.to_dict() == rn.compare(reports).to_dict()
    assert_rejected("catalogue= would have no effect", rn.compare, reports, **GIVEN)


C = [*"abcd"]
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("diversity(g)@2", {"features": {"item": C, "g": [["a", ["b"]], ["c"], ["d"], []]}}, "inside"),
    ("diversity@2", {"features": {"item": C, "g": [1]}}, "columns of equal length"),
    ("diversity(g)@2", {"features": {"item": C, "g": [1j, 2j, 3j, 4j]}}, "complex numbers"),
    ("n_retrieved", {"groups": {1: ["x"], 2: "y"}}, "a group must be a name or a number"),
    (
        "n_retrieved",
        {"groups": pd.Series([*"nop"], index=[1, 1, 2])},
        "^groups: the user 1 is there twice",
    ),
    ("serendipity(g)@2", {**GIVEN, "features": {"item": C, "h": C}}, "there is no column 'g'"),
    ("serendipity(g)@2", GIVEN, "there is no column 'g'"),
    (
        "item@2",
        {"features": {"item": C, "g": C, "h": [1, 2, 3, 4]}},
        r"Name such a column: 'item\(h",
    ),
]


@pytest.mark.parametrize(("metric", "given", "match"), REFUSED)
def test_bad_input_is_refused_by_name(metric: str, given: dict[str, Any], match: str) -> None:
    """What was found, and what to do."""
    data = {"labels": {1: {"a"}, 2: {"c"}}, "results": RESULTS}
    assert_rejected(match, rn.evaluate, data, metrics=metric, threshold=1, **given)


def test_a_column_twice_is_refused() -> None:
    """In the features."""
    features = pd.DataFrame([["a", 1, 2], ["b", 1, 2]], columns=["item", "g", "g"])
    how: dict[str, Any] = {"metrics": "diversity@2", "features": features}
    assert_rejected("has the column 'g' twice", rn.evaluate, {1: ["a"]}, **how)
