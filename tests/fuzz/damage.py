"""What the targets share: bytes damaged by chance, and files with their name in the first line."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any


def damage(chance: random.Random, content: bytes, times: int, begin: int = 0) -> bytes:
    """Change bytes at some places, mostly behind `begin`: replace, flip, insert or remove them."""
    changed = bytearray(content)
    for _ in range(times):
        changed = changed or bytearray(b"{")
        first = max(0, min(begin, len(changed) - 1)) if chance.random() < 0.6 else 0
        place, few = chance.randrange(first, len(changed)), chance.randrange(9)
        way = chance.randrange(7)
        if way == 0:
            changed[place] = chance.choice((0, 1, 255, chance.randrange(128), *chance.randbytes(1)))
        elif way == 1:
            changed[place] ^= 1 << chance.randrange(8)
        elif way == 2:
            changed[place : place + few] = chance.randbytes(chance.randrange(9))
        elif way == 3:  # a number of several bytes, as thrift writes them
            changed[place : place + few + 1] = b"\xff" * few + b"\x7f"
        elif way == 4:
            del changed[place : place + chance.randrange(1, 200)]
        elif way == 5:
            changed[place:place] = changed[: chance.randrange(1, 200)]
        elif chance.random() < 0.3:
            del changed[place:]
    return bytes(changed)


def write_named(case: bytes, folder: Path) -> Path:
    """Write the rest of a case to a file with the name in its first line."""
    name, _, content = case.partition(b"\n")
    path = folder / name.decode()
    path.write_bytes(content)
    return path


def saved_bytes(found: Any) -> bytes:
    """Return the file that a report or a comparison saves."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "saved.json"
        found.save(path)
        return path.read_bytes()
