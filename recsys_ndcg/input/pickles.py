"""Pickled predictions, read without executing the pickle's code and without Surprise.

Python's own unpickler in Python, with stand-ins for everything that a pickle imports, and with
limits on memory and time.
"""

from __future__ import annotations

import io
import pickle
import re
import struct
from collections.abc import Callable, Hashable
from pathlib import Path
from types import FunctionType, NoneType
from typing import Any, ClassVar, NamedTuple, NoReturn

from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.files import open_file

_FIELDS = ("user", "item", "true", "estimated", "details")
_PLAIN_TYPES: set[type] = {int, float, str, bytes, bool, NoneType}
_MAX_LENGTH = 1 << 10  # bytes or characters of an id: longer ones fill the memory
_MAX_TUPLE_LENGTH = 16  # of an id: longer ones take long to hash, in every row
_MAX_COLLISIONS = 16  # different ids with one hash: by chance there are not even two
_DUMP_CALL = "surprise.dump.dump(path, predictions=predictions)"


def read_pickle(path: str | Path) -> list[tuple[Any, ...]]:
    """Read the predictions in a file of `surprise.dump.dump`, or a pickled list of them.

    Nothing that the file names is imported or called. Stand-ins replace Surprise's prediction and
    NumPy's numbers, an algorithm in the dump is not built, and a file that names anything else
    raises an error.

    Returns
    -------
    list of tuple
        ``(uid, iid, r_ui, est, details)`` with Python's numbers, or the rows of a pickled list.

    Raises
    ------
    InvalidInputError
        The file cannot be read, is not a pickle, names anything that is not of Surprise or NumPy,
        or holds no predictions.
    """
    path = Path(path)
    content = _unpickle_file(path)
    if isinstance(content, dict) and "predictions" in content:
        algo, content = content.get("algo"), content["predictions"]
        if content is None:
            kind = "no predictions" if algo is None else "an algorithm but no predictions"
            msg = f"{path}: the dump holds {kind}. Add them: {_DUMP_CALL}."
            raise InvalidInputError(msg)
    if type(content) not in (list, tuple):
        is_object = isinstance(content, InertObject | NumpyDtype | Prediction | FunctionType | type)
        kind = "an object" if is_object else f"something of type {type(content).__name__}"
        keys = f" with the keys {quote(list(content))}" if isinstance(content, dict) else ""
        msg = (
            f"{path}: the pickle holds {kind}{keys} in place of a list of predictions. Write it "
            f"with {_DUMP_CALL}, or save a table as CSV or Parquet."
        )
        raise InvalidInputError(msg)
    rows = list(content)
    _check_rows(rows, path)
    return rows


def _unpickle_file(path: Path) -> Any:
    try:
        with open_file(path) as file:
            return load(file.read())
    except ForbiddenNameError as error:
        msg = (
            f"{path}: the pickle asks for {quote('.'.join(error.args))}, which is neither "
            "Surprise's nor a number, so it was not read and nothing in it was executed. Write "
            f"only the predictions, with ids that are numbers or text: {_DUMP_CALL}; or save a "
            "table as CSV or Parquet."
        )
    except DamagedPickleError as error:
        msg = (
            f"{path}: not a whole pickle of Surprise predictions ({error}). Write it again: "
            f"{_DUMP_CALL}."
        )
    except MemoryError:
        msg = f"{path}: larger than the free memory. Write only the predictions."
    raise InvalidInputError(msg) from None


def _check_rows(rows: list[Any], path: Path) -> None:
    """Raise for rows of different lengths, and for values that are slow to hash or to show.

    Only the details of a prediction may be nested, as they are neither hashed nor shown.
    """
    seen: dict[bytes, list[Hashable]] = {}
    width = len(_get_fields(rows[0])) if rows else 0
    for place, row in enumerate(rows):
        fields = _get_fields(row)
        if len(fields) != width:
            msg = (
                f"{path}: prediction {place} (counted from 0) has {len(fields)} entries, and the "
                f"first one {width}. Write predictions of one form: {_DUMP_CALL}."
            )
            raise InvalidInputError(msg)
        if isinstance(row, tuple) and width == len(_FIELDS) and type(row[-1]) is dict:
            fields = row[:-1]
        for position, value in enumerate(fields):
            fault = _explain_fault(value, seen)
            if fault:
                name = _FIELDS[position] if position < len(_FIELDS) else "an entry"
                msg = (
                    f"{path}: {name} of prediction {place} (counted from 0) is {fault}, and write "
                    f"the predictions again: {_DUMP_CALL}."
                )
                raise InvalidInputError(msg)


def _get_fields(row: object) -> tuple[Any, ...] | list[Any]:
    return row if isinstance(row, tuple | list) else (row,)


