"""What each instruction of a pickle does to a `Machine`."""

from __future__ import annotations

import copyreg
import pickle
from typing import TYPE_CHECKING, NoReturn

from recsys_ndcg.input.unpickling.arguments import Step, alone, fixed, line, sized, value, words
from recsys_ndcg.input.unpickling.literals import ascii_text, digits, escaped, quoted, utf_8, whole
from recsys_ndcg.input.unpickling.machine import Machine, refuse
from recsys_ndcg.input.unpickling.stand_ins import INERT, Inert, Name

if TYPE_CHECKING:
    from collections.abc import Callable

_LONGEST_NUMBER = 1 << 9  # bytes


def _version(_machine: Machine, version: int) -> None:
    if version > pickle.HIGHEST_PROTOCOL:
        refuse(f"it is of protocol {version}")


def _frame(machine: Machine, at: int) -> int:
    start = at + 8
    length = int.from_bytes(machine.data[at:start], "little")
    if start + length > len(machine.data):
        refuse("it is cut off")
    return start


def _remember_at(machine: Machine, place: str) -> None:
    machine.remember(_whole(place))


def _recall_from(machine: Machine, place: str) -> None:
    machine.recall(_whole(place))


def _whole(digits: str) -> int:
    if len(digits) > _LONGEST_NUMBER:
        refuse("it has a place with too many digits")
    return int(digits)


def _pop(machine: Machine) -> None:
    """Take away the top of the stack, or the mark that is there."""
    if machine.stack:
        machine.stack.pop()
    else:
        machine.since_mark()


def _tuple_of(size: int) -> Step:
    def join(machine: Machine) -> None:
        if len(machine.stack) < size:
            raise IndexError
        machine.stack[-size:] = [tuple(machine.stack[-size:])]

    return alone(join)


def _pair(machine: Machine, at: int) -> int:
    second = machine.stack.pop()
    machine.stack[-1] = (machine.stack[-1], second)
    return at


def _dict(machine: Machine) -> None:
    entries = machine.since_mark()
    machine.push({})
    machine.set_entries(entries)


def _append(machine: Machine) -> None:
    machine.extend([machine.stack.pop()])


def _add_items(machine: Machine) -> None:
    machine.since_mark()
    if type(machine.stack[-1]) is not Inert:
        refuse("it adds to what is no set")


def _frozen_set(machine: Machine) -> None:
    machine.since_mark()
    machine.push(INERT)


def _extension(machine: Machine, code: int) -> None:
    """Look up a name that this process registered under a number."""
    known = copyreg._inverted_registry.get(code)  # type: ignore[attr-defined]  # noqa: SLF001
    if known is None:
        refuse(f"it names extension {code}, which nobody registered")
    machine.name(*known)


def _name_from_stack(machine: Machine) -> None:
    name, module = machine.stack.pop(), machine.stack.pop()
    machine.name(module, name)


def _reduce(machine: Machine, at: int) -> int:
    arguments, name = machine.stack.pop(), machine.stack.pop()
    machine.call(name, arguments)
    return at


def _new(machine: Machine, at: int) -> int:
    arguments, name = machine.stack.pop(), machine.stack.pop()
    if type(name) is Name and not name.is_class:
        refuse("it makes an object of what is no class")
    machine.call(name, arguments)
    return at


def _new_with_options(machine: Machine, at: int) -> int:
    options = machine.stack.pop()
    _new(machine, at)
    if options:  # nothing that is known takes any
        machine.stack[-1] = INERT
    return at


def _object(machine: Machine) -> None:
    name, *arguments = machine.since_mark()
    machine.call(name, tuple(arguments))


def _instance(machine: Machine, module: str, name: str) -> None:
    arguments = tuple(machine.since_mark())
    machine.name(module, name)
    machine.call(machine.stack.pop(), arguments)


def _refused(reason: str) -> Callable[..., NoReturn]:
    return lambda *_: refuse(reason)


