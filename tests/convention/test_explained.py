"""The whole explanation of some conventions, as it was read and approved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import recsys_ndcg as rn
from tests import strategies


def half_steps(ranks: Any) -> Any:
    """Return a discount whose name has what LaTeX has to escape."""
    return strategies.stairs(ranks)


FOLDER = Path(__file__).parent / "explained"
CONVENTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "of_clicks": {"gain": "binary", "ideal": "max", "mean_over": "relevant"},
    "of_a_function_and_a_step": {
        "gain": strategies.root, "discount": half_steps, "ties": "item_desc", "tie_tolerance": 0.5,
        "ideal": "local", "max_grade": 5,  # a local ideal does not use it
        "recommend_from": 2.5, "impossible": "drop", "short_list": "drop", "ap_over": "hits",
    },
    "of_a_mapping_and_a_top_grade": {
        "gain": {0: 0, 3.5: 1}, "ideal": "max", "max_grade": 3.5, "tie_tolerance": "float32",
        "recommend_from": "threshold", "recall_over": "capped", "undefined": 0.0,
        "missing_user": "raise", "duplicates": "max",
    },
}  # fmt: skip


@pytest.mark.parametrize("name", CONVENTIONS)
def test_the_explanation_is_the_one_that_was_approved(name: str) -> None:
    """Every sentence and every formula, in their order."""
    approved = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert rn.Convention(**CONVENTIONS[name]).explain() + "\n" == approved


def test_every_approved_explanation_is_compared() -> None:
    """No file is left over."""
    assert {path.stem for path in FOLDER.iterdir()} == set(CONVENTIONS)
