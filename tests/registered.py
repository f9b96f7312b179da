"""A plugin of pytest: what a test, an example or a doctest registers is forgotten after it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from recsys_ndcg.convention.notation import METRIC_ALIASES
from recsys_ndcg.metrics import METRICS
from tests import profiles  # noqa: F401 - loads the profile of the suite


@pytest.fixture(autouse=True)
def _only_those_of_the_package() -> Iterator[None]:
    with forgotten():
        yield


@contextmanager
def forgotten() -> Iterator[None]:
    """Forget what is registered within: by a fixture of many tests, for instance."""
    tables: tuple[dict[str, Any], ...] = (METRICS, METRIC_ALIASES)
    known = [dict(one) for one in tables]
    try:
        yield
    finally:
        for table, before in zip(tables, known, strict=True):
            table.clear()
            table.update(before)
