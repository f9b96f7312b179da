"""CSV and TREC files, damaged, and plain objects that hold what they must not."""

from __future__ import annotations

import random
from pathlib import Path

import recsys_ndcg as rn
from recsys_ndcg.files import Content
from recsys_ndcg.ratings import read_ratings
from tests.fuzz.damage import damage, write_named
from tests.input.tables import compare_readings

CELLS = [
    "", " ", "nan", "NaN", "inf", "-inf", "1e400", "1e308", "-1e308", "1e-400", "9" * 400,
    "9" * 5000, "-1", "0", "1.5", "1,5", "1_000", "0x10", "\u0661", "½", "x", '"', '""', '"x',
    "\0", "\r", "\n", "\r\n", "\t", ",", ";", "|", "::", "\ufeff", "\u2028", "\x85", "\x1c", "é",
    "\U0001f600", "true", "None", "null", "18446744073709551616", "9223372036854775808",
    "x" * 100_000, "1" + "0" * 20, "0042", "+1", "1e5", "\\", "'", "#", "=1+1",
]  # fmt: skip
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252")
KINDS = ("p.csv", "p.tsv", "p.dat", "qrels", "run", "ratings")


def case(chance: random.Random) -> bytes:
    """Write a file of one of the kinds, its name in the first line, and damage it."""
    kind = chance.choice(KINDS)
    rows = [[*_row(kind, place)] for place in range(chance.choice((1, 3, 40)))]
    if kind.startswith("p.") or (kind == "ratings" and chance.random() < 0.5):
        rows.insert(0, ["user", "item", "estimated", "true"][: len(rows[0])])
    for _ in range(chance.choice((0, 1, 1, 2, 5))):
        _damage(chance, rows)
    separator = " " if kind in {"qrels", "run"} else chance.choice(",,\t;|") or ","
    separator = "::" if kind == "ratings" and chance.random() < 0.3 else separator
    end = chance.choice(("\n", "\n", "\n", "\r\n", "\r", "\n\n", ""))
    text = end.join(separator.join(row) for row in rows) + chance.choice(("", end))
    if chance.random() < 0.05:
        text += chance.choice(('"' + "x" * 10**6, separator * 10**6, "\n" * 10**6, "1" * 10**6))
    encoding = chance.choice(ENCODINGS) if chance.random() < 0.1 else "utf-8"
    content = damage(chance, text.encode(encoding, "replace"), chance.choice((0, 0, 0, 1, 3)))
    return kind.encode() + b"\n" + content


def _row(kind: str, place: int) -> tuple[str, ...]:
    user, item, estimated, true = str(place // 4), f"i{place % 4}", f"{place % 7}.5", str(place % 5)
    rows = {"qrels": (user, "0", item, true), "run": (user, "Q0", item, "1", estimated, "tag")}
    rows["ratings"] = (user, item, true)
    return rows.get(kind, (user, item, estimated, true))


def _damage(chance: random.Random, rows: list[list[str]]) -> None:
    """Change a cell, or the shape of a row."""
    row = chance.choice(rows)
    way = chance.randrange(8)
    if way < 5 and row:
        row[chance.randrange(len(row))] = chance.choice(CELLS)
    elif way == 5:
        row.insert(chance.randrange(len(row) + 1), chance.choice(CELLS))
    elif way == 6 and row:
        del row[chance.randrange(len(row))]
    else:
        rows.append([*chance.choice(rows)])


def run(case: bytes, folder: Path) -> None:
    """Read the file by its name."""
    path = write_named(case, folder)
    if path.name == "ratings":
        read_ratings(path)
        return
    other = {"0": {"i0": 1.0, "i1": 2.0}, "1": {"i1": 1.0}}
    if path.name == "qrels":
        data = rn.RankedLists.from_trec(path, other)
    elif path.name == "run":
        data = rn.RankedLists.from_trec(other, path)
    else:
        compare_readings(Content.of(path), rn.TextFormat(), None)
        data = rn.RankedLists.from_frame(path)
    assert str(rn.evaluate(data))
