"""What the README shows is what the programs print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.peers.table import table

README = Path(__file__).parent.parent / "README.md"
EXAMPLE = str(README.parent / "examples" / "presets.py")


def _printed(*command: str) -> str:
    done = subprocess.run(  # noqa: S603 - our own
        [sys.executable, *command], capture_output=True, text=True, check=True
    )
    return done.stdout


def _block(name: str) -> str:
    """Return the text between the fences after a marker."""
    form = rf"<!-- {name}:.*?-->\n```(?:python)?\n(.*?)```\n<!-- end -->"
    found = re.search(form, README.read_text(encoding="utf-8"), re.DOTALL)
    assert found, name
    return found[1]


def test_the_demo_prints_what_the_first_screen_shows() -> None:
    """To the last digit: the sample and the models are drawn from a seed."""
    pytest.importorskip("surprise")
    assert _printed("-c", "from recsys_ndcg.cli import main; main()", "demo") == _block("demo")


def test_metrics_of_your_own_are_those_of_the_example() -> None:
    """The definitions, and what they print."""
    script = README.parent / "examples" / "metrics_of_your_own.py"
    assert _block("own") in script.read_text(encoding="utf-8")
    printed = "".join(f"{line.rstrip()}\n" for line in _printed(str(script)).splitlines())
    assert printed == _block("own output")


def test_the_table_of_presets_is_what_the_example_prints() -> None:
    """One prediction file under all of them."""
    assert _printed(EXAMPLE) == _block("presets")


@pytest.mark.skipif("RECSYS_NDCG_DATA" not in os.environ, reason="RECSYS_NDCG_DATA is not set")
def test_the_extremes_on_real_ratings_are_what_the_example_prints() -> None:
    """The first screen quotes them, too."""
    ratings = Path(os.environ["RECSYS_NDCG_DATA"]) / "movietweetings-100k" / "ratings.dat"
    rows = {
        line.split()[0]: line.split()
        for line in _printed(EXAMPLE, str(ratings), "8").splitlines()
        if line
    }
    text = README.read_text(encoding="utf-8")
    ndcg, precision = ((rows["lowest"][at], rows["highest"][at]) for at in (1, 2))
    assert "precision@10 from {} to {}".format(*precision) in text
    assert "NDCG@10 from {} to {}".format(*ndcg) in text
    for name in ("trec_eval", "recommenders", "xgboost", "evidently"):
        assert f"{float(rows[name][2]):.2f}" in text.split("## Use it")[0]
    assert f"{float(rows['surprise_faq'][2]):.2f}" in text.split("## Use it")[0]


@pytest.mark.skipif("RECSYS_NDCG_DATA" not in os.environ, reason="RECSYS_NDCG_DATA is not set")
def test_the_search_on_real_ratings_chooses_what_the_readme_says() -> None:
    """By every criterion, with what it costs."""
    pytest.importorskip("surprise")
    ratings = Path(os.environ["RECSYS_NDCG_DATA"]) / "movietweetings-100k" / "ratings.dat"
    example = README.parent / "examples" / "rmse_picks_the_wrong_model.py"
    assert _printed(str(example), str(ratings)) == _block("rmse")


def test_the_table_of_parity_is_what_was_compared() -> None:
    """From the golden files."""
    found = re.search(
        r"<!-- parity:.*?-->\n(.*?)\n<!-- end -->", README.read_text("utf-8"), re.DOTALL
    )
    assert found
    assert found[1] == table()


def test_the_python_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Line by line, as a reader would paste it."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for code in blocks:
        exec(compile(code, "README.md", "exec"), {})  # noqa: S102 - our own page
    assert (tmp_path / "svd.json").exists()
