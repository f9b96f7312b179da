"""How the instructions of a pickle take their arguments."""

from __future__ import annotations

from collections.abc import Callable

from recsys_ndcg.input.unpickling.machine import Machine

#: Does an instruction, and returns where the next one begins; both places are after the opcode.
Step = Callable[[Machine, int], int]

_LONGEST = 1 << 16  # bytes


def alone(do: Callable[[Machine], object]) -> Step:
    """Return the step of an instruction without an argument."""

    def step(machine: Machine, at: int) -> int:
        do(machine)
        return at

    return step


def value(constant: object) -> Step:
    """Return the step that puts a value on the stack."""

    def step(machine: Machine, at: int) -> int:
        machine.stack.append(constant)
        return at

    return step


def fixed(width: int, do: Callable[[Machine, int], object], *, signed: bool = False) -> Step:
    """Return the step of a number that takes `width` bytes."""

    def step(machine: Machine, at: int) -> int:
        end = at + width
        do(machine, int.from_bytes(machine.data[at:end], "little", signed=signed))
        return end

    return step


def sized(width: int, read: Callable[[bytes], object], longest: int = _LONGEST) -> Step:
    """Return the step of a value whose length, in `width` bytes, stands before it."""

    def step(machine: Machine, at: int) -> int:
        start = at + width
        end = start + int.from_bytes(machine.data[at:start], "little")
        machine.read(start, end, read, longest)
        return end

    return step


def line(read: Callable[[bytes], object], longest: int = _LONGEST) -> Step:
    """Return the step of a value that ends with its line."""

    def step(machine: Machine, at: int) -> int:
        end = machine.data.index(b"\n", at)
        machine.read(at, end, read, longest)
        return end + 1

    return step


def words(count: int, do: Callable[..., object]) -> Step:
    """Return the step of an instruction with arguments on lines of their own."""

    def step(machine: Machine, at: int) -> int:
        found = []
        for _ in range(count):
            end = machine.data.index(b"\n", at)
            found.append(str(machine.data[at:end], "utf-8"))
            at = end + 1
        do(machine, *found)
        return at

    return step
