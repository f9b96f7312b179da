"""Models that are functions of the ratings, or estimators of scikit-learn, and the tables they get.

Surprise is not needed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats, Ids, Positions
from recsys_ndcg.catalogue import Candidates
from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError, format_count, quote, warn
from recsys_ndcg.experiments.fingerprints import fingerprint
from recsys_ndcg.input import Prediction, Rows, read_rows
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.ratings import Interactions

_PAIR, _RATING = ["user", "item"], ["user", "item", "rating"]
_FORM = (
    "a number for each row of the pairs, or a table with the columns user, item, estimated; "
    "instead of a function of pairs, f(train) may return {user: [items]}"
)


@dataclass(frozen=True, eq=False)
class RatingColumns:
    """All columns of the ratings, under our names: user, item, rating, and others.

    Parameters
    ----------
    table : pandas.DataFrame
        A row per rating, with different positions as its index.
    """

    table: pd.DataFrame

    @property
    def others(self) -> list[Any]:
        """The names of the columns besides user, item and rating."""
        return [name for name in self.table if name not in _RATING]

    @lazy_property
    def digest(self) -> str:
        """A digest of the other columns without the timestamp; empty if there are none."""
        names = [name for name in self.others if name != "timestamp"]
        columns = [[name, self.table[name].tolist()] for name in names]
        return fingerprint(columns)[0][:16] if columns else ""

    def of_ratings(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return ratings with all their columns; unknown ratings have missing values."""
        if not self.others:
            return rows
        places = self._places.get_indexer(_number_ratings(rows))
        others = self.table[self.others].set_axis(range(len(self.table)), axis=0).reindex(places)
        return pd.concat([rows, others.set_axis(rows.index, axis=0)], axis=1)

    def of_pairs(self, pairs: pd.DataFrame) -> pd.DataFrame:
        """Return pairs with the columns of their users and items; the other columns are missing."""
        found = {}
        for name in self.others:
            if name in self._constants:
                side, values = self._constants[name]
                found[name] = values.reindex(pairs[side]).set_axis(pairs.index)
            else:  # such as the timestamp: it keeps its type
                found[name] = self.table[name].iloc[:0].reindex(pairs.index)
        return pairs.assign(**found)

    @lazy_property
    def _places(self) -> pd.MultiIndex:
        return _number_ratings(self.table)

    @lazy_property
    def _constants(self) -> dict[Any, tuple[str, pd.Series[Any]]]:
        """The columns that are the same in all rows of an item, or of a user, by its id."""
        found = {}
        for side in _PAIR:
            first = self.table.drop_duplicates(side).set_index(side)
            for name in self.others:
                own, column = self.table[side].map(first[name]), self.table[name].astype(object)
                if ((own.astype(object) == column) | (own.isna() & column.isna())).all():
                    found[name] = side, first[name]
        return found


def _number_ratings(rows: pd.DataFrame) -> pd.MultiIndex:
    """Return user, item and rating of each row, with a number for each repetition."""
    repeats = rows.groupby(_RATING, sort=False).cumcount()
    return pd.MultiIndex.from_arrays([*(rows[name] for name in _RATING), repeats])


