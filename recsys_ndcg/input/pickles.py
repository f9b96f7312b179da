"""Pickled predictions, read without executing what the file asks for and without Surprise.

Python's own reader in Python, with stand-ins in place of all that a pickle names, and with bounds
where a few bytes would fill the memory or never end.
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
from recsys_ndcg.input.file_kinds import PICKLE, kind_of

_FIELDS = ("user", "item", "true", "estimated", "details")
_PLAIN: set[type] = {int, float, str, bytes, bool, NoneType}
_LONGEST = 1 << 10  # bytes or signs of an id, or of what makes one: longer ones fill the memory
_LONGEST_TUPLE = 16  # as an id: longer ones take long to hash, again in every row
_MOST_ALIKE = 16  # different ids of one hash: by chance there are no two
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
        stands_in = isinstance(found, InertObject | NumpyDtype | Prediction | FunctionType | type)
        kind = "an object" if stands_in else f"something of type {type(found).__name__}"
        keys = f" with the keys {quote(list(found))}" if isinstance(found, dict) else ""
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
            return load(file.read())
    except ForbiddenNameError as error:
        msg = (
            f"{path}: the pickle asks for {quote('.'.join(error.args))}, which is neither "
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
    seen: dict[bytes, list[Hashable]] = {}
    width = len(_parts(rows[0])) if rows else 0
    for place, row in enumerate(rows):
        parts = _parts(row)
        if len(parts) != width:
            msg = (
                f"{path}: prediction {place} (counted from 0) has {len(parts)} entries, and the "
                f"first one {width}. Write predictions of one form: {_WRITE}."
            )
            raise InvalidInputError(msg)
        if isinstance(row, tuple) and width == len(_FIELDS) and type(row[-1]) is dict:
            parts = row[:-1]  # nobody hashes or shows the details
        for at, one in enumerate(parts):
            fault = _fault(one, seen)
            if fault:
                name = _FIELDS[at] if at < len(_FIELDS) else "an entry"
                msg = (
                    f"{path}: {name}: that of prediction {place} (counted from 0) is {fault}, and "
                    f"write the predictions again: {_WRITE}."
                )
                raise InvalidInputError(msg)


def _parts(row: object) -> tuple[Any, ...] | list[Any]:
    return row if isinstance(row, tuple | list) else (row,)


def _fault(one: Any, seen: dict[bytes, list[Hashable]]) -> str:
    """Return why a value is neither an id nor a number, and what to do; nothing if it may be one.

    Values chosen to have one hash make any dict of them compare each with all others: those that
    can be chosen so are kept, by their hashes.
    """
    kind = type(one)
    n_bits = one.bit_length() if kind is int else 0
    if n_bits > 8 * _LONGEST:
        return f"a number of more than {8 * _LONGEST} bits. Number such ids anew"
    if kind in (str, bytes) and len(one) > _LONGEST:
        return f"longer than {_LONGEST} signs. Shorten such ids, or number them"
    if kind in (list, dict) or (kind is tuple and _is_nested(one)):
        return "nested. Make it numbers or text"
    if kind is not tuple and kind not in _PLAIN:
        return "an object or an array. Make it numbers or text"
    if kind is not tuple and n_bits <= 64:
        return ""
    # bytes, since what a hash of numbers is can be chosen, and that of bytes cannot
    alike = seen.setdefault(hash(one).to_bytes(8, "little", signed=True), [])
    if one not in alike:
        alike.append(one)
    return (
        "chosen to have the hash of many others. Number the ids" if len(alike) > _MOST_ALIKE else ""
    )


def _is_nested(ids: tuple[Any, ...]) -> bool:
    """Return whether a tuple is no id of a few numbers or texts."""
    return len(ids) > _LONGEST_TUPLE or any(type(one) is tuple or _fault(one, {}) for one in ids)


class ForbiddenNameError(Exception):
    """A pickle names something that nothing stands for: its module and name."""


class DamagedPickleError(Exception):
    """A pickle that is not whole, or made to do harm; says why."""


class Prediction(NamedTuple):
    """A prediction as Surprise makes it."""

    uid: Any
    iid: Any
    r_ui: Any
    est: Any
    details: Any


class InertObject:
    """In place of any other object: it takes what it is given, keeps nothing, and is no id."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def __call__(self, *_arguments: object) -> InertObject:
        """Return what stands for anything that is made."""
        return self

    append = extend = add = __call__


