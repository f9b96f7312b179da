"""What a page says must be typed gives the same signatures."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import recsys_ndcg as rn
from recsys_ndcg.comparison.page import comparison_code
from recsys_ndcg.report.page import evaluation_code
from tests.comparison.models import models

ROWS = models(users=12)["good"]
CHOICES: list[dict[str, Any]] = [
    {},
    {"threshold": 4},
    {"metrics": ["ndcg@5", "p@3", "rr", "rmse"], "threshold": 3.5},
    {"convention": rn.Convention(gain="linear", ties="input", tie_tolerance=1e-9)},
    {"convention": rn.Convention(gain={1.0: 0.0, 2.0: 0.5, 3.0: 1.0, 4.0: 2.0, 5.0: 4.0})},
    {"convention": "catboost", "metrics": ["ndcg@3", "ap@3", "rr"], "threshold": 3},
    {"convention": "sklearn"},
    {"metrics": ["rbp(p=0.9)@3", "ndcg"], "k": None, "threshold": 3},
    {"convention": rn.Convention(ideal="max", max_grade=5, undefined=0.0)},
]


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
@pytest.mark.parametrize("how", CHOICES)
def test_the_lines_give_the_same_signatures(how: dict[str, Any]) -> None:
    """Of every metric; where their conventions differ, in several calls."""
    report = rn.evaluate(ROWS, **how)
    found: dict[str, Any] = {}
    lines = evaluation_code(report.signatures.values())
    for line in lines.splitlines():
        names: dict[str, Any] = {"data": ROWS, "rn": rn}
        exec(line, names)  # noqa: S102 - our own
        if "report" in names:
            found |= {name: str(one) for name, one in names["report"].signatures.items()}
    assert found == {name: one.text for name, one in report.signatures.items()}
    assert lines.count("rn.evaluate") == 1 + (how.get("convention") == "catboost")


def test_a_function_of_somebodys_own_is_named() -> None:
    """And one without a name left open."""

    def cubed(true: Any) -> Any:
        return true**3

    for gain, said in ((cubed, "cubed"), (lambda true: true, "...")):
        report = rn.evaluate(ROWS, convention=rn.Convention(gain=gain))
        line = f"(data, metrics=['ndcg@10'], convention=rn.Convention(gain={said}))"
        assert line in evaluation_code(report.signatures.values())


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"threshold": 4, "metrics": ["ndcg@3", "recall@3"], "baseline": "fair", "margin": 0.01},
        {"test": "randomisation", "draws": 500, "seed": 3, "by": "activity"},
        {"test": "wilcoxon", "alpha": 0.1},
        {"baseline": "chance"},
    ],
)
def test_the_lines_give_the_same_comparison(how: dict[str, Any]) -> None:
    """With its test, its baseline and its segments."""
    data = models(users=30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rn.DataWarning)
        wanted = rn.compare(data, **how)
        names: dict[str, Any] = {
            f"predictions_{place}": rows for place, rows in enumerate(data.values(), 1)
        }
        exec(comparison_code(wanted), names)  # noqa: S102 - our own
    assert names["comparison"].to_dict() == wanted.to_dict()


def test_of_many_models_the_first_are_named() -> None:
    """The line stays one."""
    noise: Any = {f"m{place}": 1.0 + place for place in range(9)}
    data = models(users=12, seed=0, **noise)
    lines = comparison_code(rn.compare(data))
    assert "'m5': predictions_6, ...}" in lines
    assert "m6" not in lines
