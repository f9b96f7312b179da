"""Short texts as whole numbers: told apart without looking each of them up in a dict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.input.ids import Coded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]
    Places = NDArray[np.int64]

_EIGHT = 8
_ENDS = "\n" * 2 * _EIGHT
#: What is kept of eight bytes, of which some are of the next text.
_KEPT = np.array([(1 << 8 * length) - 1 for length in range(_EIGHT + 1)], dtype=np.uint64)


class ShortTexts:
    """Texts of at most 16 bytes each, of which eight are a whole number.

    Parameters
    ----------
    size : int
        How many there will be.

    Examples
    --------
    >>> texts = ShortTexts(3)
    >>> texts.take(["b", "a", "b"], 0), texts.coded(3).values.tolist()
    (True, ['b', 'a', 'b'])
    """

    def __init__(self, size: int) -> None:
        self._first: Words = np.empty(size, dtype=np.uint64)
        self._second: Words = np.zeros(size, dtype=np.uint64)  # nowhere before it is written
        self._long = False

    def take(self, texts: list[Any], start: int) -> bool:
        """Take those from `start` on; tell whether all are short, and text at all."""
        found = _bytes_of(texts)
        if found is None:
            return False
        data, starts, lengths = found
        most = int(lengths.max())
        if most > 2 * _EIGHT:
            return False
        # eight bytes from every place on
        eights: Words = np.ndarray((len(data) - _EIGHT + 1,), "<u8", data, strides=(1,))
        rows = slice(start, start + len(texts))
        self._first[rows] = eights[starts] & _KEPT[np.minimum(lengths, _EIGHT)]
        if most > _EIGHT:
            self._second[rows] = eights[starts + _EIGHT] & _KEPT[np.maximum(lengths - _EIGHT, 0)]
            self._long = True
        return True

    def coded(self, stop: int) -> Coded:
        """Return those before `stop` by the distinct ones."""
        codes, _ = pd.factorize(self._first[:stop])
        if self._long:
            others, other = pd.factorize(self._second[:stop])
            pairs: Places = codes.astype(np.int64) * len(other) + others
            codes, _ = pd.factorize(pairs)
        place = np.empty(int(codes.max()) + 1, dtype=np.int64)
        place[codes[::-1]] = np.arange(len(codes))[::-1]
        words = np.column_stack([self._first[place], self._second[place]]).astype("<u8")
        texts = [one.decode() for one in words.view("S16")[:, 0].tolist()]
        ids = np.fromiter(texts, dtype=object, count=len(texts))
        return Coded(ids, codes.astype(np.int32))


def _bytes_of(texts: list[Any]) -> tuple[bytes, Places, Places] | None:
    """Return texts as bytes one after the other, where each begins, and how long it is."""
    if set(map(type, texts)) != {str}:
        return None
    try:
        data = ("\n".join(texts) + _ENDS).encode()
    except UnicodeEncodeError:  # half a character
        return None
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
    if len(ends) != len(texts) + len(_ENDS) - 1 or b"\0" in data:
        return None
    starts = np.empty(len(texts), dtype=np.int64)
    starts[0] = 0
    starts[1:] = ends[: len(texts) - 1] + 1
    return data, starts, ends[: len(texts)] - starts
