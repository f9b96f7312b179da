"""What the README shows is what the programs print."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"


def _block(name: str) -> str:
    """Return the text between the fences after a marker."""
    form = rf"<!-- {name}:.*?-->\n```\n(.*?)```\n<!-- end -->"
    found = re.search(form, README.read_text(encoding="utf-8"), re.DOTALL)
    assert found, name
    return found[1]


def test_the_demo_prints_what_the_first_screen_shows() -> None:
    """To the last digit: the sample and the models are drawn from a seed."""
    pytest.importorskip("surprise")
    command = [sys.executable, "-c", "from recsys_ndcg.cli import main; main()", "demo"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - ours
    assert done.stdout == _block("demo")


def test_the_python_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Line by line, as a reader would paste it."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for code in blocks:
        exec(compile(code, "README.md", "exec"), {})  # noqa: S102 - our own page
    assert (tmp_path / "svd.json").exists()
