"""Tables of pandas, polars and pyarrow, dicts of columns, and what people call our columns."""

from __future__ import annotations

import re
import shlex
from collections.abc import Hashable, Iterable, Mapping
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats, Ids
from recsys_ndcg.errors import InvalidInputError, quote, suggest, warn
from recsys_ndcg.input.ids import of_polars, raise_for_rows
from recsys_ndcg.input.python_objects import JOIN
from recsys_ndcg.input.rows import Rows, ids_of, to_column, to_floats
from recsys_ndcg.parallel import map_in_threads

#: What is no grade nor score: when an interaction was, and the number of its row.
_BESIDE = (
    "unnamed index timestamp time datetime date day ts unixtime unixtimestamp unixreviewtime "
    "reviewtime eventtime createdat updatedat playedat"
)
#: A word in the name of a column that may hold grades, and the end of a name that does not.
_GRADE_WORD = re.compile(
    "(amount|bought|buy|click|clicked|cnt|confidence|count|duration|dwell|engagement|favou?rite|"
    "feedback|freq|frequency|gain|gold|grade|hour|interaction|interest|judge?ment|label|like|liked|"
    "listen|listened|mark|minute|play|playcount|played|point|pref|preference|purchase|purchased|"
    "qrel|qty|quality|quantity|rate|rated|.*rating|rel|relevance|relevant|response|reward|score|"
    "second|spend|spent|star|strength|target|thumb|times|truth|utility|val|.*value|view|viewcount|"
    "viewed|vote|watch|watched|weight)s?"
)
_NO_GRADE_END = re.compile("at|date|datetime|day|ids?|idx|index|time|timestamp|ts")
_DURATION = re.compile("(dwell|listen|listening|play|spent|view|viewing|watch)time")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_NUMBER = re.compile(r"[-+]?[0-9]+([.,][0-9]*)?([eE][-+]?[0-9]+)?")


def roles_of(
    names: Iterable[Any], columns: Mapping[str, Any] | None = None
) -> dict[str, list[Any]]:
    """Return which columns of a table may be read as each of ours.

    Parameters
    ----------
    names : iterable
        Those of the table.
    columns : mapping, optional
        Our names to those of the table, where somebody says so.

    Returns
    -------
    dict of list
        One name where it is plain: the one that was said, or our own, or the only one known.

    Examples
    --------
    >>> roles_of(["userId", "movieId", "rating", "prediction"])
    {'user': ['userId'], 'item': ['movieId'], 'true': ['rating'], 'estimated': ['prediction']}
    >>> roles_of(["user", "uid", "score"], {"true": "score"})
    {'true': ['score'], 'user': ['user']}
    """
    found: dict[str, list[Any]] = {ours: [theirs] for ours, theirs in (columns or {}).items()}
    said = set(found)
    for name in names:
        word = _word(name) if isinstance(name, str) else ""
        role = next(
            (role for role, words in Table.COLUMN_NAMES.items() if word in words.split()), None
        )
        if role is None or role in said or any(name in found[one] for one in said):
            continue
        if name == role:
            found[role] = [name]
        elif role not in found.get(role, []):
            found.setdefault(role, []).append(name)
    return found


def column_list(names: Iterable[Any]) -> str:
    """Return the names of columns as a message shows them.

    Examples
    --------
    >>> column_list(["user", ""])
    "user, ''"
    """
    return ", ".join(str(one) if str(one).strip() else repr(one) for one in names) or "none"


def may_be_grade(name: Any) -> bool:
    """Return whether a column of labels may hold the grade, by its name.

    The name has a word for grades or counts, or says nothing at all.

    Examples
    --------
    >>> [may_be_grade(name) for name in ("play_count", "watch_time", "stars", "x", 2)]
    [True, True, True, True, True]
    >>> [may_be_grade(name) for name in ("session", "device", "click_id", "country", "timestamp")]
    [False, False, False, False, False]
    """
    if Table.is_time_or_row_number(name):
        return False
    words = [one.lower() for one in _WORDS.findall(str(name).partition(":")[0])]
    if _DURATION.fullmatch("".join(words)):
        return True
    if not isinstance(name, str) or len("".join(words)) <= 1:
        return True
    return any(map(_GRADE_WORD.fullmatch, words)) and not _NO_GRADE_END.fullmatch(words[-1])


