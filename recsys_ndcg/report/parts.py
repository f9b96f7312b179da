"""Parts of a file that know where they stand, so that what is wrong with one can be said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from recsys_ndcg.errors import InvalidInputError, is_number, shown
from recsys_ndcg.errors.visible import visible
from recsys_ndcg.report.packing import unpack

if TYPE_CHECKING:
    from collections.abc import KeysView

    from numpy.typing import NDArray

_LONGEST = 100
_DAMAGED = (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


class Part:
    """A value in a file, and where it stands there.

    Parameters
    ----------
    value : Any
        As JSON gives it.
    where : str
        Such as ``"lists.n_items"``; nothing for the whole file.

    Examples
    --------
    >>> Part({"lists": {"n_items": 3}})["lists"]["n_items"].whole(least=1)
    3
    """

    def __init__(self, value: Any, where: str = "") -> None:
        self.value = value
        self._where = where

    def __getitem__(self, name: str) -> Part:
        """Return the part of that name."""
        if name not in self.names():
            self._inside(name, None).refuse("is missing")
        return self._inside(name, self.value[name])

    def names(self) -> KeysView[str]:
        """Return the names of all parts."""
        if not isinstance(self.value, dict):
            self.refuse(f"is {shown(self.value)}, which has no parts")
        return self.value.keys()

    def refuse(self, what: str) -> NoReturn:
        """Raise the error that says what is wrong here."""
        msg = f"{self._where or 'the report'} {what}"
        raise InvalidInputError(msg) from None

    def entries(self, size: int | None = None) -> list[Part]:
        """Return the entries of a list, of so many if that is known."""
        values = self.values()
        if size is not None and len(values) != size:
            self.refuse(f"has {len(values)} entries, not {size}")
        return [Part(one, f"{self._where}[{place}]") for place, one in enumerate(values)]

    def values(self) -> list[Any]:
        """Return the bare values of a list, which nobody has checked."""
        if not isinstance(self.value, list):
            self.refuse(f"is {shown(self.value)}, not a list")
        return self.value

    def text(self) -> str:
        """Return a text that can be shown: the escapes of `visible` would change nothing in it."""
        if not isinstance(self.value, str) or visible(self.value) != self.value:
            self.refuse(f"is {shown(self.value)}, not a text")
        return self.value

    def flag(self) -> bool:
        """Return true or false."""
        if not isinstance(self.value, bool):
            self.refuse(f"is {shown(self.value)}, not true or false")
        return self.value

    def whole(self, *, least: int, most: int = 2**31 - 1) -> int:
        """Return a whole number from a range."""
        value = self.value
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            self.refuse(f"is {shown(value)}, not a whole number from {least} to {most}")
        return value

    def number(self, least: float = -np.inf, most: float = np.inf) -> float:
        """Return a finite number from a range, or NaN for null."""
        if self.value is None:
            return np.nan
        if not is_number(self.value) or not least <= self.value <= most:
            among = "" if most == np.inf else f" from {least:g} to {most:g}"
            self.refuse(f"is {shown(self.value)}, not a finite number{among} or null")
        return float(self.value)

    def column(self, size: int, kinds: str) -> NDArray[Any]:
        """Return a column of so many values, packed or not, of one of NumPy's kinds of number."""
        try:
            bare = isinstance(self.value, np.ndarray) and len(self.value) == size
            found = self.value if bare else unpack(self.value, size)
        except _DAMAGED:
            self.refuse(f"is no packed column of {size} values, or is damaged")
        if found.dtype.kind not in kinds:
            self.refuse(f"is packed as {found.dtype.name}, which is another kind of value")
        return found

    def _inside(self, name: str, value: Any) -> Part:
        plain = name.isprintable() and 0 < len(name) <= _LONGEST
        told = name if plain else shown(name)
        return Part(value, f"{self._where}.{told}" if self._where else told)
