"""What a release promises: one version, a closed changelog, links on the index that work."""

from __future__ import annotations

import re
import tomllib

from tests import pages
from tests.pages import README, ROOT, text_of

PROJECT = tomllib.loads(text_of(ROOT / "pyproject.toml"))


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