def _word(name: str) -> str:
    """Return a name as those above are written."""
    return re.sub(r"[\W_]", "", name.partition(":")[0]).lower()


#: The columns that have readers of their own; of further ones, the numbers are read.
_USUAL = ("user", "item", "estimated", "true", "rank")

_SCORES = "if these are scores, where the highest is best, say columns={'estimated': 'rank'}"


class Table:
    """A table of any library, its columns called by our names.

    Names that people have are recognised, and said once all is read (`warn_of_recognised_names`).

    Parameters
    ----------
    data : pandas, polars or pyarrow table, or mapping of columns
        One row per (user, item).
    columns : mapping, optional
        Our name to the table's name, where they differ: ``{"estimated": "est"}``.
    """

    #: What a column may be to us, and what people call it: in small letters, without what stands
    #: between words, and without the type that RecBole appends. A further column is one line:
    #: its numbers are read where a table has it, then taken, grouped and joined like all others.
    COLUMN_NAMES: ClassVar = {
        "user": "user uid userid useridx username customer customerid visitorid reviewerid "
        "accountid memberid query queryid qid topic topicid",
        "item": "item iid itemid itemidx movie movieid product productid book bookid isbn asin "
        "parentasin article articleid track trackid song songid artist artistid anime animeid "
        "business businessid game gameid news newsid video videoid sku doc docid docno document "
        "documentid",
        "estimated": "estimated est estimate prediction pred predicted predictedrating "
        "predictedscore ypred yhat score",
        "true": "true rui rating bookrating label grade relevance rel truerating "
        "truelabel groundtruth ytrue actual actualrating weight",
        "rank": "rank",
    }
    #: What to do where a rank is none.
    RANK_ADVICE: ClassVar = f"ranks are 1 for the best item, 2, 3, …; {_SCORES}"

    def __init__(self, data: Any, columns: Mapping[str, str] | None = None) -> None:
        self._said = self.check_columns(columns)
        self._read: dict[Any, str] = {}
        index = getattr(data, "index", None)  # more than the row's number, if it has no step
        self._nameless = [*getattr(index, "names", ())] == [None] and not hasattr(index, "step")
        self._data, self._lazy, self.names = _opened(_with_index(data, self._said))
        self._roles = roles_of(self.names, self._said)

    @staticmethod
    def select_columns(table: str, columns: Mapping[str, str] | None) -> Mapping[str, str] | None:
        """Return what is said of the columns of one of two tables: labels or results.

        What the other one has may have the same name.
        """
        others = {"labels": ("estimated", "rank"), "results": ("true",)}.get(table, ())
        if not isinstance(columns, Mapping):
            return columns
        return {ours: theirs for ours, theirs in columns.items() if ours not in others}

    @staticmethod
    def check_columns(columns: Mapping[str, str] | None) -> dict[str, str]:
        """Return the names of columns, each of ours for one of theirs.

        Raises
        ------
        InvalidInputError
            There is no such column of ours, or two are to be read from one of theirs.
        """
        if not (columns is None or isinstance(columns, Mapping)):
            form = "{'true': 'r_ui'}"
            msg = f"columns must map our names to the table's, {form}, not {quote(columns)}."
            raise InvalidInputError(msg)
        for name, theirs in (columns or {}).items():
            if not isinstance(theirs, Hashable):
                msg = f"columns: {name} is the name of one column, not {quote(theirs)}."
                raise InvalidInputError(msg)
            if name not in Table.COLUMN_NAMES:
                hint = suggest(name, Table.COLUMN_NAMES)
                msg = f"columns: there is no column {name!r} to rename. {hint}"
                raise InvalidInputError(msg)
        for (one, theirs), (other, same) in combinations((columns or {}).items(), 2):
            if theirs == same:
                raise InvalidInputError(_both(one, other, theirs))
        return dict(columns or {})

    @staticmethod
    def is_time_or_row_number(name: Any) -> bool:
        """Tell the name of a column of times, or of the numbers of the rows.

        Examples
        --------
        >>> names = ("timestamp:float", "Unnamed: 0", "playtime")
        >>> [Table.is_time_or_row_number(name) for name in names]
        [True, True, False]
        """
        return isinstance(name, str) and _word(name) in ("", *_BESIDE.split())

    def __contains__(self, column: str) -> bool:
        """Tell whether the table has our column, under whichever name."""
        found = self._roles.get(column, [])
        return len(found) == 1 and found[0] in self.names

    def read_rows(self, table: str = "predictions") -> Rows:
        """Read the columns of predictions, labels or results.

        Raises
        ------
        InvalidInputError
            A rank is none: scores in its place would turn every list upside down.

        Warns
        -----
        DataWarning
            No list has a first rank, or a column is left that may have been meant.
        """
        wanted = self.choose_columns(table)
        further = [one for one in self.COLUMN_NAMES if one not in _USUAL and one in self]
        self.collect(*wanted, *further)
        ids = [(of_polars(self._column(one)), self._name(one)) for one in ("user", "item")]
        user, item = map_in_threads(lambda one: ids_of(*one), ids)
        columns: dict[str, Any] = {"user": user, "item": item}
        columns |= {one: self.read_numbers(one) for one in (*wanted[2:], *further)}
        if table == "labels" and "true" not in columns:  # every row counts as 1
            columns["true"] = np.ones(len(user))
        ranked = "rank" in columns
        if ranked:
            self._check_ranks(columns["rank"])
            columns["estimated"] = -columns.pop("rank")
        rows = Rows(columns, table, order_only=ranked, score="rank" if ranked else "estimated")
        self.warn_of_recognised_names()
        return rows

    def choose_columns(self, table: str) -> tuple[str, ...]:
        """Return which columns are read of predictions, labels or results: users and items first.

        Warns
        -----
        DataWarning
            Labels have no grades, but another column that may hold them.
        """
        if table == "predictions":
            return "user", "item", "estimated", "true"
        if table == "results":
            return "user", "item", self._score_column()
        if self.has_candidate("true"):
            return "user", "item", "true"
        self.use_columns("user", "item")
        self._warn_ungraded()
        return "user", "item"

    def _score_column(self) -> str:
        """Return which column of results tells their order: rank, or estimated."""
        if "rank" in self:
            return "rank"
        if not self.has_candidate("estimated"):
            msg = (
                f"The results have neither a column 'rank' nor 'estimated'; they have "
                f"{column_list(self.names)}. Say what it is called: "
                f"{self.naming('estimated')}, or rank in its place."
            )
            raise InvalidInputError(msg)
        return "estimated"

    def _warn_ungraded(self) -> None:
        """Warn of labels without a grade if a column that is not read may hold it, by its name."""
        possible = [one for one in self.unread if may_be_grade(one)]
        if possible:
            ids = [one for one in self.names if one not in self.unread]
            msg = (
                f"The labels have no column 'true', so that every row counts as 1. Unused: "
                f"{column_list(possible)}. If one of them is the grade, say "
                f"{self.naming('true')}; if none is, give users and items alone: labels[{ids}]."
            )
            warn(msg)

    def _check_ranks(self, ranks: Floats) -> None:
        """Refuse what is no rank; those of ties may be halves, their mean."""
        bad = (ranks < 0) | (ranks * 2 % 1 > 0)
        if bad.any():
            raise_for_rows(bad, "rank", f"{ranks[bad][0]:g}, which is no rank,", self.RANK_ADVICE)
        self.check_first_rank(np.fmin.reduce(ranks, initial=np.inf))

    @staticmethod
    def check_first_rank(lowest: float) -> None:
        """Warn if no list has a first rank, given the least of all.

        Warns
        -----
        DataWarning
            None has.
        """
        if 2 < lowest < np.inf:  # those of three that share the first are 2, their mean
            warn(f"rank: no list has a first rank, the least of all is {lowest:g}; {_SCORES}.")

    def find_user_column(self, what: str) -> Any:
        """Return what the table calls its users: as somebody said, if it has a column so called.

        What is said may be of other tables: the predictions, or the training data.

        Raises
        ------
        InvalidInputError
            Nothing tells which column it is; messages call the table `what`.
        """
        if self._said.get("user") in self.names:
            return self._said["user"]
        others = {ours: name for ours, name in self._said.items() if ours != "user"}
        found = roles_of(self.names, others).get("user") or roles_of(self.names).get("user", [])
        if len(found) == 1:
            return found[0]
        missing = f"{what} has no column {self._said.get('user', 'user')!r}"
        if len(found) > 1:
            missing = f"{' and '.join(map(repr, found))} of {what} could each be the users"
        msg = (
            f"{missing}; its columns are {column_list(self.names)}. Say which one has the users: "
            "columns={'user': ...}; if they are the index of the table, name that: "
            "table.rename_axis('user')."
        )
        raise InvalidInputError(msg)

    def read_ids(self, column: str) -> Ids:
        """Return a column of ids; categories become their values."""
        return to_column(self._column(column), self._name(column))

    def read_numbers(self, column: str) -> Floats:
        """Return a column of numbers, NaN where there is none."""
        return to_floats(self._column(column), self._name(column))

    def name_of(self, column: str) -> Any:
        """Return what the table calls our column, which counts as read by it."""
        name = self._name(column)
        if self._read.setdefault(name, column) != column:
            raise InvalidInputError(_both(self._read[name], column, name))
        return name

    def collect(self, *columns: str) -> None:
        """Work out these of our columns, as far as a lazy table has them, and no others."""
        if self._lazy is not None:
            names = [self._roles[one][0] for one in columns if one in self]
            self._data, self._lazy = self._lazy.select(dict.fromkeys(names)).collect(), None

    def _column(self, column: str) -> Any:
        name = self.name_of(column)
        if self._lazy is not None:
            self._data, self._lazy = self._lazy.collect(), None
        values = self._data[name]
        return values.to_native() if hasattr(values, "to_native") else values

    def _name(self, column: str) -> Any:
        """Return what the table calls our column."""
        found = self._roles.get(column, [])
        if column in self:
            return found[0]
        if not found and column in self.names:  # given to another of ours
            other = next(ours for ours, theirs in self._said.items() if theirs == column)
            one, another = sorted((other, column), key=[*self.COLUMN_NAMES].index)
            raise InvalidInputError(_both(one, another, column))
        wanted, why = self._said.get(column, column), f"it has {column_list(self.names)}"
        if len(found) > 1:
            why = f"{' and '.join(map(repr, found))} could each be it"
        msg = (
            f"The table has no column {wanted!r}; {why}. Say what it is called: "
            f"{self.naming(column)}"
        )
        if any(isinstance(name, str) and _NUMBER.fullmatch(name) for name in self.names):
            msg += (
                ". If the file has no heading: --no-heading (text=TextFormat(heading=False) of "
                "RankedLists.from_file)."
            )
        else:
            msg += f", or {JOIN}." if column == "true" and not found else "."
        if self._nameless and column in ("user", "item") and not found:
            msg += f" If it is the index, name that: table.rename_axis({column!r})."
        raise InvalidInputError(msg)

    def use_columns(self, *columns: str) -> dict[str, Any]:
        """Return what the table calls some of our columns, and take them for read.

        Raises
        ------
        InvalidInputError
            There is no such column, or it is not plain which it is.
        """
        for one in columns:
            self.name_of(one)
        return {ours: theirs for theirs, ours in self._read.items()}

    def has_candidate(self, column: str) -> bool:
        """Tell whether some name of the table, or what somebody says, stands for our column."""
        return bool(self._roles.get(column))

    @property
    def unread(self) -> list[Any]:
        """The names of the columns that nobody has read so far."""
        return [one for one in self.names if one not in self._read]

    def naming(self, column: str) -> str:
        """Return the words that name our column: the only candidate of the table, if it has one."""
        used = [one for names in self._roles.values() for one in names]
        known = [one for one in self._roles.get(column, []) if one in self.names]
        free = known or [
            one for one in self.names if one not in used and not self.is_time_or_row_number(one)
        ]
        if column == "true" and len(free) > 1:
            free = [one for one in free if may_be_grade(one)]
        guess = free[0] if len(free) == 1 else "..."
        typed = f"{column}={guess}" if guess == "..." else shlex.quote(f"{column}={guess}")
        return f"columns={{{column!r}: {guess!r}}} (--columns {typed})"

    def warn_of_recognised_names(self) -> None:
        """Warn of columns that were read under names that nobody gave.

        Warns
        -----
        DataWarning
            With what says it.
        """
        read = {ours: theirs for theirs, ours in self._read.items() if ours not in self._said}
        known = {ours: read[ours] for ours in self.COLUMN_NAMES if read.get(ours, ours) != ours}
        if known:
            told = ", ".join(f"{theirs} as {ours}" for ours, theirs in known.items())
            option = shlex.quote(",".join(f"{ours}={theirs}" for ours, theirs in known.items()))
            warn(f"Using {told}. To silence this, pass columns={known!r} (--columns {option}).")


