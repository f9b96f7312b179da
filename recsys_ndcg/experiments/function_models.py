"""Models of other libraries: functions of the ratings to train on."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats, Ids, Positions
from recsys_ndcg.catalogue import Candidates, Training
from recsys_ndcg.errors import InvalidInputError, shown

if TYPE_CHECKING:
    from recsys_ndcg.convention import Convention

_POSSIBLE = {"was_impossible": False}
_FORM = "a number for each row of the pairs, or a table with the columns user, item, estimated"


class PlainPrediction(NamedTuple):
    """What a function predicts of a test rating, in the fields of Surprise's predictions."""

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
        ``f(train)`` gets a table user, item, rating, and returns a function of pairs, a table
        user, item, that gives their estimates; or ``f(train, pairs)`` gives them at once. A
        parameter that is called `seed` or `random_state` gets the seed.
    name : str
        For messages.
    seed : int, optional
        Of the run; None leaves the parameter alone.
    """

    vectorised = False  # a function of somebody's own need not bear threads
    #: What a parameter that takes a seed is called.
    SEEDS = ("seed", "random_state")

    def __init__(self, function: Callable[..., Any], name: str, seed: int | None = 0) -> None:
        self._function = function
        self._name = name
        known = signature_of(function)
        self._seeds = {one: seed for one in known if one in self.SEEDS and seed is not None}
        free = [
            one
            for name, one in known.items()
            if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
            and name not in self.SEEDS
            and one.default is one.empty
        ]
        self._at_once = len(free) > 1
        self._predict: Any = None

    def fit(self, trainset: Any) -> None:
        """Train: call the function, unless it takes the pairs as well."""
        rows = (
            (trainset.to_raw_uid(user), trainset.to_raw_iid(item), rating)
            for user, item, rating in trainset.all_ratings()
        )
        self._train = pd.DataFrame(rows, columns=["user", "item", "rating"])
        if not self._at_once:
            self._predict = self._function(self._train, **self._seeds)

    def test(self, testset: list[Any]) -> list[Any]:
        """Return predictions of a testset."""
        pairs = pd.DataFrame([row[:2] for row in testset], columns=["user", "item"])
        estimates = self._estimates(pairs).tolist()
        return [
            PlainPrediction(user, item, rating, estimated, _POSSIBLE)
            for (user, item, rating), estimated in zip(testset, estimates, strict=True)
        ]

    def refuse_diverged(self, predictions: list[Any]) -> None:
        """Let them pass: what is no number has been refused."""

    def candidates(self, trainset: Any, convention: Convention) -> Candidates:
        """Return its estimates of all items that a user has not rated."""
        training = Training(trainset)
        self._items = training.items
        return Candidates(self, training, convention=convention)

    def of_all(self, users: Ids, places: Positions) -> tuple[Floats, None]:
        """Return the estimates of some users for all items of the trainset."""
        del places
        return self.of_raw(users, self._items)

    def of_raw(self, users: Ids, items: Ids) -> tuple[Floats, None]:
        """Return estimates of some users, in rows, for some items."""
        if self._at_once:
            msg = (
                f"{self._name}: to rank the catalogue, the function takes the ratings alone, "
                "f(train), and returns a function of pairs, which is called for some users after "
                "others."
            )
            raise InvalidInputError(msg)
        pairs = pd.DataFrame(
            {"user": np.repeat(users, len(items)), "item": np.tile(items, len(users))}
        )
        return self._estimates(pairs.infer_objects()).reshape(len(users), len(items)), None

    def _estimates(self, pairs: pd.DataFrame) -> Floats:
        asked = pairs.copy()  # which the function may change
        if self._at_once:
            found = self._function(self._train, asked, **self._seeds)
        else:
            found = self._predict(asked) if callable(self._predict) else self._predict
        values = self._in_order(found, pairs)
        bad = ~np.isfinite(values)
        if bad.any():
            pair = tuple(pairs.iloc[int(bad.argmax())])
            msg = (
                f"{self._name} estimates no number for {bad.sum()} of {len(pairs)} pairs, the "
                f"first {shown(pair)}. Give one for all: a low one where the model knows nothing."
            )
            raise InvalidInputError(msg)
        return values

    def _in_order(self, found: Any, pairs: pd.DataFrame) -> Floats:
        """Return the estimates of the pairs that were asked for."""
        if hasattr(found, "columns"):
            return self._looked_up(found, pairs)
        try:
            values = np.array(found, dtype=np.float64)
        except (TypeError, ValueError):
            self._refuse(f"returns {shown(found)}")
        if values.shape != (len(pairs),):
            shape = " × ".join(map(str, values.shape)) or "one"
            self._refuse(f"returns {shape} numbers for {len(pairs)} pairs")
        return values

    def _looked_up(self, found: Any, pairs: pd.DataFrame) -> Floats:
        """Return the estimates that a table has of the pairs."""
        lacking = [one for one in ("user", "item", "estimated") if one not in found.columns]
        if lacking:
            self._refuse(f"returns a table without {', '.join(lacking)}")
        table = pd.DataFrame({one: np.asarray(found[one]) for one in found.columns})
        twice = table.duplicated(["user", "item"])
        if twice.any():
            pair = tuple(table.loc[twice, ["user", "item"]].iloc[0])
            self._refuse(f"returns the pair {shown(pair)} twice")
        try:
            merged = pairs.merge(table, how="left", on=["user", "item"], indicator=True)
        except ValueError as error:  # ids of another type
            self._refuse(f"returns ids of another type ({error})")
        absent = (merged["_merge"] == "left_only").to_numpy()
        if absent.any():
            pair = tuple(pairs.iloc[int(absent.argmax())])
            self._refuse(
                f"returns other pairs than asked for: {absent.sum()} of {len(pairs)} are missing, "
                f"the first {shown(pair)}"
            )
        return np.array(merged["estimated"], dtype=np.float64)

    def _refuse(self, fault: str) -> Any:
        msg = f"{self._name} {fault}. It is to give {_FORM}."
        raise InvalidInputError(msg)


def signature_of(function: Any) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a function or a class by their names."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # of a function that is not Python's
        return {}
