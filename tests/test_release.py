"""What a release promises: one version, a closed changelog, links on the index that work."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import recsys_ndcg as rn
from tests import pages
from tests.pages import README, ROOT, text_of

PROJECT = tomllib.loads(text_of(ROOT / "pyproject.toml"))
WORKFLOW = text_of(ROOT / ".github" / "workflows" / "ci.yml")
_PACKAGE = Path(rn.__file__).parent


def test_the_version_is_in_one_file() -> None:
    """Other code and settings read it; documents show what programs print."""
    folders = [_PACKAGE, *(ROOT / name for name in ("tests", "examples", "benchmarks", ".ci"))]
    files = [one for folder in folders for one in folder.rglob("*") if one.suffix in {".py", ""}]
    form = re.compile(rf"(?<![\w.]){re.escape(rn.__version__)}(?![\w.])")
    found = [
        one
        for one in [ROOT / "pyproject.toml", *files]
        if one.is_file() and form.search(text_of(one))
    ]
    assert found == [_PACKAGE / "version.py"]


def test_the_changelog_of_a_release_is_closed() -> None:
    """It has a date, and begins with the numbers that changed since the release before."""
    release, _, state = rn.__version__.partition(".dev")
    own, *before = text_of(ROOT / "CHANGELOG.md").split("\n## ")[1:]
    date = "unreleased" if state else r"20\d\d-\d\d-\d\d"
    assert re.match(rf"{re.escape(release)} - {date}\n", own)
    if before:
        assert re.findall(r"^### (.*)$", own, re.MULTILINE)[0] == "Changed numbers"


def test_links_of_the_readme_lead_from_the_index_to_the_tag() -> None:
    """As the build rewrites them; code stays as it is."""
    hook = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    text = text_of(README)
    for one in hook["substitutions"]:
        text = re.sub(one["pattern"], one["replacement"], text)
    site = PROJECT["project"]["urls"]["Source"]
    for link in pages.links(README):
        if not link.startswith("#"):
            kind = "raw" if link.endswith(".png") else "blob"
            assert f"]({site}/{kind}/v$HFPR_VERSION/{link})" in text
            assert f"]({link})" not in text
    code = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
    assert code.findall(text) == code.findall(text_of(README))


def test_the_workflow_runs_the_checks_and_nothing_else() -> None:
    """So that every machine runs the same ones."""
    assert re.findall(r"\brun: *(.*)", WORKFLOW) == [".ci/run"]
    used = re.findall(r"\buses: *([\w/-]+)@", WORKFLOW)
    assert used == ["actions/checkout", "actions/setup-python"]
    assert re.findall(r"permissions:\n((?: +.*\n)+)", WORKFLOW) == ["  contents: read\n"]


def test_the_forge_has_every_python_that_is_declared() -> None:
    """And the oldest as python3."""
    declared = re.findall(
        r"Python :: (3\.\d+)$", "\n".join(PROJECT["project"]["classifiers"]), re.MULTILINE
    )
    given = re.findall(r"^ +(3\.\d+)$", WORKFLOW, re.MULTILINE)
    assert {*declared} <= {*given}
    assert f">={given[-1]}" == PROJECT["project"]["requires-python"] == f">={declared[0]}"
