"""scikit-surprise itself, imported where it can be."""

from __future__ import annotations

import os
import tempfile
from importlib import import_module
from typing import Any

from recsys_ndcg.errors import needing


def library(job: str) -> Any:
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
    with needing("joblib", "surprise", job=job, extra="surprise"):
        import_module("surprise.accuracy")  # which a script of that name does not have
    return import_module("surprise")