class FunctionModel:
    """A function as a model of folds.

    Parameters
    ----------
    function : callable
        ``f(train)`` gets a table of the ratings, and returns a function that estimates pairs, a
        table of the same columns without the rating; or it returns each user's list of items. Or
        ``f(train, pairs)`` returns the estimates directly. A parameter `seed` or `random_state`
        gets the seed.
    name : str
        For messages.
    columns : RatingColumns
        All columns of the ratings.
    seed : int, optional
        The seed of the run, or None to keep the function's own.
    """

    vectorised = False  # a user's function need not be thread-safe
    #: Names of parameters that take the seed.
    SEEDS = ("seed", "random_state")

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        columns: RatingColumns,
        seed: int | None = 0,
    ) -> None:
        self._function = function
        self._name = name
        self._columns = columns
        self._is_narrow = False
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
        rows = Interactions.from_trainset(trainset).to_frame()
        self._train = self._columns.of_ratings(rows.infer_objects())
        if not self._takes_pairs:
            self._predict = _name_estimates(self._call(self._function, self._train, **self._seeds))

    def test(self, testset: list[Any]) -> list[Any]:
        """Return predictions of a testset; none if the function returned lists."""
        if self.returns_lists and not self._has_estimates(testset):
            return []
        rows = self._columns.of_ratings(pd.DataFrame(testset, columns=_RATING))
        estimates = self._estimate(rows.drop(columns="rating")).tolist()
        return [
            Prediction(user, item, rating, estimated, {"was_impossible": False})
            for (user, item, rating), estimated in zip(testset, estimates, strict=True)
        ]

    @property
    def returns_lists(self) -> bool:
        """Whether the function returned items of users instead of a function of pairs."""
        found = self._predict
        return not callable(found) and (isinstance(found, Mapping) or hasattr(found, "columns"))

    def read_lists(self) -> Rows:
        """Return the listed items.

        Raises
        ------
        InvalidInputError
            The function returned a table without items, or without an order.
        """
        found = self._predict
        if isinstance(found, Mapping):
            return read_rows(found, table="results").drop_fillers()
        order = "rank" if "rank" in found.columns else "estimated"
        self._check_columns(found, (*_PAIR, order))
        columns = {name: np.asarray(found[name]) for name in (*_PAIR, order)}
        return read_rows(pd.DataFrame(columns), table="results").drop_fillers()

    def check_not_diverged(self) -> None:
        """Do nothing: estimates that are not numbers have raised an error already."""

    def _has_estimates(self, testset: list[Any]) -> bool:
        """Return whether the function returned a table with estimates of all test ratings."""
        table = self._predict
        names = {*getattr(table, "columns", ())}
        if isinstance(table, Mapping) or "rank" in names:
            return False
        if not names.issuperset([*_PAIR, "estimated"]):
            return True  # looking them up raises the error
        pairs = set(zip(*(np.asarray(table[name]).tolist() for name in _PAIR), strict=True))
        return all(row[:2] in pairs for row in testset)

    def candidates(self, trainset: Any, convention: Convention) -> Candidates:
        """Return its estimates of all items that a user has not rated."""
        training = Interactions.from_trainset(trainset)
        self._items = training.item.ids
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
        pairs = self._columns.of_pairs(pd.DataFrame(columns).infer_objects())
        return self._estimate(pairs).reshape(len(users), len(items)), None

    def _estimate(self, pairs: pd.DataFrame) -> Floats:
        own = pairs.copy()  # the function may change it
        if self._takes_pairs:
            estimates = self._call(self._function, self._train, own, **self._seeds)
        else:
            found = self._predict
            estimates = self._call(found, own) if callable(found) else found
        values = self._align_estimates(estimates, pairs)
        bad = ~np.isfinite(values)
        if bad.any():
            pair = tuple(pairs[_PAIR].iloc[int(bad.argmax())])
            msg = (
                f"{self._name} has no estimate for {bad.sum()} of {len(pairs)} pairs, the first "
                f"{quote(pair)}. Return a low number for a pair that the model cannot estimate."
            )
            raise InvalidInputError(msg)
        return values

    def _call(self, function: Callable[..., Any], *tables: pd.DataFrame, **seeds: int) -> Any:
        """Call a function with all columns; if it fails, with user, item and rating.

        It may depend on the number of columns, as `Dataset.load_from_df` of Surprise does.
        """
        narrow = [table[[name for name in _RATING if name in table]] for table in tables]
        if self._is_narrow or not self._columns.others:
            return function(*narrow, **seeds)
        try:
            return function(*tables, **seeds)
        except (AssertionError, TypeError, ValueError) as error:
            try:
                result = function(*narrow, **seeds)
            except Exception:  # noqa: BLE001 - the columns are not the reason
                raise error from None
            warn(
                f"The function fails on all columns of the ratings ({type(error).__name__}: "
                f"{error}), so it gets only user, item and rating. To silence this, select columns "
                "by their names: train[['user', 'item', 'rating']]."
            )
            self._is_narrow = True
            return result

    def _align_estimates(self, estimates: Any, pairs: pd.DataFrame) -> Floats:
        """Return the estimates in the order of the pairs."""
        if estimates is None:
            self._raise_error("returns nothing")
        if hasattr(estimates, "columns"):
            return self._look_up_estimates(estimates, pairs)
        if isinstance(estimates, pd.Series) and len(estimates) == len(pairs):
            own = estimates.index
            if not own.is_unique or (own.get_indexer(pairs.index) < 0).any():
                self._raise_error(
                    f"returns a Series whose index is not the pairs' own (it begins with "
                    f"{quote(own[0])}); if its values are in the order of the pairs, return it "
                    "with .to_numpy()"
                )
            estimates = estimates.loc[pairs.index]  # in their order
        try:
            values = np.array(estimates, dtype=np.float64)
        except (TypeError, ValueError):
            self._raise_error(f"returns {quote(estimates)}")
        if values.shape != (len(pairs),):
            shape = " × ".join(map(str, values.shape))
            size = format_count(values.size, "number") if values.ndim < 2 else f"{shape} numbers"
            self._raise_error(f"returns {size} for {format_count(len(pairs), 'pair')}")
        return values

    def _look_up_estimates(self, estimates: Any, pairs: pd.DataFrame) -> Floats:
        """Return a table's estimates in the order of the pairs."""
        columns, is_whole = [*_PAIR, "estimated"], estimates is self._predict
        estimates = _name_estimates(estimates)
        self._check_columns(estimates, columns)
        table = pd.DataFrame({name: np.asarray(estimates[name]) for name in columns})
        twice = table.duplicated(_PAIR)
        if twice.any():
            self._raise_error(f"returns the pair {quote(tuple(table[twice][_PAIR].iloc[0]))} twice")
        try:
            merged = pairs[_PAIR].merge(table, how="left", on=_PAIR, indicator=True)
        except ValueError as error:  # ids of another type
            self._raise_error(f"returns ids of another type ({error})")
        # a table instead of a function may have all pairs that there are
        more = table[: 0 if is_whole else None].merge(pairs[_PAIR], how="left", indicator=True)
        for rows, fault in ((merged, "are missing"), (more, "were not requested")):
            other = rows.loc[rows["_merge"] == "left_only", _PAIR]
            if len(other):
                self._raise_error(
                    f"returns other pairs than it was given: {len(other)} of {len(rows)} {fault}, "
                    f"the first {quote(tuple(other.iloc[0]))}"
                )
        return np.array(merged["estimated"], dtype=np.float64)

    def _check_columns(self, table: Any, columns: Sequence[str]) -> None:
        missing = [name for name in columns if name not in table.columns]
        if missing:
            self._raise_error(f"returns a table without {', '.join(missing)}")

    def _raise_error(self, fault: str) -> Any:
        msg = f"{self._name} {fault}. It must return {_FORM}."
        raise InvalidInputError(msg)


def _name_estimates(found: Any) -> Any:
    """Return a table whose column `score` is called `estimated`; other results stay."""
    names = [*getattr(found, "columns", ())]
    if "score" not in names or "estimated" in names or "rank" in names:
        return found
    return pd.DataFrame(
        {"estimated" if name == "score" else name: np.asarray(found[name]) for name in names}
    )


def get_parameters(function: Any) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a function or a class by their names."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # not a function of Python
        return {}


def is_estimator(given: Any) -> bool:
    """Return whether a model has scikit-learn's ``fit(X, y)`` and ``predict(X)``.

    Surprise's models have ``fit(trainset)``, and a callable object is a function.
    """
    if callable(given) or isinstance(given, type):
        return False
    try:
        inspect.signature(given.fit).bind("X", "y")
        inspect.signature(given.predict).bind("X")
    except (AttributeError, TypeError, ValueError):
        return False
    return True


def fit_estimator(estimator: Any, train: pd.DataFrame) -> Any:
    """Fit an estimator of scikit-learn to all columns but the rating; return its `predict`."""
    estimator.fit(train.drop(columns="rating"), train["rating"])
    return estimator.predict
