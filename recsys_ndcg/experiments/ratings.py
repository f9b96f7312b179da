"""The ratings of an experiment as a dataset, their digest, and functions of ratings as models.

Surprise is not needed unless an algorithm of Surprise is trained.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats, Ids, Positions
from recsys_ndcg.catalogue import Candidates, Training
from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.experiments.fingerprints import describe_value, fingerprint
from recsys_ndcg.files import convert_read_errors, is_file_source, to_arrow_column
from recsys_ndcg.folds import get_ratings, parse_time
from recsys_ndcg.input import Rows, Table, read_ratings

_TIME = "timestamp"
_FORM = "a number for each row of the pairs, or a table with the columns user, item, estimated"


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
        """Yield inner user, inner item and rating, user by user."""
        for user, ratings in self.ur.items():
            for item, rating in ratings:
                yield user, item, rating


class PlainDataset:
    """A dataset for splits, if no algorithm of Surprise is trained.

    Parameters
    ----------
    raw_ratings : list of (user, item, rating, time)
        The time is None if it is missing.
    rating_scale : pair of float
        The lowest and the highest possible rating.
    """

    def __init__(self, raw_ratings: list[Any], rating_scale: tuple[float, float]) -> None:
        self.raw_ratings, self.rating_scale = raw_ratings, rating_scale

    def construct_trainset(self, rows: Sequence[Any]) -> PlainTrainset:
        """Return rows to train on."""
        return PlainTrainset(rows, self.rating_scale)

    def construct_testset(self, rows: Sequence[Any]) -> list[tuple[Any, Any, float]]:
        """Return rows to test on, without their times."""
        return [(user, item, rating) for user, item, rating, _ in rows]


class PlainPrediction(NamedTuple):
    """A function's prediction of a test rating, with the fields of Surprise's predictions."""

    uid: Any
    iid: Any
    r_ui: Any
    est: float
    details: dict[str, Any]


class FunctionModel:
    """A function as a model of folds.

    Parameters
    ----------
    function : callable
        ``f(train)`` gets a table user, item, rating, and returns a function that estimates pairs, a
        table user, item; or ``f(train, pairs)`` returns the estimates directly. A parameter `seed`
        or `random_state` gets the seed.
    name : str
        For messages.
    seed : int, optional
        The seed of the run, or None to keep the function's own.
    """

    vectorised = False  # a user's function need not be thread-safe
    #: Names of parameters that take the seed.
    SEEDS = ("seed", "random_state")

    def __init__(self, function: Callable[..., Any], name: str, seed: int | None = 0) -> None:
        self._function = function
        self._name = name
        parameters = get_parameters(function)
        self._seeds = {one: seed for one in parameters if one in self.SEEDS and seed is not None}
        n_required = sum(
            one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
            and name not in self.SEEDS
            and one.default is one.empty
            for name, one in parameters.items()
        )
        self._takes_pairs = n_required > 1
        self._predict: Any = None

    def fit(self, trainset: Any) -> None:
        """Train: call the function, unless it takes the pairs as well."""
        rows = (
            (trainset.to_raw_uid(user), trainset.to_raw_iid(item), rating)
            for user, item, rating in trainset.all_ratings()
        )
        self._train = pd.DataFrame(rows, columns=["user", "item", "rating"])
        if not self._takes_pairs:
            self._predict = self._function(self._train, **self._seeds)

    def test(self, testset: list[Any]) -> list[Any]:
        """Return predictions of a testset."""
        pairs = pd.DataFrame([row[:2] for row in testset], columns=["user", "item"])
        estimates = self._estimate(pairs).tolist()
        return [
            PlainPrediction(user, item, rating, estimated, {"was_impossible": False})
            for (user, item, rating), estimated in zip(testset, estimates, strict=True)
        ]

    def check_not_diverged(self) -> None:
        """Do nothing: estimates that are not numbers have raised an error already."""

    def candidates(self, trainset: Any, convention: Convention) -> Candidates:
        """Return its estimates of all items that a user has not rated."""
        training = Training(trainset)
        self._items = training.items
        return Candidates(self, training, convention=convention)

    def estimate_all(self, users: Ids, places: Positions) -> tuple[Floats, None]:
        """Return the estimates of some users for all items of the trainset."""
        del places
        return self.estimate_ids(users, self._items)

    def estimate_ids(self, users: Ids, items: Ids) -> tuple[Floats, None]:
        """Return estimates of some users, in rows, for some items."""
        if self._takes_pairs:
            msg = (
                f"{self._name}: to rank the catalogue, the function must take only the ratings, "
                "f(train), and return a function of pairs, which is called for a block of users at "
                "a time."
            )
            raise InvalidInputError(msg)
        columns = {"user": np.repeat(users, len(items)), "item": np.tile(items, len(users))}
        estimates = self._estimate(pd.DataFrame(columns).infer_objects())
        return estimates.reshape(len(users), len(items)), None

    def _estimate(self, pairs: pd.DataFrame) -> Floats:
        own = pairs.copy()  # the function may change it
        if self._takes_pairs:
            estimates = self._function(self._train, own, **self._seeds)
        else:
            estimates = self._predict(own) if callable(self._predict) else self._predict
        values = self._align_estimates(estimates, pairs)
        bad = ~np.isfinite(values)
        if bad.any():
            pair = tuple(pairs.iloc[int(bad.argmax())])
            msg = (
                f"{self._name} has no estimate for {bad.sum()} of {len(pairs)} pairs, the first "
                f"{quote(pair)}. Return a low number for a pair that the model cannot estimate."
            )
            raise InvalidInputError(msg)
        return values

    def _align_estimates(self, estimates: Any, pairs: pd.DataFrame) -> Floats:
        """Return the estimates in the order of the pairs."""
        if hasattr(estimates, "columns"):
            return self._look_up_estimates(estimates, pairs)
        try:
            values = np.array(estimates, dtype=np.float64)
        except (TypeError, ValueError):
            self._raise_error(f"returns {quote(estimates)}")
        if values.shape != (len(pairs),):
            shape = (
                " × ".join(map(str, values.shape)) + " numbers"
                if values.shape
                else "a single number"
            )
            self._raise_error(f"returns {shape} for {len(pairs)} pairs")
        return values

    def _look_up_estimates(self, estimates: Any, pairs: pd.DataFrame) -> Floats:
        """Return a table's estimates in the order of the pairs."""
        columns = ("user", "item", "estimated")
        missing = [name for name in columns if name not in estimates.columns]
        if missing:
            self._raise_error(f"returns a table without {', '.join(missing)}")
        table = pd.DataFrame({name: np.asarray(estimates[name]) for name in estimates.columns})
        twice = table.duplicated(["user", "item"])
        if twice.any():
            pair = tuple(table.loc[twice, ["user", "item"]].iloc[0])
            self._raise_error(f"returns the pair {quote(pair)} twice")
        try:
            merged = pairs.merge(table, how="left", on=["user", "item"], indicator=True)
        except ValueError as error:  # ids of another type
            self._raise_error(f"returns ids of another type ({error})")
        absent = (merged["_merge"] == "left_only").to_numpy()
        if absent.any():
            pair = tuple(pairs.iloc[int(absent.argmax())])
            self._raise_error(
                f"returns other pairs than it was given: {absent.sum()} of {len(pairs)} are "
                f"missing, the first {quote(pair)}"
            )
        return np.array(merged["estimated"], dtype=np.float64)

    def _raise_error(self, fault: str) -> Any:
        msg = f"{self._name} {fault}. It must return {_FORM}."
        raise InvalidInputError(msg)


