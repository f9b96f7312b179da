"""How much memory a process takes at most while something is done."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from pathlib import Path

_RESET = "5"  # what Linux takes for it: the peak is what there is now
_UNIT = 1 if sys.platform == "darwin" else 1024


class Peak:
    """The most memory that this process has had since the object was made.

    Linux alone forgets what was before; elsewhere it is the most since the process began.
    """

    def __init__(self) -> None:
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text(_RESET, encoding="ascii")

    @property
    def megabytes(self) -> float:
        """How much, NaN where the system does not say."""
        with suppress(OSError):
            told = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
            found = re.search(r"VmHWM:\s*(\d+) kB", told)
            if found:
                return int(found[1]) * 1024 / 1e6
        with suppress(ImportError):
            import resource  # noqa: PLC0415 - not on Windows

            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT / 1e6
        return float("nan")
