"""Printing documents in every format, and writing files; '-' is standard output."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich.console import Console

from recsys_ndcg.cli.options import Flag, Format, list_changed_options, list_under, option
from recsys_ndcg.cli.sources import File, is_dash, is_same_file
from recsys_ndcg.errors import (
    InvalidInputError,
    escape_for_stdout,
    escape_invisible,
    require_libraries,
)

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.comparison import Comparison
    from recsys_ndcg.rendering import Document, Renderable
    from recsys_ndcg.report import Report
    from recsys_ndcg.scoring import Signature

    Values = pd.DataFrame | dict[str, Any]

_PIPE_WIDTH = 500  # so that nothing is cut in a pipe


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    is_terminal = stream is not None and stream.isatty()
    return Console(
        stderr=stderr,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=True,
        width=None if is_terminal else _PIPE_WIDTH,
    )


out, err = _console(stderr=False), _console(stderr=True)


def print_line(text: str) -> None:
    """Print a line, with control characters escaped; a terminal breaks it between words."""
    out.print(escape_for_stdout(text), soft_wrap=False)


def write_text(text: str) -> None:
    """Write a text to standard output; a terminal gets control characters as escapes."""
    if sys.stdout.isatty():
        sys.stdout.writelines(f"{escape_for_stdout(line)}\n" for line in text.splitlines())
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode())


def print_message(kind: str, text: str) -> None:
    """Print an error, a warning or a gate's result as one line on standard error."""
    err.print(f"{kind}: {escape_invisible(text)}")


@list_under("Output")
@dataclass(frozen=True)
class OutputOptions:
    """The format and the amount of output.

    Parameters
    ----------
    form : str
        Output format: text, markdown, latex, csv, json. csv and json have all digits.
    quiet : bool
        Print tables and failed checks, no remarks or warnings.
    full_signature : bool
        Print signatures with every option, not only changed ones.
    """

    form: Format = "text"
    quiet: Annotated[Flag, option(None, "--quiet", "-q")] = False
    full_signature: Flag = False

    def show(
        self,
        result: Document | Renderable,
        values: Values,
        *,
        to: Console = out,
        tables_only: bool = False,
    ) -> None:
        """Print a result, or its values in CSV or JSON.

        Parameters
        ----------
        result : Document or Renderable
            For text, Markdown and LaTeX.
        values : pandas.DataFrame or dict
            For CSV and JSON.
        to : Console
            The console for text.
        tables_only : bool
            Whether Markdown and LaTeX have only the tables.
        """
        from recsys_ndcg.cli.terminal import print_document
        from recsys_ndcg.rendering import Renderable, build_document

        document = build_document(result) if isinstance(result, Renderable) else result
        if self.form == "text":
            print_document(document, to, quiet=self.quiet, full=self.full_signature)
        elif self.form in {"csv", "json"}:
            write_text(_format_data(self.form, values))
        else:
            text = document.render(self.form, tables_only=self.quiet or tables_only)
            write_text(f"{text.rstrip()}\n")

    def show_report(self, report: Report, to: Console = out) -> None:
        """Print a report."""
        summary = self._with_signatures(report.summary.rename_axis("metric"), report)
        values: Values = summary
        if self.form == "json":
            values = {"summary": summary, "findings": report.findings}
        self.show(report, values, to=to)

    def show_comparison(self, found: Comparison, kinds: Sequence[str] = ("leaderboard",)) -> None:
        """Print tables of a comparison; CSV has the first of them, for all metrics."""
        values: Values
        if self.form == "json":
            values = found.to_dict()
        elif kinds[0] == "pairs":
            values = found.pairwise
        elif kinds[0] == "segments":
            values = found.segments.reset_index()
        else:
            values = self._with_signatures(found.to_frame(), found)
        if self.form == "latex" and kinds[0] == "leaderboard":
            write_text(found.to_latex())
            kinds = kinds[1:]
        if kinds:
            from recsys_ndcg.rendering import build_document

            self.show(build_document(found, kinds=kinds), values)

    def _with_signatures(self, table: pd.DataFrame, found: Report | Comparison) -> pd.DataFrame:
        """Return a table with a column of each metric's signature, in full or short."""
        signed = {
            name: escape_invisible(one.text if self.full_signature else one.short)
            for name, one in found.signatures.items()
        }
        values = table.reset_index()
        return values.assign(signature=values["metric"].map(signed))


def _format_data(form: str, values: Values) -> str:
    """Return values as text with all digits.

    Parameters
    ----------
    form : str
        "csv", in which no text is a formula, or "json" in ASCII: an object per row, with null
        for missing values.
    values : pandas.DataFrame or dict
        A table, or, for JSON, a dict of plain values.
    """
    if form == "csv" and not isinstance(values, dict):
        from recsys_ndcg.input import TextFormat

        escape = TextFormat.escape_formula
        return values.map(escape).rename(columns=escape).to_csv(index=False, lineterminator="\n")
    from recsys_ndcg.files import to_json_value

    return json.dumps(to_json_value(values), indent=2) + "\n"


