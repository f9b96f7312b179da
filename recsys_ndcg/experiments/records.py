"""The JSON files of a run folder: written for people, read with nothing believed, compared."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import shown
from recsys_ndcg.files.writing import write_whole
from recsys_ndcg.report.saved_files import read_saved

if TYPE_CHECKING:
    from pathlib import Path

    from recsys_ndcg.report.parts import Part

FORMAT = 2
GIVEN = "given: "  # begins a fingerprint that the user gave
RUN, MODEL = "run.json", "model.json"
_IDENTITY = ("fingerprint", "libraries")
_PARTS = {"run": ("data", "splits", "measures"), "model": ("parameters", "libraries")}


def write_record(path: Path, kind: str, values: dict[str, Any]) -> None:
    """Write plain values as JSON that people read."""
    record = {"format": f"recsys_ndcg {kind} {FORMAT}", **values}
    write_whole(path, json.dumps(record, indent=1) + "\n")


def read_record(path: Path, kind: str) -> dict[str, Any]:
    """Return the values of a file.

    Raises
    ------
    InvalidInputError
        The file cannot be read, or something is missing in it.
    """
    return read_saved(path, kind, FORMAT, lambda part, _: _checked(part, kind))


def _checked(part: Part, kind: str) -> dict[str, Any]:
    for name in _PARTS[kind]:
        part[name].names()
    part["begun" if kind == "run" else "name"].text()
    if kind == "run":
        part["written_by"].text()
        part["data"]["digest"].text()
        for name in part["measures"].names():
            part["measures"][name]["kind"].text()
    elif part["fingerprint"].value is not None:
        part["fingerprint"].text()
    return {name: one for name, one in part.value.items() if name != "format"}


def differences(name: str, before: Any, now: Any) -> list[str]:
    """Return where two values differ: ``"parameters.k (3, now 4)"``."""
    if isinstance(before, dict) and isinstance(now, dict):
        return [
            found
            for one in dict.fromkeys([*before, *now])
            for found in differences(f"{name}.{one}".strip("."), before.get(one), now.get(one))
        ]
    return [] if before == now else [f"{name} ({shown(before)}, now {shown(now)})"]


def changes_of_model(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return the differences between two records of a model; none if the first has no fingerprint.

    Results of a model without a fingerprint cannot be compared with anything, and are deleted.
    """
    if before["fingerprint"] is None or all(before[one] == now[one] for one in _IDENTITY):
        return []
    if any(str(one["fingerprint"]).startswith(GIVEN) for one in (before, now)):
        return differences("fingerprint", before["fingerprint"], now["fingerprint"])
    found = differences("", before, now)
    named = [one for one in found if not one.startswith(("fingerprint", "incomparable"))]
    return named or [f"{one}, in code or data that {MODEL} does not list" for one in found[:1]]


def digest_of(values: Any) -> str:
    """Return a digest of plain values, the same after they were written and read."""
    return sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:32]
