"""Files of earlier formats are read, with the numbers that were saved."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.errors import assert_rejected
from tests.files.made_earlier import FOLDER, comparisons, reports, run

REPORTS = sorted(path.stem for path in FOLDER.glob("report-*.json"))
pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")


_fresh = cache(reports)


def assert_same_ids(found: Any, expected: Any) -> None:
    """Compare ids with their types and order."""
    assert (found.dtype, found.tolist()) == (expected.dtype, expected.tolist())
    assert [*map(type, found.tolist())] == [*map(type, expected.tolist())]


@pytest.mark.parametrize("name", [one for one in REPORTS if one != "report-own"])
def test_an_earlier_report_equals_a_new_one(name: str, tmp_path: Path) -> None:
    """Except for the lists, and also after it is saved again."""
    fresh, earlier = _fresh()[name], rn.Report.load(FOLDER / f"{name}.json")
    earlier.save(tmp_path / "r.json")
    for one in (earlier, rn.Report.load(tmp_path / "r.json")):
        assert one.scores.equals(fresh.scores)
        assert_same_ids(one.users, fresh.users)
        assert one.truth.equals(fresh.truth)
        assert (one.counts, one.signatures.keys()) == (fresh.counts, fresh.signatures.keys())
        for table in ("per_user", "summary", "audit", "baselines"):
            pd.testing.assert_frame_equal(getattr(one, table), getattr(fresh, table))
        for metric in fresh:
            pd.testing.assert_frame_equal(one.per_user_audit(metric), fresh.per_user_audit(metric))


def test_an_unknown_metric_of_an_earlier_report_is_kept(tmp_path: Path) -> None:
    """With its scores."""
    earlier = rn.Report.load(FOLDER / "report-own.json")
    assert earlier["homemade@2"] == _fresh()["report-text"]["precision@2"]
    earlier.save(tmp_path / "r.json")
    assert rn.Report.load(tmp_path / "r.json") == earlier


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("comparison-*.json")))
def test_an_earlier_comparison_equals_a_new_one(name: str, tmp_path: Path) -> None:
    """With the same random draws, segments and runs."""
    fresh, earlier = comparisons()[name], rn.Comparison.load(FOLDER / f"{name}.json")
    earlier.save(tmp_path / "c.json")
    for one in (earlier, rn.Comparison.load(tmp_path / "c.json")):
        for table in ("leaderboard", "pairwise", "per_user"):
            pd.testing.assert_frame_equal(getattr(one, table), getattr(fresh, table))
        if "segments" in name:
            pd.testing.assert_frame_equal(one.segments, fresh.segments)
        assert one.movers(3).table.equals(fresh.movers(3).table)
        assert (one.baseline, one.verdict) == (fresh.baseline, fresh.verdict)


def test_an_earlier_run_is_read(tmp_path: Path) -> None:
    """Its JSON, and the scores per user in Parquet."""
    pytest.importorskip("surprise")
    pytest.importorskip("pyarrow")
    run(tmp_path / "run")
    earlier, fresh = (rn.compare(rn.load_runs(one / "run")) for one in (FOLDER, tmp_path))
    pd.testing.assert_frame_equal(earlier.per_user, fresh.per_user)
    assert earlier.metrics == ["ndcg@3"]


def test_a_run_with_changed_scores_is_rejected(tmp_path: Path) -> None:
    """By the digest in the file of the fold."""
    pytest.importorskip("surprise")
    shutil.copytree(FOLDER / "run", tmp_path / "run")
    path = next((tmp_path / "run").glob("cells/top/*.parquet"))
    path.write_bytes(path.read_bytes() + b" ")
    assert_rejected(path.name, rn.compare, rn.load_runs(tmp_path / "run"), whole=False)


def test_the_lines_of_an_earlier_file_do_not_matter(tmp_path: Path) -> None:
    """The first files of the format have each id on its own line."""
    path = FOLDER / "report-text.json"
    stored = json.loads(path.read_text(encoding="utf-8"))
    for indent in (None, 3):
        (tmp_path / "f.json").write_text(json.dumps(stored, indent=indent), encoding="utf-8")
        assert str(rn.Report.load(tmp_path / "f.json")) == str(rn.Report.load(path))
