"""Pickles read without executing anything that they name, and bounded by their length.

Python's own reader calls what a pickle says, and lets a few bytes fill the memory or never end.
Here a `Machine` holds plain values and what our own stand-ins make of them.
"""

from __future__ import annotations

import struct
from typing import Any

from recsys_ndcg.input.unpickling.machine import MISSING, Machine, UnfitError, set_entry
from recsys_ndcg.input.unpickling.opcodes import STEPS

(
    _MARK, _STOP, _BINFLOAT, _BINGET, _LONG_BINGET, _MEMOIZE, _SHORT_BINUNICODE, _TUPLE, _SETITEM,
) = b"(.Ghj\x94\x8cts"  # fmt: skip
_double = struct.Struct(">d").unpack_from
_place = struct.Struct("<I").unpack_from


def load(data: bytes) -> Any:
    """Return what a pickle holds; what follows it is left alone.

    Raises
    ------
    UnfitError
        The bytes are no whole pickle, or made to do harm.
    ForbiddenNameError
        The pickle names what nothing stands for.
    """
    try:
        return _run(Machine(data))
    except (IndexError, struct.error):  # a stack, the memory or the file is at its end
        msg = "it is cut off or damaged"
    except ValueError:
        msg = "a text, a number or a prediction in it is damaged"
    raise UnfitError(msg)


def _run(machine: Machine) -> Any:  # noqa: C901, PLR0912 - a call for each would take twice as long
    """Do one instruction after the other, those that a prediction is full of right here.

    None looks whether the file ends within its argument: then the next instruction is missing.
    """
    data, memory, below, stack = machine.data, machine.memory, machine.below, machine.stack
    at = 0
    while True:
        opcode = data[at]
        at += 1
        if opcode == _MEMOIZE:
            memory.append(stack[-1])
        elif opcode == _BINGET:
            stack.append(memory[data[at]])
            at += 1
            if stack[-1] is MISSING:
                raise IndexError
        elif opcode == _LONG_BINGET:
            stack.append(memory[_place(data, at)[0]])
            at += 4
            if stack[-1] is MISSING:
                raise IndexError
        elif opcode == _BINFLOAT:
            stack.append(_double(data, at)[0])
            at += 8
        elif opcode == _SHORT_BINUNICODE:
            start, at = at + 1, at + 1 + data[at]
            stack.append(str(data[start:at], "utf-8", "surrogatepass"))
        elif opcode == _MARK:
            below.append(stack)
            stack = []
        elif opcode == _TUPLE:
            entries, stack = tuple(stack), below.pop()
            stack.append(entries)
        elif opcode == _SETITEM:
            value, key = stack.pop(), stack.pop()
            set_entry(stack[-1], key, value)
        elif opcode == _STOP:
            return stack.pop()
        else:
            machine.stack = stack
            at = STEPS[opcode](machine, at)
            stack = machine.stack
