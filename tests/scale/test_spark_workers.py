"""Workers that lack this package say so, and have it when it is sent to them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import recsys_ndcg
from tests.scale import sessions

pytestmark = pytest.mark.skipif(bool(sessions.missing()), reason=sessions.missing())

CHECKOUT = Path(recsys_ndcg.__file__).parents[1]
#: Python runs it at every start: an installed checkout is hidden, too.
HIDE = f"import sys\nsys.path[:] = [one for one in sys.path if one != {str(CHECKOUT)!r}]\n"


def _said(folder: Path, *sent: str) -> str:
    """Return what the driver prints, whose workers see nothing of the checkout."""
    (folder / "hide").mkdir()
    (folder / "hide" / "sitecustomize.py").write_text(HIDE, encoding="utf-8")
    script = CHECKOUT / "tests" / "scale" / "hidden_checkout.py"
    return _printed([str(script), str(CHECKOUT), *sent], folder, folder / "hide")


def _printed(command: list[str], folder: Path, path: Path) -> str:
    # classic Spark: the server of a session of Connect has the only port, and is told of there
    ours = ("SPARK_", sessions.KIND)
    done = subprocess.run(  # noqa: S603 - our own
        [sys.executable, *command],
        cwd=folder,
        env={
            **{name: one for name, one in os.environ.items() if not name.startswith(ours)},
            "PYTHONPATH": str(path),
            "PYSPARK_PYTHON": sys.executable,
            **sessions.java(),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert not done.returncode, done.stderr
    return done.stdout


def test_workers_without_the_package(tmp_path: Path) -> None:
    """What is missing is named, with what brings it."""
    said = _said(tmp_path)
    assert "The workers cannot import 'recsys_ndcg'" in said
    assert "addArtifact" in said
    assert "--py-files" in said


def test_the_package_is_sent_along(tmp_path: Path) -> None:
    """A zip of the package is all that workers with its libraries need."""
    sent = shutil.make_archive(str(tmp_path / "sent"), "zip", CHECKOUT, "recsys_ndcg")
    assert "ndcg@10" in _said(tmp_path, sent)


def test_the_example(tmp_path: Path) -> None:
    """It draws predictions where there are none, and leaves the scores."""
    scores = tmp_path / "scores"
    command = [str(CHECKOUT / "examples" / "on_spark.py"), "--scores", str(scores)]
    said = _printed(command, tmp_path, CHECKOUT)
    assert "1000 users, 100000 ratings" in said
    assert "The lowest ndcg@10: [0." in said
    assert len(pd.read_parquet(scores)) == 1000