INERT = InertObject()
#: NumPy's names of numbers of each size, and those of `struct`.
_NUMBERS = {
    "b1": "?", "i1": "b", "i2": "h", "i4": "i", "i8": "q",
    "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "f2": "e", "f4": "f", "f8": "d",
}  # fmt: skip
_TEXT = re.compile(r"U[0-9]{1,9}")


class NumpyDtype:
    """In place of ``numpy.dtype``, whose own state can be forged into wild memory access."""

    __slots__ = ("code", "order")

    def __init__(self, text: object = "", *_others: object) -> None:
        name = text if isinstance(text, str) else ""
        self.code = "U" if _TEXT.fullmatch(name) else _NUMBERS.get(name)
        self.order = "="

    def set_state(self, state: object) -> None:
        """Take the byte order from what NumPy keeps of a dtype."""
        order = state[1] if type(state) is tuple and len(state) > 1 else None
        self.order = order if order in ("<", ">") else "="

    def value(self, data: bytes) -> Any:
        """Return the number or text that the bytes stand for."""
        if self.code == "U":
            return data.decode("utf-32-be" if self.order == ">" else "utf-32-le").rstrip("\0")
        return INERT if self.code is None else struct.unpack(self.order + self.code, data)[0]


def _scalar(kind: Any = None, data: Any = None, *_others: object) -> Any:
    """Do as NumPy's function that makes a scalar from its bytes."""
    known = type(kind) is NumpyDtype and type(data) is bytes and len(data) <= 4 * _LONGEST
    return kind.value(data) if known else INERT


def _bytes(text: Any = "", encoding: object = "latin1", *_others: object) -> Any:
    """Do as protocols before 3 write bytes: as text in Latin-1."""
    known = type(text) is str and encoding == "latin1" and len(text) <= 4 * _LONGEST
    return text.encode("latin1") if known else INERT


def _rebuilt(kind: object = None, _base: object = None, state: object = None) -> Any:
    """Do as protocols before 2 rebuild an object: from its class, a base and the base's state."""
    return Prediction(*state) if kind is Prediction and type(state) is tuple else INERT


_INERT_PACKAGES = frozenset({"surprise", "numpy", "collections"})
_OLD_MODULES = {"__builtin__": "builtins", "copy_reg": "copyreg"}
_BUILTINS = (
    "object", "tuple", "list", "dict", "set", "frozenset", "bytearray", "int", "float", "str",
    "bool", "complex", "slice", "range",
)  # fmt: skip
#: What stands for a class or function that a pickle names.
_KNOWN: dict[tuple[str, str], Callable[..., Any]] = {
    ("surprise.prediction_algorithms.predictions", "Prediction"): Prediction,
    ("numpy", "dtype"): NumpyDtype,
    ("numpy._core.multiarray", "scalar"): _scalar,
    ("numpy.core.multiarray", "scalar"): _scalar,
    ("_codecs", "encode"): _bytes,
    ("copyreg", "_reconstructor"): _rebuilt,
    ("builtins", "bytes"): _bytes,
    **{("builtins", name): INERT for name in _BUILTINS},
}


#: What Python's reader, and what stands in, raise for bytes that are no whole pickle.
_DAMAGE = (
    EOFError, LookupError, TypeError, ValueError, AttributeError, OverflowError, struct.error,
    pickle.UnpicklingError,
    DeprecationWarning,  # of an escape that is none, if warnings are errors
)  # fmt: skip


