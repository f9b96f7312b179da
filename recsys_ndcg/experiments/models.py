"""Models of an experiment, and descriptions of models, splits and measures."""

from __future__ import annotations

import copy
import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from numbers import Integral
from typing import TYPE_CHECKING, Any

from recsys_ndcg.background import Background
from recsys_ndcg.comparison import CHANCE
from recsys_ndcg.errors import InvalidInputError, escape_invisible, label_messages, quote, suggest
from recsys_ndcg.experiments.fingerprints import (
    describe_globals,
    describe_value,
    fingerprint,
    get_qualified_name,
)
from recsys_ndcg.experiments.functions import (
    FunctionModel,
    RatingColumns,
    fit_estimator,
    get_parameters,
    is_estimator,
)
from recsys_ndcg.experiments.ratings import collect_columns, describe_ratings
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from recsys_ndcg.folds import CheckedSplits, FoldPlan

GIVEN_PREFIX = "given: "  # of a fingerprint that the user gave
_SEED = "random_state"
_MAX_SEEDS = 1_000_000  # if their number is given
_OPTIONS = ("sim_options", "bsl_options")  # algorithms take them as **kwargs


@dataclass(frozen=True)
class Model:
    """A model, of which every fold trains a copy.

    Parameters
    ----------
    name : str
        The model's name.
    given : object
        With `fit` and `test`, an estimator of scikit-learn, or a function of the ratings to train
        on.
    is_reseeded : bool
        Whether the seed of the run replaces its own, because there are several.
    columns : RatingColumns, optional
        All columns of the ratings, for functions and estimators.
    """

    name: str
    given: Any
    is_reseeded: bool
    columns: RatingColumns | None = None

    def copy_unfitted(self, seed: int) -> Any:
        """Return an unfitted, silent copy that draws by the seed, for one fold."""
        algo = copy.deepcopy(self.given)  # a function is not copied
        if self.columns is not None:
            if is_estimator(algo):
                algo = set_seed(algo, seed, always=self.is_reseeded)
                algo = functools.partial(fit_estimator, algo)
            keywords = {*getattr(algo, "keywords", ())}  # of functools.partial
            has_seed = not self.is_reseeded and keywords & {*FunctionModel.SEEDS}
            return FunctionModel(algo, self.name, self.columns, None if has_seed else seed)
        from recsys_ndcg.surprise import CheckedAlgorithm  # noqa: PLC0415 - an extra

        return CheckedAlgorithm(_silence(set_seed(algo, seed, always=self.is_reseeded)))

    @property
    def parameters(self) -> dict[str, Any]:
        """Its attributes, or the arguments of its function, as JSON."""
        if is_estimator(self.given):
            return _get_estimator_parameters(self.given)
        values = _get_held_values(self.given)
        if is_algorithm(self.given):
            values = dict(sorted(_get_attributes(self.given).items()))
            values.pop("verbose", None)
        return {name: describe_value(value) for name, value in values.items()}

    def describe(self, given_text: str | Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return a description that identifies the model, as JSON.

        Parameters
        ----------
        given_text : str or mapping, optional
            The `fingerprint` argument of `experiment`.

        Returns
        -------
        dict
            The `class` or `function`, its `parameters`, the `globals` that it uses, a digest of its
            `code`, the versions of `libraries` that it uses, and the `fingerprint` of all that it
            holds and refers to, and of the `other_columns` that it gets. If it is None,
            `incomparable` has the reason.
        """
        described = self._describe(given_text)
        if self.columns is not None and self.columns.digest:
            described["other_columns"] = self.columns.digest
            if described["fingerprint"] is not None:
                described["fingerprint"] += f" {self.columns.digest}"
        return described

    def _describe(self, given_text: str | Mapping[str, str] | None) -> dict[str, Any]:
        unknown: dict[str, Any] = {"parameters": {}, "libraries": {}}
        if isinstance(given_text, Mapping) and self.name in given_text:
            return {**unknown, "fingerprint": f"{GIVEN_PREFIX}{given_text[self.name]}"}
        try:
            return self._describe_content()
        except Exception as error:  # noqa: BLE001 - inspecting an object may raise anything
            if isinstance(given_text, str):
                return {**unknown, "fingerprint": f"{GIVEN_PREFIX}{given_text}"}
            reason = escape_invisible(str(error) or repr(error))
            return {**unknown, "fingerprint": None, "incomparable": reason}

    def _describe_content(self) -> dict[str, Any]:
        """Describe the model without its seed and its verbosity, which the run sets."""
        if is_algorithm(self.given):
            given = _silence(set_seed(copy.copy(self.given), None, always=self.is_reseeded))
            code: Any = type(given)
        elif is_estimator(self.given):
            given = set_seed(copy.deepcopy(self.given), None, always=self.is_reseeded)
            code = type(given)
        else:
            given = _drop_seeds(self.given) if self.is_reseeded else self.given
            inner = unwrap_function(given)
            code = inner if isinstance(inner, type) or inspect.isroutine(inner) else type(inner)
        digest, libraries = fingerprint(given)
        return {
            "class" if isinstance(code, type) else "function": get_qualified_name(code),
            "parameters": replace(self, given=given).parameters,
            "globals": describe_globals(code),
            "code": fingerprint(getattr(code, "__code__", code))[0][:16],
            "libraries": libraries,
            "fingerprint": digest,
        }


def set_seed(given: Any, seed: int | None, *, always: bool) -> Any:
    """Set the seed of a model or a splitter, if it takes one; keep its own unless `always`."""
    if is_estimator(given) and hasattr(given, "set_params"):  # its steps may have seeds, too
        parameters = given.get_params().items()
        names = [name for name, value in parameters if always or value is None]
        return given.set_params(**{name: seed for name in names if name.endswith(_SEED)})
    if hasattr(given, _SEED) and (always or getattr(given, _SEED) is None):
        setattr(given, _SEED, seed)
    return given


def _silence(algo: Any) -> Any:
    if getattr(algo, "verbose", False) is True:
        algo.verbose = False
    return algo


def _get_attributes(given: Any) -> Mapping[str, Any]:
    return {} if isinstance(given, type) else getattr(given, "__dict__", {})


def _get_estimator_parameters(estimator: Any) -> dict[str, Any]:
    """Return an estimator's parameters, and its steps', as JSON."""
    named = getattr(estimator, "get_params", lambda: vars(estimator))()
    plain = {name: one for name, one in named.items() if isinstance(one, str | float | int | None)}
    return {name: describe_value(one) for name, one in sorted(plain.items())}


def _get_held_values(function: Callable[..., Any]) -> dict[str, Any]:
    """Return a function's arguments, defaults and closure, and the attributes of its object."""
    arguments: dict[str, Any] = {}
    if isinstance(function, functools.partial):
        positional = {f"{place}": value for place, value in enumerate(function.args)}
        arguments = {**function.keywords, **positional}
        function = function.func
    if not inspect.isroutine(function):  # a callable object
        return {**_get_attributes(function), **arguments}
    defaults = {name: one.default for name, one in get_parameters(function).items()}
    own = {name: one for name, one in defaults.items() if one is not inspect.Parameter.empty}
    if inspect.ismethod(function):
        own |= _get_attributes(function.__self__)
    if inspect.isfunction(function):
        with suppress(ValueError):  # a cell is empty
            own |= inspect.getclosurevars(function).nonlocals
    return own | arguments


def unwrap_function(function: Any) -> Any:
    """Return the function inside a `functools.partial`, or the function itself."""
    return function.func if isinstance(function, functools.partial) else function


def _drop_seeds(function: Any) -> Any:
    """Return a function without the seeds that `functools.partial` gives it."""
    if not isinstance(function, functools.partial):
        return function
    seeds = FunctionModel.SEEDS
    keywords = {name: one for name, one in function.keywords.items() if name not in seeds}
    return functools.partial(function.func, *function.args, **keywords)


def describe_experiment(
    ratings: CheckedSplits, plan: FoldPlan, *, several_seeds: bool
) -> dict[str, Any]:
    """Return the ratings, splits and measures that all numbers depend on, as JSON."""
    return {
        "written_by": __version__,
        "data": describe_ratings(ratings.data),
        "splits": _describe_splitter(ratings.splitter, always=several_seeds),
        "measures": _describe_measures(plan),
    }


def _describe_splitter(splitter: Any, *, always: bool) -> dict[str, Any]:
    """Return the class and the attributes of a splitter, as JSON, without the seed of the run."""
    attributes = sorted(_get_attributes(splitter).items())
    values = {name: describe_value(value) for name, value in attributes}
    if always or values.get(_SEED) is None:
        values.pop(_SEED, None)
    return {"class": get_qualified_name(type(splitter)), **values}


def _describe_measures(plan: FoldPlan) -> dict[str, dict[str, str]]:
    """Return the choices behind each measure, and digests of the functions that it calls.

    Raises
    ------
    InvalidInputError
        A function holds an object whose content cannot be compared.
    """
    described: dict[str, dict[str, str]] = {}
    for measure in plan.measures:
        metric, name = measure.metric, measure.name
        ranking = plan.rated if measure.protocol == "rated" else plan.catalogue
        if metric is None or ranking is None:
            functions: dict[str, Any] = {"function": (measure.function, measure.keywords)}
            choices = {"kind": "function", "name": get_qualified_name(measure.function)}
        else:
            measurement = next(one for one in ranking.measurements if str(one) == str(metric))
            convention, threshold = measurement.convention, str(measurement.threshold)
            rules = {name: getattr(convention, name) for name in ("gain", "discount", "distance")}
            functions = {kind: rule for kind, rule in rules.items() if callable(rule)}
            functions |= {"metric": type(metric)} if metric.custom_class else {}
            choices = {"kind": "ranking", "metric": str(measurement.metric), **convention.texts}
            choices["threshold"] = threshold
            known = sorted(plan.known.keys() & metric.find_sources(convention))
            choices |= {f"content of {name}": _hash_table(plan.known[name]) for name in known}
        for kind, function in functions.items():
            label = f"{name}: changes of its {kind} cannot be detected, as `folder=` needs"
            with label_messages(label):
                choices[f"code of {kind}"] = fingerprint(function)[0]
        described[name] = choices
    return described


def _hash_table(features: Any) -> str:
    """Return a digest of a table of features."""
    known = Background.of(features=features)
    assert known is not None, "there is a table"  # noqa: S101
    return fingerprint((known.items, known.features))[0]


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
        There are none, or one cannot be trained; or a baseline or a fingerprint names none of
        them.
    """
    if not isinstance(models, Mapping) or not models:
        msg = f"Give the models by name, {{'SVD': SVD(), 'KNN': KNNBasic()}}, not {quote(models)}."
        raise InvalidInputError(msg)
    for name, given in models.items():
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            msg = f"The name of a model must be printable text, not {quote(name)}."
            raise InvalidInputError(msg)
        if isinstance(given, type):
            msg = f"{name}: {given.__name__} is a class. Pass an instance: {given.__name__}()."
            raise InvalidInputError(msg)
        if not (is_algorithm(given) or callable(given) or is_estimator(given)):
            msg = (
                f"{name}: a model has fit(trainset) and test(testset), like Surprise's, or "
                "fit(X, y) and predict(X), like scikit-learn's, or is a function of the ratings to "
                f"train on, not {quote(given)}."
            )
            raise InvalidInputError(msg)
    if baseline is not None and baseline not in (names := [*models, CHANCE]):
        msg = f"`baseline={quote(baseline)}` is none of the models. {suggest(str(baseline), names)}"
        raise InvalidInputError(msg)
    by_name = fingerprint if isinstance(fingerprint, Mapping) else {}
    for name in by_name:
        if name not in models:
            msg = f"fingerprint names no model: {quote(name)}. {suggest(str(name), models)}"
            raise InvalidInputError(msg)
    texts = by_name.values() if by_name or fingerprint is None else [fingerprint]
    if not all(isinstance(one, str) and one for one in texts):
        msg = f"fingerprint must be a text, or a text per model, not {quote(fingerprint)}."
        raise InvalidInputError(msg)
    return {name: Model(name, given, len(seeds) > 1) for name, given in models.items()}


def add_columns(models: Mapping[str, Model], data: Any) -> dict[str, Model]:
    """Give functions and estimators all columns of the ratings."""
    if all(is_algorithm(one.given) for one in models.values()):
        return dict(models)
    columns = collect_columns(data)
    return {
        name: one if is_algorithm(one.given) else replace(one, columns=columns)
        for name, one in models.items()
    }


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
                f"{name}: to rank the catalogue, a model needs predict(user, item), like "
                "Surprise's. Or pass a function that returns estimates of any pairs."
            )
            raise InvalidInputError(msg)


def parse_seeds(seeds: Any) -> list[int]:
    """Return the seeds: the given ones, or a given number of them from 0.

    Raises
    ------
    InvalidInputError
        They are no seeds, or not different.
    """
    given = range(seeds) if isinstance(seeds, Integral) and seeds <= _MAX_SEEDS else seeds
    is_wrong = isinstance(seeds, bool | str) or not isinstance(given, Iterable)
    each = [] if is_wrong else list(given)
    if not each or not all(map(_is_seed, each)) or len(set(each)) < len(each):
        msg = f"seeds must be a number, at least 1, or several different ones, not {quote(seeds)}."
        raise InvalidInputError(msg)
    return list(map(int, each))


def _is_seed(value: Any) -> bool:
    """Return whether NumPy takes a value as a seed."""
    return isinstance(value, Integral) and not isinstance(value, bool) and 0 <= int(value) < 2**32


def format_imports(objects: Iterable[Any]) -> list[str]:
    """Return the lines of Python that import what `format_call` names.

    The shortest module is used. A name that cannot be imported gets a comment.
    """
    lines = []
    for given in chain.from_iterable(map(_list_steps, objects)):
        is_made = is_algorithm(given) or hasattr(given, "split") or hasattr(given, "get_params")
        named = type(given) if is_made else unwrap_function(given)
        name = getattr(named, "__name__", type(named).__name__)
        module = getattr(named, "__module__", None) or "__main__"
        places = [] if module == "__main__" else [*accumulate(module.split("."), "{}.{}".format)]
        found = (one for one in places if getattr(sys.modules.get(one), name, None) is named)
        place = next(found, None)
        lines.append(f"from {place} import {name}" if place else f"# define {name} here")
    return list(dict.fromkeys(lines))


def _list_steps(given: Any) -> list[Any]:
    """Return a model, and the steps of an estimator of scikit-learn."""
    parameters = given.get_params() if is_estimator(given) and hasattr(given, "get_params") else {}
    return [given, *(one for one in parameters.values() if hasattr(one, "get_params"))]


def format_call(given: Any) -> str:
    """Return code that makes the same object: a class with its changed arguments, or a name."""
    if is_estimator(given) and hasattr(given, "get_params"):
        return " ".join(repr(given).split())
    if not is_algorithm(given) and not hasattr(given, "split"):
        return str(getattr(unwrap_function(given), "__name__", type(given).__name__))
    defaults = {name: repr(one.default) for name, one in get_parameters(type(given)).items()}
    own = vars(given)
    arguments = [
        f"{name}={describe_value(own[name])!r}"
        for name in [*defaults, *_OPTIONS]
        if name in own and repr(own[name]) not in (defaults.get(name), "{}", "{'user_based': True}")
    ]
    return f"{type(given).__name__}({', '.join(arguments)})"
