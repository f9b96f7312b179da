"""The pages for contributors: their diffs apply and do what they promise, their picture is true."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import recsys_ndcg
from tests.contributing import (
    NAMES,
    PAGES,
    apply_diff,
    can_apply,
    changed_files,
    copy_checkout,
    copy_files,
    diff_of,
)
from tests.pages import ROOT, fenced, page_of, text_of

NEEDS_PROGRAM = pytest.mark.skipif(not can_apply(), reason="patch is not installed")
NEEDS_SOURCE = pytest.mark.skipif(
    not (ROOT / "recsys_ndcg").is_dir(), reason="the package is installed, not in a checkout"
)
PICTURE = PAGES / "data-flow.svg"
SVG = "{http://www.w3.org/2000/svg}"
PACKAGE = Path(recsys_ndcg.__file__).parent


def _assert_applies(name: str, folder: Path) -> None:
    problems = apply_diff(diff_of(name), folder)
    advice = f"The code around {name}.diff has changed: python -m tests.contributing renew {name}"
    assert not problems, f"{advice}\n{problems}"


@NEEDS_PROGRAM
@NEEDS_SOURCE
@pytest.mark.parametrize("name", NAMES)
def test_a_diff_applies(name: str, tmp_path: Path) -> None:
    """To the files as they are now; the page includes it."""
    copy_files(changed_files(diff_of(name)), tmp_path)
    _assert_applies(name, tmp_path)
    assert f"```{{literalinclude}} {name}.diff\n" in text_of(page_of(name))


@NEEDS_PROGRAM
@NEEDS_SOURCE
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_what_a_diff_adds_works(name: str, tmp_path: Path) -> None:
    """In a copy of the checkout: the page's commands with pytest, and its use as it is shown."""
    copy = tmp_path / "checkout"
    copy_checkout(copy)
    _assert_applies(name, copy)
    (use,) = fenced(page_of(name), "pycon")
    (copy / "use.txt").write_text(use, encoding="utf-8")
    _run("doctest", "-o", "NORMALIZE_WHITESPACE", "use.txt", folder=copy)
    commands = re.findall(r"^ *pytest (.+)$", text_of(page_of(name)), re.MULTILINE)
    assert commands
    for words in map(str.split, commands):
        assert " passed" in _run("pytest", "-n0", "-p", "no:cacheprovider", *words, folder=copy)


def _run(*words: str, folder: Path) -> str:
    """Run a module of Python in a copy of the checkout, and return what it prints."""
    variables = os.environ | {"PYTHONPATH": str(folder), "PYTHONUTF8": "1"}
    command = [sys.executable, "-m", *words]
    done = subprocess.run(  # noqa: S603 - our own
        command, cwd=folder, env=variables, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_picture_names_folders_that_exist() -> None:
    """In the package."""
    root = ET.parse(PICTURE).getroot()  # noqa: S314 - our own
    rooms = [str(one.text) for one in root.iter(f"{SVG}text") if one.get("class") == "room"]
    assert len(rooms) >= 8
    assert [one for one in rooms if not (PACKAGE / one.rstrip("/")).is_dir()] == []


def test_the_picture_can_be_read_without_seeing_it_and_in_the_dark() -> None:
    """It has a title and a description, and the colour of the text around it."""
    text = PICTURE.read_text(encoding="utf-8")
    root = ET.fromstring(text)  # noqa: S314 - our own
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert root.get("role") == "img"
    assert title is not None
    assert description is not None
    assert str(root.get("aria-labelledby")).split() == [title.get("id"), description.get("id")]
    assert "currentColor" in text
    assert not re.search(r"#[0-9a-fA-F]{3,6}\b|rgb\(", text)


def test_commands_on_the_pages_name_what_exists() -> None:
    """Scripts, modules and test files."""
    for page in sorted(PAGES.glob("*.md")):
        commands = "".join(fenced(page, "sh")) + "\n".join(
            re.findall(r"`([^`\n]+)`", text_of(page))
        )
        for name in re.findall(r"(?<![\w/.])(?:tests|benchmarks|\.ci)/[\w/.]*\w", commands):
            assert (ROOT / name).exists() or not (ROOT / name.split("/")[0]).exists(), name
        for module in re.findall(r"-m (tests[\w.]*)", commands):
            place = ROOT.joinpath(*module.split("."))
            assert place.is_dir() or place.with_suffix(".py").exists(), module
