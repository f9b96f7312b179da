"""What pyproject.toml declares can be pinned, which is how CI installs the oldest of everything."""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_every_library_has_one_minimum_in_the_form_that_ci_pins() -> None:
    """One without would be installed at its newest, and be called tested at its oldest."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    everything = extras.pop("all")
    extras.pop("mutation")  # a tool on top of all, which the suite does not use
    extras.pop("browser")  # large, and needs a browser: CI has a step for it
    extras.pop("spark")  # large, and needs a Java: CI has an environment for it
    assert everything == [f"recsys-ndcg[{','.join(extras)}]"]
    declared = {*project["dependencies"], *chain(*extras.values())}
    form = re.search(r"grep -oE '\"(.*)\"' pyproject", (ROOT / ".ci" / "minimums").read_text())
    assert form
    assert [one for one in declared if not re.fullmatch(form[1], one)] == []
    names = [one.partition(">=")[0] for one in declared]
    assert sorted(set(names)) == sorted(names)
