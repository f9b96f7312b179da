"""Files that say what is asked: the first process writes them, nobody writes them again."""

from __future__ import annotations

import json
import os
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import shown
from recsys_ndcg.rendering.writing import write_whole
from recsys_ndcg.report.saved_files import read_saved

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from recsys_ndcg.report.parts import Part

FORMAT = 1
_PARTS = {"run": ("data", "splits", "measures"), "model": ("parameters",)}


def write_json(path: Path, told: dict[str, Any]) -> None:
    """Write plain values as JSON that people read."""
    write_whole(path, json.dumps(told, indent=1) + "\n")


def settled(path: Path, kind: str, told: dict[str, Any], same: Iterable[str]) -> list[str]:
    """Write a file unless it is there, and return in what the one that is there differs."""
    if not path.exists():
        _write_first(path, {"format": f"recsys_ndcg {kind} {FORMAT}", **told})
    before = told_in(path, kind)  # which another process may have written meanwhile
    return [one for name in same for one in _differences(name, before.get(name), told[name])]


def _write_first(path: Path, told: dict[str, Any]) -> None:
    """Write a file, unless another process was first."""
    own = path.with_name(f".{token_hex(8)}.part")
    write_json(own, told)
    try:
        os.link(own, path)
    except FileExistsError:
        return
    except OSError:  # where a file has one name only
        own.replace(path)
    finally:
        own.unlink(missing_ok=True)


def _differences(name: str, before: Any, asked: Any) -> list[str]:
    """Return where two values differ, and how."""
    if isinstance(before, dict) and isinstance(asked, dict):
        names = dict.fromkeys([*before, *asked])
        return [
            told
            for one in names
            for told in _differences(f"{name}.{one}", before.get(one), asked.get(one))
        ]
    return [] if before == asked else [f"{name} ({shown(before)}, now {shown(asked)})"]


def told_in(path: Path, kind: str) -> dict[str, Any]:
    """Return what a file says."""
    return read_saved(path, kind, FORMAT, lambda part, _: _checked(part, kind))


def _checked(part: Part, kind: str) -> dict[str, Any]:
    """Return what a file says, if it says all that is read of it."""
    for name in _PARTS[kind]:
        part[name].names()
    part["begun" if kind == "run" else "name"].text()
    if kind == "run":
        part["data"]["digest"].text()
    return {name: one for name, one in part.value.items() if name != "format"}
