"""Pickled predictions, read without executing what the file asks for and without Surprise."""

from __future__ import annotations

import copyreg
import pickle
import re
import struct
from operator import itemgetter
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Self

from recsys_ndcg.errors import InvalidInputError, shown

if TYPE_CHECKING:
    from io import BufferedReader

_SUFFIXES = frozenset({".pickle", ".pkl", ".dump", ".p"})
_FIELDS = ("user", "item", "true", "estimated", "details")
_PLAIN: set[type] = {int, float, str, bytes, bool, NoneType}
_DETAILS: set[type] = {dict, NoneType}
_USUAL: dict[int, set[type]] = {0: _PLAIN, 1: _PLAIN, 2: _PLAIN, 3: _PLAIN, 4: _DETAILS}
_PROTO = 0x80  # the first byte from protocol 2 on, and never that of a text in UTF-8
_WRITE = "surprise.dump.dump(path, predictions=predictions)"
_INERT_PACKAGES = frozenset({"surprise", "numpy", "collections"})
_BUILTINS = (
    "object", "tuple", "list", "dict", "set", "frozenset", "bytearray", "int", "float", "str",
    "bool", "complex", "slice", "range",
)  # fmt: skip
#: NumPy's names of numbers of each size, and those of `struct`.
_NUMBERS = {
    "b1": "?", "i1": "b", "i2": "h", "i4": "i", "i8": "q",
    "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "f2": "e", "f4": "f", "f8": "d",
}  # fmt: skip


def is_pickle(path: str | Path) -> bool:
    """Tell a pickle by the end of its name, or by how the file begins."""
    path = Path(path)
    if path.suffix.lower() in _SUFFIXES:
        return True
    if not path.is_file():  # a pipe would lose what is read from it here
        return False
    try:
        with path.open("rb") as file:
            begin = file.read(2)
    except OSError:  # told when it is read as what its name says
        return False
    return len(begin) == 2 and begin[0] == _PROTO and 2 <= begin[1] <= pickle.HIGHEST_PROTOCOL


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
    if not isinstance(found, list | tuple):
        kind = (
            "an object"
            if isinstance(found, _Inert)
            else f"something of type {type(found).__name__}"
        )
        keys = f" with the keys {shown(list(found))}" if isinstance(found, dict) else ""
        msg = (
            f"{path}: the pickle holds {kind}{keys} in place of a list of predictions. Write it "
            f"with {_WRITE}, or save a table as CSV or Parquet."
        )
        raise InvalidInputError(msg)
    rows = list(found)
    _check_entries(rows, path)
    return rows


class _Sealed(type):
    """The class of stand-ins: a pickle may set attributes of any object it holds, if it can."""

    def __setattr__(cls, name: str, value: object) -> None:
        msg = f"a pickle may not set {name} of a class"
        raise pickle.UnpicklingError(msg)


class _Fields(NamedTuple):
    uid: Any
    iid: Any
    r_ui: Any
    est: Any
    details: Any


class Prediction(_Fields, metaclass=_Sealed):
    """A prediction as Surprise makes it."""

    __slots__ = ()


class _Inert(metaclass=_Sealed):
    """In place of any other object: takes everything, keeps and does nothing."""

    __slots__ = ()
    # as an id it would be another one in every row, without a word
    __hash__ = None  # type: ignore[assignment]

    def __new__(cls, *_args: object, **_options: object) -> Self:
        return super().__new__(cls)

    def __init__(self, *_args: object, **_options: object) -> None: ...

    def __setstate__(self, state: object) -> None: ...

    def __setitem__(self, key: object, value: object) -> None: ...

    def append(self, entry: object) -> None: ...


class _Kind(metaclass=_Sealed):
    """In place of ``numpy.dtype``, whose own state can be forged into wild memory access."""

    __slots__ = ("_order", "_text")

    def __init__(self, text: object = "", *_flags: object) -> None:
        self._text = text if isinstance(text, str) else ""
        self._order = "="

    def __setstate__(self, state: object) -> None:
        order = state[1] if isinstance(state, tuple) and len(state) > 1 else None
        self._order = order if order in ("<", ">") else "="

    def value(self, data: bytes) -> Any:
        """Return the number or text that the bytes stand for."""
        if self._text in _NUMBERS:
            return struct.unpack(self._order + _NUMBERS[self._text], data)[0]
        if re.fullmatch(r"U\d+", self._text):
            return data.decode("utf-32-be" if self._order == ">" else "utf-32-le").rstrip("\0")
        return _Inert()