def get_parameters(function: Any) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a function or a class by their names."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # not a function of Python
        return {}


def build_dataset(
    data: Any,
    columns: Mapping[str, str] | None = None,
    rating_scale: tuple[float, float] | None = None,
    *,
    plain: bool = True,
) -> Any:
    """Return ratings as a dataset of Surprise, or as a `PlainDataset`.

    Parameters
    ----------
    data : surprise.Dataset, table, or path
        A table has a row per rating; a file is CSV, or separated by ``::``.
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
    table = read_ratings(data) if is_file_source(data) else data
    if not isinstance(columns, Mapping | None):
        msg = f"columns must map our names to yours, {{'rating': 'stars'}}, not {quote(columns)}."
        raise InvalidInputError(msg)
    rows = _read_rows(table, dict(columns or {}))
    rated = [rating for _, _, rating, _ in rows]
    if not rows:
        msg = "There are no ratings: the table is empty."
        raise InvalidInputError(msg)
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
        return PlainDataset(rows, (low, high))
    from recsys_ndcg.surprise import Dataset, Reader  # noqa: PLC0415 - an extra

    first = pd.DataFrame([row[:3] for row in rows[:1]])
    dataset = Dataset.load_from_df(first, Reader(rating_scale=(low, high)))
    dataset.raw_ratings = rows
    return dataset


def _read_rows(data: Any, columns: dict[str, str]) -> list[tuple[Any, Any, float, Any]]:
    """Return rows (user, item, rating, time); a missing time is None."""
    time = columns.pop(_TIME, None)
    if "rating" in columns:
        columns["true"] = columns.pop("rating")
    table = Table(data, columns)
    names = table.names
    for role, ours in (("user", "user"), ("item", "item"), ("true", "rating")):
        if not table.has_candidate(role):
            known = ", ".join(map(str, names))
            msg = (
                f"The ratings have no column {ours!r}. The columns are {known}. "
                f"Pass its name: columns={{{ours!r}: '...'}}."
            )
            raise InvalidInputError(msg)
    timed = time if time is not None else _TIME if _TIME in names else None
    table = Table(data, columns | ({} if timed is None else {"estimated": timed}))
    table.collect("user", "item", "true", *([] if timed is None else ["estimated"]))
    ratings = table.read_numbers("true")
    Rows.check_finite(ratings, "rating", "leave these rows out, or correct them")
    times = [None] * len(ratings) if timed is None else _read_times(table)
    user, item = (table.read_ids(name).tolist() for name in ("user", "item"))
    return list(zip(user, item, ratings.tolist(), times, strict=True))


def _read_times(table: Table) -> list[float]:
    """Return times as numbers; dates become seconds since 1970."""
    try:
        return list(table.read_numbers("estimated").tolist())
    except InvalidInputError as error:
        times = table.read_ids("estimated")
        try:
            if times.dtype.kind == "M":
                times = times.astype("datetime64[us]").astype(object)
            return list(map(parse_time, times))
        except InvalidInputError:
            raise error from None


def describe_ratings(data: Any) -> dict[str, Any]:
    """Return the numbers of ratings, users and items, their scale, and a digest in their order."""
    ratings = _get_all_ratings(data)
    columns = [list(map(itemgetter(place), ratings)) for place in range(4)]
    return {
        "ratings": len(ratings),
        "users": len(set(columns[0])),
        "items": len(set(columns[1])),
        "rating_scale": describe_value(
            getattr(getattr(data, "reader", data), "rating_scale", None)
        ),
        "digest": fingerprint(columns)[0],
    }


def check_savable_users(data: Any) -> None:
    """Raise if user ids cannot be saved in a folder, before anything is trained."""
    users = dict.fromkeys(row[0] for row in _get_all_ratings(data))
    to_arrow_column(np.fromiter(users, dtype=object, count=len(users)))


def _get_all_ratings(data: Any) -> Sequence[Any]:
    """Return the rows of a dataset; rows of folds in files are concatenated."""
    if not hasattr(data, "folds_files"):
        return get_ratings(data)
    rows: list[Any] = []
    for path in chain.from_iterable(data.folds_files):
        with convert_read_errors(path):
            rows += data.read_ratings(path)
    return rows


def digest_split(trainset: Any, testset: list[Any]) -> str:
    """Return a digest of a trainset and a testset."""
    training = Training(trainset)
    ratings = training.ratings
    train = [ratings.offsets, ratings.codes, ratings.values]  # noqa: PD011 - no table
    ids = [training.users.tolist(), training.items.tolist(), [*trainset.rating_scale]]
    tested = [list(map(itemgetter(side), testset)) for side in range(3)]
    return fingerprint([train, ids, tested])[0]
