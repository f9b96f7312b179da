"""CITATION.cff, CONTRIBUTING.md, docs/SECURITY.md and the metadata of pyproject.toml."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import recsys_ndcg as rn
from tests.pages import CONTRIBUTING, ROOT, text_of

CITATION = ROOT / "CITATION.cff"
SECURITY = ROOT / "docs" / "SECURITY.md"
PROJECT: dict[str, Any] = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
#: Of version 1.2.0 of the Citation File Format.
REQUIRED = ("cff-version", "message", "title", "authors")


def _top_level(path: Path) -> dict[str, str]:
    """Return the keys of a YAML file at the left margin, with the text behind each."""
    found = re.findall(r"^([\w-]+):(.*)$", text_of(path), re.MULTILINE)
    assert len(dict(found)) == len(found)
    return {name: text.strip().strip('"') for name, text in found}


def test_the_citation_has_the_version_and_the_licence_of_the_package() -> None:
    """And the keys that the format requires, the date of the changelog, one entity of authors."""
    keys = _top_level(CITATION)
    assert keys.keys() >= {*REQUIRED}
    assert keys["cff-version"] == "1.2.0"
    assert keys["license"] == PROJECT["license"]
    assert keys["version"] == rn.__version__.partition(".dev")[0]
    heading = f"\n## {keys['version']} - {keys.get('date-released', 'unreleased')}\n"
    assert heading in text_of(ROOT / "CHANGELOG.md")
    assert keys["repository-code"] == PROJECT["urls"]["Source"]
    assert keys["abstract"] == PROJECT["description"]
    assert 'authors:\n  - name: "The recsys_ndcg contributors"\n' in text_of(CITATION)


def test_every_promise_names_tests_that_exist() -> None:
    """Of a function the file too; a row without a test would be no promise."""
    promised, _, _ = text_of(SECURITY).partition("## Not promised")
    rows = [line for line in promised.splitlines() if line.startswith("| ")]
    promises = [line for line in rows if not line.startswith("| promise |")]
    assert len(promises) > 15
    for line in promises:
        _, promise, tests, _ = map(str.strip, line.split("|"))
        named = re.findall(r"`(tests/[^`]*)`", tests)
        assert named, promise
        assert re.sub(r"`[^`]*`|[, ]", "", tests) == "", promise
        for one in named:
            _check_exists(one)


def _check_exists(name: str) -> None:
    """Check that a test exists: ``tests/file.py``, or ``tests/file.py::test``."""
    path, colons, function = name.partition("::")
    assert (ROOT / path).is_file(), name
    if colons:
        tree = ast.parse(text_of(ROOT / path))
        functions = [one.name for one in tree.body if isinstance(one, ast.FunctionDef)]
        assert function.startswith("test_"), name
        assert function in functions, name


def test_a_missing_test_is_noticed() -> None:
    """Of a missing file, and of a missing function."""
    for name in ("tests/no_file.py", f"tests/{Path(__file__).name}::test_no_function"):
        with pytest.raises(AssertionError, match=re.escape(name)):
            _check_exists(name)


def test_the_guide_for_contributors_is_short() -> None:
    """What is longer has a page. `tests/test_pages.py` checks its links."""
    assert len(text_of(CONTRIBUTING).splitlines()) <= 60


def test_the_guide_names_commands_and_extras_that_exist() -> None:
    """Each program is one of an extra, a module of ours, or a script in .ci."""
    for extras in re.findall(r"-e '\.\[(.*?)\]'", text_of(CONTRIBUTING)):
        assert {*extras.split(",")} <= PROJECT["optional-dependencies"].keys()
    for path in re.findall(r"^(\.ci/\w+)|(?<=[ `])(tests/[\w./]+)", text_of(CONTRIBUTING)):
        assert all((ROOT / one).exists() for one in path), path
    for module in re.findall(r"-m (tests\.\w+)", text_of(CONTRIBUTING)):
        place = ROOT / module.replace(".", "/")
        assert place.with_suffix(".py").exists() or (place / "__main__.py").exists(), module


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
