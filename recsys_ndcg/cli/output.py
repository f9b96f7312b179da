"""The files that a command writes; '-' is standard output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from recsys_ndcg.cli.data import is_dash, same_file
from recsys_ndcg.cli.process import emit
from recsys_ndcg.errors import InvalidInputError

if TYPE_CHECKING:
    from recsys_ndcg.report.report import Report


@dataclass(frozen=True)
class Files:
    """Where the scores of users and the report go."""

    per_user: Annotated[
        Path | None,
        typer.Option(
            help="Write the scores of every user to this file, .csv, .csv.gz or .parquet; '-' is "
            "standard output, and the table then goes to the other stream."
        ),
    ] = None
    json: Annotated[Path | None, typer.Option(help="Write the report to this file, or to '-'.")] = (
        None
    )

    @property
    def pipes(self) -> bool:
        """Whether something goes to standard output."""
        return any(path is not None and is_dash(path) for path in (self.per_user, self.json))

    def check(self, read: Mapping[str, Path], form: str) -> None:
        """Refuse what cannot be written, before anything is computed.

        Raises
        ------
        InvalidInputError
            A file is read, or written, too; or its name does not say in which form; or a table
            in another form than text is for standard output, too.
        """
        if self.pipes and form != "text":
            msg = f"--format {form}: standard output, '-', is for another file. Give it a name."
            raise InvalidInputError(msg)
        check_apart(read, {"--per-user": self.per_user, "--json": self.json})
        if self.per_user is not None:
            _form_for(self.per_user)

    def write(self, report: Report) -> None:
        """Write what is asked for."""
        from recsys_ndcg.rendering.per_user import per_user_file

        if self.per_user is not None:
            _write(self.per_user, per_user_file(report.per_user, _form_for(self.per_user)))
        if self.json is None:
            return
        if not is_dash(self.json):
            report.save(self.json)
            return
        with TemporaryDirectory() as folder:
            part = Path(folder) / "report.json"
            report.save(part)
            _write(self.json, part.read_bytes())


def check_apart(read: Mapping[str, Path], written: Mapping[str, Path | None]) -> None:
    """Refuse to write onto what is read, or onto what else is written, under whatever name."""
    given = [(name, path) for name, path in (*read.items(), *written.items()) if path is not None]
    for (one, first), (other, second) in combinations(given, 2):
        if other not in written or (is_dash(first) and one in read):
            continue
        if same_file(first, second):
            owner = "the data" if one.startswith("FILE") else one
            msg = f"{other} {second}: this is the file of {owner}. Give it a name of its own."
            raise InvalidInputError(msg)


def _form_for(path: Path) -> str:
    """Return the form in which scores of users go to a file; a stream gets CSV."""
    from recsys_ndcg.rendering.per_user import form_of
    from recsys_ndcg.rendering.writing import is_stream

    if is_dash(path) or is_stream(path):
        return ".csv"
    try:
        return form_of(str(path))
    except InvalidInputError as error:
        msg = f"--per-user {error}"
        raise InvalidInputError(msg) from None


def _write(path: Path, content: bytes) -> None:
    from recsys_ndcg.rendering.writing import write_whole

    if is_dash(path):
        emit(content.decode())
    else:
        write_whole(path, content)
