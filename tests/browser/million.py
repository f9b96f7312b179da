"""A page of a million users, which is slow: `pytest tests/browser/million.py`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

import recsys_ndcg as rn
from tests.browser.measuring import cut_off

if TYPE_CHECKING:
    from tests.browser.watching import Opening

_USERS, _EACH = 1_000_000, 3


def table(seed: int, true: np.ndarray) -> pd.DataFrame:
    """Return a model's estimates of a million users' ratings."""
    draw = np.random.default_rng(seed)
    user = np.repeat(np.arange(_USERS), _EACH)
    item = draw.integers(0, 5000, _USERS)[user] * _EACH + np.tile(np.arange(_EACH), _USERS)
    estimated = true + draw.normal(0, 1 + seed, len(true))
    return pd.DataFrame({"user": user, "item": item, "estimated": estimated, "true": true})


def grades() -> np.ndarray:
    """Return the users' ratings."""
    return np.random.default_rng(0).integers(1, 6, _USERS * _EACH).astype(np.float64)


def check(opening: Opening, found: rn.Report | rn.Comparison, path: Path) -> None:
    """Check that a page is small, and opens; CI also does other work at this time."""
    found.to_html(path)
    assert path.stat().st_size < 2_000_000
    assert opening.is_drawn_within(20, path)
    page = opening.page(path)
    assert cut_off(page) == []
    assert "1,000,000 users" in page.locator("main").inner_text()
    assert page.locator("#users .sortable > tbody > tr").count() == 1000


def test_a_report_of_a_million_users(opening: Opening, tmp_path: Path) -> None:
    """The best and the worst are listed."""
    found = rn.evaluate(table(1, grades()), metrics=["ndcg@2", "ndcg@3"])
    check(opening, found, tmp_path / "report.html")


def test_a_comparison_of_a_million_users(opening: Opening, tmp_path: Path) -> None:
    """The users with the largest differences are listed."""
    true = grades()
    first = table(1, true)
    second = first.assign(estimated=table(2, true)["estimated"])
    found = rn.compare({"A": first, "B": second}, metrics=["ndcg@3", "rmse"])
    check(opening, found, tmp_path / "comparison.html")
