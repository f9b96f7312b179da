"""The ratings of an experiment: what the splits part, and a digest by which they are known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from recsys_ndcg.catalogue import Training
from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.experiments.fingerprints import fingerprint, readable
from recsys_ndcg.files import arrow_column, is_place, reading
from recsys_ndcg.folds import ratings_of, seconds_of
from recsys_ndcg.input import Rows, Table, read_ratings

_TIME = "timestamp"


class PlainTrainset:
    """Ratings to train on, with as much of ``surprise.Trainset`` as folds need.

    Users and items have places, their inner ids, in the order in which they first come.
    """

    def __init__(self, rows: Sequence[Any], rating_scale: tuple[float, float]) -> None:
        users: dict[Any, int] = {}
        items: dict[Any, int] = {}
        self.ur: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for user, item, rating, _ in rows:
            inner = users.setdefault(user, len(users))
            self.ur[inner].append((items.setdefault(item, len(items)), rating))
        self._users, self._items = [*users], [*items]
        self.n_users, self.n_items, self.n_ratings = len(users), len(items), len(rows)
        self.rating_scale = rating_scale

    def to_raw_uid(self, inner: int) -> Any:
        """Return the id of a user."""
        return self._users[inner]

    def to_raw_iid(self, inner: int) -> Any:
        """Return the id of an item."""
        return self._items[inner]

    def all_ratings(self) -> Iterator[tuple[int, int, float]]:
        """Give inner user, inner item and rating, user by user."""
        for user, ratings in self.ur.items():
            for item, rating in ratings:
                yield user, item, rating


class PlainDataset:
    """Ratings for splits, where no algorithm of Surprise is trained.

    Parameters
    ----------
    raw_ratings : list of (user, item, rating, time)
        The time is None where there is none.
    rating_scale : pair of float
        The lowest and the highest rating there may be.
    """

    def __init__(self, raw_ratings: list[Any], rating_scale: tuple[float, float]) -> None:
        self.raw_ratings, self.rating_scale = raw_ratings, rating_scale

    def construct_trainset(self, rows: Sequence[Any]) -> PlainTrainset:
        """Return rows to train on."""
        return PlainTrainset(rows, self.rating_scale)

    def construct_testset(self, rows: Sequence[Any]) -> list[tuple[Any, Any, float]]:
        """Return rows to test on, without their times."""
        return [(user, item, rating) for user, item, rating, _ in rows]


def dataset_of(
    data: Any,
    columns: Mapping[str, str] | None = None,
    rating_scale: tuple[float, float] | None = None,
    *,
    plain: bool = True,
) -> Any:
    """Return ratings as a dataset of Surprise, or in its shape.

    Parameters
    ----------
    data : surprise.Dataset, table, or path
        A table has a row per rating; a file is CSV, or separated by ``::``.
    columns : mapping, optional
        What a table calls ``user``, ``item``, ``rating`` and ``timestamp``.
    rating_scale : pair of float, optional
        Of a table or file; by default from its lowest to its highest rating.
    plain : bool
        Whether Surprise's own dataset can be done without, as no algorithm is trained.

    Raises
    ------
    InvalidInputError
        They are nothing of this, or no ratings.
    """
    if hasattr(data, "raw_ratings") or hasattr(data, "folds_files"):
        if columns or rating_scale:
            msg = "A dataset of Surprise has its columns and its rating scale already: leave them."
            raise InvalidInputError(msg)
        _all_of(data)
        return data
    table = read_ratings(data) if is_place(data) else data
    if not isinstance(columns, Mapping | None):
        msg = f"columns says what a table calls ours, {{'rating': 'stars'}}, not {shown(columns)}."
        raise InvalidInputError(msg)
    rows = _rows(table, dict(columns or {}))
    rated = [rating for _, _, rating, _ in rows]
    if not rows:
        msg = "There are no ratings: the table is empty."
        raise InvalidInputError(msg)
    given = (min(rated), max(rated)) if rating_scale is None else rating_scale
    try:
        low, high = map(float, given)
    except (TypeError, ValueError):
        low = high = np.nan
    if rating_scale is None and low == high:
        msg = f"Every rating is {low:g}, so that no order is better than another."
        raise InvalidInputError(msg)
    if not -np.inf < low < high < np.inf:
        msg = f"The rating scale runs from a lower number to a higher one, not {shown(given)}."
        raise InvalidInputError(msg)
    if plain:
        return PlainDataset(rows, (low, high))
    from recsys_ndcg.surprise import Dataset, Reader  # noqa: PLC0415 - an extra

    first = pd.DataFrame([row[:3] for row in rows[:1]])
    dataset = Dataset.load_from_df(first, Reader(rating_scale=(low, high)))
    dataset.raw_ratings = rows
    return dataset


def _rows(data: Any, columns: dict[str, str]) -> list[tuple[Any, Any, float, Any]]:
    """Return rows (user, item, rating, time), the last None where there is none."""
    time = columns.pop(_TIME, None)
    if "rating" in columns:
        columns["true"] = columns.pop("rating")
    table = Table(data, columns)
    names = table.names
    for role, ours in (("user", "user"), ("item", "item"), ("true", "rating")):
        if not table.may_have(role):
            told = ", ".join(map(str, names))
            msg = (
                f"The ratings have no column {ours!r}; there are: {told}. Say what it is called: "
                f"columns={{{ours!r}: '...'}}."
            )
            raise InvalidInputError(msg)
    timed = time if time is not None else _TIME if _TIME in names else None
    table = Table(data, columns | ({} if timed is None else {"estimated": timed}))
    table.collect("user", "item", "true", *([] if timed is None else ["estimated"]))
    ratings = table.numbers("true")
    Rows.check_finite(ratings, "rating", "leave such rows out, or correct them")
    times = [None] * len(ratings) if timed is None else _times(table)
    user, item = (table.ids(name).tolist() for name in ("user", "item"))
    return list(zip(user, item, ratings.tolist(), times, strict=True))


def _times(table: Table) -> list[float]:
    """Return times as numbers: those of dates are seconds since 1970."""
    try:
        found: list[float] = table.numbers("estimated").tolist()
    except InvalidInputError as error:
        times = table.ids("estimated")
        try:
            if times.dtype.kind == "M":
                times = times.astype("datetime64[us]").astype(object)
            found = list(map(seconds_of, times))
        except InvalidInputError:
            raise error from None
    return found


def describe_ratings(data: Any) -> dict[str, Any]:
    """Return the numbers of ratings, users and items, their scale, and a digest in their order."""
    ratings = _all_of(data)
    columns = [list(map(itemgetter(place), ratings)) for place in range(4)]
    return {
        "ratings": len(ratings),
        "users": len(set(columns[0])),
        "items": len(set(columns[1])),
        "rating_scale": readable(getattr(getattr(data, "reader", data), "rating_scale", None)),
        "digest": fingerprint(columns)[0],
    }


def refuse_unkept_users(data: Any) -> None:
    """Refuse users whose ids no folder can keep, before anything is trained."""
    users = dict.fromkeys(row[0] for row in _all_of(data))
    arrow_column(np.fromiter(users, dtype=object, count=len(users)))


def _all_of(data: Any) -> Sequence[Any]:
    """Return the rows of a dataset, those of folds in files one file after the other."""
    if not hasattr(data, "folds_files"):
        return ratings_of(data)
    rows: list[Any] = []
    for path in chain.from_iterable(data.folds_files):
        with reading(path):
            rows += data.read_ratings(path)
    return rows


def digest_of_split(trainset: Any, testset: list[Any]) -> str:
    """Return a digest of what a model is trained on, and tested."""
    training = Training(trainset)
    ratings = training.ratings
    train = [ratings.offsets, ratings.codes, ratings.values]  # noqa: PD011 - no table
    ids = [training.users.tolist(), training.items.tolist(), [*trainset.rating_scale]]
    tested = [list(map(itemgetter(side), testset)) for side in range(3)]
    return fingerprint([train, ids, tested])[0]
