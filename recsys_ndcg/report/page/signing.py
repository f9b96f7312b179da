"""The last section of every page: how the numbers came about, and how to get them again."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.errors.visible import visible
from recsys_ndcg.rendering.page.names import shortened
from recsys_ndcg.rendering.page.parts import Code, Section, Sentences
from recsys_ndcg.rendering.table import signature_texts
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recsys_ndcg.rendering.view import Signing

_HOW = "What has to be typed for the same numbers, and the complete choices behind each of them."


def signing(
    signed: Signing, names: Sequence[str], typed: str, command: str | None = None
) -> Section:
    """Return the section of the command, the signatures and the versions.

    Parameters
    ----------
    signed : Signing
        A report or a comparison.
    names : sequence of str
        That may be too long to be shown.
    typed : str
        The lines of Python.
    command : str, optional
        The command line, if the page was made by one.
    """
    lines = (shortened(visible(line), names, isolate=False) for line in typed.splitlines())
    asked = [] if command is None else [Code("The command", visible(command))]
    texts = (shortened(one, names, isolate=False) for one in signature_texts(signed))
    return Section(
        "how",
        "How this was computed",
        _HOW,
        [
            *asked,
            Code("The same in Python", "\n".join(lines)),
            Code("The signatures", "\n".join(texts)),
            Sentences([f"Made with {_versions()}."]),
        ],
    )


def _versions() -> str:
    known = {
        "recsys_ndcg": __version__,
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "pandas": pd.__version__,
        "SciPy": version("scipy"),
    }
    return ", ".join(f"{name} {number}" for name, number in known.items())
