"""Every number that the libraries return on two inputs, mean and per user."""

import math
from typing import Any

import pytest

from tests.beyond.asking import ASKS, evaluate_case, find_tolerance
from tests.beyond.parity import read_file
from tests.peers.beyond.cases import Case

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
    ours = evaluate_case(_read_case(name, data["inputs"][name]), library, measure)
    near = find_tolerance(library, measure)
    assert ours["value"] == pytest.approx(wanted["value"], abs=near, rel=near)
    by_user = wanted.get("per_user") or {}
    found = {user: ours["per_user"].get(user, math.nan) for user in by_user}
    assert found == pytest.approx(by_user, abs=near, rel=near)


def _read_case(name: str, given: dict[str, Any]) -> Case:
    parts = {
        part: {int(key): value for key, value in own.items()}
        for part, own in given.items()
        if isinstance(own, dict)
    }
    return Case(
        name,
        run={user: dict(rows) for user, rows in parts["recommendations"].items()},
        test=parts["test"],
        train=[(user, item) for user, item in given["train"]],
        base=parts["base"],
        catalogue=given["catalogue"],
        features=parts["item_features"],
        category=parts["item_category"],
        item_group=parts["item_group"],
        user_group=parts["user_group"],
        k=given["k"],
    )
