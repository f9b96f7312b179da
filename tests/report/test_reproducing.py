"""The Python code on a page gives the same numbers again."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.comparison.page import write_comparison_code
from recsys_ndcg.report.page import write_evaluation_code
from tests.comparison.models import models

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
ROWS = models(users=12)["good"]


OPTIONS: list[dict[str, Any]] = [
    {"threshold": 4}, {"metrics": ["ndcg@5", "p@3", "rr", "rmse"], "threshold": 3.5},
    {"convention": rn.Convention(gain="linear", ties="input", tie_tolerance=1e-9)},
    {"convention": rn.Convention(gain={1.0: 0.0, 2.0: 0.5, 3.0: 1.0, 4.0: 2.0, 5.0: 4.0})},
    {"convention": "catboost", "metrics": ["ndcg@3", "ap@3", "rr"], "threshold": 3},
    {"metrics": ["rbp(p=0.9)@3", "ndcg"], "k": None, "threshold": 3},
    {"convention": rn.Convention(ideal="max", max_grade=5, undefined=0.0)},
]  # fmt: skip


@pytest.mark.parametrize("how", OPTIONS)
def test_the_code_of_a_report_gives_the_same_signatures(how: dict[str, Any]) -> None:
    """In several calls if the metrics have different conventions."""
    report = rn.evaluate(ROWS, **how)
    names: dict[str, Any] = {"data": ROWS, "rn": rn}
    code = write_evaluation_code(report.signatures.values())
    exec(code, names)  # noqa: S102 - our own
    reports = [one for one in names.values() if isinstance(one, rn.Report)]
    found = {name: str(text) for one in reports for name, text in one.signatures.items()}
    assert found == {name: one.text for name, one in report.signatures.items()}
    assert code.count("rn.evaluate") == 1 + (how.get("convention") == "catboost")


def test_the_code_of_a_report_names_what_else_is_known() -> None:
    """Training rows, catalogue and features, under the names of their arguments."""
    given: dict[str, Any] = {"train": [("ann", "a"), ("bob", "b")], "catalogue": ["a", "b", "c"]}
    data = {"labels": None, "results": {"ann": ["a", "b"], "bob": ["b", "c"]}}
    metrics = ["coverage@2", "novelty@1", "item(price)@2"]
    features = pd.DataFrame({"price": [1.0, 2.0, 3.0]}, index=["a", "b", "c"])
    report = rn.evaluate(data, metrics=metrics, features=features, **given)
    names: dict[str, Any] = {"data": data, "features": features, **given}
    exec(write_evaluation_code(report.signatures.values()), names)  # noqa: S102 - our own
    assert names["report"].mean.to_dict() == report.mean.to_dict()


def test_the_code_has_the_name_of_a_function() -> None:
    """Or dots, if it has no name."""

    def cubed(true: Any) -> Any:
        return true**3

    for gain, name in ((cubed, "cubed"), (lambda true: true, "...")):
        report = rn.evaluate(ROWS, convention=rn.Convention(gain=gain))
        line = f"(data, metrics=['ndcg@10'], convention=rn.Convention(gain={name}))"
        assert line in write_evaluation_code(report.signatures.values())


COMPARED: list[dict[str, Any]] = [
    {"threshold": 4, "metrics": ["ndcg@3", "recall@3"], "baseline": "fair", "margin": 0.01},
    {"test": "randomisation", "draws": 500, "seed": 3, "by": "activity"},
    {"test": "wilcoxon", "alpha": 0.1}, {"baseline": "chance"},
]  # fmt: skip


@pytest.mark.parametrize("how", COMPARED)
def test_the_code_of_a_comparison_gives_the_same_comparison(how: dict[str, Any]) -> None:
    """With its test, its baseline and its segments."""
    data = models(users=30)
    wanted = rn.compare(data, **how)
    names: dict[str, Any] = {f"predictions_{n}": rows for n, rows in enumerate(data.values(), 1)}
    exec(write_comparison_code(wanted), names)  # noqa: S102 - our own
    assert names["comparison"].to_dict() == wanted.to_dict()


def test_the_code_names_the_first_of_many_models() -> None:
    """So that it stays one line."""
    data = models(users=12, seed=0, **{f"m{place}": 1.0 + place for place in range(9)})
    code = write_comparison_code(rn.compare(data))
    assert "'m5': predictions_6, ...}" in code
    assert "m6" not in code
