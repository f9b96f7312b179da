"""What a release promises: one version, a closed changelog, links on the index that work."""

from __future__ import annotations

import re
import tomllib

from tests import pages
from tests.pages import README, ROOT, text_of

PROJECT = tomllib.loads(text_of(ROOT / "pyproject.toml"))
WORKFLOW = text_of(ROOT / ".github" / "workflows" / "ci.yml")


def test_links_of_the_readme_lead_from_the_index_to_the_tag() -> None:
    """As the build rewrites them; code stays as it is."""
    hook = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    text = text_of(README)
    for one in hook["substitutions"]:
        text = re.sub(one["pattern"], one["replacement"], text)
    site = "https://github.com/recsys-ndcg/recsys-ndcg"
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
