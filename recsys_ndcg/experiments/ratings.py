"""The ratings of an experiment as a dataset, and their digest.

Surprise is not needed unless an algorithm of Surprise is trained.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.experiments.fingerprints import describe_value, fingerprint
from recsys_ndcg.experiments.functions import RatingColumns
from recsys_ndcg.files import check_ids, convert_read_errors
from recsys_ndcg.folds import get_ratings
from recsys_ndcg.input import Rows
from recsys_ndcg.ratings import Interactions, read_interactions

_TIME = "timestamp"


class PlainTrainset:
    """Ratings to train on, with the parts of ``surprise.Trainset`` that folds need.

    Inner ids number users and items in the order of their first ratings.
    """

    def __init__(self, rows: Sequence[Any], rating_scale: tuple[float, float]) -> None:
        users: dict[Any, int] = {}
        items: dict[Any, int] = {}
        self.ur: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for user, item, rating, _ in rows:
            inner = users.setdefault(user, len(users))
            self.ur[inner].append((items.setdefault(item, len(items)), rating))
        self.to_raw_uid, self.to_raw_iid = [*users].__getitem__, [*items].__getitem__
        self.n_users, self.n_items, self.n_ratings = len(users), len(items), len(rows)
        self.rating_scale = rating_scale

    def all_ratings(self) -> Iterator[tuple[int, int, float]]:
        """Return inner user, inner item and rating, user by user."""
        return ((user, *pair) for user, ratings in self.ur.items() for pair in ratings)


@dataclass(frozen=True, eq=False)
class PlainDataset:
    """A dataset for splits, if no algorithm of Surprise is trained.

    Parameters
    ----------
    raw_ratings : list of (user, item, rating, time)
        The time is None if it is missing.
    rating_scale : pair of float
        The lowest and the highest possible rating.
    other_columns : pandas.DataFrame
        Further columns of the ratings, for functions.
    """

    raw_ratings: list[Any]
    rating_scale: tuple[float, float]
    other_columns: pd.DataFrame

    def construct_trainset(self, rows: Sequence[Any]) -> PlainTrainset:
        """Return rows to train on."""
        return PlainTrainset(rows, self.rating_scale)

    def construct_testset(self, rows: Sequence[Any]) -> list[tuple[Any, Any, float]]:
        """Return rows to test on, without their times."""
        return [(user, item, rating) for user, item, rating, _ in rows]


def build_dataset(
    data: Any,
    columns: Mapping[str, Any] | None = None,
    rating_scale: tuple[float, float] | None = None,
    *,
    plain: bool = True,
) -> Any:
    """Return ratings as a dataset of Surprise, or as a `PlainDataset`.

    Parameters
    ----------
    data : surprise.Dataset, table, or path
        Ratings in any form that `recsys_ndcg.ratings.read_interactions` takes.
    columns : mapping, optional
        The table's names of ``user``, ``item``, ``rating`` and ``timestamp``.
    rating_scale : pair of float, optional
        For a table or file; by default its lowest and highest ratings.
    plain : bool
        Whether no algorithm of Surprise is trained, so that its dataset is not needed.

    Raises
    ------
    InvalidInputError
        The data has another form, or no ratings.
    """
    if hasattr(data, "raw_ratings") or hasattr(data, "folds_files"):
        if columns or rating_scale:
            msg = "A dataset of Surprise has columns and a rating scale. Omit these arguments."
            raise InvalidInputError(msg)
        _get_all_ratings(data)
        return data
    rows, others = _read_rows(data, columns)
    rated = [rating for _, _, rating, _ in rows]
    scale = (min(rated), max(rated)) if rating_scale is None else rating_scale
    try:
        low, high = map(float, scale)
    except (TypeError, ValueError):
        low = high = np.nan
    if rating_scale is None and low == high:
        msg = f"Every rating is {low:g}, so no order is better than another."
        raise InvalidInputError(msg)
    if not -np.inf < low < high < np.inf:
        msg = f"The rating scale must be a lower and a higher number, not {quote(scale)}."
        raise InvalidInputError(msg)
    if plain:
        return PlainDataset(rows, (low, high), others)
    from recsys_ndcg.surprise import Dataset, Reader  # noqa: PLC0415 - an extra

    first = pd.DataFrame([row[:3] for row in rows[:1]])
    dataset = Dataset.load_from_df(first, Reader(rating_scale=(low, high)))
    dataset.raw_ratings, dataset.other_columns = rows, others
    return dataset


def _read_rows(
    data: Any, columns: Mapping[str, Any] | None
) -> tuple[list[tuple[Any, Any, float, Any]], pd.DataFrame]:
    """Return rows (user, item, rating, time), and other columns; a missing time is None."""
    found = read_interactions(data, "ratings", columns, "ratings")
    if found.rating is None:
        msg = "The ratings have users and items only. Give rows (user, item, rating)."
        raise InvalidInputError(msg)
    Rows.check_finite(found.rating, "rating", "leave these rows out, or correct them")
    others = dict(found.others)
    times = [None] * len(found)
    if found.time is not None:
        times = found.time.tolist()
        others = {_TIME: found.time, **others}
    ids = (one[:].tolist() for one in (found.user, found.item))
    rows = list(zip(*ids, found.rating.tolist(), times, strict=True))
    return rows, pd.DataFrame(others, index=range(len(rows)))


def describe_ratings(data: Any) -> dict[str, Any]:
    """Return the numbers of ratings, users and items, their scale, and a digest in their order.

    Raises
    ------
    InvalidInputError
        A user id cannot be saved in a folder.
    """
    ratings = _get_all_ratings(data)
    columns = [list(map(itemgetter(place), ratings)) for place in range(4)]
    return {
        "ratings": len(ratings),
        "users": len(check_ids([*dict.fromkeys(columns[0])], "user id")),
        "items": len(set(columns[1])),
        "rating_scale": describe_value(
            getattr(getattr(data, "reader", data), "rating_scale", None)
        ),
        "digest": fingerprint(columns)[0],
    }


def collect_columns(data: Any) -> RatingColumns:
    """Return all columns of a dataset's ratings; none if its folds are files."""
    rows = [] if hasattr(data, "folds_files") else get_ratings(data)
    table = pd.DataFrame([row[:3] for row in rows], columns=["user", "item", "rating"])
    others = getattr(data, "other_columns", None)
    if others is None:  # a dataset of Surprise
        times = [row[3] for row in rows]
        others = pd.DataFrame({_TIME: times} if any(one is not None for one in times) else {})
    return RatingColumns(pd.concat([table, others], axis=1))


def _get_all_ratings(data: Any) -> Sequence[Any]:
    """Return the rows of a dataset; rows of folds in files are concatenated."""
    if not hasattr(data, "folds_files"):
        return get_ratings(data)
    rows: list[Any] = []
    for path in chain.from_iterable(data.folds_files):
        with convert_read_errors(path):
            rows += data.read_ratings(path)
    return rows


def digest_split(train: Interactions, scale: Sequence[float], testset: list[Any]) -> str:
    """Return a digest of training rows, their rating scale and a testset."""
    rows = [train.by_user.offsets, train.by_user.codes, train.rating]
    ids = [train.user.ids.tolist(), train.item.ids.tolist(), [*scale]]
    tested = [list(map(itemgetter(side), testset)) for side in range(3)]
    return fingerprint([rows, ids, tested])[0]
