"""Choose the reader for each form of data: tables, files, rows, or a sparse matrix."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError, warn
from recsys_ndcg.files import (
    Content,
    FileSource,
    are_existing_files,
    are_several_files,
    find_files,
    is_file_source,
)
from recsys_ndcg.input.cells import find_cell_kind, find_rank_columns, split_text_lists
from recsys_ndcg.input.column_files import JsonObjects, is_json, read_json
from recsys_ndcg.input.file_kinds import KINDS, PICKLE, FileKind, find_kind, find_kind_of_file
from recsys_ndcg.input.frames import (
    Table,
    choose_candidates,
    format_columns,
    get_names,
    is_frame,
    list_candidates,
    match_columns,
)
from recsys_ndcg.input.known_files import (
    are_ranks,
    find_known_file,
    read_candidate_ranks,
    read_trec,
)
from recsys_ndcg.input.list_tables import expand_lists
from recsys_ndcg.input.matrices import read_matrix, to_matrix
from recsys_ndcg.input.pickles import read_pickle
from recsys_ndcg.input.python_objects import FORMS, read_objects, read_predictions
from recsys_ndcg.input.rows import IDS, NEEDED, Rows
from recsys_ndcg.input.text_format import (
    MAX_COLUMNS,
    MAX_HEADER_LENGTH,
    TextFormat,
    get_first_line,
    split_format,
)
from recsys_ndcg.input.text_tables import ColumnChoice, parse_number, parse_text


def read_file(
    source: FileSource,
    columns: Mapping[str, Any] | None = None,
    text_format: TextFormat | None = None,
    kind: str = "predictions",
) -> Any:
    """Read a table, or `JsonObjects`, from a file of any kind; text may be compressed.

    Ids in text stay text, so "0042" keeps its zeros; a column becomes integers if every id is
    written as a plain integer of 64 bits. An empty true value is unlabelled. Apostrophes that
    protect ids from spreadsheets (`TextFormat.escape_formula`) are removed only if the header is
    that of our own CSV of users' scores, ``user,n_items,n_relevant``.

    Parameters
    ----------
    source : path, or stream of bytes
        The suffix determines the format: ``.csv`` and all unknown ones are text; ``.gz``,
        ``.zst``, ``.bz2``, ``.xz`` and ``.zip`` may follow.
    columns : mapping, optional
        Our names to the file's.
    text_format : TextFormat, optional
        The format of a text file.
    kind : str
        What it is, as in `read_rows`, or ``"item"`` or ``"user"``: a table by item or by user, all
        columns of which are read.

    Raises
    ------
    InvalidInputError
        The file cannot be read or parsed; the message has the line.
    """
    options = text_format or TextFormat()
    if isinstance(source, str | Path) and (read := find_kind_of_file(Path(source)).read):
        _check_no_text_options(str(source), options)
        if columns and read is PICKLE.read:
            msg = f"{source}: `columns=` names the columns of a table, but a pickle has none."
            raise InvalidInputError(msg)
        return read(FileKind.check_file(Path(source)))
    content = Content.of(source)
    check_not_binary(content)
    if parse := find_kind(content.suffix).parse:
        _check_no_text_options(content.name, options, encoding=options.encoding)
        return parse(content.name, options.decode(content))
    text = options.decode(content)
    if options == TextFormat(encoding=options.encoding) and is_json(text):
        return read_json(content.name, text)
    if options == TextFormat(encoding=options.encoding):
        known = find_known_file(text, kind)
        text = known.rewrite(text, kind) if known else text
    options, given = detect_format(text, options, columns), options
    found = options.split_first_line(text)
    is_placed = given.heading is None and not (options.heading or columns) and kind not in NEEDED
    start = len(get_first_line(text))
    first = options.split_first_line(text[start : start + MAX_HEADER_LENGTH].lstrip())

    def choose(names: Sequence[str]) -> ColumnChoice:
        return choose_file_columns(names, options, columns, kind, first)

    table = parse_text(content, text, options, choose)
    order = COLUMN_ORDERS[kind][: len(found)]
    if kind == "results" and is_placed and are_ranks(table["user"], table.get("estimated", ())):
        table["rank"] = table.pop("estimated")
        order = ("user", "item", "rank")
    if is_placed and 1 < len(found) <= MAX_COLUMNS:
        taken = f"its columns are taken as {', '.join(order)}, in this order"
        if kind in IDS:
            taken = f"its first column is taken as {kind}"
        advice = "To silence this, give `(path, rn.TextFormat(heading=False))`."
        warn(f"{content.name} has no heading, so {taken}. {advice}")
    return table


def detect_format(
    text: str, given: TextFormat, columns: Mapping[str, Any] | None = None
) -> TextFormat:
    """Return the format of a text with its separator, and whether it has a heading.

    The first line is none if a field is a number, and none is named in `columns` or has a known
    name.
    """
    lines = re.split(r"[\r\n]+", text[:MAX_HEADER_LENGTH], maxsplit=_SAMPLE_LINES)[:_SAMPLE_LINES]
    separator = given.separator
    if separator is None and "::" in lines[0]:
        separator = "::"
    elif separator is None and _BLANKS.fullmatch("\n".join(lines[:-1] or lines)):
        separator = " "
    found = replace(given, separator=separator)
    if given.heading is not None:
        return found
    fields, *below = ([one.strip() for one in found.split_first_line(line)] for line in lines)
    if len(fields) > MAX_COLUMNS:  # the reader rejects them; to match them takes minutes
        return replace(found, heading=True)
    is_named = bool(match_columns(fields)) or not {*list_candidates(columns)}.isdisjoint(fields)
    return replace(found, heading=is_named or _looks_like_heading(fields, below))


def _looks_like_heading(fields: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether fields without known names are a heading, given those of the next lines.

    They are if each is a word. Two words may be ids: they are a heading if numbers or lists of ids
    follow, or if no id is like them and most ids are there more than once.
    """
    if not fields or not all(fields) or not np.isnan([*map(parse_number, fields)]).all():
        return False
    rows = [row for row in below if len(row) == len(fields)]
    if len(fields) == 1 and not re.search(r"\s", fields[0]):
        return not rows or not np.isnan([*map(parse_number, rows[0])]).all()
    if len(fields) != 2 or not rows:
        return True
    has_number = not np.isnan([*map(parse_number, rows[0])]).all()
    has_list = any(sign in rows[0][-1] and sign not in fields[-1] for sign in ",;| ")
    columns = [[row[place] for row in rows] for place in (0, 1)]
    is_new = all(name not in ids for name, ids in zip(fields, columns, strict=True))
    are_repeated = any(len({*ids}) * 2 < len(ids) for ids in columns)
    return has_number or has_list or (is_new and are_repeated)


