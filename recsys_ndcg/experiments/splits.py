"""How an experiment parts its ratings: a splitter for every seed."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from contextlib import suppress
from numbers import Integral
from typing import Any

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.experiments.fingerprints import qualified_name, readable
from recsys_ndcg.surprise.model_selection.preflight import iterator_of
from recsys_ndcg.surprise.model_selection.raw_ratings import ratings_of
from recsys_ndcg.surprise.model_selection.splits import UserKFold

_SEED = "random_state"
_HIGHEST = 2**32 - 1  # that NumPy takes


def splitter_of(splits: Any, data: Any) -> Any:
    """Return what splits: folds of each user's ratings for a number.

    Raises
    ------
    InvalidInputError
        It cannot split.
    """
    if not isinstance(splits, Integral):
        found = iterator_of(UserKFold() if splits is None else splits, data)
        with suppress(TypeError):  # of what cannot be copied
            found = copy.copy(found)  # PredefinedKFold notes in itself what it has split
        return found
    if isinstance(splits, bool) or splits < 2:
        most = len(ratings_of(data))
        msg = f"splits={splits}, but ratings are split into 2 folds or more, up to {most}."
        raise InvalidInputError(msg)
    return UserKFold(int(splits))


def seeds_of(seeds: Any) -> list[int]:
    """Return the seeds: so many from 0 on, or those that are given.

    Raises
    ------
    InvalidInputError
        They are none.
    """
    given = range(seeds) if isinstance(seeds, Integral) else seeds
    wrong = isinstance(seeds, bool | str) or not isinstance(given, Iterable)
    found = [] if wrong else list(given)
    if not found or not all(_is_seed(one) for one in found) or len(set(found)) < len(found):
        msg = f"seeds is how many, at least 1, or several different ones, not {shown(seeds)}."
        raise InvalidInputError(msg)
    return [int(one) for one in found]


def _is_seed(one: Any) -> bool:
    return isinstance(one, Integral) and not isinstance(one, bool) and 0 <= int(one) <= _HIGHEST


def seeded(splitter: Any, seed: int, *, always: bool) -> Any:
    """Return a splitter that draws by a seed, unless it has one of its own."""
    if not hasattr(splitter, _SEED) or not (always or getattr(splitter, _SEED) is None):
        return splitter
    own = copy.copy(splitter)
    setattr(own, _SEED, seed)
    return own


def describe_splitter(splitter: Any, *, always: bool) -> dict[str, Any]:
    """Return what identifies a splitter, as JSON; its seed if that is not the seed of the run."""
    own = getattr(splitter, "__dict__", {})
    held = {name: readable(value) for name, value in sorted(own.items())}
    if always or held.get(_SEED) is None:
        held.pop(_SEED, None)
    return {"class": qualified_name(type(splitter)), **held}
