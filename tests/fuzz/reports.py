"""Saved reports, damaged: `Report.load` rejects them quickly and in little memory.

No file that was damaged by chance is read. A file that was changed on purpose may be read, if its
digest was computed anew.
"""

from __future__ import annotations

import base64
import json
import random
import zlib
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import recsys_ndcg as rn
from tests.comparison.models import models
from tests.files.examples import reports
from tests.files.signing import signed
from tests.fuzz.damage import damage, saved_bytes

NUMBERS: list[Any] = [
    0, -0.0, 1, -1, 2, 3, 0.5, 1e-320, 1e300, 1e308, -1e308, 2**31, 2**63, 2**64, -(2**63) - 1,
    10**30, 10**400, 10**4000, float("inf"), float("-inf"), float("nan"),
]  # fmt: skip
WORDS: list[Any] = [
    None, True, False, "", "x", "\ud800", "\x00", "é\n", "9" * 5000, "rr", "ndcg@2", "ndcg@0",
    "<f8", "|b1", "<i8", "a" * 20_000, "rbp(p=9)@2", "callable(x)", "none", "nan", "map(1=2)",
    [], {}, [[]], [None], {"": {}}, [1, "a"], {"codes": {}, "values": {}}, {"steps": {}},
]  # fmt: skip


@cache
def _samples() -> list[bytes]:
    """Return real reports: of ids of every type, of few and of many users, with all metrics."""
    names = ["ap@3", "auc", "mae", "dcg@3", "hit@2"]
    made = [*reports().values(), rn.evaluate(models()["fair"], metrics=names, threshold=3)]
    return [*map(saved_bytes, made)]


def case(chance: random.Random) -> bytes:
    """Change a report here and there."""
    return damaged(chance, chance.choice(_samples()))


def damaged(chance: random.Random, content: bytes) -> bytes:
    """Change a saved file: in its structure, in its columns or in its bytes."""
    if chance.random() < 0.15:
        return damage(chance, content, chance.choice((1, 2, 9)))
    stored = json.loads(content)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        _change(chance, stored)
    if chance.random() < 0.8:
        return signed(stored)
    text = json.dumps(stored)
    if chance.random() < 0.2:
        text = text.replace("{}", '{"a":' * 40_000 + "1" + "}" * 40_000, 1)
    return text.encode()


def _change(chance: random.Random, stored: Any) -> None:
    """Change one part in place."""
    where = _somewhere(chance, stored)
    if not where:
        return
    parent, last = _at(stored, where[:-1]), where[-1]
    way = chance.randrange(9)
    if isinstance(parent[last], dict) and "shape" in parent[last] and way:
        parent[last] = _other_column(chance, parent[last])
    elif way == 0:
        del parent[last]
    elif way == 1:
        other = _at(stored, _somewhere(chance, stored))
        parent[last] = json.loads(json.dumps(other))  # a copy: nothing is a part of itself
    elif way == 2 and isinstance(parent, dict):
        parent[chance.choice([*map(str, WORDS)])] = parent.pop(last)
    elif way < 5 and isinstance(parent[last], str):
        parent[last] = _other_text(chance, parent[last])
    else:
        parent[last] = deepcopy(chance.choice(chance.choice((NUMBERS, WORDS))))


def _somewhere(chance: random.Random, stored: Any) -> tuple[Any, ...]:
    """Return the keys of a part at any level; a packed column is mostly one part."""
    where: tuple[Any, ...] = ()
    while isinstance(stored, dict | list) and stored:
        key = chance.choice([*(stored if isinstance(stored, dict) else range(len(stored)))])
        where, stored = (*where, key), stored[key]
        packed = isinstance(stored, dict) and "data" in stored
        if chance.random() < (0.8 if packed else 0.15):
            break
    return where


def _other_text(chance: random.Random, text: str) -> str:
    """Change a signature, or another text, a little."""
    parts = text.split("|")
    place = chance.randrange(len(parts))
    name, colon, _ = parts[place].partition(":")
    parts[place] = chance.choice(("", name, f"{name}{colon}{chance.choice(WORDS + NUMBERS[:19])}"))
    return "|".join(parts)


def _at(stored: Any, where: tuple[Any, ...]) -> Any:
    for key in where:
        stored = stored[key]
    return stored


def _other_column(chance: random.Random, packed: Any) -> Any:
    """Return a column with other values, or one that inflates to very much."""
    if chance.random() < 0.3:
        bomb = base64.b64encode(zlib.compress(bytes(chance.choice((10**5, 10**8))), 9)).decode()
        return packed | {"data": bomb} | ({"shape": [10**8]} if chance.random() < 0.5 else {})
    unpacked = zlib.decompress(base64.b64decode(packed["data"]))
    data = damage(chance, unpacked, chance.choice((1, 2, 9)))
    shape = chance.choice((packed.get("shape"), [len(data)], [-1], [1, len(data)], [2**62, 4]))
    kind = chance.choice((packed.get("dtype"), "<f8", "|u1", "|b1", "|O", "<U1"))
    changed = base64.b64encode(zlib.compress(data)).decode()
    return packed | {"data": changed, "shape": shape, "dtype": kind}


def run(case: bytes, folder: Path) -> None:
    """Load it."""
    path = folder / "r.json"
    path.write_bytes(case)
    rn.Report.load(path)