def build_table_document(
    title: str,
    cells: pd.DataFrame,
    remarks: Sequence[str] = (),
    signature: Signature | None = None,
    **how: Any,
) -> Document:
    """Return a document of one table.

    Parameters
    ----------
    title : str
        The table's title.
    cells : pandas.DataFrame
        Its cells, as text.
    remarks : sequence of str
        Lines below the table.
    signature : Signature, optional
        The signature of its numbers.
    **how
        Further arguments of `ShownTable`.
    """
    from recsys_ndcg.rendering import Document, Section, ShownTable
    from recsys_ndcg.report import build_signatures_section

    section = Section("table", title, "", [ShownTable(title, cells, **how), [*remarks]])
    signatures = [] if signature is None else [build_signatures_section({"": signature})]
    return Document(facts=title, sections=[section, *signatures])


@list_under("Output")
@dataclass(frozen=True)
class PageOptions:
    """The option that writes an HTML page.

    Parameters
    ----------
    html : Path, optional
        Write an HTML page with charts and all users, in one file that works offline. '-' is
        standard output.
    title : str, optional
        Title of the page.
    date : str, optional
        Date below the title, such as 2026-05-31.  [default: none]
    """

    html: File | None = None
    title: Annotated[str | None, option("TITLE")] = None
    date: Annotated[str | None, option("DATE")] = None

    def check(self, read: Mapping[str, Path], **written: Path | None) -> None:
        """Raise if the page cannot be written, before anything is evaluated.

        Raises
        ------
        InvalidInputError
            The page is also an input, or another output.
        MissingExtraError
            The extra `report` is not installed.
        """
        check_outputs(read, **written, html=self.html)
        late = list_changed_options(self)
        if self.html is None and late:
            msg = f"{late[0]} has no effect without --html."
            raise InvalidInputError(msg)
        if self.html is not None:
            with require_libraries("jinja2", "altair", "vl_convert", job="A page", extra="report"):
                return

    def write(self, found: Renderable) -> bool:
        """Write the page with the typed command; return whether it went to standard output.

        Call this before anything is printed, so that a closed pipe does not prevent the page.
        """
        if self.html is None:
            return False
        from recsys_ndcg.rendering import render_page

        command = shlex.join(["recsys-ndcg", *sys.argv[1:]])
        page = render_page(found, command, title=self.title, date=self.date)
        _write_bytes(self.html, page.encode())
        return is_dash(self.html)


@list_under("Output")
@dataclass(frozen=True)
class FileOptions:
    """The options that write per-user scores and the report.

    Parameters
    ----------
    per_user : Path, optional
        Write per-user scores to this file (.csv, .csv.gz or .parquet; with several files or
        --memory-limit only .parquet), or to standard output with '-'.
    json : Path, optional
        Write the report as JSON to this file, or to '-'.
    """

    per_user: File | None = None
    json: File | None = None

    @property
    def users_file(self) -> Path | None:
        """The file that per-user scores are written to as they are computed, if any.

        Standard output and pipes, which have no suffix, get them in the end.
        """
        from recsys_ndcg.files import is_stream

        path = self.per_user
        return None if path is None or is_dash(path) or is_stream(path) else path

    @property
    def uses_stdout(self) -> bool:
        """Whether a file is standard output."""
        return any(path is not None and is_dash(path) for path in (self.per_user, self.json))

    def check(self, read: Mapping[str, Path], form: str) -> None:
        """Raise if an output cannot be written, before anything is computed.

        Raises
        ------
        InvalidInputError
            A file is also an input or another output, or two outputs are standard output.
        """
        if self.uses_stdout and form != "text":
            msg = f"--format {form}: a file already uses standard output, '-'. Give it a name."
            raise InvalidInputError(msg)
        check_outputs(read, per_user=self.per_user, json=self.json)

    def write(self, report: Report) -> None:
        """Write the report, and per-user scores to streams: those to files are written already."""
        from recsys_ndcg.report import find_score_writer

        if self.per_user is not None and self.users_file is None:
            _write_bytes(self.per_user, find_score_writer(".csv")(report.per_user))
        if self.json is not None and is_dash(self.json):
            from tempfile import TemporaryDirectory

            with TemporaryDirectory() as folder:
                part = Path(folder) / "report.json"
                report.save(part)
                _write_bytes(self.json, part.read_bytes())
        elif self.json is not None:
            report.save(self.json)


def check_outputs(read: Mapping[str, Path], **written: Path | None) -> None:
    """Raise if an output file is also an input or another output, under any name."""
    known = dict(read)
    for name, path in written.items():
        if path is None:
            continue
        own = f"--{name.replace('_', '-')}"
        for other, there in known.items():
            if is_same_file(there, path) and not (is_dash(there) and other in read):
                owner = "the data" if other.startswith("FILE") else other
                msg = f"{own} {path}: this is also the file of {owner}. Give it another name."
                raise InvalidInputError(msg)
        known[own] = path


def _write_bytes(path: Path, content: bytes) -> None:
    from recsys_ndcg.files import write_file

    if is_dash(path):
        write_text(content.decode())
    else:
        write_file(path, content)
