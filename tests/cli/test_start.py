"""How fast a command starts, by what it imports."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from recsys_ndcg.cli import program
from tests.commands import COMMANDS

if TYPE_CHECKING:
    from pathlib import Path

#: Runs the program, and says what is imported at its end.
STARTED = """
import json, sys
from recsys_ndcg.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
ROWS = "user,item,estimated,true\nann,a,4.5,5\nann,b,3.0,2\nbob,a,2.0,4\nbob,b,3.5,3\n"


def imported(*words: str | Path) -> set[str]:
    """Return the modules that a command imports."""
    done = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-c", STARTED, *words], capture_output=True, text=True, check=True
    )
    assert done.stdout
    return set(json.loads(done.stderr))


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_is_shown_before_anything_heavy_is_imported(command: str) -> None:
    """Neither what computes nor what is computed."""
    found = imported(*filter(None, [command]), "--help")
    assert not found & {"numpy", "pandas", "recsys_ndcg.report.report", "recsys_ndcg.metrics"}


def test_a_small_file_is_measured_without_what_it_does_not_need(tmp_path: Path) -> None:
    """Neither statistics nor plots, nor what compares models."""
    path = tmp_path / "p.csv"
    path.write_text(ROWS)
    found = imported("evaluate", path)
    assert "pandas" in found
    needless = {"scipy", "jinja2", "altair", "surprise", "joblib", "numpy.f2py", "unittest"}
    ours = {"recsys_ndcg.comparison", "recsys_ndcg.rendering.plots", "recsys_ndcg.surprise"}
    assert not found & (needless | ours)


def test_what_can_be_thrown_away_is_looked_for_seldom() -> None:
    """While libraries are imported, nothing can."""
    before = gc.get_threshold()
    gc.set_threshold(700)
    try:
        program.prepared()
        assert gc.isenabled()
        assert gc.get_threshold()[0] >= 50_000
    finally:
        gc.set_threshold(*before)