def _with_index(data: Any, columns: Mapping[str, str]) -> Any:
    """Return a table of pandas with those of our columns that stand in its index alone."""
    levels = [name for name in getattr(getattr(data, "index", None), "names", []) if name]
    if not levels or not hasattr(data, "columns"):
        return data
    beside, inside = roles_of(data.columns, columns), roles_of(levels, columns)
    names = [name for role, found in inside.items() if role not in beside for name in found]
    said = [name for name in columns.values() if name not in data.columns]
    wanted = [name for name in levels if name in names or name in said]
    return data.reset_index(wanted) if wanted else data


def _opened(data: Any) -> tuple[Any, Any, list[Any]]:
    """Return a table, or one that is still to be worked out, and the names of its columns."""
    if isinstance(data, Mapping):
        return data, None, list(data)
    if type(data) is pd.DataFrame and data.columns.is_unique and data.columns.nlevels == 1:
        return data, None, list(data.columns)
    import narwhals as nw  # noqa: PLC0415 - costs as much as the whole package

    try:
        frame: Any = nw.from_native(data)
    except nw.exceptions.DuplicateError:
        names = list(data.column_names if hasattr(data, "to_pylist") else data.columns)
        twice = next(name for name in names if names.count(name) > 1)
        msg = f"The table has the column {twice!r} twice; keep one."
        raise InvalidInputError(msg) from None
    except TypeError:
        kind = type(data).__name__
        msg = (
            f"Cannot read a {kind}. Give predictions as a table (pandas, polars, pyarrow), "
            "rows (user, item, estimated, true), Surprise predictions, "
            "{user: [(estimated, true)]}, a dict of columns, or the path of a file (CSV, JSON "
            "lines, Parquet, Feather)."
        )
        if hasattr(data, "to_dict"):
            msg += " If it has a list per user, give its .to_dict()."
        raise InvalidInputError(msg) from None
    if isinstance(frame, nw.LazyFrame):
        return None, frame, frame.collect_schema().names()
    return frame, None, list(frame.columns)


def _both(one: str, other: str, theirs: Any) -> str:
    return (
        f"columns (--columns): {one} and {other} would both be read from the column {theirs!r}; "
        "name a column of its own for each."
    )
