"""A process that keeps a frame in memory and runs one library on it on request.

    python worker.py LIBRARY

LIBRARY is a module of the folder libraries/ with ``DISTRIBUTION`` and ``means(frame)``. Requests
are lines of JSON on standard input, answers are lines on standard output: ``{"frame": folder}``
reads the columns, untimed; ``{"run": watch}`` runs the library once and returns seconds, means and,
if `watch`, the memory added. It needs only the standard library, NumPy and pandas.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import sys
import time
import warnings
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

COLUMNS = ("user", "item", "estimated", "true")
_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def read_frame(folder: str) -> pd.DataFrame:
    """Read the columns that `side_by_side.processes.save` wrote."""
    return pd.DataFrame({name: np.load(Path(folder) / f"{name}.npy") for name in COLUMNS})


def read_memory(name: str) -> int:
    """Return the memory of this process in bytes: VmRSS, or its peak VmHWM."""
    (line,) = [one for one in _STATUS.read_text().splitlines() if one.startswith(name)]
    return int(line.split()[1]) * 1024


def run(library: Any, frame: pd.DataFrame, *, watch: bool) -> dict[str, Any]:
    """Run a library once."""
    gc.collect()
    before = 0
    if watch:
        ctypes.CDLL(None).malloc_trim(0)  # memory kept for reuse would hide new memory
        _RESET.write_text("5")  # resets the peak
        before = read_memory("VmRSS")
    start = time.perf_counter()
    means = library.means(frame)
    seconds = time.perf_counter() - start
    rise = max(read_memory("VmHWM") - before, 0) if watch else None
    means = {name: float(value) for name, value in means.items()}
    return {"seconds": seconds, "memory": rise, "means": means}


def main() -> None:
    """Answer requests until standard input ends."""
    warnings.simplefilter("ignore")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # a library's output must not mix with the answers
    library: Any = None
    frame = pd.DataFrame()
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, Any]
        try:
            if library is None:
                library = import_module(f"libraries.{sys.argv[1]}")
            if "frame" in request:
                frame = read_frame(request["frame"])
                answer = {"version": version(library.DISTRIBUTION)}
            else:
                answer = run(library, frame, watch=request["run"])
        except Exception as error:  # noqa: BLE001 - any error of a library is shown in the table
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