def _explain_fault(value: Any, seen: dict[bytes, list[Hashable]]) -> str:
    """Return why a value is not an id or a number, and the fix; "" if it may be one.

    Values with chosen hashes make a dict compare each with all others, so those that can be chosen
    are collected in `seen` by their hashes.
    """
    kind = type(value)
    n_bits = value.bit_length() if kind is int else 0
    if n_bits > 8 * _MAX_LENGTH:
        return f"a number of more than {8 * _MAX_LENGTH} bits. Renumber such ids"
    if kind in (str, bytes) and len(value) > _MAX_LENGTH:
        return f"longer than {_MAX_LENGTH} characters. Shorten such ids, or number them"
    if kind in (list, dict) or (kind is tuple and _is_nested(value)):
        return "nested. Make it numbers or text"
    if kind is not tuple and kind not in _PLAIN_TYPES:
        return "an object or an array. Make it numbers or text"
    if kind is not tuple and n_bits <= 64:
        return ""
    # as bytes, because the hash of an integer can be chosen, too
    colliding = seen.setdefault(hash(value).to_bytes(8, "little", signed=True), [])
    if value not in colliding:
        colliding.append(value)
    has_chosen_hash = len(colliding) > _MAX_COLLISIONS
    return "chosen to have the hash of many others. Number the ids" if has_chosen_hash else ""


def _is_nested(ids: tuple[Any, ...]) -> bool:
    """Return whether a tuple is too long for an id, or has anything but numbers and text."""
    is_long = len(ids) > _MAX_TUPLE_LENGTH
    return is_long or any(type(value) is tuple or _explain_fault(value, {}) for value in ids)


class ForbiddenNameError(Exception):
    """A pickle imports a name without a stand-in; the arguments are its module and name."""


class DamagedPickleError(Exception):
    """A pickle is incomplete or malicious; the message has the reason."""


class Prediction(NamedTuple):
    """A prediction, with the fields of Surprise's."""

    uid: Any
    iid: Any
    r_ui: Any
    est: Any
    details: Any


class InertObject:
    """A stand-in for any other object: it accepts any call, keeps nothing, and is not hashable."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def __call__(self, *_arguments: object) -> InertObject:
        """Return the stand-in itself."""
        return self

    append = extend = add = __call__


INERT = InertObject()
#: NumPy's names of numeric types, and the format characters of `struct`.
_STRUCT_FORMATS = {
    "b1": "?", "i1": "b", "i2": "h", "i4": "i", "i8": "q",
    "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "f2": "e", "f4": "f", "f8": "d",
}  # fmt: skip
_TEXT_TYPE = re.compile(r"U[0-9]{1,9}")


class NumpyDtype:
    """A stand-in for ``numpy.dtype``, whose forged state could access any memory."""

    __slots__ = ("code", "order")

    def __init__(self, text: object = "", *_others: object) -> None:
        name = text if isinstance(text, str) else ""
        self.code = "U" if _TEXT_TYPE.fullmatch(name) else _STRUCT_FORMATS.get(name)
        self.order = "="

    def set_state(self, state: object) -> None:
        """Set the byte order from the state of a pickled dtype."""
        order = state[1] if type(state) is tuple and len(state) > 1 else None
        self.order = order if order in ("<", ">") else "="

    def decode(self, data: bytes) -> Any:
        """Return the number or text in bytes."""
        if self.code == "U":
            return data.decode("utf-32-be" if self.order == ">" else "utf-32-le").rstrip("\0")
        return INERT if self.code is None else struct.unpack(self.order + self.code, data)[0]


def _make_scalar(kind: Any = None, data: Any = None, *_others: object) -> Any:
    """Return a scalar from its bytes, as NumPy's function does."""
    is_known = type(kind) is NumpyDtype and type(data) is bytes and len(data) <= 4 * _MAX_LENGTH
    return kind.decode(data) if is_known else INERT


def _make_bytes(text: Any = "", encoding: object = "latin1", *_others: object) -> Any:
    """Return bytes from text in Latin-1, as protocols before 3 write them."""
    is_known = type(text) is str and encoding == "latin1" and len(text) <= 4 * _MAX_LENGTH
    return text.encode("latin1") if is_known else INERT


def _rebuild(kind: object = None, _base: object = None, state: object = None) -> Any:
    """Return an object from its class, a base and the base's state, as protocols before 2 do."""
    return Prediction(*state) if kind is Prediction and type(state) is tuple else INERT


_INERT_PACKAGES = frozenset({"surprise", "numpy", "collections"})
_OLD_MODULES = {"__builtin__": "builtins", "copy_reg": "copyreg"}
_BUILTINS = (
    "object", "tuple", "list", "dict", "set", "frozenset", "bytearray", "int", "float", "str",
    "bool", "complex", "slice", "range",
)  # fmt: skip
#: The stand-ins for classes and functions, by module and name.
_STAND_INS: dict[tuple[str, str], Callable[..., Any]] = {
    ("surprise.prediction_algorithms.predictions", "Prediction"): Prediction,
    ("numpy", "dtype"): NumpyDtype,
    ("numpy._core.multiarray", "scalar"): _make_scalar,
    ("numpy.core.multiarray", "scalar"): _make_scalar,
    ("_codecs", "encode"): _make_bytes,
    ("copyreg", "_reconstructor"): _rebuild,
    ("builtins", "bytes"): _make_bytes,
    **{("builtins", name): INERT for name in _BUILTINS},
}


