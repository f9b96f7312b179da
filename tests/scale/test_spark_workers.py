"""Workers without this package raise, unless it is sent to them."""

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


#: The driver imports the checkout; its workers have PYTHONPATH.
DRIVER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from recsys_ndcg.scale import spark
from tests.scale import sessions
session = sessions.session(Path.cwd())
for sent in sys.argv[2:]:
    if session.version.startswith("3."):  # which has addArtifact in Connect only
        session.sparkContext.addPyFile(sent)
    else:
        session.addArtifact(sent, pyfile=True)
rows = [("ann", "a", 4.5, 5.0), ("ann", "b", 3.0, 2.0), ("bob", "a", 2.0, 4.0)]
frame = session.createDataFrame(rows, "user string, item string, estimated double, true double")
try:
    print(spark.evaluate(frame).mean.to_dict())
except spark.WorkerError as error:
    print(error)
session.stop()
"""


def _printed_hidden(folder: Path, *sent: str) -> str:
    """Return what a driver prints whose workers do not see the checkout."""
    (folder / "hide").mkdir()
    (folder / "hide" / "sitecustomize.py").write_text(HIDE, encoding="utf-8")
    words = ["-c", DRIVER, str(CHECKOUT), *sent]
    return _printed(words, folder, folder / "hide", PYSPARK_PYTHON=sys.executable)


def _printed(command: list[str], folder: Path, path: Path, **more: str) -> str:
    # classic Spark: the environment names the server of Connect, which has the only port
    ours = ("SPARK_", "PYSPARK_PYTHON", sessions.KIND)
    variables = {name: one for name, one in os.environ.items() if not name.startswith(ours)}
    variables |= {"PYTHONPATH": str(path), **sessions.java(), **more}
    done = subprocess.run(  # noqa: S603 - our own
        [sys.executable, *command],
        cwd=folder, env=variables, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert not done.returncode, done.stderr
    return done.stdout


def test_workers_without_the_package_raise(tmp_path: Path) -> None:
    """The message names what is missing, and the fix."""
    text = _printed_hidden(tmp_path)
    assert "The workers cannot import 'recsys_ndcg'" in text
    assert "os.environ['PYSPARK_PYTHON'] = sys.executable" in text
    assert "addArtifact" in text
    assert "--py-files" in text


def test_a_zip_of_the_package_can_be_sent(tmp_path: Path) -> None:
    """Workers that have its libraries need nothing else."""
    sent = shutil.make_archive(str(tmp_path / "sent"), "zip", CHECKOUT, "recsys_ndcg")
    assert "ndcg@10" in _printed_hidden(tmp_path, sent)


def test_the_example_runs(tmp_path: Path) -> None:
    """It generates predictions if there are none, and writes the scores.

    Its Python need not be on the PATH, where another one has no package.
    """
    other = tmp_path / "bin" / "python3"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\nexit 1\n")
    other.chmod(0o755)
    scores = tmp_path / "scores"
    command = [str(CHECKOUT / "examples" / "on_spark.py"), "--scores", str(scores)]
    path = os.pathsep.join([str(other.parent), os.environ["PATH"]])
    text = _printed(command, tmp_path, CHECKOUT, PATH=path)
    assert "1000 users, 100000 ratings" in text
    assert "The lowest ndcg@10: [0." in text
    assert len(pd.read_parquet(scores)) == 1000
