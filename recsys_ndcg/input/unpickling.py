"""Pickles read without executing anything that they name, within bounds of time and memory.

Python's own reader in Python, with functions of our own in place of all that a pickle names, and
with bounds where a few bytes would fill the memory or never end.
"""

from __future__ import annotations

import io
import pickle
import re
import struct
from collections.abc import Callable, Hashable
from types import FunctionType
from typing import Any, ClassVar, NamedTuple, NoReturn

_INERT_PACKAGES = frozenset({"surprise", "numpy", "collections"})
_BUILTINS = (
    "object", "tuple", "list", "dict", "set", "frozenset", "bytearray", "int", "float", "str",
    "bool", "complex", "slice", "range",
)  # fmt: skip
_OLD_MODULES = {"__builtin__": "builtins", "copy_reg": "copyreg"}
#: NumPy's names of numbers of each size, and those of `struct`.
_NUMBERS = {
    "b1": "?", "i1": "b", "i2": "h", "i4": "i", "i8": "q",
    "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "f2": "e", "f4": "f", "f8": "d",
}  # fmt: skip
_TEXT = re.compile(r"U[0-9]{1,9}")


class ForbiddenNameError(Exception):
    """A pickle names something that nothing stands for: its module and name."""


class _Fields(NamedTuple):
    uid: Any
    iid: Any
    r_ui: Any
    est: Any
    details: Any


class Prediction(_Fields):
    """A prediction as Surprise makes it."""

    __slots__ = ()


class InertObject:
    """In place of any other object: it takes what it is given, keeps nothing, and is no id."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def append(self, _entry: object) -> None:
        """Ignore an entry of a list."""

    def extend(self, _entries: object) -> None:
        """Ignore entries of a list."""

    add = append


class NumpyDtype:
    """In place of ``numpy.dtype``, whose own state can be forged into wild memory access."""

    __slots__ = ("code", "order")

    def __init__(self, text: object) -> None:
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


#: In place of a class or function that a pickle names: what it makes of its arguments.
StandIn = Callable[[tuple[Any, ...]], Any]

INERT = InertObject()
#: In place of text, bytes and numbers beyond what an id is.
TOO_LONG = InertObject()


def _inert(_arguments: tuple[Any, ...]) -> InertObject:
    return INERT


def _prediction(arguments: tuple[Any, ...]) -> Prediction:
    if len(arguments) != len(Prediction._fields):
        raise ValueError
    return Prediction._make(arguments)


def _dtype(arguments: tuple[Any, ...]) -> NumpyDtype:
    return NumpyDtype(arguments[0] if arguments else "")


def _scalar(arguments: tuple[Any, ...]) -> Any:
    """Do as NumPy's function that makes a scalar from its bytes."""
    kind, data = arguments if len(arguments) == 2 else (None, None)
    return kind.value(data) if type(kind) is NumpyDtype and type(data) is bytes else INERT


def _bytes(arguments: tuple[Any, ...]) -> Any:
    """Do as protocols before 3 write bytes: as text in Latin-1."""
    text, encoding = (*arguments, *("", "latin1")[len(arguments) :])[:2]
    plain = type(text) is str and encoding == "latin1"
    return text.encode("latin1") if plain else INERT


def _rebuilt(arguments: tuple[Any, ...]) -> Any:
    """Do as protocols before 2 rebuild an object: from its class, a base and the base's state."""
    kind, _, state = arguments if len(arguments) == 3 else (None, None, None)
    return _prediction(state) if kind is _prediction and type(state) is tuple else INERT


_INSIDE_PACKAGES = tuple(f"{package}." for package in _INERT_PACKAGES)
_KNOWN = {
    ("surprise.prediction_algorithms.predictions", "Prediction"): _prediction,
    ("numpy", "dtype"): _dtype,
    ("numpy._core.multiarray", "scalar"): _scalar,
    ("numpy.core.multiarray", "scalar"): _scalar,
    ("_codecs", "encode"): _bytes,
    ("copyreg", "_reconstructor"): _rebuilt,
    ("builtins", "bytes"): _bytes,
    **{("builtins", name): _inert for name in _BUILTINS},
}


def stand_in_of(module: str, name: str) -> StandIn:
    """Return what stands for a name; nothing is imported or looked up elsewhere.

    Raises
    ------
    ForbiddenNameError
        It is neither Surprise's nor NumPy's.
    """
    known = _KNOWN.get((_OLD_MODULES.get(module, module), name))
    if known is not None:
        return known
    if module in _INERT_PACKAGES or module.startswith(_INSIDE_PACKAGES):
        return _inert
    raise ForbiddenNameError(module, name)


