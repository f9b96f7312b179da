"""The models of an experiment: fresh for every fold, seeded, and described so as to be known."""

from __future__ import annotations

import copy
import functools
import inspect
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats, Ids, Positions
from recsys_ndcg.catalogue import Candidates, Training
from recsys_ndcg.comparison import CHANCE
from recsys_ndcg.errors import InvalidInputError, nearest, shown, visible
from recsys_ndcg.experiments.fingerprints import (
    fingerprint,
    names_in,
    qualified_name,
    readable,
    type_and_digest,
)

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


GIVEN = "given: "  # begins a fingerprint that the user gave
_SEED = "random_state"
_NUMBER = (int, float, type(None))  # other globals may be secrets


@dataclass(frozen=True)
class Model:
    """A model that is trained anew in every fold.

    Parameters
    ----------
    name : str
        Under which it was given.
    given : object
        With `fit` and `test`, or a function of the ratings to train on.
    reseeded : bool
        Whether it takes the seed of the run in place of its own: there are several.
    """

    name: str
    given: Any
    reseeded: bool

    def fresh(self, seed: int) -> Any:
        """Return it as a model of folds, unfitted and silent; a seed is its `random_state`."""
        algo = copy.deepcopy(self.given)  # of a function, itself
        if not is_algorithm(algo):
            given = {*getattr(algo, "keywords", ())}  # of a partial
            own = not self.reseeded and given & {*FunctionModel.SEEDS}
            return FunctionModel(algo, self.name, None if own else seed)
        from recsys_ndcg.surprise import Algorithm  # noqa: PLC0415 - an extra

        return Algorithm(_guarded(_silent(seeded(algo, seed, always=self.reseeded))))

    @property
    def parameters(self) -> dict[str, Any]:
        """What it holds, or what its function was given, as JSON."""
        held = _arguments(self.given)
        if is_algorithm(self.given):
            held = dict(sorted(_attributes(self.given).items()))
            held.pop("verbose", None)
        return {name: readable(one) for name, one in held.items()}

    def describe(self, given_text: str | Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return what identifies it, as JSON.

        Parameters
        ----------
        given_text : str or mapping, optional
            The `fingerprint` that `experiment` was given.

        Returns
        -------
        dict
            The `class` or `function`, its `parameters`, the `globals` that it uses, a digest of its
            `code`, the versions of `libraries` that it uses, and the `fingerprint` of all that it
            holds and refers to; this is None for the reason given as `incomparable`.
        """
        if isinstance(given_text, Mapping) and self.name in given_text:
            return _identified_by(given_text[self.name])
        try:
            return self._described()
        except Exception as error:  # noqa: BLE001 - whatever an object does that is looked at
            if isinstance(given_text, str):
                return _identified_by(given_text)
            why = {"fingerprint": None, "incomparable": visible(str(error) or repr(error))}
            return {"parameters": {}, "libraries": {}, **why}

    def _described(self) -> dict[str, Any]:
        """Describe it without what the run sets: its seed, and whether it prints."""
        if is_algorithm(self.given):
            given = _silent(seeded(copy.copy(self.given), None, always=self.reseeded))
            code: Any = type(given)
        else:
            given = _without_seeds(self.given) if self.reseeded else self.given
            inner = unwrapped(given)
            code = inner if isinstance(inner, type) or inspect.isroutine(inner) else type(inner)
        digest, libraries = fingerprint(given)
        return {
            "class" if isinstance(code, type) else "function": qualified_name(code),
            "parameters": replace(self, given=given).parameters,
            "globals": {
                name: one if isinstance(one, _NUMBER) else type_and_digest(one)
                for name, one in _globals(code).items()
            },
            "code": fingerprint(getattr(code, "__code__", code))[0][:16],
            "libraries": libraries,
            "fingerprint": digest,
        }


def seeded(given: Any, seed: int | None, *, always: bool) -> Any:
    """Let a model or a splitter draw by a seed, unless it has one of its own."""
    if hasattr(given, _SEED) and (always or getattr(given, _SEED) is None):
        setattr(given, _SEED, seed)
    return given


def _identified_by(text: str) -> dict[str, Any]:
    return {"parameters": {}, "libraries": {}, "fingerprint": f"{GIVEN}{text}"}


def _silent(algo: Any) -> Any:
    if getattr(algo, "verbose", False) is True:
        algo.verbose = False
    return algo


def _guarded(algo: Any) -> Any:
    """Let an algorithm have the split as its own, and check what it predicts.

    It may change what it gets: the split is that of other models, too, and what is measured.
    """
    fit, test = algo.fit, algo.test

    def fitted(trainset: Any) -> Any:
        own = _copied(trainset)
        found = fit(own)
        if getattr(algo, "trainset", None) is None:  # by which those of Surprise are known as such
            algo.trainset = own
        return found

    def tested(testset: list[Any]) -> list[Any]:
        predictions = list(test(list(testset)))
        _check_pairs(predictions, testset)
        return predictions

    algo.fit, algo.test = fitted, tested
    return algo


def _copied(trainset: Any) -> Any:
    """Return a trainset with lists of its own."""
    own = copy.copy(trainset)
    for name in ("ur", "ir"):
        lists = copy.copy(getattr(trainset, name))  # which may be a defaultdict
        lists.update((inner, list(pairs)) for inner, pairs in lists.items())
        setattr(own, name, lists)
    return own


def _check_pairs(predictions: list[Any], testset: list[Any]) -> None:
    """Refuse predictions of other pairs than were asked for."""
    rows, wanted = ([tuple(row[:3]) for row in each] for each in (predictions, testset))
    if rows == wanted or (told := Counter(rows)) == (asked := Counter(wanted)):
        return
    missing, more = asked - told, told - asked
    first = shown(next(iter(missing or more)))
    fault = "is missing" if missing else "was not asked for"
    msg = (
        f"test() returns predictions of other pairs than asked for: {missing.total()} of "
        f"{asked.total()} (user, item, rating) are missing, {more.total()} are others; "
        f"{first} {fault}."
    )
    raise InvalidInputError(msg)


def _attributes(given: Any) -> Mapping[str, Any]:
    return {} if isinstance(given, type) else getattr(given, "__dict__", {})


def _globals(code: Any) -> Mapping[str, Any]:
    function = inspect.unwrap(getattr(code, "__func__", code))
    if not inspect.isfunction(function):
        return {}
    names = sorted(names_in(function.__code__) & function.__globals__.keys())
    return {name: function.__globals__[name] for name in names}


def _arguments(function: Callable[..., Any]) -> dict[str, Any]:
    """Return what a function has before it is called.

    Arguments, defaults, closure, and the attributes of the object whose method it is.
    """
    found: dict[str, Any] = {}
    if isinstance(function, functools.partial):
        found = {f"{place}": one for place, one in enumerate(function.args)}
        found = {**function.keywords, **found}
        function = function.func
    if not inspect.isroutine(function):  # an object that can be called
        return {**_attributes(function), **found}
    given = {name: one.default for name, one in signature_of(function).items()}
    own = {name: one for name, one in given.items() if one is not inspect.Parameter.empty}
    if inspect.ismethod(function):
        own |= _attributes(function.__self__)
    if inspect.isfunction(function):
        with suppress(ValueError):  # a cell is empty
            own |= inspect.getclosurevars(function).nonlocals
    return own | found


def unwrapped(function: Any) -> Any:
    """Return the function inside of `functools.partial`."""
    return function.func if isinstance(function, functools.partial) else function


def _without_seeds(function: Any) -> Any:
    """Return a function without the seeds that `functools.partial` gives it."""
    if not isinstance(function, functools.partial):
        return function
    others = {
        name: one for name, one in function.keywords.items() if name not in FunctionModel.SEEDS
    }
    return functools.partial(function.func, *function.args, **others)


def models_of(
    models: Any,
    seeds: Sequence[int],
    baseline: str | None,
    fingerprint: str | Mapping[str, str] | None,
) -> dict[str, Model]:
    """Return models by their names.

    Raises
    ------
    InvalidInputError
        There are none, or one is nothing that can be trained; a baseline or a fingerprint is of
        none of them.
    """
    if not isinstance(models, Mapping) or not models:
        msg = f"Give the models by name, {{'SVD': SVD(), 'KNN': KNNBasic()}}, not {shown(models)}."
        raise InvalidInputError(msg)
    for name, given in models.items():
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            msg = f"The name of a model is text that can be shown, not {shown(name)}."
            raise InvalidInputError(msg)
        if isinstance(given, type):
            msg = f"{name}: {given.__name__} is a class; a model is one of it, {given.__name__}()."
            raise InvalidInputError(msg)
        if not is_algorithm(given) and not callable(given):
            msg = (
                f"{name}: a model has fit(trainset) and test(testset), as those of Surprise, or is "
                f"a function of the ratings to train on, not {shown(given)}."
            )
            raise InvalidInputError(msg)
    if baseline is not None and baseline not in (known := [*models, CHANCE]):
        msg = f"baseline={shown(baseline)} is none of the models. {nearest(str(baseline), known)}"
        raise InvalidInputError(msg)
    by_name = fingerprint if isinstance(fingerprint, Mapping) else {}
    for name in by_name:
        if name not in models:
            msg = f"fingerprint names no model: {shown(name)}. {nearest(str(name), models)}"
            raise InvalidInputError(msg)
    texts = [] if fingerprint is None else by_name.values() or [fingerprint]
    if not all(isinstance(one, str) and one for one in texts):
        msg = f"fingerprint is a text, or a text for each model by name, not {shown(fingerprint)}."
        raise InvalidInputError(msg)
    return {name: Model(name, given, len(seeds) > 1) for name, given in models.items()}


def is_algorithm(given: Any) -> bool:
    """Tell what is fitted and tested from a function."""
    return all(callable(getattr(given, name, None)) for name in ("fit", "test"))


def refuse_for_catalogue(models: Mapping[str, Model]) -> None:
    """Refuse models that can only say what they think of a testset.

    Raises
    ------
    InvalidInputError
        One has no `predict`.
    """
    for name, one in models.items():
        if is_algorithm(one.given) and not callable(getattr(one.given, "predict", None)):
            msg = (
                f"{name}: to rank the catalogue, a model needs predict(user, item), as those of "
                "Surprise have; or give a function that returns estimates of any pairs."
            )
            raise InvalidInputError(msg)
