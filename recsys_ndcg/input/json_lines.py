"""Lines of JSON, an object each."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.input.text_format import MOST_COLUMNS

_FORM = '{"user": 1, "item": 2, "estimated": 3.5, "true": 4}'


def seems_json(text: str) -> bool:
    """Tell lines of JSON by the first one, where no name says what they are.

    Examples
    --------
    >>> seems_json('{"user": 1}'), seems_json("{user},item"), seems_json("user,item")
    (True, False, False)
    """
    line = text[: 1 << 20].lstrip().partition("\n")[0]
    try:
        return line.startswith("{") and isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


class JsonLines(Mapping[str, Any]):
    """The columns of a file in which each line is an object; what one lacks is not there.

    Parameters
    ----------
    name : str
        What messages call the file.
    text : str
        All of it.

    Raises
    ------
    InvalidInputError
        A line is no object, or there are very many different names.
    """

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._rows: list[tuple[int, dict[str, Any]]] = []
        names: dict[str, None] = {}
        for place, line in enumerate(io.StringIO(text), start=1):
            if not line.strip():
                continue
            row = self._object(place, line)
            names.update(dict.fromkeys(row))
            if len(names) > MOST_COLUMNS:
                self._refuse(place, f"there are more than {MOST_COLUMNS} different names.")
            self._rows.append((place, row))
        self._names = list(names)

    def __getitem__(self, name: str) -> list[Any]:
        """Return a column, None where an object has none."""
        if name not in self._names:
            raise KeyError(name)
        for place, row in self._rows:
            value = row.get(name)
            if isinstance(value, list | dict):
                self._refuse(place, f"{name} is {shown(value)}; write a number, or text.")
        return [row.get(name) for _, row in self._rows]

    def __iter__(self) -> Iterator[str]:
        """Go through the names."""
        return iter(self._names)

    def __len__(self) -> int:
        """Return how many columns there are."""
        return len(self._names)

    def _object(self, place: int, line: str) -> dict[str, Any]:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):  # also of a number of thousands of digits
            row = None
        if not isinstance(row, dict):
            array = " Of an array, write each object in a line." if line[:1] == "[" else ""
            self._refuse(place, f"{shown(line.strip())} is not an object, such as {_FORM}.{array}")
        return dict(row)

    def _refuse(self, place: int, what: str) -> None:
        msg = f"{self._name}, line {place}: {what}"
        raise InvalidInputError(msg)
