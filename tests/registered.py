"""A plugin of pytest: metrics that a test, an example or a doctest registers end with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

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
    with patch.dict(METRICS), patch.dict(METRIC_ALIASES):
        yield
