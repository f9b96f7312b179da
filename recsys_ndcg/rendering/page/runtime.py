"""Vega, which draws the charts of a page: made once by vl-convert, and kept for the next time."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from recsys_ndcg.errors import InvalidInputError, needing
from recsys_ndcg.files.writing import write_whole

#: All that a page takes of it.
_SNIPPET = "window.recsysDraw = vegaEmbed;"
#: What would end a script, or hide its end.
_ENDS = re.compile(r"<(?=/script|!--)", re.IGNORECASE)


@cache
def runtime() -> str:
    """Return the script that defines ``recsysDraw``.

    Making it takes seconds, so that it is kept in the folder for caches. What was damaged there
    is made again, and where nothing can be kept nothing is.

    Raises
    ------
    MissingExtraError
        vl-convert is not installed.
    """
    with needing("vl_convert", job="A page with charts", extra="report"):
        import vl_convert  # noqa: PLC0415 - an extra

        known = sha256(_SNIPPET.encode()).hexdigest()[:12]
        folder = caches()
        path = folder and folder / f"vega-{version('vl-convert-python')}-{known}.js"
        found = path and _kept(path)
        if found:
            return found
        made = vl_convert.javascript_bundle(_SNIPPET)
    script = _ENDS.sub(r"\\x3c", made.replace("\r\n", "\n").replace("\r", "\n"))
    if path:
        _keep(script, path)
    return script


def caches() -> Path | None:
    """Return the folder for what can be made again; None where there is none."""
    told = os.environ.get("XDG_CACHE_HOME")
    if told and Path(told).is_absolute():
        return Path(told) / "recsys-ndcg"
    with suppress(RuntimeError):  # of who has no home
        home = Path.home()
        if sys.platform == "darwin":
            return home / "Library" / "Caches" / "recsys-ndcg"
        if sys.platform == "win32":
            return Path(os.environ.get("LOCALAPPDATA") or home) / "recsys-ndcg" / "Cache"
        return home / ".cache" / "recsys-ndcg"
    return None


def _kept(path: Path) -> str | None:
    """Return what was kept, if it is whole: its last line is its digest."""
    with suppress(OSError, ValueError):
        script, _, digest = path.read_bytes().rpartition(b"\n")
        if sha256(script).hexdigest().encode() == digest:
            return script.decode()
    return None


def _keep(script: str, path: Path) -> None:
    content = script.encode()
    with suppress(OSError, ValueError, InvalidInputError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content + b"\n" + sha256(content).hexdigest().encode())
