"""CI can install the oldest version of every library that pyproject.toml declares."""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parent.parent
#: What a user may install, all of which `all` brings.
USERS = ["cli", "surprise", "experiments", "report", "scale"]
#: Tools, and libraries that CI tests in their newest version only.
NOT_PINNED = ["spark", "docs", "lint", "browser", "trackers", "ci", "mutation"]
#: For which CI has an environment of its own, as some need a certain release of NumPy.
INTEGRATIONS = ["sklearn", "lightgbm", "xgboost", "catboost", "optuna", "torch", "keras", "mlflow"]


def test_every_library_has_one_minimum_that_ci_can_pin() -> None:
    """A library without one would be tested in its newest version only."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert extras["integrations"] == [f"recsys-ndcg[{','.join(INTEGRATIONS)}]"]
    for name in (*NOT_PINNED, *INTEGRATIONS, "integrations"):
        extras.pop(name)
    assert extras.pop("all") == [f"recsys-ndcg[{','.join(USERS)}]"]
    assert extras.keys() == {*USERS, "test", "peers"}
    declared = {*project["dependencies"], *chain(*extras.values())}
    form = re.search(r"grep -oE '\"(.*)\"' pyproject", (ROOT / ".ci" / "minimums").read_text())
    assert form
    assert [one for one in declared if not re.fullmatch(form[1], one)] == []
    names = [one.partition(">=")[0] for one in declared]
    assert sorted(set(names)) == sorted(names)
