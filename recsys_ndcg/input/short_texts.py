"""Short texts as whole numbers: told apart without looking each of them up in a dict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from recsys_ndcg.input.ids import Coded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Positions

    Words = NDArray[np.uint64]

_EIGHT = 8
#: What is kept of eight bytes, of which some are of the next text.
_KEPT = np.array([(1 << 8 * length) - 1 for length in range(_EIGHT + 1)], dtype=np.uint64)


class Lines(NamedTuple):
    """Texts as bytes one after the other, each with the end of a line.

    Parameters
    ----------
    data : uint8 array
        All of them, with eight more ends.
    starts, lengths : int64 arrays
        Where each begins, and how long it is without its end.
    """

    data: NDArray[np.uint8]
    starts: Positions
    lengths: Positions


def lines_of(texts: list[Any]) -> Lines | None:
    """Return texts as lines: to join them is the fastest way to the bytes of many.

    None where one is no text, has several lines, or half a character.
    """
    try:
        written = ("\n".join(texts) + "\n" * (_EIGHT + 1)).encode()
    except (TypeError, UnicodeEncodeError):
        return None
    data = np.frombuffer(written, np.uint8)
    ends = np.flatnonzero(data[:-_EIGHT] == ord("\n"))
    if len(ends) != len(texts):
        return None
    starts = np.append(0, ends[:-1] + 1)
    return Lines(data, starts, ends - starts)


def words_of(data: NDArray[np.uint8], starts: Positions, lengths: Positions) -> Words:
    """Return bytes from some places on as whole numbers: so many of each, at most eight.

    There must be eight bytes more than the last one.

    Examples
    --------
    >>> data = np.frombuffer(b"ba" + bytes(8), np.uint8)
    >>> words_of(data, np.array([0, 1]), np.array([1, 1]))
    array([98, 97], dtype=uint64)
    """
    from_each: Words = np.ndarray((len(data) - _EIGHT + 1,), "<u8", data.data, strides=(1,))
    words: Words = (from_each[starts] & _KEPT[lengths]).astype(np.uint64)
    return words


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
        lines = lines_of(texts) if set(map(type, texts)) == {str} else None
        if lines is None or not lines.data.all():
            return False
        data, starts, lengths = lines
        most = int(lengths.max())
        if most > 2 * _EIGHT:
            return False
        rows = slice(start, start + len(texts))
        self._first[rows] = words_of(data, starts, np.minimum(lengths, _EIGHT))
        if most > _EIGHT:
            beyond = np.maximum(lengths - _EIGHT, 0)
            self._second[rows] = words_of(data, starts + np.minimum(lengths, _EIGHT), beyond)
            self._long = True
        return True

    def coded(self, stop: int) -> Coded:
        """Return those before `stop` by the distinct ones."""
        codes, _ = pd.factorize(self._first[:stop])
        if self._long:
            others, other = pd.factorize(self._second[:stop])
            pairs: Positions = codes.astype(np.int64) * len(other) + others
            codes, _ = pd.factorize(pairs)
        place = np.empty(int(codes.max()) + 1, dtype=np.int64)
        place[codes[::-1]] = np.arange(len(codes))[::-1]
        words = np.column_stack([self._first[place], self._second[place]]).astype("<u8")
        texts = [one.decode() for one in words.view("S16")[:, 0].tolist()]
        ids = np.fromiter(texts, dtype=object, count=len(texts))
        return Coded(ids, codes.astype(np.int32))
