"""The README, CONTRIBUTING.md and the pages in docs/, as a reader meets them."""

from __future__ import annotations

import ast
import contextlib
import io
import re
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
README, CONTRIBUTING = ROOT / "README.md", ROOT / "CONTRIBUTING.md"
_FOLDER = ROOT / "docs"
#: The folders of the site whose pages the build writes; only `index.md` is written by hand.
WRITTEN_BY_THE_BUILD = ("metrics", "reference")
DOCS = sorted(
    one
    for one in _FOLDER.rglob("*.md")
    if one.parent.name not in WRITTEN_BY_THE_BUILD or one.name == "index.md"
    if not any(part.startswith("_") for part in one.relative_to(_FOLDER).parts)
)
PAGES = [README, CONTRIBUTING, *DOCS]
_FENCED = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
#: What MyST reads before the title of a notebook.
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n+", re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


class Example(NamedTuple):
    """Code that a reader would paste, and the output that the page shows, if any."""

    code: str
    printed: str | None


def page_of(name: str) -> Path:
    """Return the page in docs/ with a name."""
    (one,) = [page for page in DOCS if page.stem == name]
    return one


def text_of(page: Path) -> str:
    """Return the text of a page, from its title on."""
    return _FRONT_MATTER.sub("", page.read_text(encoding="utf-8"))


def block(name: str) -> str:
    """Return the block after a marker, without fences, on the one page that has it."""
    form = rf"^<!-- {name}:[^\n]*-->\n(.*?)\n<!-- end -->$"
    every = "\n".join(map(text_of, PAGES))
    (one,) = re.findall(form, every, re.DOTALL | re.MULTILINE)
    fenced = _FENCED.fullmatch(one)
    return fenced[2] if fenced else one


def read_search() -> list[str]:
    """Return the NDCG@10 over the catalogue that the block `rmse` shows for three lists.

    Those of the model that RMSE chooses, of the best model, and of the most popular items.
    """
    names = ("rmse", "ndcg@10:catalogue", "-")
    forms = (rf"^{name} .*?(\d\.\d+) +\d\.\d+$" for name in names)
    return [re.findall(form, block("rmse"), re.MULTILINE)[0] for form in forms]


def section(page: Path, title: str) -> str:
    """Return the section of a heading of the second level."""
    return text_of(page).split(f"\n## {title}\n")[1].split("\n## ")[0]


def fenced(page: Path, language: str) -> list[str]:
    """Return the blocks of a page in a language."""
    return [code for kind, code in _FENCED.findall(text_of(page)) if kind == language]


def examples(page: Path) -> list[Example]:
    """Return the Python of a page; a block of text right after it is its output."""
    text = text_of(page)
    found = []
    for one in _FENCED.finditer(text):
        if one[1] == "python":
            after = _FENCED.match(text, one.end() + 2)
            shown = after is not None and after[1] == "text"
            found.append(Example(one[2], after[2] if after and shown else None))
    return found


def is_installed(library: str) -> bool:
    """Return whether Python finds a library."""
    return find_spec(library) is not None


class Session:
    """Runs the examples of a page one after another, as one script: they share their names.

    An example cannot run if it imports a library that is not installed, or reads a name that only
    such an example defines.
    """

    def __init__(self, is_installed: Callable[[str], bool] = is_installed) -> None:
        self.names: dict[str, Any] = {}
        self._is_installed = is_installed
        self._undefined: set[str] = set()

    def can_run(self, code: str) -> bool:
        """Return whether an example can run; if not, the names that it defines are missing."""
        tree = ast.parse(code)
        used = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name)}
        defined = set(_defined(tree))
        missing = used & self._undefined - defined - self.names.keys()
        if missing or not all(map(self._is_installed, imported(tree))):
            self._undefined |= defined
            return False
        return True

    def run(self, code: str, place: str) -> str:
        """Run an example and return what it prints, without spaces at the ends of lines."""
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, place, "exec"), self.names)  # noqa: S102 - ours
        return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def imported(tree: ast.AST) -> set[str]:
    """Return the libraries that code imports; our plug-in imports Surprise."""
    found: set[str] = set()
    for one in ast.walk(tree):
        if isinstance(one, ast.Import):
            found |= {each.name for each in one.names}
        elif isinstance(one, ast.ImportFrom) and one.module:
            found.add(one.module)
    plugged_in = {"surprise" for name in found if name.startswith("recsys_ndcg.surprise")}
    return {name.partition(".")[0] for name in found} | plugged_in


def _defined(tree: ast.AST) -> Iterator[str]:
    """Yield the names that code assigns, imports, and gives to functions and classes."""
    for one in ast.walk(tree):
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            yield one.id
        elif isinstance(one, ast.alias):
            yield one.asname or one.name.partition(".")[0]
        elif isinstance(one, ast.FunctionDef | ast.ClassDef):
            yield one.name


def is_written_by_the_build(page: Path) -> bool:
    """Return whether a page does not exist because the build of the site writes it."""
    from recsys_ndcg.metrics import METRICS  # noqa: PLC0415 - other libraries' environments lack it

    folder = page.parent.name
    if page.parents[1] != ROOT / "docs" or page.suffix != ".md" or page.stem == "index":
        return False
    return page.stem in METRICS if folder == "metrics" else folder in WRITTEN_BY_THE_BUILD


def links(page: Path) -> list[str]:
    """Return the links of a page into the checkout: paths, each with its #anchor if any."""
    prose = re.sub(r"`[^`\n]*`", "", _FENCED.sub("", text_of(page)))
    return [link for link in _LINK.findall(prose) if "://" not in link]


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub makes them."""
    found: list[str] = []
    for heading in re.findall(r"^#+ (.+)$", _FENCED.sub("", text_of(page)), re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        found.append(f"{slug}-{n}" if (n := found.count(slug)) else slug)
    return set(found)
