"""across: saved comparisons of several data sets."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.commands import error_of, json_of, run
from tests.comparison.models import models

METRICS = ["ndcg@5", "rmse"]


@pytest.fixture(name="files")
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Save two comparisons in the current folder."""
    monkeypatch.chdir(tmp_path)
    for name, users in (("small", 40), ("large", 90)):
        rn.compare(models(users, users), metrics=METRICS).save(f"{name}.json")


@pytest.mark.usefixtures("files")
def test_it_prints_what_rn_across_finds() -> None:
    """The pairs, the verdict and the remarks; CSV has the differences, JSON everything."""
    found = rn.across({"s": "small.json", "large": "large.json"}, metric="rmse", alpha=0.1)
    words = ("across", "s=small.json", "large.json", "--metric", "rmse", "--alpha", "0.1")
    lines = run(*words).stdout.splitlines()
    assert lines[0] == found._document().facts
    assert found.verdict in "\n".join(lines).replace("\n", " ")
    assert f"- {found.remarks[0]}" in lines
    assert json_of(*words) == found.to_dict()
    table = pd.read_csv(io.StringIO(run(*words, "--format", "csv").stdout))
    assert table["d_z"].tolist() == pytest.approx(found.to_frame()["d_z"].tolist(), rel=1e-14)
    assert len(run(*words, "-q").stdout.splitlines()) < len(lines)


@pytest.mark.usefixtures("files")
def test_it_writes_a_page(tmp_path: Path) -> None:
    """With the command that made it."""
    pytest.importorskip("jinja2")
    result = run("across", "small.json", "large.json", "--html", "page.html")
    assert result.exit_code == 0
    page = (tmp_path / "page.html").read_text()
    assert "2 data sets are 2 observations" in page
    assert "The command" in page


@pytest.mark.usefixtures("files")
def test_unusable_files_are_named() -> None:
    """In one line."""
    assert "is given twice" in error_of("across", "small.json", "small.json")
    assert "'large' has no metric rr" in error_of("across", "large.json", "--metric", "rr")
    assert "none.json" in error_of("across", "none.json")
