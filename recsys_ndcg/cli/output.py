"""What a command prints and writes: documents in a form, and files; '-' is standard output."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from rich.console import Console

from recsys_ndcg.cli.options import FORMATS, option
from recsys_ndcg.cli.reading import is_dash, same_file
from recsys_ndcg.errors import (
    InvalidInputError,
    check_choice,
    escape_for_stdout,
    escape_invisible,
    require_libraries,
)

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.comparison import Comparison
    from recsys_ndcg.rendering import Document
    from recsys_ndcg.report import Report
    from recsys_ndcg.scoring import Signature

    Values = pd.DataFrame | dict[str, Any]

_NO_WIDTH = 500  # a pipe has none, so nothing is cut there


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    watched = stream is not None and stream.isatty()
    return Console(
        stderr=stderr,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=True,
        width=None if watched else _NO_WIDTH,
    )


out, err = _console(stderr=False), _console(stderr=True)


def say(text: str = "", style: str | None = None, *, wrap: bool = False) -> None:
    """Print a line, whatever stands in it."""
    out.print(escape_for_stdout(text), style=style, soft_wrap=not wrap)


def emit(text: str) -> None:
    """Print a text for a program as it is; a person sees what acts on a terminal as escapes."""
    if sys.stdout.isatty():
        sys.stdout.writelines(f"{escape_for_stdout(line)}\n" for line in text.splitlines())
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode())


def complain(kind: str, text: str) -> None:
    """Print an error or a warning as one line of its own."""
    err.print(f"{kind}: {escape_invisible(text)}")


@dataclass(frozen=True)
class Style:
    """How what was found is shown."""

    form: str = option(
        f"{', '.join(FORMATS)}; the last two for programs, with every digit.",
        "--format",
        default="text",
        words="format",
    )
    quiet: bool = option(
        "The table alone: no remarks, no warnings.", "--quiet", "-q", default=False
    )
    full_signature: bool = option(
        "Every choice, also the usual ones.", "--full-signature", default=False
    )

    def __post_init__(self) -> None:
        """Refuse a format that there is not."""
        object.__setattr__(self, "form", self.form.lower())
        check_choice("form", self.form, FORMATS)

    def show(
        self, document: Document, values: Values, *, to: Console = out, tables_only: bool = False
    ) -> None:
        """Print a document, or its numbers.

        Parameters
        ----------
        document : Document
            What people read.
        values : pandas.DataFrame or dict
            The same for programs.
        to : Console
            Where text goes.
        tables_only : bool
            Whether Markdown and LaTeX are the tables alone.
        """
        from recsys_ndcg.cli.terminal import print_document

        if self.form == "text":
            print_document(document, to, quiet=self.quiet, full=self.full_signature)
        elif self.form in {"csv", "json"}:
            emit(_data_as(self.form, values))
        elif self.quiet or tables_only:
            emit(document.render(self.form, tables_only=True))
        else:
            for line in document.render(self.form).splitlines():
                say(line)

    def show_report(self, report: Report, to: Console = out) -> None:
        """Print a report."""
        values = self._with_signatures(report.summary.rename_axis("metric"), report)
        self.show(report.document(), values, to=to)

    def show_comparison(self, found: Comparison, kinds: Sequence[str] = ("leaderboard",)) -> None:
        """Print tables of a comparison; for programs the first of them, of all metrics."""
        values: Values
        if self.form == "json":
            values = found.to_dict()
        elif kinds[0] == "pairs":
            values = found.pairwise
        elif kinds[0] == "segments":
            values = found.segments.reset_index()
        else:
            values = self._with_signatures(found.to_frame(), found)
        self.show(found.document(kinds=kinds), values)

    def _with_signatures(self, table: pd.DataFrame, found: Report | Comparison) -> pd.DataFrame:
        """Return a table of metrics with how each was computed, complete or in short."""
        signed = {
            name: escape_invisible(one.text if self.full_signature else one.short)
            for name, one in found.signatures.items()
        }
        values = table.reset_index()
        return values.assign(signature=values["metric"].map(signed))


def _data_as(form: str, values: Values) -> str:
    """Return numbers with every digit.

    Parameters
    ----------
    form : str
        "csv", in which no text is a formula, or "json": a list of objects, null for what is not
        there, in ASCII alone.
    values : pandas.DataFrame or dict
        A table, or, for JSON, plain values.
    """
    if isinstance(values, dict):
        return json.dumps(values, indent=2) + "\n"
    if form == "csv":
        from recsys_ndcg.input import TextFormat

        safe = values.map(lambda one: TextFormat.guarded(one) if isinstance(one, str) else one)
        return safe.rename(columns=TextFormat.guarded).to_csv(index=False, lineterminator="\n")
    plain: Any = values.astype(object).where(values.notna(), None)
    return json.dumps(plain.to_dict("records"), indent=2, default=str) + "\n"


def table_document(
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
        What is in it.
    cells : pandas.DataFrame
        All text.
    remarks : sequence of str
        What is said below it.
    signature : Signature, optional
        How its numbers were computed.
    **how
        As `ShownTable` takes it.
    """
    from recsys_ndcg.rendering import Document, Section, ShownTable
    from recsys_ndcg.report import build_signatures_section

    section = Section("table", title, "", [ShownTable(title, cells, **how), [*remarks]])
    signatures = [] if signature is None else [build_signatures_section([signature])]
    return Document(facts=title, sections=[section, *signatures])


