"""A plugin of pytest: metrics that a test, an example or a doctest registers end with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from recsys_ndcg.convention.notation import METRIC_ALIASES
from recsys_ndcg.metrics import METRICS
from tests import profiles  # noqa: F401 - loads the profile of the suite


@pytest.fixture(autouse=True)
def _restore_metrics_after_each_test() -> Iterator[None]:
    with restore_metrics():
        yield


@contextmanager
def restore_metrics() -> Iterator[None]:
    """Remove the metrics that the block registers, for example in a fixture."""
    tables: tuple[dict[str, Any], ...] = (METRICS, METRIC_ALIASES)
    copies = [dict(table) for table in tables]
    try:
        yield
    finally:
        for table, before in zip(tables, copies, strict=True):
            table.clear()
            table.update(before)
