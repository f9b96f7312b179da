"""Tables of pandas, polars and pyarrow, dicts of columns, and the recognised column names."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from operator import length_hint
from typing import Any, ClassVar, NoReturn

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats, Ids
from recsys_ndcg.errors import InvalidInputError, quote, suggest, warn
from recsys_ndcg.input.cells import find_cell_kind, find_rank_columns, find_type_kind
from recsys_ndcg.input.ids import convert_polars_text, raise_for_rows
from recsys_ndcg.input.python_objects import JOIN_ADVICE
from recsys_ndcg.input.rows import IDS, NEEDED, Rows, to_column, to_floats, to_ids, to_times
from recsys_ndcg.parallel import map_in_threads

#: Normalised names of times and row numbers, which are neither grades nor scores.
_TIMES = (
    "timestamp time datetime date ts unixtime unixtimestamp unixreviewtime reviewtime eventtime "
    "createdat updatedat playedat"
)
_TIMES_AND_ROW_NUMBERS = f"{_TIMES} day unnamed index"
#: The ends of names of columns that are no grades.
_NOT_GRADES = ("id", "idx", "index", "date", "time", "at")
_TELLING = 6  # rows: of fewer, all grades may be different, or equal
_FEW, _REPEATED = 10, 20  # so many different grades are few; of many rows, one in so many
_LARGEST_GRADE = 1e8  # larger numbers are times, or ids
_SAMPLE = 1000  # rows of a column that is not used
_NUMBER = re.compile(r"[-+]?[0-9]+([.,][0-9]*)?([eE][-+]?[0-9]+)?")


#: Our columns in a kind of table, and the recognised names of each, normalised. A further column
#: is one line: its numbers are read if a table has it, then taken, grouped and joined like others.
_NAMES = {
    "user": "user uid userid useridx username customer customerid visitorid reviewerid "
    "accountid memberid query queryid qid topic topicid",
    "item": "item iid itemid itemidx movie movieid product productid book bookid isbn asin "
    "article articleid track trackid song songid artist artistid anime animeid "
    "business businessid game gameid news newsid video videoid sku doc docid docno document "
    "documentid corpusid",
    "estimated": "estimated est estimate prediction pred predicted predictedrating "
    "predictedscore ypred yhat score",
    "true": "true rui rating bookrating label grade relevance rel truerating "
    "truelabel groundtruth ytrue actual actualrating",
    "weight": "weight labelweight",
    "rank": "rank",
}
#: Our columns of interactions, in the order of files without a heading, and their names.
INTERACTION_NAMES = {
    "user": _NAMES["user"],
    "item": _NAMES["item"],
    "rating": f"{_NAMES['true']} {_NAMES['weight']}",
    "timestamp": _TIMES,
}


def match_columns(
    names: Iterable[Any],
    columns: Mapping[str, Any] | None = None,
    known: Mapping[str, str] = _NAMES,
) -> dict[str, list[Any]]:
    """Return the columns of a table that may be each of ours.

    Parameters
    ----------
    names : iterable
        The table's column names.
    columns : mapping, optional
        Our names to the table's, as given by the user.
    known : mapping
        Our names, and the recognised ones of each.

    Returns
    -------
    dict of list
        One name if it is given, our own, or the only recognised one; else all recognised ones.

    Examples
    --------
    >>> match_columns(["userId", "movieId", "rating", "prediction"])
    {'user': ['userId'], 'item': ['movieId'], 'true': ['rating'], 'estimated': ['prediction']}
    >>> match_columns(["user", "uid", "score"], {"true": "score"})
    {'true': ['score'], 'user': ['user']}
    """
    names = list(names)
    given = choose_candidates(columns, names)
    matches: dict[str, list[Any]] = {ours: [theirs] for ours, theirs in given.items()}
    for name in names:
        word = _normalise(name) if isinstance(name, str) else ""
        ours = next((ours for ours, words in known.items() if word in words.split()), "")
        if not ours or ours in given or name in given.values():
            continue
        if name == ours:
            matches[ours] = [name]
        elif ours not in matches.get(ours, []):
            matches.setdefault(ours, []).append(name)
    if "weight" not in given and "true" not in given and matches.get("true") != ["true"]:
        # of implicit data it may be the grade: how often, or how long
        grades = matches.get("true", []) + matches.pop("weight", [])
        matches |= {"true": grades} if grades else {}
    return matches


def get_names(kind: str) -> Mapping[str, str]:
    """Return our columns in a kind of table, and the recognised names of each."""
    return INTERACTION_NAMES if kind in NEEDED else _NAMES


def choose_candidates(columns: Mapping[str, Any] | None, names: Sequence[Any]) -> dict[str, Any]:
    """Return a mapping with one name per column: the first of a list that the table has.

    Examples
    --------
    >>> choose_candidates({"user": ["visitor", "uid"], "item": "sku"}, ["uid", "sku"])
    {'user': 'uid', 'item': 'sku'}
    """
    return {
        ours: next((one for one in theirs if one in names), theirs[0])
        if isinstance(theirs, list)
        else theirs
        for ours, theirs in (columns or {}).items()
    }


def list_candidates(columns: Mapping[str, Any] | None) -> list[Any]:
    """Return all names of a mapping.

    Examples
    --------
    >>> list_candidates({"user": ["visitor", "uid"], "item": "sku"})
    ['visitor', 'uid', 'sku']
    """
    given = (columns or {}).values()
    return [one for theirs in given for one in (theirs if isinstance(theirs, list) else [theirs])]


def is_frame(data: Any) -> bool:
    """Return whether data are a table of any library; a lazy one does not compute its columns."""
    return any(hasattr(type(data), name) for name in ("columns", "schema"))


def format_columns(names: Iterable[Any]) -> str:
    """Return the names of columns for a message.

    Examples
    --------
    >>> format_columns(["user", ""])
    "user, ''"
    """
    return ", ".join(str(name) if str(name).strip() else repr(name) for name in names) or "none"


def is_possible_grade(name: Any, values: Any) -> bool:
    """Return whether a further column of labels may hold the grade, judging by its values.

    They are numbers, of which few are different, and some are equal. Times, row numbers and ids
    are none.

    Examples
    --------
    >>> is_possible_grade("overall", [5.0, 4.0, 5.0]), is_possible_grade("overall", ["5", "4"])
    (True, True)
    >>> is_possible_grade("timestamp", [5, 4]), is_possible_grade("country", ["fr", "de"])
    (False, False)
    >>> is_possible_grade("price", range(1000)), is_possible_grade("genre_id", [1, 2, 1])
    (False, False)
    """
    if Table.is_time_or_row_number(name) or _normalise(str(name)).endswith(_NOT_GRADES):
        return False
    try:
        numbers = pd.to_numeric(pd.Series(values)).dropna()
    except (TypeError, ValueError):
        return False
    if numbers.dtype.kind not in "iufb":
        return False
    is_small = not len(numbers) or numbers.abs().max() < _LARGEST_GRADE
    n_grades = numbers.nunique()
    is_repeated = 1 < n_grades < len(numbers) or len(numbers) < _TELLING
    are_few = 0 < n_grades <= max(_FEW, len(numbers) // _REPEATED)
    return bool(is_small and is_repeated and are_few)


def _normalise(name: str) -> str:
    """Return a name in lower case, without separators and without the type that RecBole adds."""
    return re.sub(r"[\W_]", "", name.partition(":")[0]).lower()


#: The columns with readers of their own; further ones are read as numbers, and belong to labels.
_CORE_COLUMNS = ("user", "item", "estimated", "true", "rank")

_SCORES_ADVICE = (
    "if these are scores (higher is better), pass them as 'estimated' instead of 'rank', such as "
    "`columns={'estimated': 'rank'}`"
)


class Table:
    """A table of any library with our column names.

    Common column names are recognised, and reported when all is read
    (`warn_of_names`).

    Parameters
    ----------
    data : pandas, polars or pyarrow table, or mapping of columns
        One row per (user, item).
    columns : mapping, optional
        Our names to the table's, if they differ: ``{"estimated": "est"}``.
    kind : str
        What it is: ``"predictions"``, ``"labels"``, ``"results"``, or a kind of `NEEDED`.
    is_text : bool
        Whether it is from text: columns of interactions may be known by their places.
    form : {'', 'one per user', 'expanded'}
        Whether each row is of another user and has no number, or the rows come from lists.
    """

    COLUMN_NAMES: ClassVar = _NAMES
    #: How to fix values that are not ranks.
    RANK_ADVICE: ClassVar = f"ranks are 1 for the best item, 2, 3, …; {_SCORES_ADVICE}"

    def __init__(
        self,
        data: Any,
        columns: Mapping[str, Any] | None = None,
        kind: str = "predictions",
        *,
        is_text: bool = False,
        form: str = "",
    ) -> None:
        self.kind, self._form = kind, form
        self._known = get_names(kind)
        given = self.check_columns(columns, kind)
        self._used: dict[str, Any] = {}
        index = getattr(data, "index", None)  # the default index of pandas has a step
        self._has_bare_index = getattr(index, "names", 0) == [None] and not hasattr(index, "step")
        self._data, self._lazy, self.names = _open_table(_include_index(data, given, self._known))
        self.given = choose_candidates(given, self.names)
        self._candidates = {ours: list_candidates({ours: given[ours]}) for ours in given}
        self.matches = match_columns(self.names, self.given, self._known)
        self._is_text = is_text
        self._placed: list[str] = []
        if is_text and kind in NEEDED and len(self.names) <= len(self._known):
            self._match_places()

    def _match_places(self) -> None:
        """Take columns by their places if no names of users and items are recognised."""
        has_ranks = "user" in self.matches and find_rank_columns(self.names)[:1] not in ([], ["1"])
        needed = NEEDED[self.kind]
        if has_ranks or {one for one in needed if one in IDS} <= self.matches.keys():
            return
        order = needed if len(self.names) == len(needed) else self._known
        taken = [name for names in self.matches.values() for name in names]
        for ours, name in zip(order, self.names, strict=False):
            if name not in taken and ours not in self.matches:
                self.matches[ours] = [name]
                self._placed += [ours] if not str(name).isdigit() else []

    def _get_sample(self, name: Any) -> Any:
        """Return the first values of a column, or all."""
        if self._lazy is not None:
            return self._lazy.select(name).head(_SAMPLE).collect()[name].to_list()
        with suppress(InvalidInputError, TypeError):  # nested values, or nothing to cut
            return to_column(self.get_native(name)[:_SAMPLE], str(name))
        return ()

    def find_cell_kind(self, name: Any) -> str:
        """Return whether the cells of a column are a "list" of values or "text"; "" for others."""
        if self._lazy is not None:
            return find_type_kind(self._lazy.collect_schema()[name])
        if hasattr(self._data, "find_cell_kind"):  # a file whose columns are read on access
            return str(self._data.find_cell_kind(name))
        return find_cell_kind(self.get_native(name))

    def get_native(self, name: Any) -> Any:
        """Return a column by the table's own name, of the table's library."""
        if self._lazy is not None:
            self._data, self._lazy = self._lazy.collect(), None
        values = self._data[name]
        return values.to_native() if hasattr(values, "to_native") else values

    @staticmethod
    def select_columns(table: str, columns: Mapping[str, str] | None) -> Mapping[str, str] | None:
        """Return the column names that apply to labels, or to results.

        The same name may be another column of the other table.
        """
        others = {"labels": ("estimated", "rank"), "results": ("true", "weight")}.get(table, ())
        if not isinstance(columns, Mapping):
            return columns
        return {ours: theirs for ours, theirs in columns.items() if ours not in others}

    @staticmethod
    def check_columns(
        columns: Mapping[str, Any] | None, kind: str = "predictions"
    ) -> dict[str, Any]:
        """Validate a mapping of our column names to a table's, and return it as a dict.

        A list has several names: of each table the first that it has.

        Raises
        ------
        InvalidInputError
            A name of ours does not exist, or two have the same column.
        """
        if not (columns is None or isinstance(columns, Mapping)):
            form = "{'rating': 'stars'}" if kind in NEEDED else "{'true': 'r_ui'}"
            msg = f"columns must map our names to the table's, {form}, not {quote(columns)}."
            raise InvalidInputError(msg)
        given = dict(columns or {})
        for ours, theirs in given.items():
            names = list_candidates({ours: theirs})
            if not names or not all(isinstance(one, Hashable) for one in names):
                msg = f"columns: {ours} is the name of a column, or a list of names, not "
                msg += f"{quote(theirs)}."
                raise InvalidInputError(msg)
            if ours not in get_names(kind):
                hint = suggest(ours, get_names(kind))
                msg = f"columns: {ours!r} is not one of our column names. {hint}"
                raise InvalidInputError(msg)
        for (first, theirs), (second, other) in combinations(given.items(), 2):
            if theirs == other:
                _raise_conflict(first, second, theirs)
        return given

    @staticmethod
    def is_time_or_row_number(name: Any) -> bool:
        """Return whether a column holds times or row numbers, judging by its name.

        Examples
        --------
        >>> names = ("timestamp:float", "Unnamed: 0", "playtime")
        >>> [Table.is_time_or_row_number(name) for name in names]
        [True, True, False]
        """
        return isinstance(name, str) and _normalise(name) in ("", *_TIMES_AND_ROW_NUMBERS.split())

    def __contains__(self, column: str) -> bool:
        """Return whether the table has exactly one column for ours."""
        matches = self.matches.get(column, [])
        return len(matches) == 1 and matches[0] in self.names

    def read_rows(self) -> Rows:
        """Read the columns of predictions, labels, results or interactions.

        Raises
        ------
        InvalidInputError
            A value is not a rank: as ranks, scores would turn every list upside down.

        Warns
        -----
        DataWarning
            No list has a first rank, or an unused column may be the grade.
        """
        wanted = self.choose_columns()
        if self._lazy is not None and self.kind != "ratings":  # whose others may be read, too
            names = [self.matches[ours][0] for ours in wanted if ours in self]
            self._data, self._lazy = self._lazy.select(dict.fromkeys(names)).collect(), None
        ids = [self._get_column(name) for name in wanted if name in IDS]
        ids = [(convert_polars_text(values), name) for values, name in ids]
        encoded = map_in_threads(lambda column: to_ids(*column), ids, length_hint(ids[0][0]))
        columns: dict[str, Any] = dict(zip(wanted, encoded, strict=False))
        for name in wanted[len(ids) :]:
            read = to_times if name == "timestamp" else to_floats
            columns[name] = read(*self._get_column(name))
        if self.kind == "labels" and "true" not in columns:  # every row counts as 1
            columns["true"] = np.ones(len(encoded[0]))
        has_ranks = "rank" in columns
        if has_ranks:
            self._check_ranks(columns["rank"])
            columns["estimated"] = -columns.pop("rank")
        score = "rank" if has_ranks else "estimated"
        # one row per user has no numbers; the ranks of its results were made by `expand_lists`
        has_numbers = {"true", "rating"} & {*wanted} or self.kind in ("predictions", "users")
        if self.kind == "results":
            has_numbers = self._form != "one per user"
        may_hold_lists = not (has_numbers or self._form == "expanded") and (
            find_cell_kind(columns["item"]) == "text"
        )
        renamed = {ours: theirs for ours, theirs in self._used.items() if ours != theirs}
        others = self._read_others()
        rows = Rows(columns, self.kind, has_ranks, score, may_hold_lists, renamed, others)
        self.warn_of_names(self._used)
        return rows

    def choose_columns(self) -> tuple[str, ...]:
        """Return our columns to read: users and items first.

        Warns
        -----
        DataWarning
            Labels have no grades, but another column may be the grade.
        """
        if self.kind in NEEDED:
            needed = self._check_columns(*NEEDED[self.kind])
            return tuple(one for one in self._known if one in needed or self.has_candidate(one))
        further = [name for name in self._known if name not in _CORE_COLUMNS and name in self]
        if self.kind == "predictions":
            return (*self._check_columns("user", "item", "estimated", "true"), *further)
        ids = self._check_columns("user", "item")
        if self.kind == "results":
            others = [one for one in further if one != "weight"]
            return (*ids, "rank" if "rank" in self else "estimated", *others)
        if self.has_candidate("true"):
            return (*ids, "true", *further)
        self.use_columns(*ids, *further)
        self._warn_of_unused_grade()
        return (*ids, *further)

    def _check_columns(self, *columns: str) -> tuple[str, ...]:
        """Return the columns; raise if several are missing. `find_name` explains a single one."""
        missing = [one for one in columns if not self.has_candidate(one) and one not in self.names]
        if len(missing) > 1:
            *others, last = [repr(self.given.get(one, one)) for one in missing]
            msg = (
                f"The table has no columns {', '.join(others)} and {last}; it has "
                f"{format_columns(self.names)}. Use {self.suggest_mapping(*missing)}"
                f"{self._advise_on_heading()}."
            )
            raise InvalidInputError(msg)
        return columns

    def _advise_on_heading(self) -> str:
        """Return how to read a file without a heading, if a column's name is a number."""
        if not any(isinstance(name, str) and _NUMBER.fullmatch(name) for name in self.names):
            return ""
        return ". If the file has no heading, give `(path, rn.TextFormat(heading=False))`"

    def _warn_of_unused_grade(self) -> None:
        """Warn if labels have no grade, and an unused column may be the grade."""
        ids = [name for name in self.names if name in self._used.values()]
        others = [name for name in self.names if name not in self._used.values()]
        grades = [name for name in others if is_possible_grade(name, self._get_sample(name))]
        if grades:
            warn(
                "The labels have no column 'true', so every row counts as 1. Unused: "
                f"{format_columns(grades)}. If one of them is the grade, pass "
                f"{self.suggest_mapping('true')}; if none is, pass only users and items: "
                f"labels[{ids}]."
            )

    def _check_ranks(self, ranks: Floats) -> None:
        """Raise if a value is not a rank; tied items may have their mean rank, such as 1.5."""
        bad = (ranks < 0) | (ranks * 2 % 1 > 0)
        if bad.any():
            fault = f"{ranks[bad][0]:g}, which is not a rank,"
            raise_for_rows(bad, "rank", fault, self.RANK_ADVICE)
        self.check_first_rank(np.fmin.reduce(ranks, initial=np.inf))

    @staticmethod
    def check_first_rank(lowest: float) -> None:
        """Warn if no list has a first rank, given the lowest rank of all.

        Warns
        -----
        DataWarning
            The lowest rank is above 2, the mean rank of three items tied for the first place.
        """
        if 2 < lowest < np.inf:
            warn(f"rank: no list has a first rank, the lowest is {lowest:g}; {_SCORES_ADVICE}.")

    def find_user_column(self, what: str) -> Any:
        """Return the table's name for the users.

        A given name that the table does not have may belong to another table, such as the
        predictions.

        Parameters
        ----------
        what : str
            The table's name in messages.

        Raises
        ------
        InvalidInputError
            No column, or more than one, may hold the users.
        """
        if self.given.get("user") in self.names:
            return self.given["user"]
        others = {ours: theirs for ours, theirs in self.given.items() if ours != "user"}
        matches = match_columns(self.names, others).get("user", [])
        matches = matches or match_columns(self.names).get("user", [])
        if len(matches) == 1:
            return matches[0]
        fault = f"{what} has no column {self.given.get('user', 'user')!r}"
        if len(matches) > 1:
            fault = f"{' and '.join(map(repr, matches))} of {what} could each be the users"
        msg = (
            f"{fault}; its columns are {format_columns(self.names)}. Name the one with the users: "
            "`columns={'user': ...}`; if they are the index of the table, name the index: "
            "table.rename_axis('user')."
        )
        raise InvalidInputError(msg)

    def read_ids(self, column: str) -> Ids:
        """Return a column of ids; categories become their values."""
        return to_column(*self._get_column(column))

    def _read_others(self) -> dict[Any, pd.Series[Any]]:
        """Return the columns of ratings that are not used; none of text."""
        is_read = self.kind == "ratings" and not self._is_text
        taken = {*self._used.values(), *self._known}
        others = [name for name in self.names if is_read and name not in taken]
        columns = {name: self._data[name] for name in others}
        return {
            name: pd.Series(one.to_numpy() if hasattr(one, "to_native") else one).reset_index(
                drop=True
            )
            for name, one in columns.items()
        }

    def _get_column(self, column: str) -> tuple[Any, Any]:
        """Return the values of our column, and its name in the table."""
        name = self._use_column(column)
        return self.get_native(name), name

    def find_name(self, column: str) -> Any:
        """Return the table's name for our column."""
        matches = self.matches.get(column, [])
        if column in self:
            return matches[0]
        if not matches and column in self.names:  # given for another of ours
            other = next(ours for ours, theirs in self.given.items() if theirs == column)
            first, second = sorted((other, column), key=[*self._known].index)
            _raise_conflict(first, second, column)
        wanted, why = repr(self.given.get(column, column)), f"it has {format_columns(self.names)}"
        is_score = self.kind == "results" and column == "estimated" and not matches
        if len(matches) > 1:
            why = f"{' and '.join(map(repr, matches))} could each be it"
        advice = f"Use {self.suggest_mapping(column)}"
        if column in self.names:
            names = [*self._candidates[column], column]
            advice = f"Use `columns={{{column!r}: {names}}}`"
        heading = self._advise_on_heading()
        if is_score:
            wanted, advice = "'rank' or 'estimated'", f"{advice}, or rank instead"
        join = f", or {JOIN_ADVICE}" if column == "true" and not matches and not heading else ""
        msg = f"The table has no column {wanted}; {why}. {advice}{heading}{join}."
        if self._has_bare_index and column in ("user", "item") and not matches:
            msg += f" If it is the index, name the index: table.rename_axis({column!r})."
        raise InvalidInputError(msg)

    def _use_column(self, column: str) -> Any:
        """Return the table's name for our column, and mark it as used."""
        name = self.find_name(column)
        for other, theirs in self._used.items():
            if theirs == name and other != column:
                _raise_conflict(other, column, name)
        self._used[column] = name
        return name

    def use_columns(self, *columns: str) -> dict[str, Any]:
        """Mark columns of ours as used, and return the table's names for all used ones.

        Raises
        ------
        InvalidInputError
            A column is missing, or several may be meant.
        """
        for ours in columns:
            self._use_column(ours)
        return dict(self._used)

    def has_candidate(self, column: str) -> bool:
        """Return whether a column is given for ours, or a name of the table may be meant."""
        return bool(self.matches.get(column))

    def suggest_mapping(self, *columns: str) -> str:
        """Return the argument that names our columns: the candidate, if there is just one.

        A name that was given may be that of the other table: it stays, before this table's.
        """
        guesses = [*map(self._guess_name, columns)]
        chosen = [one if guesses.count(one) == 1 else "..." for one in guesses]
        named: dict[str, Any] = dict(zip(columns, chosen, strict=True))
        given = self._candidates if self.kind in ("labels", "results") else {}
        named |= {ours: [*given[ours], named[ours]] for ours in columns if ours in given}
        return f"`columns={named}`"

    def _guess_name(self, column: str) -> Any:
        matched = [name for names in self.matches.values() for name in names]
        others = [name for name in self.names if name not in matched]
        free = [name for name in self.matches.get(column, []) if name in self.names]
        free = free or [name for name in others if not self.is_time_or_row_number(name)]
        if column in ("true", "rating") and len(free) > 1:
            free = [name for name in free if is_possible_grade(name, self._get_sample(name))]
        return free[0] if len(free) == 1 else "..."

    def warn_of_names(self, used: Mapping[str, Any], *, by_place: bool = False) -> None:
        """Warn about our columns that have other names in the table, and were not given.

        Warns
        -----
        DataWarning
            The message has the argument that makes the mapping explicit.
        """
        names = {a: b for a, b in used.items() if a != b and a not in self.given}
        fix = f"pass `columns={names!r}`"
        if self.kind in NEEDED:  # recognised names are in reports, or do not matter
            placed = names if by_place else self._placed
            names = {one: names[one] for one in placed if one in names}
            fix = "rename the columns"
        if names:
            pairs = ", ".join(f"{theirs} as {ours}" for ours, theirs in names.items())
            warn(f"Using {pairs}. To silence this, {fix}.")