def choose_file_columns(
    names: Sequence[str],
    text_format: TextFormat,
    columns: Mapping[str, Any] | None = None,
    kind: str = "predictions",
    first: Sequence[str] = (),
) -> ColumnChoice:
    """Return the columns to read from a text table, given the names in the file.

    In `first`, the fields of the first row, lists are not numbers.

    Raises
    ------
    InvalidInputError
        The file has no header, and `columns` has a name that is not a position, or it has fewer or
        more columns than interactions have.
    """
    named, order = list(names), COLUMN_ORDERS[kind]
    if kind in IDS:  # a table by item or by user is read as a whole
        named = named if text_format.heading else [kind, *named[1:]]
        return ColumnChoice(named, named, {}, named)
    needed = NEEDED.get(kind, ())
    if not text_format.heading:
        if needed and not columns and not len(needed) <= len(names) <= len(order):
            form = f"{', '.join(needed)}[, {', '.join(order[len(needed) :])}]"
            msg = f"{len(names)} columns; ratings are {form}. Give a table of these, such as "
            msg += "pandas.read_csv(path, header=None, usecols=[0, 1, 2])."
            raise InvalidInputError(msg)
        if not columns:
            order = needed if len(names) == len(needed) else order
            named = [*order[: len(names)], *names[len(order) :]]
        given = choose_candidates(columns, names).values()
        missing = [one for one in given if one not in (*names, None)]
        if missing:
            msg = (
                f"The file has no column {missing[0]!r}; it has {format_columns(names)}. Without a "
                "heading, columns are named by their positions, starting at 1."
            )
            raise InvalidInputError(msg)
    matches = Table(dict.fromkeys(named), columns, kind, is_text=True).matches
    if len(named) == 2 and "item" not in matches:  # the second may hold lists
        matches = {"user": [named[0]], "item": [named[1]]}
    chosen = {
        theirs[0]: ours
        for ours, theirs in matches.items()
        if len(theirs) == 1 and theirs[0] in named
    }
    lists = [name for name, field in zip(named, first, strict=False) if field.startswith("[")]
    # times may be dates
    ids = [name for name, ours in chosen.items() if ours in (*IDS, "timestamp") or name in lists]
    ranks = [] if "item" in matches else find_rank_columns(named)
    may_be_empty = {"true", "weight", "rating"} - {*needed}
    numbers = {name: ours in may_be_empty for name, ours in chosen.items() if name not in ids}
    is_pair = len(named) == 2 and kind == "results"  # whose lists may be empty
    return ColumnChoice(named, [*ids, *ranks], numbers, matches["item"] if is_pair else ranks)


