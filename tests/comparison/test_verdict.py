"""Verdicts that drawn comparisons do not have."""

from __future__ import annotations

import recsys_ndcg as rn
from recsys_ndcg.findings import Finding
from tests.comparison.models import models


def test_a_lead_without_an_interval() -> None:
    """If the differences of all users are the same, and if the other mean is 0."""
    names = {"metric": "rr", "ranked": "rated items", "winner": "a", "loser": "b", "test": "t test"}
    numbers = {"difference": 0.5, "p": 0.5, "alpha": 0.1, "users": 1234, "runs": 3}
    more = {"relative": 0.25}, {"low": 0.25, "high": 0.75, "tests_mean": True}
    leads = ("", " (relative +25 %)", " (90 % interval 0.2500 to 0.7500)")
    for lead, known in zip(leads, ({}, *more), strict=True):
        finding = Finding("clear_winner", {**numbers, **known}, names)
        end = "over 1,234 users and 3 runs (t test, p = 0.5)."
        assert finding.evidence == f"It is ahead by 0.5000{lead} {end}"


def test_models_that_are_compared_with_chance_alone_are_not_compared_with_each_other() -> None:
    """No pair of models is tested: they had been named as equal."""
    found = rn.compare(models(), metrics=["ndcg@5"], baseline="chance", family="baseline")
    assert found.verdict == "All 3 models are better than chance."
