"""What docs/how-to/check-split.md says of three splits of real ratings comes out again."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

import pytest

from recsys_ndcg.ratings import read_ratings
from tests.pages import ROOT, block

FOLDER = os.environ.get("RECSYS_NDCG_DATA")


@pytest.mark.skipif(FOLDER is None, reason="RECSYS_NDCG_DATA is not set")
def test_the_table_of_three_splits_is_printed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the last digit."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    ratings = read_ratings(Path(str(FOLDER)) / "movietweetings-100k" / "ratings.dat")
    table = import_module("split_checks").build_table(ratings)
    assert block("splits").splitlines()[1:] == table.to_string().splitlines()