def _check_no_text_options(name: str, text_format: TextFormat, **allowed: Any) -> None:
    """Raise if options for CSV are given for a file of another format."""
    if text_format != TextFormat(**allowed):
        msg = (
            f"{name}: options for separator, decimal, heading and encoding are for CSV and similar "
            "text, not for this file. Leave them out."
        )
        raise InvalidInputError(msg)


def check_not_binary(content: Content) -> None:
    """Raise if a binary format is in an archive, in a stream, or in a file with another suffix."""
    if content.packed and find_kind(content.suffix).is_binary:
        msg = f"{content.name}: a {content.suffix} in an archive is not read. Unpack it first."
        raise InvalidInputError(msg)
    kind = next((kind for kind in KINDS if content.data.startswith(kind.magic)), None)
    if kind:
        suffixes = ", ".join(kind.suffixes[0] for kind in KINDS if kind.is_binary)
        msg = (
            f"{content.name}: this is {kind.name}, which is read only from a file whose name ends "
            f"in {suffixes}, not from a stream or an archive."
        )
        raise InvalidInputError(msg)


#: Lines of two or three numbers, as of Epinions; with four, the second may be TREC's iteration.
_BLANKS = re.compile(r"(\d+ -?[\d.]+( -?[\d.]+)?\s*)+")
_SAMPLE_LINES = 200  # that tell whether two words are a heading
#: The order of columns without a header.
COLUMN_ORDERS = {kind: form.fields for kind, form in FORMS.items()}
COLUMN_ORDERS |= {one: (one,) for one in IDS}


def read_rows(
    data: Any,
    columns: Mapping[str, Any] | None = None,
    text: TextFormat | None = None,
    table: str = "predictions",
) -> Rows:
    """Read predictions in any form that `evaluate` accepts, or labels or results.

    Parameters
    ----------
    data : table, path, mapping, rows or matrix
        In any form.
    columns : mapping, optional
        Our names to the table's.
    text : TextFormat, optional
        The format of a text file.
    table : str
        ``"predictions"``, ``"labels"``, ``"results"``, or a kind of `NEEDED`, such as
        ``"interactions"``; ``"tuples"`` for predictions that are
        Python objects, ``"Surprise"`` for Surprise's, which may be pickled; ``"qrels"`` or
        ``"run"`` for labels or results of TREC.
    """
    if table == "tuples":
        return read_objects(data)
    if table == "Surprise":
        return read_predictions(read_pickle(data) if isinstance(data, str | Path) else data)
    if table in ("qrels", "run"):
        return read_trec(data, table)
    data, text = split_format(data, text)
    if are_several_files(data) and (isinstance(data, str) or are_existing_files(data)):
        return Rows.concat([read_rows(one, columns, text, table) for one in find_files(data)])
    data = open_data(data, columns, text, table)
    rows = None if table == "predictions" else read_matrix(data, table)
    if rows is None and isinstance(data, Table):
        rows = data.read_rows()
    elif rows is None:
        if table == "predictions" and columns:
            msg = "`columns=` names the columns of a table, but the data is not a table."
            raise InvalidInputError(msg)
        rows = read_objects(data, table)
    return rows.drop_fillers() if table == "results" else rows


