"""Import scikit-surprise, and offer its modules and names under our name, too."""

from __future__ import annotations

import os
import sys
import tempfile
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from recsys_ndcg.errors import require_libraries


def import_library(job: str) -> Any:
    """Return scikit-surprise for a job that needs it.

    Raises
    ------
    MissingExtraError
        scikit-surprise is not installed, or cannot be imported.
    """
    try:
        import_module("surprise")
    except OSError:  # the import makes a folder in the home directory, which may be read-only
        os.environ["SURPRISE_DATA_FOLDER"] = tempfile.gettempdir()
    except Exception:  # noqa: BLE001, S110 - reported below
        pass
    with require_libraries("joblib", "surprise", job=job, extra="surprise"):
        import_module("surprise.accuracy")  # a script called surprise.py has none
    return import_module("surprise")


def register_submodules(package: str) -> None:
    """Make the submodules of the library importable from a package with the same layout.

    ``from recsys_ndcg.surprise.dataset import Dataset`` finds the library's own module, so no class
    exists twice. Modules of the package itself have priority, and are not imported by this.

    Parameters
    ----------
    package : str
        The name of an imported package.
    """
    for name, module in sorted(sys.modules.items()):
        if not name.startswith("surprise."):
            continue
        parent, _, own = f"{package}{name.removeprefix('surprise')}".rpartition(".")
        above = import_module(parent)
        theirs = above is sys.modules[name.rpartition(".")[0]]
        if theirs or find_spec(f"{parent}.{own}") is None:
            sys.modules.setdefault(f"{parent}.{own}", module)
            if own not in vars(above):
                setattr(above, own, module)


def add_missing_names(module: str, library: str) -> None:
    """Add to our module the names that only the library's module defines, such as `fit_and_score`.

    Parameters
    ----------
    module, library : str
        The names of two imported modules.
    """
    ours = sys.modules[module]
    known = {*vars(ours), *getattr(ours, "__all__", ())}
    for name, value in vars(sys.modules[library]).items():
        if name not in known and str(getattr(value, "__module__", "")).startswith("surprise."):
            setattr(ours, name, value)


def print_line(text: str) -> None:
    """Print a line, as Surprise does under ``verbose=True``."""
    print(text)  # noqa: T201
