"""What the names in a pickle stand for: functions of our own, whatever they are elsewhere."""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

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


class StandIn(NamedTuple):
    """In place of a class or function that a pickle names: what it makes of its arguments."""

    make: Callable[[tuple[Any, ...]], Any]
    is_class: bool


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
    return _prediction(state) if kind is _PREDICTION and type(state) is tuple else INERT


_INSIDE_PACKAGES = tuple(f"{package}." for package in _INERT_PACKAGES)
_PREDICTION = StandIn(_prediction, is_class=True)
_INERT_NAME = StandIn(_inert, is_class=True)
_KNOWN = {
    ("surprise.prediction_algorithms.predictions", "Prediction"): _PREDICTION,
    ("numpy", "dtype"): StandIn(_dtype, is_class=False),
    ("numpy._core.multiarray", "scalar"): StandIn(_scalar, is_class=False),
    ("numpy.core.multiarray", "scalar"): StandIn(_scalar, is_class=False),
    ("_codecs", "encode"): StandIn(_bytes, is_class=False),
    ("copyreg", "_reconstructor"): StandIn(_rebuilt, is_class=False),
    ("builtins", "bytes"): StandIn(_bytes, is_class=False),
    **{("builtins", name): _INERT_NAME for name in _BUILTINS},
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
        return _INERT_NAME
    raise ForbiddenNameError(module, name)
