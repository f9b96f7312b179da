"""The parts of a document: tables, remarks, code and charts in sections, all plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import pandas as pd


class Verdict(NamedTuple):
    """The answer that a document gives.

    Parameters
    ----------
    headline : str
        One plain sentence.
    evidence : str
        The numbers and the test behind it, as sentences in small print.
    """

    headline: str
    evidence: str = ""

    def __str__(self) -> str:
        """Return all sentences."""
        return " ".join(filter(None, self))


@dataclass(frozen=True)
class UserLists:
    """The first ranks of some users' lists.

    Parameters
    ----------
    sides : mapping of str
        By name (a model, the best order), each user's list as columns: item, estimated, true,
        gain.
    weights : sequence of float
        The discount of each rank.
    """

    sides: Mapping[str, Sequence[dict[str, Any]]]
    weights: Sequence[float]


@dataclass(frozen=True)
class ShownTable:
    """A table with cells of text.

    Parameters
    ----------
    caption : str
        Its caption on a page.
    cells : pandas.DataFrame
        Its cells; the first column has the names of the rows.
    n_left_aligned : int
        Number of left-aligned columns.
    bold : sequence of int
        The highlighted rows.
    note : str
        What it counts, and how to read it.
    letters : sequence of str
        Letters of each row: rows that share a letter do not differ significantly.
    signature : str
        The short signature of the numbers.
    numeric : sequence of str, optional
        The columns of numbers, if all others are sentences, which may break.
    is_sortable : bool
        Whether the rows are users, which a page can sort and search.
    sorted_by : int, optional
        The place of the column of numbers that sorts the rows, the highest first.
    lists : UserLists, optional
        The lists of these users, for a page.
    """

    kind: ClassVar[str] = "table"
    caption: str
    cells: pd.DataFrame
    n_left_aligned: int = 1
    bold: Sequence[int] = ()
    note: str = ""
    letters: Sequence[str] = ()
    signature: str = ""
    numeric: Sequence[str] | None = None
    is_sortable: bool = False
    sorted_by: int | None = None
    lists: UserLists | None = None

    def highlight(self, escape: Callable[[str], str], mark: Callable[[str], str]) -> pd.DataFrame:
        """Return the cells and headings escaped; a bold row's name and first number get a mark."""
        cells = self.cells.map(escape)
        names = cells.columns[self.n_left_aligned - 1 : self.n_left_aligned + 1]
        for name in names if self.bold else ():
            texts = enumerate(cells[name])
            cells[name] = [mark(text) if row in self.bold else text for row, text in texts]
        return cells.rename(columns=escape)


@dataclass(frozen=True)
class Code:
    """Lines of code or signatures to copy, and their short forms.

    Parameters
    ----------
    name : str
        Their title.
    lines, short : sequence of str
        In full, and in short if there is a short form.
    names : sequence of str
        The metrics' names if the lines are signatures: then parts that the first one has are
        printed once.
    """

    kind: ClassVar[str] = "code"
    name: str
    lines: Sequence[str]
    short: Sequence[str] = ()
    names: Sequence[str] = ()

    def brief(self, *, full: bool = True) -> Sequence[str]:
        """Return the lines without repetition, in full or in short."""
        lines = self.lines if full else self.short or self.lines
        if len(self.names) < 2:
            return lines
        # a part that a short signature leaves out may differ, too
        first = {part.partition(":")[0] for part in self.lines[0].split("|")}
        pairs = zip(
            self.names[1:], _find_differing(lines), _find_differing(self.lines), strict=True
        )
        texts = []
        for name, (metric, *differing), (_, *in_full) in pairs:
            left_out = [part for part in in_full if part.partition(":")[0] in first]
            in_brackets = [metric] if name.partition(":")[0] != metric else []
            if parts := dict.fromkeys([*in_brackets, *differing, *left_out]):
                texts.append("|".join([name, *parts]))
        exceptions = f", except: {'; '.join(texts)}" if texts else ""
        return [lines[0], f"other signatures are the same{exceptions}"]


def _find_differing(lines: Sequence[str]) -> list[list[str]]:
    """Return the metric of each further signature, and the parts that the first one lacks."""
    first, *others = (line.split("|") for line in lines)
    return [[name, *(part for part in parts if part not in first)] for name, *parts in others]


@dataclass(frozen=True)
class Section:
    """Parts with a heading, which only pages show.

    A section inside another is folded: readers open it, and paper shows it.

    Parameters
    ----------
    name : str
        The anchor for links.
    title : str
        The heading.
    lead : str
        A sentence on how to read it.
    parts : sequence
        Tables, code, other sections, and lists of sentences.
    """

    kind: ClassVar[str] = "section"
    name: str
    title: str
    lead: str
    parts: Sequence[Part]

    @classmethod
    def folded(cls, title: str, parts: Sequence[Part]) -> Section:
        """Return a folded section, without anchor and lead."""
        return cls("", title, "", parts)


class Choice(Section):
    """Sections of which a page shows one at a time; without a script, all."""

    kind: ClassVar[str] = "choice"


Part: TypeAlias = ShownTable | Code | Section | list[str]
