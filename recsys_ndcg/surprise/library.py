"""scikit-surprise itself, imported where it can be."""

from __future__ import annotations

import os
import tempfile
from importlib import import_module
from typing import Any

from recsys_ndcg.errors import MissingExtraError


def library(job: str) -> Any:
    """Return the library, for a job that needs it.

    Raises
    ------
    MissingExtraError
        scikit-surprise is not installed.
    """
    try:
        return import_module("surprise")
    except ImportError:
        raise MissingExtraError(job=job, extra="surprise") from None
    except OSError:  # importing it makes a folder in the home directory, which may not be writable
        os.environ["SURPRISE_DATA_FOLDER"] = tempfile.gettempdir()
        return import_module("surprise")
