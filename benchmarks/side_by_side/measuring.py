"""CPU and wall seconds together, as an array of both; and the memory of this process."""

from __future__ import annotations

import ctypes
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def read_clocks() -> NDArray[np.float64]:
    """Return the CPU seconds of all threads of this process, user and system, and the wall's."""
    return np.array([time.process_time(), time.perf_counter()])


def time_call(work: Callable[[], Any]) -> NDArray[np.float64]:
    """Return the CPU and wall seconds of a call."""
    start = read_clocks()
    work()
    return read_clocks() - start


def time_fastest(work: Callable[[], Any], times: int) -> NDArray[np.float64]:
    """Return the fewest CPU and the fewest wall seconds of several runs."""
    fastest: NDArray[np.float64] = np.min([time_call(work) for _ in range(times)], axis=0)
    return fastest


def read_memory(name: str) -> int:
    """Return the memory of this process in bytes: VmRSS, or its peak VmHWM."""
    (line,) = [one for one in _STATUS.read_text().splitlines() if one.startswith(name)]
    return int(line.split()[1]) * 1024


def reset_peak() -> int:
    """Reset the peak of the memory of this process, and return its memory in bytes."""
    ctypes.CDLL(None).malloc_trim(0)  # memory kept for reuse would hide new memory
    _RESET.write_text("5")
    return read_memory("VmRSS")
