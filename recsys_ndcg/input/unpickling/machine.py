"""What a pickle is read into: a stack and a memory of plain values, with bounds on all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from recsys_ndcg.input.unpickling.collisions import Collisions
from recsys_ndcg.input.unpickling.stand_ins import TOO_LONG, Inert, Kind, Name, named

if TYPE_CHECKING:
    from collections.abc import Callable


class UnfitError(Exception):
    """A pickle that is not whole, or made to do harm; says why."""


#: At the places in the memory that a pickle has left out.
MISSING = Inert()


def refuse(reason: str) -> NoReturn:
    """Raise the error that says what is wrong with the pickle."""
    raise UnfitError(reason)


def set_entry(target: object, key: object, value: object) -> None:
    """Put an entry into a dict.

    Keys that are not text are left out: nobody asks for them, and their hashes can be chosen.
    """
    if type(target) is dict:
        if type(key) is str:
            target[key] = value
        elif type(key) is list or type(key) is dict:
            refuse("a list or a dict is a key in it")
    elif type(target) is not Inert:
        refuse("it sets an entry of what is no dict")


class Machine:
    """The stack, those below it (one for each mark), and the memory.

    Each byte of the file makes a few dozen bytes here at most. Values are never shown, and hashed
    only if they are text, whose hash nobody can foresee, or numbers of a bounded length.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []
        self.memory: list[Any] = []
        self._copies_left = 2 * len(data)
        self._long_numbers = Collisions()

    def push(self, value: object) -> None:
        """Put a value on the stack."""
        self.stack.append(value)

    def since_mark(self) -> list[Any]:
        """Return what stands above the last mark, and forget the mark."""
        entries, self.stack = self.stack, self.below.pop()
        return entries

    def read(self, start: int, end: int, read: Callable[[bytes], object], longest: int) -> None:
        """Put on the stack what some bytes of the file stand for."""
        if end > len(self.data):
            refuse(f"it announces {end - start} bytes and has {max(len(self.data) - start, 0)}")
        value = read(self.data[start:end]) if end - start <= longest else TOO_LONG
        long = type(value) is int and value.bit_length() > 64
        if long and self._long_numbers.crowded(value):
            refuse("its whole numbers are chosen to have the same hash")
        self.push(value)

    def remember(self, place: int) -> None:
        """Keep what is on top of the stack, at a place that a file of this length can have."""
        if not 0 <= place <= len(self.data):
            refuse(f"it remembers a value at place {place}")
        top, gap = self.stack[-1], place - len(self.memory)
        if gap < 0:
            self.memory[place] = top
            return
        if gap:
            self.memory += [MISSING] * gap
        self.memory.append(top)

    def recall(self, place: int) -> None:
        """Put what was kept on the stack."""
        if place < 0 or self.memory[place] is MISSING:
            refuse(f"it recalls a value from place {place}")
        self.stack.append(self.memory[place])

    def name(self, module: object, name: object) -> None:
        """Put on the stack what stands for a name."""
        if type(module) is not str or type(name) is not str:
            refuse("a name in it is no text")
        self.stack.append(named(module, name))

    def call(self, name: object, arguments: object) -> None:
        """Put on the stack what our own function of that name makes."""
        if type(name) is not Name or type(arguments) is not tuple:
            refuse("it calls what is no function")
        made = name.make(arguments)
        if type(made) is str or type(made) is bytes:
            self._copies_left -= len(made)
            if self._copies_left < 0:  # nobody writes them so, and they would fill the memory
                refuse("it decodes the same bytes again and again")
        self.stack.append(made)

    def set_state(self, state: object) -> None:
        """Set the state of what is on top of the stack, if it has one."""
        target = self.stack[-1]
        if type(target) is Kind:
            target.set_state(state)
        elif type(target) is not Inert:
            refuse("it sets the state of a plain value")

    def set_entries(self, entries: list[Any]) -> None:
        """Put keys and values, in turn, into the dict on top of the stack."""
        if len(entries) % 2:
            refuse("a key in it has no value")
        target = self.stack[-1]
        for place in range(0, len(entries), 2):
            set_entry(target, entries[place], entries[place + 1])

    def extend(self, entries: list[Any]) -> None:
        """Append to the list on top of the stack."""
        target = self.stack[-1]
        if type(target) is list:
            target += entries
        elif type(target) is not Inert:
            refuse("it appends to what is no list")
