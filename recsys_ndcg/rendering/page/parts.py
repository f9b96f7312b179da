"""What a page is made of, as plain values: the template says how each looks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from recsys_ndcg.rendering.plots.vega import Spec


@dataclass(frozen=True)
class Table:
    """Cells of text.

    Parameters
    ----------
    caption : str
        What it is of.
    cells : pandas.DataFrame
        All text; the first column names the rows.
    left : int
        How many columns are set to the left.
    bold : sequence of int
        The rows that stand out.
    note : str
        How to read it.
    """

    kind: ClassVar[str] = "table"
    caption: str
    cells: pd.DataFrame
    left: int = 1
    bold: Sequence[int] = ()
    note: str = ""


@dataclass(frozen=True)
class Chart:
    """A chart of Vega-Lite, and what it shows in words."""

    kind: ClassVar[str] = "chart"
    spec: Spec
    description: str


@dataclass(frozen=True)
class Panels:
    """Charts beside each other, where there is room."""

    kind: ClassVar[str] = "panels"
    parts: Sequence[Chart]


@dataclass(frozen=True)
class Sentences:
    """Remarks, a line each."""

    kind: ClassVar[str] = "sentences"
    lines: Sequence[str]


@dataclass(frozen=True)
class Code:
    """Lines for a program; somebody may want to copy them."""

    kind: ClassVar[str] = "code"
    name: str
    text: str


@dataclass(frozen=True)
class Users:
    """Some users, whose lists can be looked at.

    Parameters
    ----------
    table : Table
        A row each.
    lists : dict, optional
        The first ranks of their lists, as `recsys_ndcg.rendering.page.lists` packs them.
    """

    kind: ClassVar[str] = "users"
    table: Table
    lists: dict[str, Any] | None = None


@dataclass(frozen=True)
class Fold:
    """Parts that are shown when somebody asks for them, and on paper."""

    kind: ClassVar[str] = "fold"
    title: str
    parts: Sequence[Part]


Part: TypeAlias = Table | Chart | Panels | Sentences | Code | Users | Fold


@dataclass(frozen=True)
class Section:
    """Parts below a heading, and how to read them.

    Parameters
    ----------
    name : str
        By which a link leads there.
    title : str
        The heading.
    lead : str
        How to read it, in a sentence.
    parts : sequence of Part
        One at least.
    """

    name: str
    title: str
    lead: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Page:
    """A whole page.

    Parameters
    ----------
    title : str
        What it is about.
    verdict : str
        The answer, in a sentence or two.
    facts : str
        Of how many users, and what.
    sections : sequence of Section
        What it rests on.
    """

    title: str
    verdict: str
    facts: str
    sections: Sequence[Section] = field(default_factory=tuple)
