"""Where names stand beside dots, so that none covers another."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_LETTER, _LINE, _GAP = 6.0, 12.0, 8.0  # pixels: of a letter, a line, and between dot and name
#: How a name stands to its dot: its alignment, and how far right and down of it.
SIDES = {
    "above right": ("left", _GAP, -_GAP),
    "above left": ("right", -_GAP, -_GAP),
    "below right": ("left", _GAP, _GAP),
    "below left": ("right", -_GAP, _GAP),
}
Box = tuple[float, float, float, float]  # left, top, right, bottom


def sides(names: Sequence[str], dots: Sequence[tuple[float, float]], size: Box) -> list[str]:
    """Return at which side of its dot each name has room, nothing where it has none.

    Parameters
    ----------
    names : sequence of str
        Those that come first choose first.
    dots : sequence of pairs
        Their places in pixels, right and down.
    size : Box
        Beyond which no name reaches.

    Examples
    --------
    >>> sides(["a", "b"], [(50, 50), (45, 50)], (0, 0, 100, 100))
    ['above right', 'above left']
    """
    taken: list[Box] = [(x - 5, y - 5, x + 5, y + 5) for x, y in dots]
    found = []
    for name, (x, y) in zip(names, dots, strict=True):
        side = ""
        for one, (align, dx, dy) in SIDES.items():
            box = _box(len(name) * _LETTER, x + dx, y + dy, align)
            if _inside(box, size) and not any(_meet(box, other) for other in taken):
                side = one
                taken.append(box)
                break
        found.append(side)
    return found


def _box(width: float, x: float, y: float, align: str) -> Box:
    left = x if align == "left" else x - width
    return left, y - _LINE / 2, left + width, y + _LINE / 2


def _inside(box: Box, size: Box) -> bool:
    return box[0] >= size[0] and box[1] >= size[1] and box[2] <= size[2] and box[3] <= size[3]


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