def load(data: bytes) -> Any:
    """Return what a pickle holds; what follows it is left alone.

    Raises
    ------
    DamagedPickleError
        The bytes are no whole pickle, or made to do harm.
    ForbiddenNameError
        The pickle names what nothing stands for.
    """
    if not data:
        _refuse("the file is empty")
    try:
        return _BoundedUnpickler(data).load()
    except _DAMAGE as error:
        msg = "it is cut off or damaged"
        raise DamagedPickleError(msg) from error


def _refuse(reason: str) -> NoReturn:
    raise DamagedPickleError(reason)


_PythonUnpickler: Any = pickle._Unpickler  # noqa: SLF001


class _BoundedUnpickler(_PythonUnpickler):  # type: ignore[misc]
    """Python's reader, which here makes nothing but plain values and stand-ins.

    Each byte of the file makes a few hundred bytes at most, and nothing but text is hashed. What
    calls, hashes, sets or makes room as the file says is replaced; the rest is Python's.
    """

    dispatch: ClassVar[dict[int, Callable[[Any], None]]] = {**_PythonUnpickler.dispatch}

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self._size = len(data)

    def find_class(self, module: str, name: str) -> Callable[..., Any]:
        """Return what stands for a name; nothing is imported or looked up elsewhere."""
        known = _KNOWN.get((_OLD_MODULES.get(module, module), name))
        if known is None and module.partition(".")[0] not in _INERT_PACKAGES:
            raise ForbiddenNameError(module, name)
        return INERT if known is None else known

    def get_extension(self, code: int) -> NoReturn:
        """Refuse what a process registers under a number."""
        _refuse(f"it names extension {code}")

    def persistent_load(self, _pid: object) -> NoReturn:
        """Refuse what is kept elsewhere."""
        _refuse("it asks for a persistent object")

    def _new_with_options(self) -> None:
        self.stack.pop()  # nothing that is known takes any
        self.load_reduce()

    def _set_state(self) -> None:
        state, target = self.stack.pop(), self.stack[-1]
        if type(target) is NumpyDtype:
            target.set_state(state)
        elif type(target) is not InertObject:
            _refuse("it sets the state of a plain value")

    def _set_entry(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self._fill([key, value])

    def _set_entries(self) -> None:
        self._fill(self.pop_mark())

    def _dict(self) -> None:
        entries = self.pop_mark()
        self.append({})
        self._fill(entries)

    def _fill(self, entries: list[Any]) -> None:
        """Put keys and values, in turn, into a dict.

        Keys that are not text are left out: nobody asks for them, and their hashes can be chosen.
        """
        target = self.stack[-1]
        if type(target) is dict:
            pairs = zip(entries[::2], entries[1::2], strict=True)
            target.update((key, value) for key, value in pairs if type(key) is str)
        elif type(target) is not InertObject:
            _refuse("it sets an entry of what is no dict")

    def _empty_set(self) -> None:
        self.append(INERT)

    def _frozen_set(self) -> None:
        self.pop_mark()
        self.append(INERT)

    def _byte_array(self) -> None:
        self.read(int.from_bytes(self.read(8), "little"))
        self.append(INERT)

    def _put(self) -> None:
        """Keep what is on top of the stack, at a place that a file of this length can have."""
        place = int(self.readline())
        if not 0 <= place <= self._size:
            _refuse(f"it remembers a value at place {place}")
        self.memo[place] = self.stack[-1]

    dispatch |= {
        pickle.NEWOBJ[0]: dispatch[pickle.REDUCE[0]],
        pickle.NEWOBJ_EX[0]: _new_with_options,
        pickle.BUILD[0]: _set_state,
        pickle.SETITEM[0]: _set_entry,
        pickle.SETITEMS[0]: _set_entries,
        pickle.DICT[0]: _dict,
        pickle.EMPTY_SET[0]: _empty_set,
        pickle.FROZENSET[0]: _frozen_set,
        pickle.BYTEARRAY8[0]: _byte_array,
        pickle.PUT[0]: _put,
    }
