"""The cases of all engines, in memory: blocks and threads make no difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from recsys_ndcg import parallel
from recsys_ndcg.parallel import limit_threads
from tests.scale.alike import check_alike
from tests.scale.cases import CASES

if TYPE_CHECKING:
    from tests.scale.cases import Case


@pytest.mark.parametrize("case", CASES, ids=str)
def test_blocks_in_threads_are_the_whole(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many small blocks in three threads, and one block in one."""
    with limit_threads(1):
        whole = case.local()
    for name, size in {"_MAX_ROWS": 64, "_MIN_ROWS": 16, "_FEW_ROWS": 1, "_MAX_CELLS": 512}.items():
        monkeypatch.setattr(parallel, name, size)
    with limit_threads(3):
        report = case.local()
        assert report == whole
        check_alike(report, report.per_user, whole)
