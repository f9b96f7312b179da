"""The models of an experiment: fresh for every fold, seeded, and described so as to be known."""

from __future__ import annotations

import copy
import functools
import inspect
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.surprise.estimates.functions import FunctionModel

if TYPE_CHECKING:
    from collections.abc import Callable

_SEED = "random_state"
_PLAIN = (str, int, float, bool, type(None))
_OURS = ("surprise", "recsys_ndcg")


@dataclass(frozen=True)
class Model:
    """A model that is trained anew in every fold.

    Parameters
    ----------
    name : str
        Under which it was given.
    given : object
        With `fit` and `test`, or a function of the ratings to train on.
    """

    name: str
    given: Any

    def fresh(self, seed: int, *, always: bool) -> Any:
        """Return it unfitted, and silent.

        Parameters
        ----------
        seed : int
            For its `random_state`, unless it has one of its own.
        always : bool
            Whether it takes the seed even so: there are several.
        """
        if not is_algorithm(self.given):
            return FunctionModel(self.given, self.name, seed)
        algo = copy.deepcopy(self.given)
        if hasattr(algo, _SEED) and (always or getattr(algo, _SEED) is None):
            setattr(algo, _SEED, seed)
        if getattr(algo, "verbose", False) is True:
            algo.verbose = False
        return algo

    @property
    def parameters(self) -> dict[str, Any]:
        """What its class, or its function, was given."""
        if is_algorithm(self.given):
            return _parameters(self.given)
        return _bound(self.given)

    @property
    def described(self) -> dict[str, Any]:
        """What tells it from another: the class or function, what it was given, and its source."""
        if not is_algorithm(self.given):
            return described_function(self.given)
        kind = type(self.given)
        return {"class": named(kind), "parameters": self.parameters, **_source(kind)}


def described_function(function: Any) -> dict[str, Any]:
    """Return what tells a function from another: what it encloses, too."""
    inner = unwrapped(function)
    return {"function": named(inner), "parameters": _bound(function), **_source(inner)}


def models_of(models: Any) -> dict[str, Model]:
    """Return models by their names.

    Raises
    ------
    InvalidInputError
        There are none, or one is nothing that can be trained.
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
    return {name: Model(name, given) for name, given in models.items()}


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


def named(kind: Any) -> str:
    """Return where a class or function can be imported from."""
    module = getattr(kind, "__module__", "")
    return f"{module}.{getattr(kind, '__qualname__', type(kind).__qualname__)}"


def plain(value: Any) -> Any:
    """Return what JSON can hold of a value; the type of what it cannot."""
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    value = value.item() if getattr(value, "shape", None) == () else value
    if isinstance(value, float) and not abs(value) < float("inf"):
        return repr(value)
    return value if isinstance(value, _PLAIN) else named(type(value))


def versions() -> dict[str, str]:
    """Return the versions of what numbers may hang on."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - rarely needed

    found = {"python": platform.python_version()}
    for name in ("recsys-ndcg", "scikit-surprise", "numpy", "pandas", "scipy", "joblib"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def machine() -> dict[str, Any]:
    """Return what times may hang on."""
    return {
        "system": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
    }


def _parameters(algo: Any) -> dict[str, Any]:
    """Return what the constructors of an algorithm take, as it holds it."""
    names = {"sim_options", "bsl_options"}
    for kind in type(algo).__mro__:
        made = vars(kind).get("__init__")
        names |= set(inspect.signature(made).parameters) if callable(made) else set()
    held = {name: value for name, value in vars(algo).items() if name in names - {"verbose"}}
    return {name: plain(value) for name, value in sorted(held.items())}


def unwrapped(function: Any) -> Any:
    """Return the function below those that give it some of its arguments."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _bound(function: Callable[..., Any]) -> dict[str, Any]:
    """Return what a function was given before it is called: arguments, and what it encloses."""
    found: dict[str, Any] = {}
    while isinstance(function, functools.partial):
        found |= {f"{place}": plain(one) for place, one in enumerate(function.args)}
        found = {name: plain(one) for name, one in function.keywords.items()} | found
        function = function.func
    if inspect.isfunction(function):
        enclosed = inspect.getclosurevars(function).nonlocals
        found |= {name: plain(one) for name, one in enclosed.items()}
    return found


def _source(kind: Any) -> dict[str, str]:
    """Return a digest of how somebody's own class or function is written, where that is known."""
    if named(kind).partition(".")[0] in _OURS:
        return {}
    try:
        text = inspect.getsource(kind if inspect.isroutine(kind) else _class_of(kind))
    except (OSError, TypeError):
        return {}
    return {"source": blake2b(text.encode(), digest_size=8).hexdigest()}


def _class_of(kind: Any) -> Any:
    return kind if isinstance(kind, type) else type(kind)
