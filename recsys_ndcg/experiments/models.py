"""The models of an experiment: fresh for every fold, seeded, and described so as to be known."""

from __future__ import annotations

import copy
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.experiments.described import bound, described_algorithm, described_function, held
from recsys_ndcg.surprise.estimates.functions import SEEDS, FunctionModel

_SEED = "random_state"


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
        algo = copy.deepcopy(self.given)  # of a function, itself
        if not is_algorithm(algo):
            own = not always and {*getattr(algo, "keywords", ())} & {*SEEDS}  # of a partial
            return FunctionModel(algo, self.name, None if own else seed)
        if hasattr(algo, _SEED) and (always or getattr(algo, _SEED) is None):
            setattr(algo, _SEED, seed)
        if getattr(algo, "verbose", False) is True:
            algo.verbose = False
        return algo

    @property
    def parameters(self) -> dict[str, Any]:
        """What its class, or its function, was given."""
        return held(self.given) if is_algorithm(self.given) else bound(self.given)

    @property
    def described(self) -> dict[str, Any]:
        """What tells it from another: the class or function, what it was given, and its source."""
        if is_algorithm(self.given):
            return described_algorithm(self.given)
        return described_function(self.given)


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
