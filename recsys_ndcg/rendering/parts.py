"""What a document is made of: tables, remarks, code, charts, in sections; all plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class UserLists:
    """The first ranks of some users' lists.

    Parameters
    ----------
    sides : mapping of str
        For each name, such as the model and the best order, a list of every user by its columns:
        item, estimated, true, gain.
    weights : sequence of float
        The discount of each rank.
    """

    sides: Mapping[str, Sequence[dict[str, Any]]]
    weights: Sequence[float]


@dataclass(frozen=True)
class ShownTable:
    """Cells of text.

    Parameters
    ----------
    caption : str
        What it is of: on a page, which has room for it.
    cells : pandas.DataFrame
        All text; the first column names the rows.
    left : int
        How many columns are set to the left.
    bold : sequence of int
        The rows that stand out.
    note : str
        What is counted in it, and how to read it.
    letters : sequence of str
        Of each row: rows that share a letter cannot be told apart.
    signature : str
        How the numbers were computed, in short.
    numeric : sequence of str, optional
        The columns of numbers, where all others are sentences that may break.
    is_sortable : bool
        Whether a page lets people sort the rows, which are users, and look for one.
    lists : UserLists, optional
        The lists of these users, which a page shows.
    """

    kind: ClassVar[str] = "table"
    caption: str
    cells: pd.DataFrame
    left: int = 1
    bold: Sequence[int] = ()
    note: str = ""
    letters: Sequence[str] = ()
    signature: str = ""
    numeric: Sequence[str] | None = None
    is_sortable: bool = False
    lists: UserLists | None = None

    @property
    def key_columns(self) -> list[Any]:
        """The columns of which words stand out: the name of a row, and its first number."""
        return [*self.cells.columns[self.left - 1 : self.left + 1]]

    def marked(self, escape: Callable[[str], str], mark: Callable[[str], str]) -> pd.DataFrame:
        """Return the cells, escaped for some form, with a mark on those that stand out."""
        cells = self.cells.map(escape)
        for name in self.key_columns if self.bold else ():
            texts = enumerate(cells[name])
            cells[name] = [mark(text) if row in self.bold else text for row, text in texts]
        return cells


@dataclass(frozen=True)
class Code:
    """Lines for a program, which somebody may want to copy, and the same in short.

    Parameters
    ----------
    name : str
        What they are.
    lines, short : sequence of str
        In full, and in short if there is such a form.
    alike : bool
        Whether they are signatures, which have parts in common that people need not read twice.
    """

    kind: ClassVar[str] = "code"
    name: str
    lines: Sequence[str]
    short: Sequence[str] = ()
    alike: bool = False

    def brief(self, *, full: bool = True) -> Sequence[str]:
        """Return the lines for people, or their short forms."""
        lines = self.lines if full else self.short or self.lines
        if not self.alike:
            return lines
        first, *others = lines
        known = first.split("|")
        likewise = [
            "|".join(part for part in one.split("|") if part not in known or "users:" in part)
            for one in others
        ]
        return [first, *([f"the same for {', '.join(likewise)}"] if likewise else [])]


@dataclass(frozen=True)
class Section:
    """Parts below a heading; forms with little room leave the heading out.

    A section in another one is folded: it is shown when somebody opens it, where that can be
    done, and on paper.

    Parameters
    ----------
    name : str
        By which a link leads there.
    title : str
        The heading.
    lead : str
        How to read it, in a sentence.
    parts : sequence
        Tables, code, other sections, and lists of sentences: a line each.
    """

    kind: ClassVar[str] = "section"
    name: str
    title: str
    lead: str
    parts: Sequence[Part]

    @classmethod
    def folded(cls, title: str, parts: Sequence[Part]) -> Section:
        """Return a section for another one, which needs no link and no lead."""
        return cls("", title, "", parts)


Part: TypeAlias = ShownTable | Code | Section | list[str]
