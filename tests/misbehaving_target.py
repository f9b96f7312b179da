"""A target of the fuzzer that misbehaves in every way that it has to notice."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import recsys_ndcg as rn

WAYS = (b"succeeds", b"refuses", b"escapes", b"hangs", b"fills the memory", b"kills itself")


def case(chance: random.Random) -> bytes:
    """Choose a way."""
    return chance.choice(WAYS)


def run(case: bytes, folder: Path) -> None:
    """Go that way."""
    (folder / "seen").touch()
    if case == b"refuses":
        rn.evaluate([])
    elif case == b"escapes":
        raise KeyError(case)
    elif case == b"fills the memory":
        bytearray(1 << 30)
    elif case == b"kills itself":
        os.kill(os.getpid(), signal.SIGKILL)
    while case == b"hangs":
        pass
