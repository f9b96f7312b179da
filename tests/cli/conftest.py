"""Files that the tests of the command line read."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from rich.console import Console

from recsys_ndcg.cli.terminal import print_document
from tests.comparison.models import Rows, models

FORMATS = ("text", "markdown", "latex", "csv", "json")
COLUMNS = ["user", "item", "estimated", "true"]
HEADING = "user,item,estimated,true\n"
ROWS = "ann,a,4.5,5\nann,b,3.0,2\nann,c,2.0,4\nbob,a,2.0,4\nbob,b,3.5,3\n"


def write(rows: Rows, path: Path) -> Path:
    """Write predictions as CSV."""
    pd.DataFrame(rows, columns=COLUMNS).to_csv(path, index=False)
    return path


def show(width: int, *documents: Any, **options: Any) -> str:
    """Return what a terminal shows, which must fit its width."""
    written = io.StringIO()
    screen = Console(file=written, width=width, soft_wrap=True, markup=False, **options)
    for document in documents:
        print_document(document, screen, quiet=True)
    lines = re.sub(r"\x1b\[\d*m", "", written.getvalue()).splitlines()
    assert max(map(len, lines)) <= width
    return written.getvalue()


@pytest.fixture(name="path")
def _path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file of predictions in the current folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "p.csv"
    path.write_text(HEADING + ROWS)
    return path


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with the predictions of three models for 60 users."""
    monkeypatch.chdir(tmp_path)
    for name, rows in models(60).items():
        write(rows, tmp_path / f"{name}.csv")
    return tmp_path
