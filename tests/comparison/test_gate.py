"""Gates: whether one model may replace another is one question, asked once."""

from __future__ import annotations

import re

import pytest
from scipy import stats

import recsys_ndcg as rn
from tests.comparison.models import models


@pytest.mark.parametrize(("metric", "margin"), [("ndcg@10", 0.05), ("rmse", 0.2)])
@pytest.mark.parametrize("correction", [None, "bonferroni", "none"])
def test_the_p_of_a_gate_is_that_of_one_one_sided_test(
    metric: str, margin: float, correction: str | None
) -> None:
    """Whatever the pairs of the comparison are corrected for: alpha is how often it errs."""
    data = models(30, old=1.0, new=1.05, other=4.0)
    found = rn.compare(data, metrics=["ndcg@10", "rmse"], correction=correction)
    scores = found.per_user[metric]
    better = (scores["new"] - scores["old"]) * (1 if metric == "ndcg@10" else -1)
    p = stats.ttest_1samp(better, -margin, alternative="greater").pvalue
    above, below = p * 1.001, p * 0.999
    assert found.not_worse("new", "old", margin=margin, metric=metric, alpha=above).passed
    gate = found.not_worse("new", "old", margin=margin, metric=metric, alpha=below)
    assert not gate.passed
    said = re.search(r"p = ([\d.e-]+)[,)]", gate.reason)
    assert said is not None
    assert float(said[1]) == pytest.approx(p, rel=0.05)
