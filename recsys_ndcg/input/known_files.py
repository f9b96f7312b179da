"""Files of well-known forms that are no plain tables: those of data sets, and of TREC."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError, quote, warn
from recsys_ndcg.files import Content, is_file_source, open_file
from recsys_ndcg.input.column_files import JsonObjects, read_json
from recsys_ndcg.input.ids import EncodedIds, factorize_ids, format_id
from recsys_ndcg.input.python_objects import read_objects
from recsys_ndcg.input.rows import NEEDED, Rows
from recsys_ndcg.input.text_format import TextFormat, raise_at, split_format
from recsys_ndcg.input.text_tables import UNUSUAL_NUMBER, parse_number

_HEAD = 1 << 16  # characters in which a file is recognised
_GENRES = [  # of MovieLens' u.item
    "unknown", "Action", "Adventure", "Animation", "Children", "Comedy", "Crime", "Documentary",
    "Drama", "Fantasy", "Noir", "Horror", "Musical", "Mystery", "Romance", "SciFi", "Thriller",
    "War", "Western",
]  # fmt: skip


class KnownFile(NamedTuple):
    """A form of file that is recognised by its beginning.

    Parameters
    ----------
    name : str
        Its name in messages.
    start : str
        The regular expression of the beginning of the text.
    rewrite : callable
        Returns the text as a table with a heading, given the text and what it is read as:
        the kind of table in `read_rows`, or ``"item"`` for a table by item.
    """

    name: str
    start: str
    rewrite: Callable[[str, str], str]


def find_known_file(text: str, use: str) -> KnownFile | None:
    r"""Return the known form of a text, by its beginning.

    Examples
    --------
    >>> find_known_file("1:\n7,3,2005-09-06\n", "labels").name
    'ratings of the Netflix Prize'
    """
    files = {"item": _ITEM_FILES, "items": [*_ITEM_FILES, *_ROW_FILES]}.get(use, _ROW_FILES)
    head = text if len(text) < _HEAD else text[:_HEAD].rpartition("\n")[0]
    return next((one for one in files if re.match(one.start, head)), None)


def _write(table: pd.DataFrame) -> str:
    return table.to_csv(sep="\t", index=False, lineterminator="\n")


def _rewrite_blocks(text: str, _: str) -> str:
    """Rewrite blocks ``item:`` of lines ``user,rating,date``, ``user,date`` or ``user``."""
    _, *parts = re.split(r"^(\d+):\r?\n", text, flags=re.MULTILINE)
    rows = (
        re.sub(r"^(\d+)", rf"\1,{item}", block, flags=re.MULTILINE)
        for item, block in zip(parts[::2], parts[1::2], strict=True)
    )
    n_commas = parts[1].partition("\n")[0].count(",")
    heading = ("user,item", "user,item,timestamp", "user,item,true,timestamp")[n_commas]
    return "\n".join([heading, "".join(rows)])


def _rewrite_behaviors(text: str, use: str) -> str:
    """Rewrite impressions ``id, user, time, history, "item-1 item-0"``.

    As lists, each impression counts as a user; as ratings, the rows are the users' clicks.
    """
    names = ["user", "own", "timestamp", "history", "item"]
    table = pd.read_csv(io.StringIO(text), sep="\t", names=names, dtype=str, quoting=csv.QUOTE_NONE)
    table = table.assign(item=table["item"].str.split()).explode("item")
    table[["item", "true"]] = table["item"].str.rsplit("-", n=1, expand=True)
    if use not in NEEDED:
        return _write(table[["user", "item", "true"]])
    times = pd.to_datetime(table["timestamp"], format="%m/%d/%Y %I:%M:%S %p", errors="coerce")
    clicks = table.assign(user=table["own"], timestamp=times.dt.strftime("%Y-%m-%dT%H:%M:%S"))
    return _write(clicks.loc[table["true"] == "1", ["user", "item", "timestamp"]])


def _rewrite_lines(text: str, use: str) -> str:
    """Rewrite lines ``user item item ...``, best first."""
    lines = pd.Series(text.splitlines()).str.split()
    table = pd.DataFrame({"user": lines.str[0], "item": lines.str[1:]}).explode("item")
    if use == "results":
        table["rank"] = table.groupby(level=0).cumcount() + 1
    return _write(table.dropna())


def _double_quotes(text: str, _: str) -> str:
    return text.replace('\\"', '""')


def _rewrite_book_crossing(text: str, use: str) -> str:
    """Leave the rating 0, which is none, empty; leave out its row if a rating is needed."""
    text = _double_quotes(text, use)
    if use == "ratings":
        left, count = re.subn(r'^[^\n]*[;,\t]"?0"?\r?(?:\n|\Z)', "", text, flags=re.MULTILINE)
    else:
        left, count = re.subn(r'([;,\t])"?0"?\r?$', r"\1", text, flags=re.MULTILINE)
    if count:
        done = "left out" if use == "ratings" else "read as rows without a rating"
        warn(
            f"{count} ratings of BookCrossing are 0, which stands for no rating: they are {done}. "
            "To silence this, remove these rows."
        )
    return left


def _rewrite_truth(text: str, _: str) -> str:
    """Rewrite lines ``id [0,1,0]``: the items are their places in the list, from 1."""
    return _write(_read_numbers(text).set_axis(["user", "item", "true"], axis=1))


def _read_numbers(text: str) -> pd.DataFrame:
    """Return the user, the place from 1, and the number, of all entries of ``id [2,1,3]``."""
    lists = pd.DataFrame(_LIST.findall(text), columns=["user", "number"])
    table = lists.assign(number=lists["number"].str.split(",")).explode("number")
    place = table.groupby(level=0).cumcount() + 1
    number = table["number"].astype(np.int64)
    return pd.DataFrame({"user": table["user"], "place": place, "number": number})


def _add_heading(*names: str) -> Callable[[str, str], str]:
    """Return what adds a heading, with the separator behind the first number."""

    def rewrite(text: str, _: str) -> str:
        separator = re.sub(r"^\d+(::|.).*", r"\1", text[:_HEAD], flags=re.DOTALL)
        return separator.join(names) + "\n" + text

    return rewrite


def _select_columns(pattern: str, *names: str) -> Callable[[str, str], str]:
    """Return what keeps the groups of a pattern for each line."""
    rows = re.compile(pattern, re.MULTILINE)
    return lambda text, _: _write(pd.DataFrame(rows.findall(text), columns=[*names]))


_LIST = re.compile(r"^(\S+) \[([\d, ]+)\]\r?$", re.MULTILINE)
#: Lines of whole numbers of which some have more than others, or all have six or more.
_RAGGED = (
    "|".join(
        rf"(\d+( \d+){{{more}}} ?\r?\n)+(?!\d+( \d+){{{more}}} ?\r?(\n|$))\d+( \d+)* ?\r?(\n|$)"
        for more in range(1, 4)
    )
    + r"|\d+( \d+){5,} ?\r?(\n|$)"
)
#: Files of users and items.
_ROW_FILES = [
    KnownFile("lists of LightGCN", _RAGGED, _rewrite_lines),
    KnownFile("ratings of the Netflix Prize", r"\d+:\r?\n\d+(,|\r?\n|$)", _rewrite_blocks),
    KnownFile("impressions of MIND", r"\d+(\t[^\t\n]*){3}\t\S+-[01]( \S+-[01])* *\r?(\n|$)",
              _rewrite_behaviors),
    KnownFile("labels of MIND", r"\S+ \[[01](, ?[01])*\]\r?(\n|$)", _rewrite_truth),
    KnownFile("ratings of BookCrossing", r'"?User-ID"?([;,\t])"?ISBN"?\1"?(Book-)?Rating"?\r?\n',
              _rewrite_book_crossing),
]  # fmt: skip
#: Files of items.
_ITEM_FILES = [
    KnownFile("books of BookCrossing", r'"ISBN";"Book-Title"', _double_quotes),
    KnownFile("films of the Netflix Prize", r"\d+,(\d{4}|NULL),.*[A-Za-z]",
              _select_columns(r"^(\d+),(?:NULL|(\d+)),(.*?)\r?$", "item", "year", "title")),
    KnownFile("news of MIND", r"N\d+(\t[^\t\n]*){2}\t[^\n]*\thttp",
              _select_columns(r"^(N\d+)\t([^\t]*)\t([^\t]*)\t", "item", "category", "subcategory")),
    KnownFile("films of MovieLens 100K", r"\d+(\|[^|\n]*){4}(\|[01]){19}\r?(\n|$)",
              _add_heading("item", "title", "released", "video_released", "url", *_GENRES)),
    KnownFile("films of MovieLens",
              r"\d+(::|[\t,;|])((?!\1).)+\1((?!\1).)*[A-Za-z)]((?!\1).)*(\n|$)",
              _add_heading("item", "title", "genres")),
]  # fmt: skip


def read_candidate_ranks(data: Any, labels: Rows | None) -> Rows | None:
    """Read MIND's predictions, lines ``id [2,1,3]``: the rank of each labelled item.

    Parameters
    ----------
    data : path or any
        The results.
    labels : Rows, optional
        The labels: the n-th number of a line belongs to the n-th label of that user.

    Returns
    -------
    Rows or None
        None if the data is no such file.

    Raises
    ------
    InvalidInputError
        There are no labels, or others than ranks.
    """
    data, text_format = split_format(data, TextFormat(encoding="latin-1"))
    if not (isinstance(data, str | Path) and Path(data).is_file()):
        return None
    with open_file(data) as file:
        if not _LIST.match(file.readline(_HEAD).decode("latin-1").rstrip()):
            return None
    content = Content.of(data)
    given = _read_numbers(text_format.decode(content))
    if (given.groupby(level=0)["number"].rank(method="max") != given["number"]).any():
        return None  # ids of items
    if labels is None:
        msg = (
            f"{content.name}: a line has the rank of each labelled item, so the labels are needed. "
            "Give the impressions as labels, too."
        )
        raise InvalidInputError(msg)
    users, codes = factorize_ids(labels.user, "user")
    known = pd.DataFrame({"user": np.array([*map(format_id, users.tolist())])[codes]})
    known["place"] = known.groupby("user").cumcount() + 1
    rank = known.merge(given, how="left", on=["user", "place"])["number"].to_numpy(np.float64)
    n_ranks = given.groupby("user").size()
    n_labels = known.groupby("user").size().reindex(n_ranks.index, fill_value=0)
    wrong = np.flatnonzero(n_ranks != n_labels)
    if len(wrong):
        msg = (
            f"{content.name}: {quote(n_ranks.index[wrong[0]])} has {n_ranks.iloc[wrong[0]]} ranks, "
            f"but {n_labels.iloc[wrong[0]]} labels. Give the labels of the same impressions."
        )
        raise InvalidInputError(msg)
    kept = np.flatnonzero(rank > 0)
    columns = {ours: labels.columns[ours][kept] for ours in ("user", "item")}
    return Rows({**columns, "estimated": -rank[kept]}, "results", order_only=True, score="rank")


#: The fields of a line in each kind of TREC file: TREC's, and those of BEIR or MS MARCO.
_TREC = {
    "qrels": (("topic", "iteration", "document", "grade"), ("topic", "document", "grade")),
    "run": (("topic", "Q0", "document", "rank", "score", "tag"), ("topic", "document", "score")),
}


def read_trec(source: Any, table: str) -> Rows:
    """Read qrels as labels, or a run as results, from a file or {topic: {document: number}}.

    As in trec_eval, a negative grade means unlabelled, and the rank column is ignored. A line of
    three fields is that of BEIR (qrels, perhaps with a heading) or of MS MARCO (a run; its numbers
    are ranks if they are 1, 2, 3 and so on in each topic).
    """
    source, text_format = split_format(source, TextFormat())
    fields, kind, width = _TREC[table][0], "labels" if table == "qrels" else "results", 0
    if is_file_source(source):
        content = Content.of(source)
        text = text_format.decode(
            content, f"Save it as text in UTF-8, each line '{' '.join(fields)}'."
        )
        if text.lstrip().startswith("{"):
            source = read_json(content.name, text)
            source = source.data if isinstance(source, JsonObjects) else {**source}
        else:
            source, width = _parse_trec(content.name, text, table)
    is_nested = isinstance(source, Mapping) and all(
        isinstance(one, Mapping) for one in source.values()
    )
    if not (width or is_nested):
        value = "grade" if table == "qrels" else "score"
        msg = f"Give a TREC file or a dict {{topic: {{document: {value}}}}}, not {quote(source)}."
        raise InvalidInputError(msg)
    rows = read_objects(source, kind)
    if table == "qrels":
        return Rows({**rows.columns, "true": np.where(rows.true < 0, np.nan, rows.true)}, kind)
    is_ranked = width == 3 and are_ranks(rows.user, rows.estimated)
    estimated = -rows.estimated if is_ranked else rows.estimated
    return Rows({**rows.columns, "estimated": estimated}, kind, is_ranked, score="score")


def _parse_trec(name: str, text: str, table: str) -> tuple[list[Any], int]:
    """Return the topic, the document and the number of each line, and the width of the lines."""
    rows: list[Any] = []
    form = " ".join(_TREC[table][0])
    fields: Sequence[str] = ()
    for number, line in enumerate(io.StringIO(text, newline=None), start=1):
        parts = line.split()
        if not parts:
            continue
        if not fields:
            fields = next((one for one in _TREC[table] if len(one) == len(parts)), _TREC[table][0])
            if len(parts) == 3 and np.isnan(parse_number(parts[2])):  # a heading
                continue
        at = fields.index("score" if table == "run" else "grade")
        try:
            if len(parts) != len(fields) or UNUSUAL_NUMBER.search(parts[at]):
                raise ValueError  # noqa: TRY301 - the same fault as a bad number
            rows.append((parts[0], parts[fields.index("document")], float(parts[at])))
        except ValueError:
            raise_at(name, number, f"{quote(line.strip())} is not '{form}'.")
    if not rows:
        msg = f"{name}: there are no entries."
        raise InvalidInputError(msg)
    return rows, len(fields)


def are_ranks(user: Any, numbers: Any) -> bool:
    """Return whether the numbers of each user are 1, 2, 3 and so on, in any order.

    Examples
    --------
    >>> are_ranks(["a", "a", "b"], np.array([2.0, 1.0, 1.0])), are_ranks(["a"], np.array([0.5]))
    (True, False)
    """
    if not len(numbers) or numbers.min() != 1:
        return False
    owner = user.codes if isinstance(user, EncodedIds) else np.asarray(user)
    ranks = pd.Series(numbers).groupby(owner).rank(method="max")
    return bool((ranks == numbers).all())
