"""A document rendered as text, Markdown, LaTeX and HTML, and the base class of results."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, fields, is_dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import pandas as pd

from recsys_ndcg.errors import escape_for_stdout, escape_invisible, require_libraries
from recsys_ndcg.files import write_file
from recsys_ndcg.glossary import format_legend
from recsys_ndcg.rendering.parts import Code, Part, Section, ShownTable, Verdict

if TYPE_CHECKING:
    import datetime as dt


def map_texts(part: Any, change: Callable[[str], str]) -> Any:
    """Return a document, or a part of it, with each text changed.

    Dicts stay: a page writes those of charts and of users' lists as JSON.
    """
    if isinstance(part, str):
        return change(part)
    if isinstance(part, pd.DataFrame):
        return part.map(change).rename(columns=lambda name: change(str(name)))
    if is_dataclass(part):
        texts = {one.name: map_texts(getattr(part, one.name), change) for one in fields(part)}
        return replace(part, **texts)  # type: ignore[type-var] # an instance
    if isinstance(part, Verdict):
        return Verdict(*(change(text) for text in part))
    if isinstance(part, list | tuple):
        changed: Any = copy(part) if isinstance(part, list) else [*part]
        changed[:] = [map_texts(one, change) for one in part]
        for name, value in getattr(part, "__dict__", {}).items():  # of charts
            setattr(changed, name, map_texts(value, change))
        return changed
    return part


def to_text(document: Document) -> str:
    """Render a document as text: the facts, then what the command line prints."""
    lines = [document.facts]
    for _, part in document.list_lines():
        if isinstance(part, ShownTable):
            lines += filter(None, [part.note, _render_text_table(part)])
        else:
            lines += map(escape_for_stdout, filter(None, part))
    return "\n".join(lines)


def _render_text_table(table: ShownTable) -> str:
    """Render a table as text, with right-aligned numbers."""
    shown, names = table.cells, [*table.cells]
    left = names[: table.n_left_aligned]
    if table.numeric is not None:
        left = [name for name in names if name not in table.numeric]
    for name in left:
        if not shown[name].str.isdecimal().all():
            width = max(shown[name].str.len().max(), len(name))
            shown[name] = shown[name].str.ljust(width)
            shown = shown.rename(columns={name: name.ljust(width)})
    return "\n".join(map(str.rstrip, shown.to_string(index=False).splitlines()))


def to_html(document: Document) -> str:
    """Render a document as HTML: the verdicts, the facts and the parts; code and details folded."""
    above = [
        f"<p><strong>{escape(headline)}</strong> {escape(evidence)}</p>"
        for headline, evidence in document.verdicts
    ]
    facts = f"<p>{escape(document.facts)}</p>"
    parts = [text for part in document.parts for text in _render_part_as_html(part)]
    if legend := format_legend(document.list_headings()):
        parts += _render_part_as_html(Section.folded("What the headings mean", [legend]))
    return "\n".join([*above, facts, *parts])


def _render_part_as_html(part: Part) -> Iterator[str]:
    if isinstance(part, ShownTable):
        if note := _format_note(part):
            yield f"<p>{escape(note)}</p>"
        shown = part.highlight(escape, "<strong>{}</strong>".format)
        with pd.option_context("display.max_colwidth", None):  # otherwise long cells are cut
            yield shown.to_html(index=False, border=0, escape=False)
    elif isinstance(part, Code):
        codes = "<br>\n".join(map(escape, part.brief(full=False)))
        yield _fold(part.name, f"<p><code>{codes}</code></p>")
    elif isinstance(part, Section):
        inside = "\n".join(text for one in part.parts for text in _render_part_as_html(one))
        yield _fold(part.title, inside)
    elif part:
        entries = "".join(f"<li>{escape(line)}</li>\n" for line in part)
        yield f"<ul>\n{entries}</ul>"


def _format_note(table: ShownTable) -> str:
    return "; ".join(filter(None, [table.note, _LETTERS_NOTE if table.letters else ""]))


def _fold(title: str, inside: str) -> str:
    return f"<details><summary>{escape(title)}</summary>\n{inside}\n</details>"


_MARKDOWN_SYNTAX = re.compile(r"[\\`*_{}\[\]<>#|~$&!]")
_LIST_SYNTAX = re.compile(r"^(\d*)([-+.)])")


def to_markdown(document: Document) -> str:
    """Render a document as Markdown: tables with notes, the verdicts, remarks as a list, code."""
    lines: list[str] = []
    for table in document.tables:
        lines += [_render_markdown_table(table), ""]
        if note := _format_note(table):
            lines += [f"{_escape_line(note)}.", ""]
    if document.verdicts:
        lines += [f"{_escape_line(document.facts)}.", ""]
    for headline, evidence in document.verdicts:
        lines += [f"**{_escape_line(headline)}** {_escape_markdown(evidence)}".strip(), ""]
    for part in document.parts:
        lines += _render_part_as_markdown(part)
    return "\n".join(lines)


def _render_part_as_markdown(part: Part) -> Iterator[str]:
    if isinstance(part, Code):
        # the fence is longer than any backticks inside
        longest = max(map(len, re.findall("`+", "\n".join(part.lines))), default=0)
        fence = "`" * max(longest + 1, 3)
        yield from (fence, *part.lines, fence, "")
    elif part and not isinstance(part, ShownTable | Section):
        yield from (*(f"- {_escape_line(line)}" for line in part), "")


def _render_markdown_table(table: ShownTable) -> str:
    """Render a table as Markdown, with right-aligned numbers."""
    shown = table.highlight(_escape_markdown, lambda text: f"**{text.strip()}**")
    n_left = table.n_left_aligned
    sides = ["left"] * n_left + ["right"] * (len(shown.columns) - n_left)
    with require_libraries("tabulate", job="Markdown", extra="report"):
        return str(shown.to_markdown(index=False, disable_numparse=True, colalign=sides))


def _escape_markdown(text: str) -> str:
    """Escape the syntax of Markdown."""
    return _MARKDOWN_SYNTAX.sub(r"\\\g<0>", text)


def _escape_line(text: str) -> str:
    """Escape the syntax of Markdown in a line, whose beginning may look like a list."""
    return _LIST_SYNTAX.sub(r"\1\\\2", _escape_markdown(text.strip()))


_LATEX_SYNTAX = str.maketrans(
    {
        **{one: f"\\{one}" for one in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "[": "{[}",  # after the end of a row it would be an option
        "]": "{]}",
        "`": r"\textasciigrave{}",
    }
)
_MINUS = re.compile(r"(?<!\w)-(?=\d)")
_LETTERS_NOTE = (
    "bold: the first tier (no model is significantly better); models that share a letter do not "
    "differ significantly"
)


def to_latex(document: Document) -> str:
    """Render a document as booktabs tables, with captions if they have notes.

    The verdicts, the remarks and the signatures are comments above them.
    """
    comments = [*map(str, document.verdicts)]
    for part in document.parts:
        if not isinstance(part, ShownTable | Section):
            comments += part.lines if isinstance(part, Code) else part
    tables = (
        _add_caption(document.facts, one) if one.note else _render_latex_table(one).rstrip()
        for one in document.tables
    )
    return "\n".join([*(f"% {line}" for line in comments), *tables, ""])


def _add_caption(facts: str, table: ShownTable) -> str:
    caption = f"{facts}; {table.note}"
    signature = rf" \texttt{{{escape_latex(table.signature)}}}" if table.signature else ""
    above = rf"\caption{{{escape_latex(caption)}.{signature}}}"
    inside = [r"\centering", above, _render_latex_table(table).rstrip()]
    return "\n".join([r"\begin{table}", *inside, r"\end{table}"])


def _render_latex_table(table: ShownTable) -> str:
    """Render a table as LaTeX without a caption; highlights are bold."""
    shown = table.highlight(escape_latex, r"\textbf{{{}}}".format)
    for name in shown.columns[table.n_left_aligned :]:  # with the minus sign of formulas
        shown[name] = shown[name].str.replace(_MINUS, "$-$", regex=True)
    sides = "l" * table.n_left_aligned + "r" * (len(shown.columns) - table.n_left_aligned)
    with require_libraries("jinja2", job="LaTeX", extra="report"):
        return str(shown.to_latex(index=False, escape=False, column_format=sides))


def escape_latex(text: str) -> str:
    """Escape the syntax of LaTeX, and invisible characters."""
    return escape_invisible(text).translate(_LATEX_SYNTAX)


_RENDERERS = {"text": to_text, "html": to_html, "markdown": to_markdown, "latex": to_latex}


@dataclass(frozen=True)
class Document:
    """The content of a result for people, and its rendering.

    `recsys_ndcg.cli.terminal` prints a document on a terminal.

    Parameters
    ----------
    facts : str
        A line with the number of users, and of what else.
    sections : sequence of Section
        The sections, the most important first.
    verdicts : sequence of Verdict
        The answers, one for each protocol.
    title : str
        The title of its page.
    names_to_shorten : sequence of str
        Names of metrics, models and segments, which a page shortens if they are long.
    date : str
        The date on its page, empty if the page has none.
    """

    facts: str
    sections: Sequence[Section]
    verdicts: Sequence[Verdict] = ()
    title: str = ""
    names_to_shorten: Sequence[str] = field(default_factory=tuple)
    date: str = ""

    @property
    def parts(self) -> list[Part]:
        """The parts of all sections."""
        return [part for section in self.sections for part in section.parts]

    @property
    def tables(self) -> list[ShownTable]:
        """The tables, without folded ones."""
        return [part for part in self.parts if isinstance(part, ShownTable)]

    def list_headings(self, *, full: bool = False) -> list[str]:
        """Return what a legend explains: the headings of the tables, and ``defaults:…``.

        `full`: whether signatures are shown in full, and so without defaults.
        """
        names = [str(name) for table in self.tables for name in table.cells]
        headings = [name for name in names if name not in self.names_to_shorten]
        codes = (part for part in self.parts if isinstance(part, Code))
        if any("defaults:" in line for code in codes for line in code.brief(full=full)):
            headings.append("defaults:…")
        return headings

    def list_lines(self, *, full: bool = False) -> Iterator[tuple[str, ShownTable | Sequence[str]]]:
        """Yield the tables and the lines between them, each with its kind, in the order of text.

        Key terms and the verdicts follow the first section. Other terms are above the signatures.
        """
        legend = format_legend(self.list_headings(full=full), key=False)
        for place, section in enumerate(self.sections):
            for part in section.parts:
                if isinstance(part, Code):
                    yield "legend", legend
                    yield "code", part.brief(full=full)
                    legend = []
                elif isinstance(part, ShownTable):
                    yield "table", part
                elif not isinstance(part, Section):
                    yield "remarks", [f"- {line}" for line in part]
            if not place:
                names = (str(name) for table in self.tables[:1] for name in table.cells)
                yield "legend", format_legend(names, key=True)
                for headline, evidence in self.verdicts:
                    yield "headline", [headline]
                    yield "evidence", [evidence]
        yield "legend", legend

    def render(self, form: str, *, tables_only: bool = False) -> str:
        """Render the document in a form.

        Parameters
        ----------
        form : {'text', 'markdown', 'latex', 'html', 'page'}
            HTML is a fragment for a notebook; a page is a whole file with charts.
        tables_only : bool
            Whether only the tables are rendered, without their notes.

        Returns
        -------
        str
            The text, with invisible characters of all texts as escapes. In text, as it is printed,
            characters that standard output cannot encode are replaced, too.

        Raises
        ------
        MissingExtraError
            A library that the form needs is not installed.
        """
        escape = escape_for_stdout if form == "text" else escape_invisible
        visible: Document = map_texts(self, escape)
        if form == "page":
            from recsys_ndcg.rendering.page import to_page  # noqa: PLC0415 - rarely needed

            return to_page(**vars(visible))
        if tables_only:
            tables = [replace(table, note="", letters=()) for table in visible.tables]
            visible = Document("", [Section.folded("", tables)])
        return _RENDERERS[form](visible)


class Renderable(ABC):
    """A result that can be rendered for people: its base class."""

    @abstractmethod
    def _document(self, *, with_verdict: bool = False) -> Document:
        """Return the document.

        Parameters
        ----------
        with_verdict : bool
            Whether to put the verdict on top, if there is one.
        """

    def _page(self, command: str | None = None) -> Document:  # noqa: ARG002 - of some results
        """Return the document of its page, which has more sections.

        Parameters
        ----------
        command : str, optional
            The command line that made it, if any.
        """
        return self._document(with_verdict=True)

    def to_markdown(self) -> str:
        """Return the table, the remarks and the signatures as Markdown."""
        return self._render("markdown")

    def to_latex(self) -> str:
        """Return the table as LaTeX, the remarks and the signatures as comments."""
        return self._render("latex")

    def to_html(
        self,
        path: str | Path | None = None,
        *,
        title: str | None = None,
        date: str | dt.date | None = None,
    ) -> str:
        """Return its page, and write it to a file if a path is given.

        The page is one file, needs no network and runs no foreign scripts.

        Parameters
        ----------
        path : str or Path, optional
            The file.
        title : str, optional
            The title, instead of a general one.
        date : str or date, optional
            A date below the title. By default there is none, so that equal results give equal
            pages.

        Raises
        ------
        MissingExtraError
            The extra `report` is not installed.
        InvalidInputError
            The file cannot be written.
        """
        page = render_page(self, title=title, date=date)
        if path is not None:
            write_file(path, page)
        return PageText(page)

    def __str__(self) -> str:
        """Return the table, the remarks and the signatures as text."""
        return self._render("text")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._render("html", with_verdict=True)

    def _render(self, form: str, **what: Any) -> str:
        return self._document(**what).render(form)


def render_page(
    result: Renderable,
    command: str | None = None,
    *,
    title: str | None = None,
    date: str | dt.date | None = None,
) -> str:
    """Return its page, as `to_html`; `command` is the command line that makes it, if any."""
    page = result._page(command)
    title = str(title or "").strip() or page.title
    return replace(page, title=title, date="" if date is None else str(date)).render("page")


def build_document(result: Renderable, **what: Any) -> Document:
    """Return the document of a result; `what` chooses its parts, as its class defines."""
    return result._document(**what)


class PageText(str):
    """The text of a page, of which a prompt and a notebook show only the length."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return its length in words."""
        return f"<HTML page of {len(self):,} characters>"


class ReadableTable(pd.DataFrame):
    """A table that print and notebooks show as a document, until it is changed.

    Tables that are made from it, such as a selection, are plain.

    Attributes
    ----------
    unchanged : pandas.DataFrame
        The table that the document shows.
    build_document : callable
        Returns the document.
    """

    _metadata: ClassVar[list[str]] = ["unchanged", "build_document"]
    unchanged: pd.DataFrame
    build_document: Callable[[], Document]

    @classmethod
    def of(cls, table: pd.DataFrame, build_document: Callable[[], Document]) -> Self:
        """Return a copy of a table that is shown as a document."""
        copied = cls(table.copy())
        copied.unchanged, copied.build_document = table, build_document
        return copied

    def __repr__(self) -> str:
        """Return the document as text, or a changed table as pandas does."""
        return self.build_document().render("text") if self._is_unchanged else super().__repr__()

    def _repr_html_(self) -> str | None:
        if self._is_unchanged:
            return self.build_document().render("html")
        changed: str | None = super()._repr_html_()  # type: ignore[misc] # not in the stubs
        return changed

    @property
    def _is_unchanged(self) -> bool:
        return self.equals(self.unchanged)
