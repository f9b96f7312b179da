"""An experiment as a file of TOML: the ratings, the models by import path, splits and metrics."""

from __future__ import annotations

import inspect
import sys
import tomllib
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError, nearest, shown
from recsys_ndcg.experiments.models import is_algorithm
from recsys_ndcg.experiments.trials import experiment
from recsys_ndcg.files import open_file

_OWN = ("data", "models", "progress", "on_result")  # options that a file does not give as they are
_WAYS = ("class", "function")


def from_toml(path: str | Path) -> dict[str, Any]:
    """Return what `experiment` is to be called with.

    Parameters
    ----------
    path : str or Path
        A file with ``ratings``, a table ``[models.NAME]`` for each model, and any option of
        `experiment`. A model has ``class`` or ``function``, an import path such as
        ``"surprise.SVD"``, and parameters; so has a table ``[splits]``. Paths start where the file
        is, and modules beside it can be imported.

    Raises
    ------
    InvalidInputError
        The file cannot be read, or something in it is none of this.
    """
    with open_file(path) as file:
        content = file.read()
    try:
        parsed = _parse(content)
        beside = str(Path(path).resolve().parent)
        if beside not in sys.path:  # for good, as workers import modules of the folder again
            sys.path.append(beside)
        return _options(parsed, Path(path).parent)
    except RecsysNdcgError as error:
        msg = f"{path}: {error}"
        raise InvalidInputError(msg) from None


def _parse(content: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(content.decode())
    except RecursionError:
        msg = "no TOML of an experiment (it is nested too deep)."
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        msg = f"no TOML ({error})."
    except ValueError:  # Python's, of thousands of digits
        msg = "no TOML of an experiment (it holds a whole number beyond 2^63)."
    raise InvalidInputError(msg)


def _options(told: dict[str, Any], folder: Path) -> dict[str, Any]:
    known = [name for name in inspect.signature(experiment).parameters if name not in _OWN]
    for name in told:
        if name not in {*known, "ratings", "models"}:
            msg = f"there is no option {name!r}. {nearest(name, [*known, 'ratings', 'models'])}"
            raise InvalidInputError(msg)
    ratings, models = told.pop("ratings", None), told.pop("models", None)
    if not isinstance(ratings, str):
        msg = f'ratings is the path of a file, ratings = "ratings.csv", not {shown(ratings)}.'
        raise InvalidInputError(msg)
    if not isinstance(models, dict) or not all(isinstance(one, dict) for one in models.values()):
        msg = 'a model is a table, [models.SVD], with class = "surprise.SVD" and parameters.'
        raise InvalidInputError(msg)
    found = {name: _made(f"models.{name}", one) for name, one in models.items()}
    if isinstance(told.get("splits"), dict):
        told["splits"] = _made("splits", told["splits"])
    if isinstance(told.get("convention"), dict):
        told["convention"] = Convention(**told["convention"])
    if isinstance(told.get("folder"), str) and told["folder"]:
        told["folder"] = folder / told["folder"]
    return {**told, "data": folder / ratings, "models": found}


def _made(place: str, told: Mapping[str, Any]) -> Any:
    """Return what an import path stands for, made with the parameters beside it."""
    ways = [way for way in _WAYS if way in told]
    if len(ways) != 1 or not isinstance(told[ways[0]], str):
        msg = f'[{place}] needs class = "module.Class", or function = "module.function".'
        raise InvalidInputError(msg)
    (way,) = ways
    found = _imported(place, told[way])
    parameters = {name: value for name, value in told.items() if name != way}
    if way == "function" or not isinstance(found, type):
        if not callable(found) or is_algorithm(found):
            msg = f"[{place}]: {told[way]} is no {way}, but {shown(found)}."
            raise InvalidInputError(msg)
        return partial(found, **parameters) if parameters else found
    try:
        return found(**parameters)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever that class does
        fault = str(error) if isinstance(error, TypeError | ValueError) else _shown(error)
        msg = f"[{place}]: {told[way]} cannot be made so: {fault}"
        raise InvalidInputError(msg) from None


def _imported(place: str, path: str) -> Any:
    module, _, name = path.rpartition(".")
    if not module:
        msg = f"[{place}]: {path!r} names no module. Write one, such as surprise.SVD."
        raise InvalidInputError(msg)
    try:
        found = import_module(module)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever that module does
        told = str(error).rstrip(".") if isinstance(error, ImportError) else _shown(error)
        msg = f"[{place}]: {path!r} cannot be imported: {told}."
        raise InvalidInputError(msg) from None
    if not hasattr(found, name):
        known = [one for one in dir(found) if not one.startswith("_")]
        msg = f"[{place}]: {module} has no {name!r}. {nearest(name, known)}"
        raise InvalidInputError(msg)
    return getattr(found, name)


def _shown(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
