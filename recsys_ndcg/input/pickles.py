"""Pickled predictions, read without executing what the file asks for and without Surprise."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from types import FunctionType, NoneType
from typing import Any, TypeGuard

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.files import open_file
from recsys_ndcg.input.file_kinds import PICKLE, kind_of
from recsys_ndcg.input.unpickling import (
    TOO_LONG,
    Collisions,
    DamagedPickleError,
    ForbiddenNameError,
    InertObject,
    NumpyDtype,
    Prediction,
    load,
)

_FIELDS = ("user", "item", "true", "estimated", "details")
_PLAIN: set[type] = {int, float, str, bytes, bool, NoneType}
_STAND_INS = (InertObject, NumpyDtype, FunctionType, Prediction)
_LONGEST_TUPLE = 16  # as an id: longer ones take long to hash, again in every row
_WRITE = "surprise.dump.dump(path, predictions=predictions)"


def is_pickle(path: str | Path) -> bool:
    """Tell a pickle by the end of its name, or by how the file begins."""
    path = Path(path)
    if kind_of(path.suffix) is PICKLE:
        return True
    if not path.is_file():  # a pipe would lose what is read from it here
        return False
    try:
        with path.open("rb") as file:
            return file.read(2).startswith(PICKLE.begins)
    except OSError:  # told when it is read as what its name says
        return False


def read_pickle(path: str | Path) -> list[tuple[Any, ...]]:
    """Read the predictions in a file of `surprise.dump.dump`, or a pickled list of them.

    Nothing that the file names is imported or called: stand-ins take the places of Surprise's
    prediction and of NumPy's numbers, an algorithm beside the predictions is not built, and a
    file that names anything else is refused.

    Returns
    -------
    list of tuple
        ``(uid, iid, r_ui, est, details)``, NumPy's numbers as Python's; or whatever rows a
        pickled list holds.

    Raises
    ------
    InvalidInputError
        The file cannot be read, is no pickle, names anything else than Surprise and NumPy do, or
        holds no predictions.
    """
    path = Path(path)
    found = _loaded(path)
    if isinstance(found, dict) and "predictions" in found:
        algo, found = found.get("algo"), found["predictions"]
        if found is None:
            what = "no predictions" if algo is None else "an algorithm but no predictions"
            msg = f"{path}: the dump holds {what}. Write them beside it: {_WRITE}."
            raise InvalidInputError(msg)
    if type(found) not in (list, tuple):
        kind = (
            "an object"
            if isinstance(found, _STAND_INS)
            else f"something of type {type(found).__name__}"
        )
        keys = f" with the keys {shown(list(found))}" if isinstance(found, dict) else ""
        msg = (
            f"{path}: the pickle holds {kind}{keys} in place of a list of predictions. Write it "
            f"with {_WRITE}, or save a table as CSV or Parquet."
        )
        raise InvalidInputError(msg)
    rows = list(found)
    _check_rows(rows, path)
    return rows


def _loaded(path: Path) -> Any:
    try:
        with open_file(path) as file:
            content = file.read()
        if not content:
            msg = "the file is empty"
            raise DamagedPickleError(msg)  # noqa: TRY301 - told like all damage
        return load(content)
    except ForbiddenNameError as error:
        msg = (
            f"{path}: the pickle asks for {shown('.'.join(error.args))}, which is neither "
            "Surprise's nor a number, so it was not read and nothing in it was executed. Write the "
            f"predictions alone, with ids that are numbers or text: {_WRITE}; save a table as CSV "
            "or Parquet."
        )
    except DamagedPickleError as error:
        msg = (
            f"{path}: not a whole pickle of Surprise predictions ({error}). Write it again: "
            f"{_WRITE}."
        )
    except MemoryError:
        msg = f"{path}: too large for the memory that there is. Write the predictions alone."
    raise InvalidInputError(msg) from None


def _check_rows(rows: list[Any], path: Path) -> None:
    """Refuse rows of several widths, and entries that take long to hash or to show.

    Only the details of a prediction may be nested: nobody hashes or shows them.
    """
    seen = Collisions()
    for place, row in enumerate(rows):
        parts, first = _parts(row), _parts(rows[0])
        if len(parts) != len(first):
            msg = (
                f"{path}: prediction {place} (counted from 0) has {len(parts)} entries, and the "
                f"first one {len(first)}. Write predictions of one form: {_WRITE}."
            )
            raise InvalidInputError(msg)
        for at, one in enumerate(parts):
            if type(one) in _PLAIN or (type(one) is dict and _is_detailed(row, at)):
                continue
            if not _is_plain_tuple(one) or seen.crowded(one):
                name = _FIELDS[at] if at < len(_FIELDS) else "an entry"
                msg = (
                    f"{path}: {name}: that of prediction {place} (counted from 0) is {_kind(one)}. "
                    f"Make it numbers or text, and write the predictions again: {_WRITE}."
                )
                raise InvalidInputError(msg)


def _parts(row: object) -> tuple[Any, ...] | list[Any]:
    return row if isinstance(row, tuple | list) else (row,)


def _is_detailed(row: object, at: int) -> bool:
    return isinstance(row, tuple) and len(row) == len(_FIELDS) == at + 1


def _is_plain_tuple(one: object) -> TypeGuard[tuple[Hashable, ...]]:
    return type(one) is tuple and len(one) <= _LONGEST_TUPLE and _PLAIN.issuperset(map(type, one))


def _kind(one: object) -> str:
    if _is_plain_tuple(one):
        return "chosen to have the hash of many others"
    if type(one) in (tuple, list, dict):
        return "nested"
    return "too long" if one is TOO_LONG else "an object or an array"