_MOST_ALIKE = 16  # different values of one hash: by chance there are no two
_LONGEST = 1 << 16  # bytes of a text
_LONGEST_NUMBER = 1 << 9  # bytes


class DamagedPickleError(Exception):
    """A pickle that is not whole, or made to do harm; says why."""


class Collisions:
    """The different values seen so far, by their hashes.

    Values chosen to have one hash make any dict of them compare each with all others.

    Examples
    --------
    >>> seen = Collisions()
    >>> any(seen.crowded(2**70 + count) for count in range(100))
    False
    >>> any(seen.crowded(count * (2**61 - 1)) for count in range(100))
    True
    """

    def __init__(self) -> None:
        self._by_hash: dict[bytes, list[Hashable]] = {}

    def crowded(self, value: Hashable) -> bool:
        """Return whether many other values have the hash of this one."""
        # bytes, since what a hash of numbers is can be chosen, and that of bytes cannot
        key = hash(value).to_bytes(8, "little", signed=True)
        alike = self._by_hash.setdefault(key, [])
        if value not in alike:
            alike.append(value)
        return len(alike) > _MOST_ALIKE


def load(data: bytes) -> Any:
    """Return what a pickle holds; what follows it is left alone.

    Raises
    ------
    DamagedPickleError
        The bytes are no whole pickle, or made to do harm.
    ForbiddenNameError
        The pickle names what nothing stands for.
    """
    try:
        return _BoundedUnpickler(data).load()
    except (DamagedPickleError, ForbiddenNameError, MemoryError):
        raise
    except Exception as error:
        msg = "it is cut off or damaged"
        raise DamagedPickleError(msg) from error


def _refuse(reason: str) -> NoReturn:
    raise DamagedPickleError(reason)


_PythonUnpickler: Any = pickle._Unpickler  # noqa: SLF001


