"""Files of a table, told apart by the ends of their names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import InvalidInputError, check_path
from recsys_ndcg.files import content_of
from recsys_ndcg.input.column_names import roles_of
from recsys_ndcg.input.file_kinds import KINDS, kind_of
from recsys_ndcg.input.text.form import TextFormat
from recsys_ndcg.input.text.json_lines import JsonLines, seems_json
from recsys_ndcg.input.text.plain import plain_table
from recsys_ndcg.input.text.tables import TextTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from recsys_ndcg.files import Content, Place

#: In which order columns without a heading stand.
ORDER = ("user", "item", "estimated", "true")


def read_file(
    place: Place,
    columns: Mapping[str, str] | None = None,
    text: TextFormat | None = None,
    order: tuple[str, ...] = ORDER,
) -> pd.DataFrame | Mapping[str, Any]:
    """Read a table of any kind in `file_kinds`; all text may be packed.

    Ids keep their text, so that "0042" stays itself; a column in which every id is the plain
    writing of a whole number of 64 bits becomes whole numbers. An empty true value is unlabelled.
    Apostrophes that guard ids from spreadsheets (`recsys_ndcg.input.text.form`) are taken away
    where the heading is that of our own scores of users, ``user,n_items,n_relevant``, and nowhere
    else.

    Parameters
    ----------
    place : path, or stream of bytes
        What it holds, the end of its name tells: ``.csv`` and all unknown ones are text; ``.gz``,
        ``.zst``, ``.bz2``, ``.xz`` and ``.zip`` may follow.
    columns : mapping, optional
        Our names to the file's.
    text : TextFormat, optional
        How text is written.
    order : tuple of str
        What columns without a heading are.

    Raises
    ------
    InvalidInputError
        The file cannot be read or parsed; the line is named.
    """
    how = text or TextFormat()
    if isinstance(place, str | Path) and (read := kind_of(Path(place).suffix).read):
        refuse_options(str(place), how)
        return read(existing_file(Path(place)))
    content = content_of(place)
    _refuse_binary(content)
    if parse := kind_of(content.suffix).parse:
        refuse_options(content.name, how, encoding=how.encoding)
        return parse(content.name, how.text_of(content))
    plain = plain_table(content, how, columns, order)
    if plain is not None:
        return plain
    name, written = content.name, how.text_of(content)
    del content  # its bytes may be many
    return careful_table(name, written, how, columns, order)


def careful_table(
    name: str,
    written: str,
    how: TextFormat,
    columns: Mapping[str, str] | None = None,
    order: tuple[str, ...] = ORDER,
) -> pd.DataFrame | Mapping[str, Any]:
    """Read text whatever is in it: slower, and with a word for everything that is wrong.

    Raises
    ------
    InvalidInputError
        It cannot be read or parsed; the line is named.
    """
    if how == TextFormat(encoding=how.encoding) and seems_json(written):
        return JsonLines(name, written)
    table = TextTable(name, written, how)
    if not how.heading:
        table.check_places(columns or {})
    if not how.heading and not columns:
        table.frame = table.frame.rename(columns=dict(zip(table.frame, order, strict=False)))
    for ours, found in roles_of(table.frame.columns, columns).items():
        for theirs in found if len(found) == 1 else []:
            if ours in ("user", "item"):
                table.read_ids(theirs)
            else:
                table.read_numbers(theirs, may_be_empty=ours == "true")
    return table.frame


def refuse_options(name: str, how: TextFormat, **allowed: Any) -> None:
    """Refuse to be told how a file that is no text, or has a form of its own, is written."""
    if how != TextFormat(**allowed):
        msg = (
            f"{name}: separator, decimal, heading and encoding (--sep, --decimal, --no-heading, "
            "--encoding) say how text is written, which this is not. Leave them out."
        )
        raise InvalidInputError(msg)


def _refuse_binary(content: Content) -> None:
    """Refuse what is read by its own name only, in an archive or in a stream."""
    if content.packed and kind_of(content.suffix).is_binary:
        msg = f"{content.name}: a {content.suffix} in an archive is not read. Unpack it first."
        raise InvalidInputError(msg)
    kind = next((one for one in KINDS if content.data.startswith(one.begins)), None)
    if kind:
        ends = ", ".join(one.suffixes[0] for one in KINDS if one.is_binary)
        msg = (
            f"{content.name}: that is {kind.name}, which is read from a file whose name says so "
            f"({ends}), and not from a stream or an archive."
        )
        raise InvalidInputError(msg)


def existing_file(path: Path) -> Path:
    """Return the path of a file, and refuse a folder, a pipe, and what is not there.

    Raises
    ------
    InvalidInputError
        It is none.
    """
    check_path(path)
    if not path.is_file():
        there = "Is a directory" if path.is_dir() else "Is no file"
        msg = f"{path}: cannot be read ({there if path.exists() else 'No such file'})."
        raise InvalidInputError(msg)
    return path
