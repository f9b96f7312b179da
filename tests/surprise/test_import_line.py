"""Of a script for Surprise the import line changes, and nothing else."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import types
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from recsys_ndcg.datasets import sample_ratings
from tests.surprise.scripts import SCRIPTS

surprise = pytest.importorskip("surprise")

from recsys_ndcg import surprise as ours  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

#: What is ours in place of Surprise's, for the sake of the ranking measures.
REPLACED = {
    "surprise": {"accuracy", "model_selection"},
    "surprise.accuracy": set(),
    "surprise.model_selection": {
        "GridSearchCV",
        "RandomizedSearchCV",
        "cross_validate",
        "search",
        "validation",
    },
}


def names_of(module: Any) -> list[str]:
    """Return what a module offers: its names in ``__all__``, and other public ones."""
    listed = getattr(module, "__all__", [])
    return sorted({*listed, *(name for name in vars(module) if not name.startswith("_"))})


@pytest.mark.parametrize("library", REPLACED)
def test_a_name_of_surprise_is_here_too(library: str) -> None:
    """Every one of the installed version, and the very same object unless it is replaced."""
    theirs, mine = (importlib.import_module(f"{place}{library}") for place in ("", "recsys_ndcg."))
    assert mine is not theirs
    for name in names_of(theirs):
        value = getattr(theirs, name)
        if isinstance(value, types.ModuleType) and not value.__name__.startswith("surprise"):
            continue  # what it has imported itself
        if name == "defaultdict":
            continue
        assert hasattr(mine, name), f"{library}.{name}"
        assert (getattr(mine, name) is value) is (name not in REPLACED[library]), name


@pytest.mark.parametrize("library", ["surprise", "surprise.model_selection"])
def test_a_star_brings_all_that_it_brings_from_surprise(library: str) -> None:
    """And what is ours; no submodule that a script may have a variable of the name of."""
    found: dict[str, dict[str, Any]] = {}
    for place in ("", "recsys_ndcg."):
        found[place] = {}
        exec(f"from {place}{library} import *", found[place])  # noqa: S102 - our own
    theirs, mine = found[""], found["recsys_ndcg."]
    assert set(theirs) <= set(mine)
    assert not {"dataset", "reader", "trainset", "utils", "similarities"} & set(mine)
    assert mine["cross_validate"] is ours.cross_validate
    assert "UserKFold" in mine


def test_names_of_model_selection_are_at_the_top_too() -> None:
    """Where its import becomes that of the plug-in."""
    for name in surprise.model_selection.__all__:
        assert getattr(ours, name) is getattr(ours.model_selection, name)
        assert name in ours.__all__
        assert name in ours.model_selection.__all__


def test_submodules_exist_once() -> None:
    """A class of theirs is found under either name; one that is ours stays ours."""
    for name in ("dataset", "prediction_algorithms.knns", "model_selection.split", "dump"):
        theirs = importlib.import_module(f"surprise.{name}")
        assert importlib.import_module(f"recsys_ndcg.surprise.{name}") is theirs
    validation = importlib.import_module("recsys_ndcg.surprise.model_selection.validation")
    assert validation.cross_validate is ours.cross_validate
    assert surprise.model_selection.cross_validate is not ours.cross_validate
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("recsys_ndcg.surprise.data_set")


@pytest.mark.parametrize(
    "name", ["accuracy", "model_selection.search", "model_selection.validation"]
)
def test_a_submodule_of_ours_has_what_theirs_defines(name: str) -> None:
    """Such as `fit_and_score`, which scripts with loops of their own import."""
    theirs = importlib.import_module(f"surprise.{name}")
    mine = importlib.import_module(f"recsys_ndcg.surprise.{name}")
    assert mine is not theirs
    own = theirs.__name__
    defined = [one for one, it in vars(theirs).items() if getattr(it, "__module__", "") == own]
    assert defined
    assert [one for one in defined if not hasattr(mine, one)] == []


def changed(script: str) -> str:
    """Return a script with other import lines."""
    script = re.sub(r"^from surprise\b", "from recsys_ndcg.surprise", script, flags=re.MULTILINE)
    named = "import recsys_ndcg.surprise as surprise"
    script = re.sub(r"^import surprise$", named, script, flags=re.MULTILINE)
    return re.sub(r"^import surprise\.", "import recsys_ndcg.surprise.", script, flags=re.MULTILINE)


def ran(script: str) -> tuple[Any, str]:
    """Run a script; return its result, and what it prints with all times the same."""
    names: dict[str, Any] = {"__name__": "script"}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(script, "script.py", "exec"), names)  # noqa: S102 - our own
    lines = printed.getvalue().splitlines()
    timeless = [
        re.sub(r"\d+\.\d\d", "t.tt", one) if one.startswith(("Fit time", "Test time")) else one
        for one in lines
    ]
    return names["result"], "\n".join(timeless)


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # as scripts are
def test_a_script_does_the_same_under_another_import(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it computes, to the last bit, and what it prints but for the times."""
    monkeypatch.chdir(tmp_path)
    frame = sample_ratings(25, 30)
    frame["rating"] = frame["rating"].round().clip(1)  # halves are cut by some, which we warn of
    frame.to_csv("ratings.csv", header=False, index=False)
    script = SCRIPTS[name]
    assert "recsys_ndcg" not in script
    theirs, said = ran(script)
    mine, also_said = ran(changed(script))
    np.testing.assert_equal(mine, theirs)
    assert also_said == said