class _Scalar(metaclass=_Sealed):
    """In place of NumPy's function that makes a scalar from its bytes."""

    def __new__(cls, kind: object = None, data: object = None) -> Any:
        known = isinstance(kind, _Kind) and isinstance(data, bytes)
        return kind.value(data) if known else _Inert()  # type: ignore[attr-defined]


class _Bytes(metaclass=_Sealed):
    """In place of how protocols before 3 write bytes: as text in Latin-1."""

    def __new__(cls, text: object = "", encoding: object = "latin1") -> Any:
        plain = isinstance(text, str) and encoding == "latin1"
        return text.encode("latin1") if plain else _Inert()  # type: ignore[attr-defined]


class _Rebuilt(metaclass=_Sealed):
    """In place of how protocols before 2 rebuild an object."""

    def __new__(cls, kind: object = None, _base: object = None, state: object = None) -> Any:
        whole = kind is Prediction and isinstance(state, tuple)
        return Prediction(*state) if whole else _Inert()  # type: ignore[misc]


_STAND_INS: dict[tuple[str, str], type] = {
    ("surprise.prediction_algorithms.predictions", "Prediction"): Prediction,
    ("numpy", "dtype"): _Kind,
    ("numpy._core.multiarray", "scalar"): _Scalar,
    ("numpy.core.multiarray", "scalar"): _Scalar,
    ("_codecs", "encode"): _Bytes,
    ("copyreg", "_reconstructor"): _Rebuilt,
    ("builtins", "bytes"): _Bytes,
    **{("builtins", name): _Inert for name in _BUILTINS},
}
_OLD_MODULES = {"__builtin__": "builtins", "copy_reg": "copyreg"}


class _Reader(pickle.Unpickler):
    """Finds stand-ins alone, whatever a pickle asks for."""

    def find_class(self, module: str, name: str, /) -> type:
        known = _STAND_INS.get((_OLD_MODULES.get(module, module), name))
        if known is not None:
            return known
        if module.partition(".")[0] in _INERT_PACKAGES:
            return _Inert
        raise _ForbiddenGlobalError(module, name)


class _ForbiddenGlobalError(Exception):
    """A pickle names something that no stand-in stands for: its module and name."""


def _loaded(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            return _unpickled(file)
    except _ForbiddenGlobalError as error:
        msg = (
            f"{path}: the pickle asks for {shown('.'.join(error.args))}, which is neither "
            "Surprise's nor a number, so it was not read and nothing in it was executed. Write the "
            f"predictions alone, with ids that are numbers or text: {_WRITE}; save a table as CSV "
            "or Parquet."
        )
        raise InvalidInputError(msg) from None
    except OSError as error:
        msg = f"{path}: cannot be read ({error.strerror or error})."
        raise InvalidInputError(msg) from None
    except Exception as error:  # noqa: BLE001 - broken bytes can make any
        _refuse_broken(path, error)


def _unpickled(file: BufferedReader) -> Any:
    if not file.peek(1):
        msg = "the file is empty"
        raise EOFError(msg)
    # a pickle may name an extension by number: what stands in the cache would not be looked up
    # again, and the stand-ins must not stay there for others
    copyreg.clear_extension_cache()
    try:
        return _Reader(file).load()
    finally:
        copyreg.clear_extension_cache()


def _refuse_broken(path: Path, error: Exception) -> NoReturn:
    told = isinstance(error, EOFError | pickle.UnpicklingError)
    reason = " ".join(str(error).split()).rstrip(".") if told else type(error).__name__
    msg = (
        f"{path}: not a whole pickle of Surprise predictions ({reason}). Write it again: {_WRITE}."
    )
    raise InvalidInputError(msg) from None


def _check_entries(rows: list[Any], path: Path) -> None:
    """Refuse what is an object, or nested so deep that to hash or to show it never ends."""
    try:
        if all(set(map(type, map(itemgetter(at), rows))) <= kinds for at, kinds in _USUAL.items()):
            return
    except (IndexError, KeyError, TypeError):  # no rows of predictions: told by their reader
        pass
    for place, row in enumerate(rows):
        parts = row if isinstance(row, tuple | list) else (row,)
        for at, one in enumerate(parts):
            if type(one) not in _USUAL.get(at, _PLAIN | _DETAILS) and not _is_plain_tuple(one):
                name = _FIELDS[at] if at < len(_FIELDS) else "an entry"
                what = "nested" if type(one) in (tuple, list, dict) else "an object or an array"
                msg = (
                    f"{path}: {name}: that of prediction {place} (counted from 0) is {what}. Make "
                    f"it numbers or text, and write the predictions again: {_WRITE}."
                )
                raise InvalidInputError(msg)


def _is_plain_tuple(value: object) -> bool:
    return type(value) is tuple and all(type(one) in _PLAIN for one in value)
