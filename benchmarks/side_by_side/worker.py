"""A process that keeps a frame in memory and runs one library on it on request.

    python worker.py LIBRARY

LIBRARY is a module of the folder libraries/ with ``DISTRIBUTION`` and ``means(frame)``. Requests
are lines of JSON on standard input, answers are lines on standard output: ``{"frame": folder}``
reads the columns, untimed; ``{"run": watch}`` runs the library once and returns CPU and wall
seconds, means and, if `watch`, the memory added. It needs only the standard library, NumPy and
pandas.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import warnings
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from measuring import read_clocks, read_memory, reset_peak

COLUMNS = ("user", "item", "estimated", "true")


def read_frame(folder: str) -> pd.DataFrame:
    """Read the columns that `side_by_side.processes.save` wrote."""
    return pd.DataFrame({name: np.load(Path(folder) / f"{name}.npy") for name in COLUMNS})


def run(library: Any, frame: pd.DataFrame, *, watch: bool) -> dict[str, Any]:
    """Run a library once."""
    gc.collect()
    before = reset_peak() if watch else 0
    start = read_clocks()
    means = library.means(frame)
    seconds = (read_clocks() - start).tolist()
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
