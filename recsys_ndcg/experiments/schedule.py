"""The cells of an experiment: every model in every fold of every seed."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from numbers import Integral
from typing import TYPE_CHECKING, Any

from recsys_ndcg.catalogue import Ratings
from recsys_ndcg.comparison import CHANCE
from recsys_ndcg.errors import InvalidInputError, about, nearest, shown
from recsys_ndcg.experiments.cells import Cell, Task
from recsys_ndcg.experiments.fingerprints import qualified_name, readable
from recsys_ndcg.experiments.models import is_algorithm, models_of, refuse_for_catalogue
from recsys_ndcg.experiments.ratings import digest_of_split
from recsys_ndcg.folds import Splits, UserKFold, check_jobs, ratings_of, warn_of_scale

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from recsys_ndcg.experiments.models import Model
    from recsys_ndcg.folds import FoldPlan

_SEED = "random_state"
_HIGHEST = 2**32 - 1  # that NumPy takes


@dataclass(frozen=True)
class Schedule:
    """All cells: every model in every fold of every seed.

    Parameters
    ----------
    models : mapping of str to Model
        By name.
    ratings : Splits
        What is split.
    splitter : object
        That has `split`.
    seeds : sequence of int
        For the splitter and the models.
    plan : FoldPlan
        What is measured.
    splits : dict of Cell to str
        The digests of what has been split so far.
    said : list of str
        What is to be warned of the ratings.
    """

    models: Mapping[str, Model]
    ratings: Splits
    splitter: Any
    seeds: Sequence[int]
    plan: FoldPlan
    splits: dict[Cell, str] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)

    @classmethod
    def of(
        cls, data: Any, models: Mapping[str, Model], plan: FoldPlan, splits: Any, seeds: Any
    ) -> Schedule:
        """Settle what is asked for, before anything is trained.

        Raises
        ------
        InvalidInputError
            Something of it cannot be used.
        """
        splitter = splitter_of(splits, data)
        ratings = Splits(data)
        plan = ratings.settled(plan, splitter)
        if plan.catalogue is not None:
            refuse_for_catalogue(models)
        return cls(models, ratings, splitter, seeds_of(seeds), plan)

    @property
    def several(self) -> bool:
        """Whether there are several seeds."""
        return len(self.seeds) > 1

    @property
    def total(self) -> int | None:
        """How many cells there are, None where the splitter does not say."""
        try:
            n_folds = int(self.splitter.get_n_folds())
        except (AttributeError, TypeError, ValueError):
            return None
        return n_folds * len(self.seeds) * len(self.models)

    def tasks(self, done: Callable[[Cell], bool]) -> Iterator[Task]:
        """Give what is to be done, fold by fold, each split as long as it is needed."""
        for seed in self.seeds:
            splitter = seeded(self.splitter, seed, always=self.several)
            for fold, (trainset, testset) in enumerate(self.ratings.by(splitter), 1):
                self._look_at(trainset)
                split = digest_of_split(trainset, testset)
                for name, model in self.models.items():
                    cell = Cell(name, seed, fold)
                    self.splits[cell] = split
                    if not done(cell):
                        yield Task(cell, model, self.several, trainset, testset, split, self.plan)

    def _look_at(self, trainset: Any) -> None:
        """Keep what is to be warned of the first trainset."""
        if self.splits:
            return
        ratings = Ratings(trainset.ur, trainset.n_users)
        with about("") as said:
            warn_of_scale(ratings.values, trainset.rating_scale)
            for kind in dict.fromkeys(type(one.given) for one in self.models.values()):
                if is_algorithm(kind):
                    from recsys_ndcg.surprise.traps import warn_of_training  # noqa: PLC0415

                    warn_of_training(kind, ratings, None)
        self.said.extend(said)


def splitter_of(splits: Any, data: Any) -> Any:
    """Return what splits: folds of each user's ratings for a number.

    Raises
    ------
    InvalidInputError
        It cannot split.
    """
    if not isinstance(splits, Integral):
        found = UserKFold() if splits is None else splits
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


def checked_models(
    models: Mapping[str, Any],
    baseline: str | None,
    n_jobs: int | None,
    fingerprint: str | Mapping[str, str] | None,
) -> dict[str, Model]:
    """Return models by name; refuse a baseline, jobs and fingerprints that cannot be theirs."""
    found = models_of(models)
    known = {*found, CHANCE}
    if baseline is not None and (not isinstance(baseline, str) or baseline not in known):
        msg = f"baseline={shown(baseline)} is none of the models. {nearest(str(baseline), known)}"
        raise InvalidInputError(msg)
    check_jobs(n_jobs)
    if fingerprint is not None:
        _check_fingerprint(fingerprint, models)
    return found


def _check_fingerprint(fingerprint: Any, models: Mapping[str, Any]) -> None:
    """Refuse what is neither a text nor a text for each of some models."""
    by_name = fingerprint if isinstance(fingerprint, Mapping) else {}
    for name in by_name:
        if name not in models:
            msg = f"fingerprint names no model: {shown(name)}. {nearest(str(name), models)}"
            raise InvalidInputError(msg)
    if not all(isinstance(one, str) and one for one in by_name.values() or [fingerprint]):
        msg = f"fingerprint is a text, or a text for each model by name, not {shown(fingerprint)}."
        raise InvalidInputError(msg)
