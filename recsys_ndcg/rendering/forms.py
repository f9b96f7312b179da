"""A document as text in any form, and the results that say what stands in theirs."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from recsys_ndcg.errors import escape_for_stdout, require_libraries
from recsys_ndcg.files import write_whole
from recsys_ndcg.rendering.parts import Code, Part, Section, ShownTable


def to_text(document: Document) -> str:
    """Return the facts, the tables, the verdict below the first section, and what else is said.

    What standard output cannot write, such as ± in a terminal of ASCII alone, is written
    differently: ``print(report)`` asks for this text, and cannot say for whom.
    """
    lines = [escape_for_stdout(document.facts)]
    for place, section in enumerate(document.sections):
        for part in section.parts:
            lines += _text_lines(part, bullet="- " if document.verdict else "")
        if not place and document.verdict:
            lines.append(escape_for_stdout(document.verdict))
    return "\n".join(lines)


def _text_lines(part: Part, bullet: str) -> Iterator[str]:
    if isinstance(part, ShownTable):
        if part.note:
            yield escape_for_stdout(part.note)
        yield _text_table(part)
    elif isinstance(part, Code):
        yield from map(escape_for_stdout, part.brief())
    elif not isinstance(part, Section):
        yield from (f"{bullet}{escape_for_stdout(line)}" for line in part)


def _text_table(table: ShownTable) -> str:
    """Return a table of text, all but names set to the right."""
    shown = table.cells.map(escape_for_stdout).rename(columns=escape_for_stdout)
    for name in shown.columns[: table.left]:
        if not shown[name].str.isdecimal().all():
            shown[name] = shown[name].str.ljust(shown[name].str.len().max())
    return shown.to_string(index=False)


def to_html(document: Document) -> str:
    """Return the verdict, the facts and the parts in their order, code and details folded."""
    above = [f"<p><strong>{escape(document.verdict)}</strong></p>"] if document.verdict else []
    facts = f"<p>{escape(document.facts)}</p>"
    return "\n".join([*above, facts, *(text for part in document.parts for text in _html_of(part))])


def _html_of(part: Part) -> Iterator[str]:
    if isinstance(part, ShownTable):
        if part.note:
            yield f"<p>{escape(part.note)}</p>"
        with pd.option_context("display.max_colwidth", None):  # or long cells would be cut
            yield part.cells.to_html(index=False, border=0)
    elif isinstance(part, Code):
        codes = "<br>\n".join(map(escape, part.lines))
        yield _html_folded(part.name, f"<p><code>{codes}</code></p>")
    elif isinstance(part, Section):
        inside = "\n".join(text for one in part.parts for text in _html_of(one))
        yield _html_folded(part.title, inside)
    elif part:
        entries = "".join(f"<li>{escape(line)}</li>\n" for line in part)
        yield f"<ul>\n{entries}</ul>"


def _html_folded(title: str, inside: str) -> str:
    return f"<details><summary>{escape(title)}</summary>\n{inside}\n</details>"


_MARKDOWN_ACTS = re.compile(r"[\\`*_{}\[\]<>#|~$&!]")
_BEGINS_A_LIST = re.compile(r"^(\d*)([-+.)])")


def to_markdown(document: Document) -> str:
    """Return the tables with their notes, the verdict, the remarks as a list, and lines of code."""
    lines: list[str] = []
    for one in document.tables:
        lines += [_markdown_table(one), "", *([f"{_as_line(one.note)}.", ""] if one.note else [])]
    if document.verdict:
        lines += [f"{_as_line(document.facts)}.", "", _as_line(document.verdict), ""]
    for part in document.parts:
        lines += _markdown_lines(part)
    return "\n".join(lines)


def _markdown_lines(part: Part) -> Iterator[str]:
    if isinstance(part, Code):
        # the fence is longer than any backticks inside
        longest = max(map(len, re.findall("`+", "\n".join(part.lines))), default=0)
        fence = "`" * max(longest + 1, 3)
        yield from (fence, *part.lines, fence, "")
    elif part and not isinstance(part, ShownTable | Section):
        yield from (*(f"- {_as_line(line)}" for line in part), "")


def _markdown_table(table: ShownTable) -> str:
    """Return a table of text, all but its first columns set to the right."""
    shown = table.marked(_markdown_escaped, lambda text: f"**{text.strip()}**")
    sides = ["left" if place < table.left else "right" for place in range(len(shown.columns))]
    with require_libraries("tabulate", job="Markdown", extra="report"):
        text: str = shown.rename(columns=_markdown_escaped).to_markdown(
            index=False, disable_numparse=True, colalign=sides
        )
    return text


def _markdown_escaped(text: str) -> str:
    """Return a text that Markdown shows as it stands."""
    return _MARKDOWN_ACTS.sub(r"\\\g<0>", text)


def _as_line(text: str) -> str:
    """Return the same for the beginning of a line, where more can act."""
    return _BEGINS_A_LIST.sub(r"\1\\\2", _markdown_escaped(text.strip()))


_LATEX_ACTS = str.maketrans(
    {
        **{one: f"\\{one}" for one in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "[": "{[}",  # behind the end of a row it would be an option
        "]": "{]}",
        "`": r"\textasciigrave{}",
    }
)
_MINUS = re.compile(r"(?<!\w)-(?=\d)")
_LETTERS = "bold: the first tier; models that share a letter cannot be told apart"


def to_latex(document: Document) -> str:
    """Return tables in the manner of booktabs, with captions where they have notes.

    The verdict, the remarks and the signatures stand above them as comments.
    """
    comments = [document.verdict] if document.verdict else []
    for part in document.parts:
        if not isinstance(part, ShownTable | Section):
            comments += part.lines if isinstance(part, Code) else part
    tables = (
        _captioned(document.facts, one) if one.note else _tabular(one).rstrip()
        for one in document.tables
    )
    return "\n".join([*(f"% {line}" for line in comments), *tables, ""])


def _captioned(facts: str, table: ShownTable) -> str:
    caption = "; ".join([facts, table.note, *([_LETTERS] if table.letters else [])])
    above = rf"\caption{{{_latex_escaped(caption)}. \texttt{{{_latex_escaped(table.signature)}}}}}"
    inside = [r"\centering", above, _tabular(table).rstrip()]
    return "\n".join([r"\begin{table}", *inside, r"\end{table}"])


def _tabular(table: ShownTable) -> str:
    """Return a table alone; what stands out is bold, letters join what is not told apart."""
    shown = table.marked(_latex_escaped, r"\textbf{{{}}}".format)
    for name in shown.columns[table.left :]:  # the signs of numbers are those of formulas
        shown[name] = shown[name].str.replace(_MINUS, "$-$", regex=True)
    if table.letters:
        letters = [rf"\textsuperscript{{{_latex_escaped(one)}}}" for one in table.letters]
        shown[table.key_columns[-1]] += letters
    sides = "l" * table.left + "r" * (len(shown.columns) - table.left)
    with require_libraries("jinja2", job="LaTeX", extra="report"):
        text: str = shown.rename(columns=_latex_escaped).to_latex(
            index=False, escape=False, column_format=sides
        )
    return text


def _latex_escaped(text: str) -> str:
    """Return a text that LaTeX sets as it stands."""
    return text.translate(_LATEX_ACTS)


_TABLES = {"markdown": (_markdown_table, to_markdown), "latex": (_tabular, to_latex)}


@dataclass(frozen=True)
class Document:
    """All that is said of a result, and how it looks in any form.

    Whoever has something to show builds one; `recsys_ndcg.cli.terminal` prints it on a terminal.

    Parameters
    ----------
    facts : str
        Of how many users, and what.
    sections : sequence of Section
        What there is to see, the most important first.
    verdict : str
        The answer, in a sentence or two.
    title : str
        What it is about.
    names : sequence of str
        What people called things, which may be too long to be shown.
    """

    facts: str
    sections: Sequence[Section]
    verdict: str = ""
    title: str = ""
    names: Sequence[str] = field(default_factory=tuple)

    @property
    def parts(self) -> list[Part]:
        """The parts of all sections."""
        return [part for section in self.sections for part in section.parts]

    @property
    def tables(self) -> list[ShownTable]:
        """The tables, without those that somebody may open."""
        return [part for part in self.parts if isinstance(part, ShownTable)]

    def render(self, form: str, *, tables_only: bool = False) -> str:
        """Return it in one of its forms.

        Parameters
        ----------
        form : {'text', 'markdown', 'latex', 'html', 'page'}
            HTML is a part of a page, such as a notebook shows; a page is a whole file, with charts.
        tables_only : bool
            Whether Markdown or LaTeX shall hold nothing beside the tables.

        Raises
        ------
        MissingExtraError
            What the form needs is not installed.
        """
        if form == "page":
            from recsys_ndcg.rendering.page import to_page  # noqa: PLC0415 - rarely needed

            return to_page(self)
        if form in _TABLES:
            table, whole = _TABLES[form]
            tables = [table(one) for one in self.tables]
            return "".join(f"{one.rstrip()}\n" for one in tables) if tables_only else whole(self)
        return to_text(self) if form == "text" else to_html(self)


class Readable(ABC):
    """A result that says itself what people read of it, and in which forms."""

    @abstractmethod
    def document(self, *, answer: bool = False) -> Document:
        """Return what people read of it.

        Parameters
        ----------
        answer : bool
            Whether a verdict stands above it, if there is one, for forms with room for it.
        """

    def page(self, command: str | None = None) -> Document:  # noqa: ARG002 - of some results
        """Return the same with all that a page has room for.

        Parameters
        ----------
        command : str, optional
            What was typed to make it, if that was a command line.
        """
        return self.document(answer=True)

    def to_markdown(self) -> str:
        """Return the table, the remarks and the signatures as Markdown."""
        return self._rendered("markdown")

    def to_latex(self) -> str:
        """Return the table as LaTeX, the remarks and the signatures as comments."""
        return self._rendered("latex")

    def to_html(self, path: str | Path | None = None) -> str:
        """Return it as a page, and write that if a path is given.

        One file that needs no network and lets nothing else run.

        Parameters
        ----------
        path : str or Path, optional
            The file.

        Raises
        ------
        MissingExtraError
            What the extra `report` brings is not installed.
        InvalidInputError
            The file cannot be written.
        """
        page = self.page().render("page")
        if path is not None:
            write_whole(path, page)
        return page

    def __str__(self) -> str:
        """Return the table, the remarks and the signatures as text."""
        return self._rendered("text")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._rendered("html", answer=True)

    def _rendered(self, form: str, **what: Any) -> str:
        return self.document(**what).render(form)
