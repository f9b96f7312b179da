"""docs/concepts/beyond-accuracy.md says what the code says."""

import os
import subprocess
import sys

import pytest

from tests.beyond import tables
from tests.pages import ROOT, block


def test_the_table_of_libraries_is_that_of_the_presets() -> None:
    """``python -m tests.beyond.tables`` prints it."""
    assert block("libraries") == tables.libraries()


@pytest.mark.slow
def test_the_first_table_is_what_the_benchmark_prints() -> None:
    """On real ratings."""
    pytest.importorskip("surprise")
    if not os.environ.get("RECSYS_NDCG_DATA"):
        pytest.skip("RECSYS_NDCG_DATA is not set to the folder with movietweetings-100k")
    script = str(ROOT / "benchmarks" / "beyond_accuracy.py")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)  # noqa: S603 - our own
    assert done.stdout.strip() == block("beyond").strip()
