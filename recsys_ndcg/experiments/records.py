"""The JSON files of a run folder: written for people, read with a digest, compared."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import shown
from recsys_ndcg.files.archive import open_archive, write_archive

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = 3
GIVEN = "given: "  # begins a fingerprint that the user gave
RUN, MODEL = "run.json", "model.json"
_IDENTITY = ("fingerprint", "libraries")
_NEEDED = {
    "run": ("written_by", "data", "splits", "measures", "begun"),
    "model": ("name", "parameters", "libraries", "fingerprint"),
}


def write_record(path: Path, kind: str, values: dict[str, Any]) -> None:
    """Write plain values as JSON that people read."""
    write_archive(path, f"{kind} {FORMAT}", values, {})


def read_record(path: Path, kind: str) -> dict[str, Any]:
    """Return the values of a file.

    Raises
    ------
    InvalidInputError
        The file cannot be read, or was changed.
    """
    with open_archive(path, f"{kind} {FORMAT}", "Take another folder.") as (values, _):
        if not values.keys() >= {*_NEEDED[kind]}:
            raise KeyError(kind)
        return values


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
