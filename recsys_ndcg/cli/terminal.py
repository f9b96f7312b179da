"""Printing documents on a terminal, with rich."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from recsys_ndcg.cli.options import write_remark
from recsys_ndcg.errors import escape_for_stdout
from recsys_ndcg.rendering import Document, ShownTable, map_texts

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_BREAKS = re.compile(r"_(?=\w\w)")  # d_z is one word
_STYLES = {"legend": "dim", "code": "dim", "headline": "bold"}
_USUAL_WIDTH = 80
_MIN_WIDTH = 8
_NARROW = 72  # columns; in a narrower terminal, a row with long cells is a paragraph


def print_document(
    document: Document, to: Console, *, quiet: bool = False, full: bool = False
) -> None:
    """Print a document: its tables, the verdicts below the first one, and other text.

    Parameters
    ----------
    document : Document
        The document.
    to : rich.console.Console
        The console.
    quiet : bool
        Whether only the tables are printed.
    full : bool
        Whether signatures are printed in full.
    """
    document = map_texts(document, escape_for_stdout)
    if document.verdicts and not quiet:
        to.print(document.facts, soft_wrap=False)
    for place, (kind, part) in enumerate(document.list_lines(full=full)):
        if isinstance(part, ShownTable):
            if place:
                to.print()
            draw = draw_grid if part.numeric is None else _draw_list
            to.print(*draw(part, to.width), sep="\n")
        elif not quiet:
            for line in filter(None, part):
                text = escape_for_stdout(write_remark(line))
                to.print(text, style=_STYLES.get(kind), soft_wrap=kind == "code")


def draw_grid(table: ShownTable, room: int) -> Iterator[RenderableType]:
    """Yield a table in blocks that fit the terminal.

    Headings break at underscores, cells do not break, and gaps are as wide as 80 columns allow. If
    the terminal is narrower than the table, columns are split into blocks below each other, and
    each block repeats the first columns.

    Parameters
    ----------
    table : ShownTable
        The table, all of text.
    room : int
        The width of the terminal.
    """
    frame, left = table.cells, table.n_left_aligned
    headings = [_BREAKS.split(str(name)) for name in frame]
    widths = [
        max(map(cell_len, [*words, *cells]))
        for words, (_, cells) in zip(headings, frame.items(), strict=True)
    ]
    if sum(widths[:left]) + left + max(widths[left:], default=0) > room:
        widths = [min(width, max(room // 3, _MIN_WIDTH)) for width in widths]  # long ones break
    gap = 2 if _total_width(widths, 2) <= min(room, _USUAL_WIDTH) else 1
    blocks = [[*range(left)]]
    for column in range(left, len(widths)):
        wide = _total_width([widths[one] for one in (*blocks[-1], column)], gap)
        if wide > room and len(blocks[-1]) > left:
            blocks.append([*range(left)])
        blocks[-1].append(column)
    for place, columns in enumerate(blocks):
        if place:
            yield ""
        block = _start_table("" if place else table.note, padding=0)
        for column in columns:
            # not as padding, of which rich before 15 leaves some behind the last column
            block.add_column(
                "\n".join(headings[column]),
                justify="left" if column < left else "right",
                vertical="bottom",
                width=widths[column] + gap * (column != left - 1),
                overflow="fold",
            )
        for row, cells in enumerate(frame.iloc[:, columns].itertuples(index=False)):
            # not the means of other metrics, which have their own first tier
            bold = [row in table.bold and column <= left for column in columns]
            block.add_row(
                *(Text(*pair) for pair in zip(cells, ["bold" * one for one in bold], strict=True))
            )
        yield block


def _start_table(title: str, **layout: Any) -> Table:
    """Return an empty table with a title and without rules."""
    return Table(
        title=title or None,
        title_justify="left",
        title_style="bold",
        box=None,
        **layout,
    )


def _total_width(widths: Sequence[int], gap: int) -> int:
    return sum(widths) + gap * (len(widths) - 1)


def _draw_list(table: ShownTable, room: int) -> Iterator[RenderableType]:
    """Yield a table with long cells; in a narrow terminal, a paragraph per row."""
    cells, numeric = table.cells, table.numeric or ()
    if room < _NARROW:
        if table.note:
            yield _fold_text(table.note, "bold")
        for row in cells.to_dict("records"):
            numbers = "  ".join(cell for name, cell in row.items() if name in numeric)
            words = (cell for name, cell in row.items() if name not in numeric)
            first, *others = filter(None, [numbers, *words])
            yield _fold_text(first)
            yield from (Padding(_fold_text(one), (0, 0, 0, 2), expand=False) for one in others)
        return
    shown = _start_table(table.note, pad_edge=False)
    for column in cells:
        is_number = column in numeric
        shown.add_column(
            str(column),
            justify="right" if is_number else "left",
            no_wrap=is_number,
            overflow="fold",
        )
    for texts in cells.itertuples(index=False):
        shown.add_row(*texts)
    yield shown


def _fold_text(text: str, style: str = "") -> Text:
    return Text(text, style, no_wrap=False, overflow="fold")
