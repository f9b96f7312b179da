"""Models of an experiment, and descriptions of models, splits and measures."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

from recsys_ndcg.comparison import CHANCE
from recsys_ndcg.errors import (
    InvalidInputError,
    escape_invisible,
    label_messages,
    quote,
    suggest,
)
from recsys_ndcg.experiments.fingerprints import fingerprint, globals_of, qualified_name, readable
from recsys_ndcg.experiments.ratings import FunctionModel, describe_ratings, signature_of
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from recsys_ndcg.folds import CheckedSplits, FoldPlan

GIVEN = "given: "  # begins a fingerprint that the user gave
_SEED = "random_state"
_MOST = 1_000_000  # seeds, if their number is given
_OPTIONS = ("sim_options", "bsl_options")  # of algorithms that take them as others


@dataclass(frozen=True)
class Model:
    """A model, of which a copy is trained in every fold.

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
        from recsys_ndcg.surprise import CheckedAlgorithm  # noqa: PLC0415 - an extra

        return CheckedAlgorithm(_silent(seeded(algo, seed, always=self.reseeded)))

    @property
    def parameters(self) -> dict[str, Any]:
        """Its attributes, or the arguments of its function, as JSON."""
        held = _arguments(self.given)
        if is_algorithm(self.given):
            held = dict(sorted(_attributes(self.given).items()))
            held.pop("verbose", None)
        return {name: readable(one) for name, one in held.items()}

    def describe(self, given_text: str | Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return a description that identifies the model, as JSON.

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
        unknown: dict[str, Any] = {"parameters": {}, "libraries": {}}
        if isinstance(given_text, Mapping) and self.name in given_text:
            return {**unknown, "fingerprint": f"{GIVEN}{given_text[self.name]}"}
        try:
            return self._described()
        except Exception as error:  # noqa: BLE001 - inspecting an object may raise anything
            if isinstance(given_text, str):
                return {**unknown, "fingerprint": f"{GIVEN}{given_text}"}
            why = escape_invisible(str(error) or repr(error))
            return {**unknown, "fingerprint": None, "incomparable": why}

    def _described(self) -> dict[str, Any]:
        """Describe the model without its seed and its verbosity, which the run sets."""
        if is_algorithm(self.given):
            given = _silent(seeded(copy.copy(self.given), None, always=self.reseeded))
            code: Any = type(given)
        else:
            given = _drop_seeds(self.given) if self.reseeded else self.given
            inner = unwrap_function(given)
            code = inner if isinstance(inner, type) or inspect.isroutine(inner) else type(inner)
        digest, libraries = fingerprint(given)
        return {
            "class" if isinstance(code, type) else "function": qualified_name(code),
            "parameters": replace(self, given=given).parameters,
            "globals": globals_of(code),
            "code": fingerprint(getattr(code, "__code__", code))[0][:16],
            "libraries": libraries,
            "fingerprint": digest,
        }


def seeded(given: Any, seed: int | None, *, always: bool) -> Any:
    """Let a model or a splitter draw by a seed, unless it has one of its own."""
    if hasattr(given, _SEED) and (always or getattr(given, _SEED) is None):
        setattr(given, _SEED, seed)
    return given


def _silent(algo: Any) -> Any:
    if getattr(algo, "verbose", False) is True:
        algo.verbose = False
    return algo


def _attributes(given: Any) -> Mapping[str, Any]:
    return {} if isinstance(given, type) else getattr(given, "__dict__", {})


def _arguments(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the values that a function holds.

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


def unwrap_function(function: Any) -> Any:
    """Return the function inside of `functools.partial`."""
    return function.func if isinstance(function, functools.partial) else function


def _drop_seeds(function: Any) -> Any:
    """Return a function without the seeds that `functools.partial` gives it."""
    if not isinstance(function, functools.partial):
        return function
    kept = {name: one for name, one in function.keywords.items() if name not in FunctionModel.SEEDS}
    return functools.partial(function.func, *function.args, **kept)


def describe_experiment(
    ratings: CheckedSplits, plan: FoldPlan, *, several_seeds: bool
) -> dict[str, Any]:
    """Return what the numbers of all models depend on, as JSON."""
    return {
        "written_by": __version__,
        "data": describe_ratings(ratings.data),
        "splits": _describe_splitter(ratings.splitter, always=several_seeds),
        "measures": _describe_measures(plan),
    }


def _describe_splitter(splitter: Any, *, always: bool) -> dict[str, Any]:
    """Return what identifies a splitter, as JSON; its seed if that is not the seed of the run."""
    own = getattr(splitter, "__dict__", {})
    held = {name: readable(value) for name, value in sorted(own.items())}
    if always or held.get(_SEED) is None:
        held.pop(_SEED, None)
    return {"class": qualified_name(type(splitter)), **held}


def _describe_measures(plan: FoldPlan) -> dict[str, dict[str, str]]:
    """Return how each measure is computed: every choice, and digests of the functions it calls.

    Raises
    ------
    InvalidInputError
        A function holds something that has no content to compare.
    """
    described = {}
    for one in plan.measures:
        ranking = plan.rated if one.protocol == "rated" else plan.catalogue
        if one.metric is None or ranking is None:
            called: dict[str, Any] = {"function": (one.function, one.keywords)}
            choices = {"kind": "function", "name": qualified_name(one.function)}
        else:
            found = next(each for each in ranking.measurements if each.metric == one.metric)
            used = {"gain": found.convention.gain, "discount": found.convention.discount}
            called = {name: rule for name, rule in used.items() if callable(rule)}
            called |= {"metric": type(one.metric)} if one.metric.origin else {}
            threshold = str(found.threshold)
            choices = {"kind": "ranking", **found.convention.texts, "threshold": threshold}
        for what, function in called.items():
            with label_messages(
                f"{one.name}: its {what} cannot be compared, so no folder can resume it"
            ):
                choices[f"code of {what}"] = fingerprint(function)[0]
        described[one.name] = choices
    return described


def parse_models(
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
        msg = f"Give the models by name, {{'SVD': SVD(), 'KNN': KNNBasic()}}, not {quote(models)}."
        raise InvalidInputError(msg)
    for name, given in models.items():
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            msg = f"The name of a model is text that can be shown, not {quote(name)}."
            raise InvalidInputError(msg)
        if isinstance(given, type):
            msg = f"{name}: {given.__name__} is a class; a model is one of it, {given.__name__}()."
            raise InvalidInputError(msg)
        if not is_algorithm(given) and not callable(given):
            msg = (
                f"{name}: a model has fit(trainset) and test(testset), as those of Surprise, or is "
                f"a function of the ratings to train on, not {quote(given)}."
            )
            raise InvalidInputError(msg)
    if baseline is not None and baseline not in (known := [*models, CHANCE]):
        msg = f"baseline={quote(baseline)} is none of the models. {suggest(str(baseline), known)}"
        raise InvalidInputError(msg)
    by_name = fingerprint if isinstance(fingerprint, Mapping) else {}
    for name in by_name:
        if name not in models:
            msg = f"fingerprint names no model: {quote(name)}. {suggest(str(name), models)}"
            raise InvalidInputError(msg)
    texts = by_name.values() if by_name or fingerprint is None else [fingerprint]
    if not all(isinstance(one, str) and one for one in texts):
        msg = f"fingerprint is a text, or a text for each model by name, not {quote(fingerprint)}."
        raise InvalidInputError(msg)
    return {name: Model(name, given, len(seeds) > 1) for name, given in models.items()}


def is_algorithm(given: Any) -> bool:
    """Return whether a model has `fit` and `test`, unlike a function."""
    return all(callable(getattr(given, name, None)) for name in ("fit", "test"))


def check_models_rank_catalogue(models: Mapping[str, Model]) -> None:
    """Raise if a model cannot estimate arbitrary pairs.

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


def parse_seeds(seeds: Any) -> list[int]:
    """Return the seeds: the given ones, or a given number of them from 0.

    Raises
    ------
    InvalidInputError
        They are none.
    """
    is_number = isinstance(seeds, Integral)
    given = range(seeds) if is_number and seeds <= _MOST else seeds
    wrong = isinstance(seeds, bool | str) or not isinstance(given, Iterable)
    found = [] if wrong else list(given)
    if not found or not all(_is_seed(one) for one in found) or len(set(found)) < len(found):
        msg = f"seeds is how many, at least 1, or several different ones, not {quote(seeds)}."
        raise InvalidInputError(msg)
    return [int(one) for one in found]


def _is_seed(one: Any) -> bool:
    """Return whether NumPy takes it as a seed."""
    return isinstance(one, Integral) and not isinstance(one, bool) and 0 <= int(one) < 2**32


def format_call(given: Any) -> str:
    """Return a call of a class with changed parameters, or the name of a function, as code."""
    if not is_algorithm(given) and not hasattr(given, "split"):
        return str(getattr(unwrap_function(given), "__name__", type(given).__name__))
    usual = {name: repr(one.default) for name, one in signature_of(type(given)).items()}
    own = {name: one for name, one in vars(given).items() if name in {*usual, *_OPTIONS}}
    told = [
        f"{name}={readable(own[name])!r}"
        for name in [*usual, *_OPTIONS]
        if name in own and repr(own[name]) not in (usual.get(name), "{}", "{'user_based': True}")
    ]
    return f"{type(given).__name__}({', '.join(told)})"