@dataclass(frozen=True)
class Page:
    """Where a page goes."""

    html: Path | None = option(
        "Write a page: one file that needs no network, with charts and all users; '-' is "
        "standard output."
    )

    def check(self, read: Mapping[str, Path], **written: Path | None) -> None:
        """Refuse a page that cannot be made, before anything is measured.

        Raises
        ------
        InvalidInputError
            It would be written onto what is read or written, too.
        MissingExtraError
            What the extra `report` brings is not installed.
        """
        check_apart(read, **written, html=self.html)
        if self.html is not None:
            with require_libraries("jinja2", "altair", "vl_convert", job="A page", extra="report"):
                return

    def write(self, found: Report | Comparison) -> bool:
        """Write a page that says what was typed to make it, and tell if it is the output itself.

        To be called before anything is printed: a pipe that is closed early leaves the file whole.
        """
        if self.html is None:
            return False
        command = shlex.join(["recsys-ndcg", *sys.argv[1:]])
        _write(self.html, found.page(command).render("page").encode())
        return is_dash(self.html)


@dataclass(frozen=True)
class Files:
    """Where the scores of users and the report go."""

    per_user: Path | None = option(
        "Write the scores of every user to this file, .csv, .csv.gz or .parquet; '-' is "
        "standard output, and the table then goes to the other stream."
    )
    json: Path | None = option("Write the report to this file, or to '-'.")

    @property
    def users(self) -> Path | None:
        """The file that the scores of users go to as they are measured."""
        return None if self.per_user is None or _is_streamed(self.per_user) else self.per_user

    @property
    def pipes(self) -> bool:
        """Whether something goes to standard output."""
        return any(path is not None and is_dash(path) for path in (self.per_user, self.json))

    def check(self, read: Mapping[str, Path], form: str) -> None:
        """Refuse what cannot be written, before anything is computed.

        Raises
        ------
        InvalidInputError
            A file is read, or written, too; or a table in another form than text is for standard
            output, too.
        """
        if self.pipes and form != "text":
            msg = f"--format {form}: standard output, '-', is for another file. Give it a name."
            raise InvalidInputError(msg)
        check_apart(read, per_user=self.per_user, json=self.json)

    def write(self, report: Report) -> None:
        """Write what was not written as it was measured: the report, and what goes to streams."""
        from recsys_ndcg.rendering import per_user_writer

        if self.per_user is not None and _is_streamed(self.per_user):
            _write(self.per_user, per_user_writer(".csv")(report.per_user))
        if self.json is not None and is_dash(self.json):
            with TemporaryDirectory() as folder:
                part = Path(folder) / "report.json"
                report.save(part)
                _write(self.json, part.read_bytes())
        elif self.json is not None:
            report.save(self.json)


def check_apart(read: Mapping[str, Path], **written: Path | None) -> None:
    """Refuse to write onto what is read, or onto what else is written, under whatever name."""
    known = dict(read)
    for name, path in written.items():
        if path is None:
            continue
        option = f"--{name.replace('_', '-')}"
        for other, there in known.items():
            if same_file(there, path) and not (is_dash(there) and other in read):
                owner = "the data" if other.startswith("FILE") else other
                msg = f"{option} {path}: this is the file of {owner}. Give it a name of its own."
                raise InvalidInputError(msg)
        known[option] = path


def _is_streamed(path: Path) -> bool:
    """Tell standard output and pipes from files, whose names say in which form they are."""
    from recsys_ndcg.files import is_stream

    return is_dash(path) or is_stream(path)


def _write(path: Path, content: bytes) -> None:
    from recsys_ndcg.files import write_whole

    if is_dash(path):
        emit(content.decode())
    else:
        write_whole(path, content)
