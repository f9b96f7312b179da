"""How Sphinx builds the site: ``sphinx-build -M html docs docs/_build -W``."""

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from recsys_ndcg.version import __version__  # noqa: E402 - after the path

project = "recsys_ndcg"
author = copyright = "The recsys_ndcg contributors"  # noqa: A001 - Sphinx's name
release = version = __version__
extensions = [
    "myst_nb", "sphinx.ext.autodoc", "numpydoc", "sphinx_copybutton", "sphinx_design",
    "site_math", "site_pages",
]  # fmt: skip
exclude_patterns = ["_build", "**/_*.md", "paper"]

# Markdown as GitHub reads it: the same links to headings; formulas between dollars
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "dollarmath"]
# notebooks of Get started run at every build, and an error in one of them ends it
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True
nb_execution_in_temp = True  # files that they write are not kept
# a chart is its picture: the library that draws it in a browser would come from a network
nb_mime_priority_overrides = [("html", "image/png", 5)]
suppress_warnings = ["mystnb.unknown_mime_type"]  # the chart for that library

default_role = "py:obj"
add_module_names = False
autodoc_member_order = "groupwise"
autodoc_typehints = "none"  # docstrings have them, in words
numpydoc_show_class_members = False  # autodoc lists them
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "pydata_sphinx_theme"
html_title = f"recsys_ndcg {__version__}"
html_extra_path = ["_extra"]
html_static_path = ["_static"]
html_search_scorer = str(HERE / "search_scores.js")
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options: dict[str, Any] = {
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_nav_level": 1,
    "navigation_depth": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}
html_sidebars = {"index": [], "changes": [], "gallery/index": []}