def read_pair(
    labels: Any,
    results: Any,
    columns: Mapping[str, Any] | None = None,
    text: TextFormat | None = None,
    list_separator: str | None = None,
) -> tuple[Rows | None, Rows]:
    """Read labels, perhaps None, and results; one tells what an array of the other holds.

    Raises
    ------
    InvalidInputError
        A table cannot be read, or an array of three columns may be rows or ranked items.
    """
    matrices = to_matrix(labels), to_matrix(results)
    labelled = labels if isinstance(labels, Rows) else None  # read before
    if labels is not None and labelled is None:
        labelled = read_matrix(labels, "labels", matrices[1])
        labelled = labelled or read_rows(labels, columns, text, "labels")
    recommended = read_matrix(results, "results", matrices[0], labelled)
    recommended = recommended or read_candidate_ranks(results, labelled)
    recommended = recommended or read_rows(results, columns, text, "results")
    return split_text_lists(labelled, recommended.drop_fillers(), list_separator)


def open_data(
    data: Any,
    columns: Mapping[str, Any] | None = None,
    text_format: TextFormat | None = None,
    kind: str = "predictions",
) -> Any:
    """Return data, or what a file holds: a `Table` with our column names, or Python objects."""
    if isinstance(data, Table) or to_matrix(data) is not None:
        return data
    columns = Table.select_columns(kind, columns)
    data, text_format = split_format(unwrap_ratings(data), text_format)
    data = _convert_records(data)
    if is_file_source(data):
        columns = {  # names in files are text, also positions
            ours: [*map(str, theirs)] if isinstance(theirs, list) else str(theirs)
            for ours, theirs in Table.check_columns(columns, kind).items()
        }
        data = read_file(data, columns, text_format, kind)
        if not isinstance(data, JsonObjects):
            is_text = isinstance(data, dict | pd.DataFrame)
            return expand_lists(Table(data, columns, kind, is_text=is_text))
        data = _convert_records(data.data)
    if not _is_table(data, columns, kind):
        return data
    index = data.index if isinstance(data, pd.DataFrame) else None
    return expand_lists(Table(data, columns, kind), index)


def unwrap_ratings(data: Any) -> Any:
    """Return the rows of a trainset or a dataset of Surprise, and any other data as they are."""
    if hasattr(data, "all_ratings") and hasattr(data, "to_raw_uid"):
        return [(data.to_raw_uid(u), data.to_raw_iid(i), r) for u, i, r in data.all_ratings()]
    if not hasattr(data, "raw_ratings"):
        return data
    has_times = any(time is not None for *_, time in data.raw_ratings)
    return [row if has_times else row[:3] for row in data.raw_ratings]


def _convert_records(data: Any) -> Any:
    """Return a list of dicts, a structured array or a Series as a table, else the data."""
    if isinstance(data, np.ndarray) and data.dtype.names and data.ndim == 1:
        return pd.DataFrame(data)
    if isinstance(data, pd.Series):
        is_named = data.index.nlevels > 1 or find_cell_kind(data) != "list"
        return data.reset_index() if is_named else pd.DataFrame({"user": data.index, "item": data})
    first = data[0] if isinstance(data, list) and data else None
    fields = getattr(first, "_fields", getattr(first, "__fields__", ()))  # of Spark's rows
    names = match_columns(fields)
    if isinstance(first, tuple) and {*IDS} <= names.keys() and "details" not in fields:
        is_like_rows = [*fields[:2]] == [names[one][0] for one in IDS] and len(fields) < 4
        return data if is_like_rows else pd.DataFrame(data, columns=[*fields])
    is_records = isinstance(first, Mapping) and all(isinstance(row, Mapping) for row in data)
    return pd.DataFrame(data) if is_records else data


def _is_table(data: Any, columns: Mapping[str, Any] | None, kind: str) -> bool:
    """Return whether data are a table or a file, not a mapping {user: pairs} or rows."""
    if isinstance(data, Mapping):
        matches = match_columns(data, Table.check_columns(columns, kind), get_names(kind))
        has_user = "user" in matches and matches["user"][0] in data
        if not has_user or len(matches) > 1 or columns:
            return has_user
        # a user may be called "user": then its list has the form of all others
        is_list = find_cell_kind(data[matches["user"][0]]) == "list"
        return not is_list and "list" in map(find_cell_kind, data.values())
    is_array = isinstance(data, np.ndarray)
    is_rows = isinstance(data, Iterable) and not (is_frame(data) or hasattr(type(data), "dtype"))
    return not (is_array or is_rows)
