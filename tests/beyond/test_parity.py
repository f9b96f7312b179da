"""Every number that the libraries return on two inputs, mean and per user."""

import importlib
import math
import pkgutil
from typing import Any

import pytest

from tests.beyond import parity
from tests.beyond.parity import Ask, evaluate_input, read_file

SINGLE_PRECISION = {"pyg", "warprec", "recbole", "ExposureGini(0.85)"}
TABLES = [
    importlib.import_module(f"{parity.__name__}.{module.name}")
    for module in pkgutil.iter_modules(parity.__path__)
]
ASKS: dict[tuple[str, str], Ask] = {key: ask for table in TABLES for key, ask in table.ASKS.items()}
CASES = [(library, measure, name) for library, measure in ASKS for name in "AB"]


@pytest.mark.parametrize(("library", "measure", "name"), CASES)
def test_a_preset_returns_the_libraries_number(library: str, measure: str, name: str) -> None:
    """To 1e-9, or 2e-6 where the library has single precision."""
    data = read_file()
    if data is None:
        pytest.skip("RECSYS_NDCG_DATA is not set to the folder with beyond_accuracy.json")
    wanted: Any = data["outputs"][library][name].get(measure)
    if wanted is None or "value" not in wanted:
        pytest.skip("the library was not run on this input")
    ask = ASKS[library, measure]
    report = evaluate_input(name, ask, library)
    tolerance = 2e-6 if {library, measure} & SINGLE_PRECISION else 1e-9
    gaps = report.gaps() if ask.read == "gap" else None
    values = {
        "gap": math.nan if gaps is None else gaps["mean_gap"].iloc[0],
        "mean": report.mean.iloc[0],
        "pooled": report.pooled.iloc[0],
        "sum": report.mean.iloc[0] * report.audit_data.totals.n_scored[0],
    }
    assert values[ask.read] == pytest.approx(wanted["value"], abs=tolerance, rel=tolerance)
    by_user = wanted.get("per_user") or {}
    scores = {str(user): score for user, score in report.per_user.iloc[:, -1].items()}
    found = {user: scores.get(user, math.nan) for user in by_user}
    assert found == pytest.approx(by_user, abs=tolerance, rel=tolerance)