_PERSISTENT = _refused("it asks for a persistent object")
_BUFFER = _refused("it asks for data that is not in the file")
_STEP_OF: dict[bytes, Step] = {
    pickle.PROTO: fixed(1, _version),
    pickle.FRAME: _frame,
    pickle.NONE: value(None),
    pickle.NEWTRUE: value(True),  # noqa: FBT003 - the value itself
    pickle.NEWFALSE: value(False),  # noqa: FBT003
    pickle.BININT: fixed(4, Machine.push, signed=True),
    pickle.BININT1: fixed(1, Machine.push),
    pickle.BININT2: fixed(2, Machine.push),
    pickle.LONG1: sized(1, whole, _LONGEST_NUMBER),
    pickle.LONG4: sized(4, whole, _LONGEST_NUMBER),
    pickle.INT: line(digits, _LONGEST_NUMBER),
    pickle.LONG: line(digits, _LONGEST_NUMBER),
    pickle.FLOAT: line(float, _LONGEST_NUMBER),
    pickle.UNICODE: line(escaped),
    pickle.BINUNICODE: sized(4, utf_8),
    pickle.BINUNICODE8: sized(8, utf_8),
    pickle.STRING: line(quoted),
    pickle.SHORT_BINSTRING: sized(1, ascii_text),
    pickle.BINSTRING: sized(4, ascii_text),
    pickle.SHORT_BINBYTES: sized(1, bytes),
    pickle.BINBYTES: sized(4, bytes),
    pickle.BINBYTES8: sized(8, bytes),
    pickle.BYTEARRAY8: sized(8, lambda _: INERT),
    pickle.NEXT_BUFFER: alone(_BUFFER),
    pickle.READONLY_BUFFER: alone(_BUFFER),
    pickle.POP: alone(_pop),
    pickle.POP_MARK: alone(Machine.since_mark),
    pickle.DUP: alone(lambda machine: machine.push(machine.stack[-1])),
    pickle.PUT: words(1, _remember_at),
    pickle.BINPUT: fixed(1, Machine.remember),
    pickle.LONG_BINPUT: fixed(4, Machine.remember),
    pickle.GET: words(1, _recall_from),
    pickle.EMPTY_TUPLE: value(()),
    pickle.TUPLE1: _tuple_of(1),
    pickle.TUPLE2: _pair,
    pickle.TUPLE3: _tuple_of(3),
    pickle.EMPTY_DICT: alone(lambda machine: machine.push({})),
    pickle.EMPTY_LIST: alone(lambda machine: machine.push([])),
    pickle.LIST: alone(lambda machine: machine.push(machine.since_mark())),
    pickle.APPEND: alone(_append),
    pickle.APPENDS: alone(lambda machine: machine.extend(machine.since_mark())),
    pickle.DICT: alone(_dict),
    pickle.SETITEMS: alone(lambda machine: machine.set_entries(machine.since_mark())),
    pickle.EMPTY_SET: value(INERT),
    pickle.ADDITEMS: alone(_add_items),
    pickle.FROZENSET: alone(_frozen_set),
    pickle.GLOBAL: words(2, Machine.name),
    pickle.STACK_GLOBAL: alone(_name_from_stack),
    pickle.EXT1: fixed(1, _extension),
    pickle.EXT2: fixed(2, _extension),
    pickle.EXT4: fixed(4, _extension),
    pickle.REDUCE: _reduce,
    pickle.NEWOBJ: _new,
    pickle.NEWOBJ_EX: _new_with_options,
    pickle.OBJ: alone(_object),
    pickle.INST: words(2, _instance),
    pickle.BUILD: alone(lambda machine: machine.set_state(machine.stack.pop())),
    pickle.PERSID: alone(_PERSISTENT),
    pickle.BINPERSID: alone(_PERSISTENT),
}
_UNKNOWN = alone(_refused("an instruction in it is none"))
#: By opcode; the frequent ones are done where they are met.
STEPS = [_STEP_OF.get(bytes([opcode]), _UNKNOWN) for opcode in range(256)]
