"""A script for Surprise needs no change but its import lines."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import surprise

from recsys_ndcg import surprise as ours
from recsys_ndcg.datasets import sample_ratings
from tests.surprise.scripts import SCRIPTS

#: The names that are ours and not Surprise's own object.
FITTING = {"GridSearchCV", "RandomizedSearchCV", "cross_validate", "search", "validation"}
REPLACED: dict[str, set[str]] = {
    "surprise": {"accuracy", "model_selection"},
    "surprise.accuracy": set(),
    "surprise.model_selection": FITTING,
}


def import_both(name: str) -> list[types.ModuleType]:
    """Return Surprise's module of a name, and ours."""
    return [importlib.import_module(f"{place}{name}") for place in ("", "recsys_ndcg.")]


@pytest.mark.parametrize("library", REPLACED)
def test_every_public_name_of_surprise_exists_here(library: str) -> None:
    """It is the same object unless we replace it."""
    theirs, mine = import_both(library)
    assert mine is not theirs
    public = {*getattr(theirs, "__all__", []), *(one for one in vars(theirs) if one[0] != "_")}
    for name in public - {"defaultdict"}:
        value = getattr(theirs, name)
        if isinstance(value, types.ModuleType) and not value.__name__.startswith("surprise"):
            continue  # a module that Surprise imports
        assert (getattr(mine, name) is value) is (name not in REPLACED[library]), name


@pytest.mark.parametrize("library", ["surprise", "surprise.model_selection"])
def test_a_star_import_brings_the_names_of_surprise_and_ours(library: str) -> None:
    """It brings no submodule, because scripts use these names for variables."""
    found: dict[str, dict[str, Any]] = {"": {}, "recsys_ndcg.": {}}
    for place, names in found.items():
        exec(f"from {place}{library} import *", names)  # noqa: S102 - our own
    theirs, mine = found.values()
    assert set(theirs) <= set(mine)
    assert not {"dataset", "reader", "trainset", "utils", "similarities"} & set(mine)
    assert mine["cross_validate"] is ours.cross_validate
    assert "UserKFold" in mine


def test_names_of_model_selection_are_at_the_top_level_too() -> None:
    """The plug-in can be imported in place of either module."""
    for name in surprise.model_selection.__all__:
        assert getattr(ours, name) is getattr(ours.model_selection, name)
        assert name in ours.__all__
        assert name in ours.model_selection.__all__


def test_submodules_of_surprise_exist_once() -> None:
    """Both names give the same module, so no class exists twice; our own modules stay ours."""
    for name in ("dataset", "prediction_algorithms.knns", "model_selection.split", "dump"):
        theirs, mine = import_both(f"surprise.{name}")
        assert mine is theirs
    assert surprise.model_selection.cross_validate is not ours.cross_validate
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("recsys_ndcg.surprise.data_set")


@pytest.mark.parametrize("name", ["search", "validation"])
def test_our_submodules_have_everything_that_theirs_define(name: str) -> None:
    """Scripts with their own loops import `fit_and_score`, for example."""
    theirs, mine = import_both(f"surprise.model_selection.{name}")
    assert mine is not theirs
    own = theirs.__name__
    defined = [one for one, it in vars(theirs).items() if getattr(it, "__module__", "") == own]
    assert defined
    assert [one for one in defined if not hasattr(mine, one)] == []


def with_our_imports(script: str) -> str:
    """Return a script with its import lines changed."""
    script = re.sub(r"^from surprise\b", "from recsys_ndcg.surprise", script, flags=re.MULTILINE)
    named = "import recsys_ndcg.surprise as surprise"
    script = re.sub(r"^import surprise$", named, script, flags=re.MULTILINE)
    return re.sub(r"^import surprise\.", "import recsys_ndcg.surprise.", script, flags=re.MULTILINE)


def run(script: str) -> tuple[Any, str]:
    """Run a script; return its result and its output without the times."""
    names: dict[str, Any] = {"__name__": "script"}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(script, "script.py", "exec"), names)  # noqa: S102 - our own
    return names["result"], re.sub(r"(?m)^(Fit|Test) time.*$", "", printed.getvalue())


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # the scripts' own
def test_a_script_does_the_same_here(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    """Its results are equal to the last bit, and so is its output except for the times."""
    monkeypatch.chdir(tmp_path)
    frame = sample_ratings(25, 30)
    frame["rating"] = frame["rating"].round().clip(1)  # half stars make some algorithms warn
    frame.to_csv("ratings.csv", header=False, index=False)
    theirs, printed = run(SCRIPTS[name])
    mine, also_printed = run(with_our_imports(SCRIPTS[name]))
    np.testing.assert_equal(mine, theirs)
    assert also_printed == printed