def _include_index(data: Any, columns: Mapping[str, str], known: Mapping[str, str]) -> Any:
    """Return a table of pandas with those index levels as columns that only the index has."""
    levels = [name for name in getattr(getattr(data, "index", None), "names", []) if name]
    if not levels or not hasattr(data, "columns"):
        return data
    in_columns, in_index = (match_columns(one, columns, known) for one in (data.columns, levels))
    wanted = {name for ours, names in in_index.items() if ours not in in_columns for name in names}
    wanted |= {name for name in list_candidates(columns) if name not in data.columns}
    names = [name for name in levels if name in wanted]
    return data.reset_index(names) if names else data


def _open_table(data: Any) -> tuple[Any, Any, list[Any]]:
    """Return a table in memory, or a lazy one, and the names of its columns."""
    if isinstance(data, Mapping):
        return data, None, list(data)
    if type(data) is pd.DataFrame and data.columns.is_unique and data.columns.nlevels == 1:
        return data, None, list(data.columns)
    import narwhals as nw  # noqa: PLC0415 - costs as much as the whole package

    try:
        frame: Any = nw.from_native(data)
    except nw.exceptions.DuplicateError:
        names = list(data.column_names if hasattr(data, "to_pylist") else data.columns)
        repeated = next(name for name in names if names.count(name) > 1)
        msg = f"The table has the column {repeated!r} twice; keep one."
        raise InvalidInputError(msg) from None
    except TypeError:
        if hasattr(data, "__arrow_c_stream__"):  # batches of Arrow, and of other libraries
            return _open_table(nw.from_arrow(data, backend="pyarrow").to_native())
        msg = (
            f"Cannot read data of type {type(data).__name__}. Give a table (pandas, polars, "
            "pyarrow), rows such as (user, item, estimated, true), Surprise predictions, "
            "{user: [(estimated, true)]}, a dict of columns, or the path of a file (CSV, JSON "
            "lines, Parquet)."
        )
        if hasattr(data, "to_dict"):
            msg += " If it has a list per user, give its .to_dict()."
        raise InvalidInputError(msg) from None
    if isinstance(frame, nw.LazyFrame):
        return None, frame, frame.collect_schema().names()
    return frame, None, list(frame.columns)


def _raise_conflict(first: str, second: str, theirs: Any) -> NoReturn:
    msg = (
        f"columns: {first} and {second} would both be read from the column {theirs!r}; "
        "name a different column for each."
    )
    raise InvalidInputError(msg)
