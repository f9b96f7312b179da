"""Pickles read without executing anything that they name, within bounds of time and memory.

Python's own reader in Python, with functions of our own in place of all that a pickle names, and
with bounds where a few bytes would fill the memory or never end.
"""

from __future__ import annotations

import copyreg
import io
import pickle
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from recsys_ndcg.input.stand_ins import (
    INERT,
    TOO_LONG,
    ForbiddenNameError,
    InertObject,
    NumpyDtype,
    StandIn,
    stand_in_of,
)

if TYPE_CHECKING:
    from collections.abc import Hashable

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

    def get_extension(self, code: int) -> None:
        """Look up a name that this process registered under a number, and not what it stands for.

        Python's reader keeps what it found, for whoever reads the next pickle.
        """
        known = copyreg._inverted_registry.get(code)  # type: ignore[attr-defined] # noqa: SLF001
        if known is None:
            _refuse(f"it names extension {code}, which nobody registered")
        self.append(self.find_class(*known))

    def persistent_load(self, _pid: object) -> NoReturn:
        """Refuse what is kept elsewhere."""
        _refuse("it asks for a persistent object")

    def _instantiate(self, klass: object, args: list[Any]) -> None:
        self._call(klass, tuple(args))

    def _call(self, name: object, arguments: object) -> None:
        """Put on the stack what our own function of that name makes."""
        if type(name) is not StandIn or type(arguments) is not tuple:
            _refuse("it calls what is no function")
        made = name.make(arguments)
        if type(made) is str or type(made) is bytes:
            self._copies_left -= len(made)
            if self._copies_left < 0:  # nobody writes them so, and they would fill the memory
                _refuse("it decodes the same bytes again and again")
        self.append(made)

    def _reduce(self) -> None:
        arguments, name = self.stack.pop(), self.stack.pop()
        self._call(name, arguments)

    def _new(self) -> None:
        arguments, name = self.stack.pop(), self.stack.pop()
        if type(name) is StandIn and not name.is_class:
            _refuse("it makes an object of what is no class")
        self._call(name, arguments)

    def _new_with_options(self) -> None:
        options = self.stack.pop()
        self._new()
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
        pickle.REDUCE[0]: _reduce,
        pickle.NEWOBJ[0]: _new,
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


Step = Callable[[_BoundedUnpickler], None]


def _of_a_short_line(step: Step) -> Step:
    def checked(machine: _BoundedUnpickler) -> None:
        machine.check_line()
        step(machine)

    return checked


def _of_a_short_value(step: Step) -> Step:
    def shortened(machine: _BoundedUnpickler) -> None:
        step(machine)
        machine.shorten()

    return shortened


_LINES = (pickle.INT, pickle.LONG, pickle.FLOAT, pickle.GET, pickle.PUT)
_VALUES = (
    pickle.INT, pickle.LONG, pickle.LONG1, pickle.LONG4, pickle.UNICODE, pickle.BINUNICODE,
    pickle.BINUNICODE8, pickle.STRING, pickle.BINSTRING, pickle.BINBYTES, pickle.BINBYTES8,
)  # fmt: skip
_steps = _BoundedUnpickler.dispatch
_steps |= {opcode[0]: _of_a_short_value(_steps[opcode[0]]) for opcode in _VALUES}
_steps |= {opcode[0]: _of_a_short_line(_steps[opcode[0]]) for opcode in _LINES}
