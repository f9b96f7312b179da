"""Each line of "your data looks like this: write this" runs, and the same lists score the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import recsys_ndcg as rn
from tests import pages

PAGE = pages.ROOT / "docs" / "how-to" / "data.md"
CALLS = re.findall(r"^\| (.+) \| `(rn\..+)` \|$", PAGE.read_text("utf-8"), re.MULTILINE)


def test_there_are_twenty() -> None:
    """Or more."""
    assert len(CALLS) >= 20


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
@pytest.mark.parametrize("call", [call for _, call in CALLS])
def test_a_line_runs(call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the objects and files of the page."""
    monkeypatch.chdir(tmp_path)
    session = pages.Session()
    session.run(pages.examples(PAGE)[0].code, "data.md")
    found = eval(call, session.names)  # noqa: S307 - ours
    if isinstance(found, rn.Comparison):
        assert found.leaderboard["mean"].tolist()[0] == 1.0
        return
    assert found.mean.notna().all()
    if "y_true" in call or "labels=" not in call or "metrics" in call:
        return
    expected = eval("rn.evaluate(labels=test, results=lists)", session.names)  # noqa: S307
    assert found.mean.round(12).tolist() == expected.mean.round(12).tolist()
