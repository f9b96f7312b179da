"""Several runs of a model: their variation belongs to the comparison."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.comparison.models import Rows, model, ratings

TRUE = ratings(120)


def _runs(noise: float, seeds: range) -> list[rn.Report]:
    """Return reports of one model with other seeds."""
    return [rn.evaluate(model(TRUE, noise, seed), metrics="ndcg@5") for seed in seeds]


ONE, OTHER = _runs(1.0, range(4)), _runs(2.0, range(10, 14))


def test_reports_of_the_same_ratings_are_runs(tmp_path: Path) -> None:
    """The pairs have their number and their spread; a saved comparison has them, too."""
    found = rn.compare({"one": ONE, "other": OTHER})
    pair = found.pairwise.iloc[0]
    means = [a.mean["ndcg@5"] - b.mean["ndcg@5"] for a, b in zip(ONE, OTHER, strict=True)]
    assert (pair["runs"], pair["difference"]) == (4, pytest.approx(np.mean(means)))
    assert pair["sd_runs"] == pytest.approx(np.std(means, ddof=1))
    assert "over 120 users and 4 runs (paired t test, p " in found.verdict
    assert any("include the variation between runs" in line for line in found.remarks)
    gate = found.not_worse("one", "other", margin=0.01)
    assert "over 120 users and 4 runs;" in gate.reason
    found.save(tmp_path / "c.json")
    loaded = rn.Comparison.load(tmp_path / "c.json")
    pd.testing.assert_frame_equal(loaded.pairwise, found.pairwise)
    assert loaded.verdict == found.verdict


def test_a_single_run_is_about_the_models_as_trained() -> None:
    """Of both models, or of one; a test without runs has only users as units."""
    single, both = rn.compare({"one": ONE[0], "other": OTHER[0]}), {"one": ONE, "other": OTHER[0]}
    assert any(line.startswith("Each model has one run: better") for line in single.remarks)
    mixed = rn.compare(both)
    assert mixed.pairwise["runs"].tolist() == [0]
    assert any(line.startswith("Only one run is known of other: ") for line in mixed.remarks)
    signs = rn.compare({"one": ONE, "other": OTHER}, test="randomisation", draws=99)
    assert signs.pairwise["runs"].tolist() == [0]
    assert any(line.startswith("The randomisation test has only users") for line in signs.remarks)


def test_folds_of_one_partition_are_no_runs() -> None:
    """Each user's ratings are measured once, so the users are the units."""
    rows: list[Rows] = [model(TRUE, 1.0, 0), model(TRUE, 2.0, 1)]
    folds = {
        name: [
            rn.evaluate([row for row in each if (int(row[1][1:]) % 2) == half], metrics="ndcg@5")
            for half in (0, 1)
        ]
        for name, each in zip(("one", "other"), rows, strict=True)
    }
    found = rn.compare(folds)
    assert found.pairwise["runs"].tolist() == [0]
    assert any("averaged over 2 folds of one partition" in line for line in found.remarks)
