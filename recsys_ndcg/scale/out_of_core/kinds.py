"""What the values of columns are: the same in all files, and what can be read in this way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Mapping

_TEXT = {"string", "large_string", "string_view"}
_WHOLE = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)} - {"uint64"}
_NUMBERS = ("whole numbers", "uint64", "float", "double", "bool", "decimal")
IDS = ("user", "item")
LONGEST = "DECIMAL(20, 0)"
#: The types of SQL for whole numbers of 64 bits, with the least and the greatest number of each.
WHOLE = {
    "BIGINT": (-(2**63), 2**63 - 1),
    "UBIGINT": (0, 2**64 - 1),
    LONGEST: (-(2**63), 2**64 - 1),
}


def checked_kinds(schemas: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, str]:
    """Return what the values of our columns are.

    Parameters
    ----------
    schemas : mapping
        Of Arrow's, by the names of files.
    names : mapping
        Our names to those of the first file.

    Raises
    ------
    InvalidInputError
        A file lacks a column, or has other values in it; or nothing reads them.
    """
    kinds: dict[str, str] = {}
    for file, schema in schemas.items():
        for ours, theirs in names.items():
            if schema.get_field_index(theirs) < 0:
                msg = (
                    f"{file}: there is no column {theirs!r}, which the first file has; it has "
                    f"{', '.join(schema.names)}."
                )
                raise InvalidInputError(msg)
            kind = _kind(schema.field(theirs).type)
            first = kinds.setdefault(ours, kind)
            if ours not in IDS and {kind, first} == {"whole numbers", "double"}:
                kinds[ours] = "double"  # as pandas writes a column with and without NaN
            elif kind != first:
                msg = (
                    f"{file}: {theirs} is {kind}, but {first} in {next(iter(schemas))}. Write "
                    "all files alike."
                )
                raise InvalidInputError(msg)
            _check(file, ours, theirs, kind)
    return kinds


def _kind(of: Any) -> str:
    """Return what a type of Arrow's is, whatever its width."""
    if hasattr(of, "value_type") and hasattr(of, "index_type"):
        of = of.value_type
    told = str(of)
    if told.startswith("decimal"):  # of any number of digits
        return "decimal"
    return "text" if told in _TEXT else "whole numbers" if told in _WHOLE else told


def _check(file: str, ours: str, theirs: str, kind: str) -> None:
    if ours in IDS and kind not in ("text", "whole numbers", "uint64"):
        msg = (
            f"{file}: {theirs} is {kind}; within a memory limit, ids are text or whole numbers. "
            "Write it as one of these."
        )
        raise InvalidInputError(msg)
    if ours not in IDS and kind not in _NUMBERS:
        msg = (
            f"{file}: {theirs} is {kind}, which is not read as numbers. Convert it, or name "
            "another column."
        )
        raise InvalidInputError(msg)
