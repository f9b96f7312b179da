"""Where names stand beside dots, so that none covers another."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_LETTER, _LINE, _GAP = 7.0, 12.0, 8.0  # pixels: of a letter, a line, and between dot and name
#: How a name stands to its dot: its alignment, and how far right and down of it.
SIDES = {
    "above right": ("left", _GAP, -_GAP),
    "above left": ("right", -_GAP, -_GAP),
    "below right": ("left", _GAP, _GAP),
    "below left": ("right", -_GAP, _GAP),
}
Box = tuple[float, float, float, float]  # left, top, right, bottom


class Layout(NamedTuple):
    """Dots in a drawing of some size, right and down in pixels."""

    width: float
    height: float
    dots: Sequence[tuple[float, float]]


def sides(names: Sequence[str], layouts: Sequence[Layout]) -> list[str]:
    """Return at which side of its dot each name has room, nothing where it has none.

    Parameters
    ----------
    names : sequence of str
        Those that come first choose first.
    layouts : sequence of Layout
        The same dots in a wide drawing, and in a narrow one: a name needs room in each.

    Examples
    --------
    >>> sides(["a", "b"], [Layout(100, 100, [(50, 50), (45, 50)])])
    ['above right', 'above left']
    """
    taken: list[list[Box]] = [
        [(x - 5, y - 5, x + 5, y + 5) for x, y in layout.dots] for layout in layouts
    ]
    found = []
    for place, name in enumerate(names):
        side = ""
        for one in SIDES:
            boxes = [_box(name, layout.dots[place], one) for layout in layouts]
            if all(map(_free, boxes, layouts, taken)):
                side = one
                for box, others in zip(boxes, taken, strict=True):
                    others.append(box)
                break
        found.append(side)
    return found


def _box(name: str, dot: tuple[float, float], side: str) -> Box:
    align, dx, dy = SIDES[side]
    width, (x, y) = len(name) * _LETTER, dot
    left = x + dx if align == "left" else x + dx - width
    return left, y + dy - _LINE / 2, left + width, y + dy + _LINE / 2


def _free(box: Box, layout: Layout, taken: Sequence[Box]) -> bool:
    left, top, right, bottom = box
    inside = left >= 0 and top >= 0 and right <= layout.width and bottom <= layout.height
    return inside and not any(_meet(box, other) for other in taken)


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
