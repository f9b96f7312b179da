"""Weighted and stratified scores equal cornac's, on drawn lists."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.peers.weighted.cases import Case, cases

METRICS = ["recall@3", "precision@3", "ndcg@3"]


def read_answers(case: Case) -> dict[str, dict[str, float]]:
    """Return cornac's means, by evaluation and metric."""
    path = Path(__file__).parent / "golden" / "cornac.json"
    found: dict[str, dict[str, float]] = {}
    for key, mean in json.loads(path.read_text())["answers"].items():
        evaluation, name, metric = key.split()
        if name == case.name:
            found.setdefault(evaluation, {})[metric] = mean
    return found


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_means_equal_those_of_cornac(case: Case) -> None:
    """Of all labels, of weighted ones, and of each stratum: weighted by its share of the labels."""
    answers = read_answers(case)
    labels = pd.DataFrame(case.labels, columns=["user", "item"]).assign(true=1.0)
    rows = [
        (user, item, score)
        for user, scores in enumerate(case.scores)
        for item, score in enumerate(scores)
        if user in {*labels["user"]}
    ]
    lists = {"labels": labels, "results": pd.DataFrame(rows, columns=["user", "item", "estimated"])}
    how: Any = {"metrics": METRICS, "threshold": 1}
    plain = rn.evaluate(lists, **how)
    assert plain.mean.to_dict() == pytest.approx(answers["plain"], rel=1e-12)
    weights = dict(enumerate(case.weights))
    weighted = rn.evaluate(lists, weights=weights, **how).mean
    for metric in ("recall@3", "precision@3"):
        assert weighted[metric] == pytest.approx(answers["weighted"][metric], rel=1e-12)
    # its NDCG has the gain 2^weight - 1: weights are grades
    graded = lists | {"labels": labels.assign(true=labels["item"].map(weights))}
    ndcg = rn.evaluate(graded, metrics=["ndcg@3"]).mean["ndcg@3"]
    assert ndcg == pytest.approx(answers["weighted"]["ndcg@3"], rel=1e-12)
    total = dict.fromkeys(METRICS, 0.0)
    strata = dict(enumerate(case.strata))
    for key, row in plain.by_items(strata).iterrows():
        metric, stratum = cast("tuple[str, str]", key)
        assert row["score"] == pytest.approx(answers[stratum][metric], rel=1e-12)
        total[metric] += row["labels"] / len(labels) * row["score"]
    assert total == pytest.approx(answers["stratified"], rel=1e-12)
