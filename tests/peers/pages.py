"""Run a page of docs/coming-from where its library is installed.

``python -m tests.peers.pages ranx`` runs the examples of docs/coming-from/ranx.md and compares
their output with the page. Our own examples run only if our dependencies are installed, too.
"""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from pathlib import Path

from tests import pages


def page_of(library: str) -> Path:
    """Return the page on coming from a library, which may not exist."""
    return pages.ROOT / "docs" / "coming-from" / f"{library}.md"


def is_installed(library: str) -> bool:
    """Return whether Python finds a library, and ours with what it depends on."""
    if library != "recsys_ndcg":
        return pages.is_installed(library)
    needed = all(map(pages.is_installed, ("narwhals", "pandas", "scipy")))
    return needed and not import_module("numpy").__version__.startswith("1.")


def differences(library: str) -> list[str]:
    """Run a page and return what differs from it."""
    session, found = pages.Session(is_installed), []
    examples = pages.examples(page_of(library))
    theirs = [code for code, _ in examples if library in pages.imported(ast.parse(code))]
    if not theirs:
        found.append(f"no example imports {library}")
    ran = 0
    for number, (code, printed) in enumerate(examples):
        if session.can_run(code):
            shown = session.run(code, f"block {number}")
            ran += 1
            if printed is not None and shown != printed:
                found.append(f"block {number} prints\n{shown}instead of\n{printed}")
        elif code in theirs:
            found.append(f"block {number} imports {library}, but cannot run")
    print(f"{ran} of {len(examples)} examples ran")
    return found


if __name__ == "__main__":
    if different := differences(sys.argv[1]):
        sys.exit("\n".join(different))
