"""A plugin of pytest: metrics that a test, an example or a doctest registers end with it.

And doctests that import an optional library are skipped if it is not installed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pytest

from recsys_ndcg.convention import METRIC_ALIASES
from recsys_ndcg.metrics import METRICS
from tests import profiles  # noqa: F401 - loads the profile of the suite
from tests.pages import imported, is_installed


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a doctest if it imports a library that is not installed."""
    if isinstance(item, pytest.DoctestItem):
        code = "".join(one.source for one in getattr(item, "dtest").examples)  # noqa: B009 - untyped
        for library in imported(ast.parse(code)):
            if not is_installed(library):
                pytest.skip(f"{library} is not installed")


@pytest.fixture(autouse=True)
def _restore_metrics_after_each_test() -> Iterator[None]:
    with restore_metrics():
        yield


@contextmanager
def restore_metrics() -> Iterator[None]:
    """Remove the metrics that the block registers, for example in a fixture."""
    with patch.dict(METRICS), patch.dict(METRIC_ALIASES):
        yield