class _BoundedUnpickler(_PythonUnpickler):  # type: ignore[misc]
    """Python's reader, which here makes nothing but plain values and stand-ins.

    Each byte of the file makes a few dozen bytes at most. Values are never shown, and hashed only
    if they are text, whose hash nobody can foresee, or numbers of a bounded length. What calls,
    hashes, sets or makes room as the file says is replaced; the rest is Python's.
    """

    dispatch: ClassVar[dict[int, Callable[[Any], None]]] = {**_PythonUnpickler.dispatch}

    def __init__(self, data: bytes) -> None:
        self._data, self._file = data, io.BytesIO(data)
        super().__init__(self._file)
        self._copies_left = 2 * len(data)
        self._long_numbers = Collisions()

    def find_class(self, module: str, name: str) -> StandIn:
        """Return what stands for a name."""
        return stand_in_of(module, name)

    def get_extension(self, code: int) -> NoReturn:
        """Refuse what a process registers under a number."""
        _refuse(f"it names extension {code}")

    def persistent_load(self, _pid: object) -> NoReturn:
        """Refuse what is kept elsewhere."""
        _refuse("it asks for a persistent object")

    def _instantiate(self, klass: object, args: list[Any]) -> None:
        self._call(klass, tuple(args))

    def _call(self, name: object, arguments: object) -> None:
        """Put on the stack what our own function of that name makes."""
        if type(name) is not FunctionType or type(arguments) is not tuple:
            _refuse("it calls what is no function")
        made = name(arguments)
        if type(made) is str or type(made) is bytes:
            self._copies_left -= len(made)
            if self._copies_left < 0:  # nobody writes them so, and they would fill the memory
                _refuse("it decodes the same bytes again and again")
        self.append(made)

    def _make(self) -> None:
        arguments, name = self.stack.pop(), self.stack.pop()
        self._call(name, arguments)

    def _new_with_options(self) -> None:
        options = self.stack.pop()
        self._make()
        if options:  # nothing that is known takes any
            self.stack[-1] = INERT

    def _set_state(self) -> None:
        state, target = self.stack.pop(), self.stack[-1]
        if type(target) is NumpyDtype:
            target.set_state(state)
        elif type(target) is not InertObject:
            _refuse("it sets the state of a plain value")

    def _set_entry(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        _set_entries_of(self.stack[-1], [key, value])

    def _set_entries(self) -> None:
        entries = self.pop_mark()
        _set_entries_of(self.stack[-1], entries)

    def _dict(self) -> None:
        entries = self.pop_mark()
        self.append({})
        _set_entries_of(self.stack[-1], entries)

    def _frozen_set(self) -> None:
        self.pop_mark()
        self.append(INERT)

    def _empty_set(self) -> None:
        self.append(INERT)

    def _add_items(self) -> None:
        self.pop_mark()
        if type(self.stack[-1]) is not InertObject:
            _refuse("it adds to what is no set")

    def _byte_array(self) -> None:
        self.read(int.from_bytes(self.read(8), "little"))
        self.append(INERT)

    def _frame(self) -> None:
        """Read on in the file itself: all of it is in the memory."""
        size = int.from_bytes(self.read(8), "little")
        if size > len(self._data) - self._file.tell():
            _refuse("it is cut off")

    def _put(self) -> None:
        self._remember(int(self.readline()))

    def _long_put(self) -> None:
        self._remember(int.from_bytes(self.read(4), "little"))

    def _remember(self, place: int) -> None:
        """Keep what is on top of the stack, at a place that a file of this length can have."""
        if not 0 <= place <= len(self._data):
            _refuse(f"it remembers a value at place {place}")
        self.memo[place] = self.stack[-1]

    dispatch |= {
        pickle.REDUCE[0]: _make,
        pickle.NEWOBJ[0]: _make,
        pickle.NEWOBJ_EX[0]: _new_with_options,
        pickle.BUILD[0]: _set_state,
        pickle.SETITEM[0]: _set_entry,
        pickle.SETITEMS[0]: _set_entries,
        pickle.DICT[0]: _dict,
        pickle.EMPTY_SET[0]: _empty_set,
        pickle.ADDITEMS[0]: _add_items,
        pickle.FROZENSET[0]: _frozen_set,
        pickle.BYTEARRAY8[0]: _byte_array,
        pickle.FRAME[0]: _frame,
        pickle.PUT[0]: _put,
        pickle.LONG_BINPUT[0]: _long_put,
    }

    def check_line(self) -> None:
        """Refuse a number written out whose line is longer than any number is."""
        at = self._file.tell()
        if self._data.find(b"\n", at, at + _LONGEST_NUMBER) < 0:
            _refuse("a number in it is cut off, or has too many digits")

    def shorten(self) -> None:
        """Put a stand-in in place of a long value, which in every row would fill the memory."""
        value = self.stack[-1]
        if not isinstance(value, int):
            if len(value) > _LONGEST:
                self.stack[-1] = TOO_LONG
        elif value.bit_length() > 64:
            if value.bit_length() > 8 * _LONGEST_NUMBER:
                self.stack[-1] = TOO_LONG
            elif self._long_numbers.crowded(value):
                _refuse("its whole numbers are chosen to have the same hash")


def _set_entries_of(target: object, entries: list[Any]) -> None:
    """Put keys and values, in turn, into a dict.

    Keys that are not text are left out: nobody asks for them, and their hashes can be chosen.
    """
    if type(target) is not dict and type(target) is not InertObject:
        _refuse("it sets an entry of what is no dict")
    if len(entries) % 2:
        _refuse("a key in it has no value")
    for place in range(0, len(entries), 2):
        key = entries[place]
        if type(key) is list or type(key) is dict:
            _refuse("a list or a dict is a key in it")
        if type(key) is str and type(target) is dict:
            target[key] = entries[place + 1]


_LINES = {pickle.INT, pickle.LONG, pickle.FLOAT, pickle.GET, pickle.PUT}
_VALUES = {
    pickle.INT, pickle.LONG, pickle.LONG1, pickle.LONG4, pickle.UNICODE, pickle.BINUNICODE,
    pickle.BINUNICODE8, pickle.STRING, pickle.BINSTRING, pickle.BINBYTES, pickle.BINBYTES8,
}  # fmt: skip


def _bounded(opcode: bytes) -> Callable[[_BoundedUnpickler], None]:
    """Return the step of an opcode that reads a number from a line, or makes a value, or both."""
    step = _BoundedUnpickler.dispatch[opcode[0]]

    def bounded(machine: _BoundedUnpickler) -> None:
        if opcode in _LINES:
            machine.check_line()
        step(machine)
        if opcode in _VALUES:
            machine.shorten()

    return bounded


_BoundedUnpickler.dispatch |= {one[0]: _bounded(one) for one in {*_LINES, *_VALUES}}
