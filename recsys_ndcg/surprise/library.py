"""scikit-surprise itself, imported where it can be, under our name too, and printing as it does."""

from __future__ import annotations

import os
import sys
import tempfile
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from recsys_ndcg.errors import require_libraries


def import_library(job: str) -> Any:
    """Return the library, for a job that needs it.

    Raises
    ------
    MissingExtraError
        scikit-surprise is not installed, or cannot be imported.
    """
    try:
        import_module("surprise")
    except OSError:  # importing it makes a folder in the home directory, which may not be writable
        os.environ["SURPRISE_DATA_FOLDER"] = tempfile.gettempdir()
    except Exception:  # noqa: BLE001, S110 - said below
        pass
    with require_libraries("joblib", "surprise", job=job, extra="surprise"):
        import_module("surprise.accuracy")  # which a script of that name does not have
    return import_module("surprise")


def stand_for_library(package: str) -> None:
    """Let the submodules of the library be imported from a package of the same layout.

    ``from recsys_ndcg.surprise.dataset import Dataset`` finds the very module that the library
    has loaded, so that no class exists twice. Modules that the package has itself stay its own,
    and are not imported by this.

    Parameters
    ----------
    package : str
        By the name under which it is imported already, as the library is.
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


def complete(module: str, library: str) -> None:
    """Give a module of ours what that of the library defines and ours lacks, as `fit_and_score`.

    Parameters
    ----------
    module, library : str
        The names of both, imported already.
    """
    ours = sys.modules[module]
    known = {*vars(ours), *getattr(ours, "__all__", ())}
    for name, value in vars(sys.modules[library]).items():
        if name not in known and str(getattr(value, "__module__", "")).startswith("surprise."):
            setattr(ours, name, value)


def say(text: str) -> None:
    """Print, as Surprise does under ``verbose=True``."""
    print(text)  # noqa: T201
