"""How much the suite tests: few examples and the quick cases; CI draws more and takes all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings

# The suite draws the same examples every time. CI draws new ones: --hypothesis-profile=thorough.
# No deadline: how long an example takes depends on what else the machine does.
settings.register_profile("suite", max_examples=4, deadline=None, derandomize=True)
settings.register_profile("thorough", max_examples=60, deadline=None)
settings.load_profile("suite")


def examples(weight: float, **options: Any) -> settings:
    """Return settings for `weight` times the profile's number of examples, at least two."""
    return settings(max_examples=max(2, round(weight * settings().max_examples)), **options)


def slow(*cases: Any) -> list[Any]:
    """Return cases for `pytest.mark.parametrize` that only CI runs."""
    return [pytest.param(case, marks=pytest.mark.slow) for case in cases]


def some(cases: Iterable[Any], step: int) -> list[Any]:
    """Return cases of which a quick run takes every `step`-th, and CI all."""
    return [slow(one)[0] if place % step else one for place, one in enumerate(cases)]
