"""A plugin of pytest: what a test, an example or a doctest registers is forgotten after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from recsys_ndcg.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _only_those_of_the_package() -> Iterator[None]:
    known = dict(METRICS)
    yield
    METRICS.clear()
    METRICS.update(known)
