"""The metadata of pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest

from tests.pages import ROOT, text_of

PROJECT: dict[str, Any] = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]


def test_classifiers_are_those_of_the_index() -> None:
    """It refuses others. The licence has an expression, which excludes a classifier."""
    trove_classifiers = pytest.importorskip("trove_classifiers", reason="pip install -e '.[ci]'")
    named = PROJECT["classifiers"]
    assert {*named} <= trove_classifiers.classifiers
    assert not {*named} & trove_classifiers.deprecated_classifiers.keys()
    assert named == sorted({*named}, key=_by_number)
    assert not [one for one in named if one.startswith("License ::")]


def _by_number(name: str) -> list[tuple[int, str]]:
    """Return the key that sorts 3.9 before 3.11."""
    return [(int(one) if one.isdigit() else 0, one) for one in re.split(r"(\d+)", name)]


def test_addresses_are_of_one_home() -> None:
    """Under the names that the index knows."""
    urls = PROJECT["urls"]
    assert [*urls] == ["Documentation", "Source", "Changes", "Issues"]
    assert all(one.startswith(urls["Source"]) for one in urls.values())
    for name, place in (("Documentation", "docs"), ("Changes", "CHANGELOG.md")):
        assert urls[name].endswith(f"/main/{place}")
        assert (ROOT / place).exists()