#: What the unpickler and the stand-ins raise for bytes that are not a complete pickle.
_DAMAGE_ERRORS = (
    EOFError, LookupError, TypeError, ValueError, AttributeError, OverflowError, struct.error,
    pickle.UnpicklingError,
    DeprecationWarning,  # for an invalid escape, if warnings are errors
)  # fmt: skip


def load(data: bytes) -> Any:
    """Return the content of a pickle; bytes after it are ignored.

    Raises
    ------
    DamagedPickleError
        The bytes are not a complete pickle, or are malicious.
    ForbiddenNameError
        The pickle imports a name without a stand-in.
    """
    if not data:
        _raise_damaged("the file is empty")
    try:
        return _BoundedUnpickler(data).load()
    except _DAMAGE_ERRORS as error:
        msg = "it is cut off or damaged"
        raise DamagedPickleError(msg) from error


def _raise_damaged(reason: str) -> NoReturn:
    raise DamagedPickleError(reason)


_PythonUnpickler: Any = pickle._Unpickler


class _BoundedUnpickler(_PythonUnpickler):  # type: ignore[misc]
    """Python's unpickler, limited to plain values and stand-ins.

    Each byte of the file creates at most a few hundred bytes, and only text is hashed. Opcodes
    that call, hash, set or allocate what the file demands are replaced; the others are Python's.
    """

    dispatch: ClassVar[dict[int, Callable[[Any], None]]] = {**_PythonUnpickler.dispatch}

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self._size = len(data)

    def find_class(self, module: str, name: str) -> Callable[..., Any]:
        """Return the stand-in for a name; nothing is imported."""
        stand_in = _STAND_INS.get((_OLD_MODULES.get(module, module), name))
        if stand_in is None and module.partition(".")[0] not in _INERT_PACKAGES:
            raise ForbiddenNameError(module, name)
        return INERT if stand_in is None else stand_in

    def get_extension(self, code: int) -> NoReturn:
        """Raise for an extension code, which stands for a name in the process."""
        _raise_damaged(f"it names extension {code}")

    def persistent_load(self, _pid: object) -> NoReturn:
        """Raise for an object that is stored outside the pickle."""
        _raise_damaged("it asks for a persistent object")

    def _load_newobj_ex(self) -> None:
        self.stack.pop()  # no stand-in takes keyword arguments
        self.load_reduce()

    def _load_build(self) -> None:
        state, target = self.stack.pop(), self.stack[-1]
        if type(target) is NumpyDtype:
            target.set_state(state)
        elif type(target) is not InertObject:
            _raise_damaged("it sets the state of a plain value")

    def _load_setitem(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self._fill([key, value])

    def _load_setitems(self) -> None:
        self._fill(self.pop_mark())

    def _load_dict(self) -> None:
        entries = self.pop_mark()
        self.append({})
        self._fill(entries)

    def _fill(self, entries: list[Any]) -> None:
        """Put alternating keys and values into a dict.

        Keys that are not text are dropped: they are not needed, and their hashes can be chosen.
        """
        target = self.stack[-1]
        if type(target) is dict:
            pairs = zip(entries[::2], entries[1::2], strict=True)
            target.update((key, value) for key, value in pairs if type(key) is str)
        elif type(target) is not InertObject:
            _raise_damaged("it sets an entry of something that is not a dict")

    def _load_empty_set(self) -> None:
        self.append(INERT)

    def _load_frozenset(self) -> None:
        self.pop_mark()
        self.append(INERT)

    def _load_bytearray8(self) -> None:
        self.read(int.from_bytes(self.read(8), "little"))
        self.append(INERT)

    def _load_put(self) -> None:
        """Store the top of the stack in the memo, at an index that the file's length allows."""
        place = int(self.readline())
        if not 0 <= place <= self._size:
            _raise_damaged(f"it remembers a value at place {place}")
        self.memo[place] = self.stack[-1]

    dispatch |= {
        pickle.NEWOBJ[0]: dispatch[pickle.REDUCE[0]],
        pickle.NEWOBJ_EX[0]: _load_newobj_ex,
        pickle.BUILD[0]: _load_build,
        pickle.SETITEM[0]: _load_setitem,
        pickle.SETITEMS[0]: _load_setitems,
        pickle.DICT[0]: _load_dict,
        pickle.EMPTY_SET[0]: _load_empty_set,
        pickle.FROZENSET[0]: _load_frozenset,
        pickle.BYTEARRAY8[0]: _load_bytearray8,
        pickle.PUT[0]: _load_put,
    }
