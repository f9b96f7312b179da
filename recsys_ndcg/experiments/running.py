"""The cells of an experiment: every model in every fold of every seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from recsys_ndcg.comparison.common_users import CHANCE
from recsys_ndcg.errors import InvalidInputError, about, nearest, shown
from recsys_ndcg.experiments.cells import Cell, Task
from recsys_ndcg.experiments.models import models_of, refuse_for_catalogue
from recsys_ndcg.experiments.ratings import digest_of_split
from recsys_ndcg.experiments.splits import seeded, seeds_of, splitter_of
from recsys_ndcg.surprise.model_selection.preflight import check_jobs, watched_splits
from recsys_ndcg.surprise.trainsets import Ratings
from recsys_ndcg.surprise.traps import warn_of_training

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from recsys_ndcg.experiments.measured import Measured
    from recsys_ndcg.experiments.models import Model
    from recsys_ndcg.surprise.leakage import Leak
    from recsys_ndcg.surprise.model_selection.fold_plan import FoldPlan


@dataclass(frozen=True)
class Schedule:
    """All cells: every model in every fold of every seed.

    Parameters
    ----------
    models : mapping of str to Model
        By name.
    data : surprise.Dataset
        The ratings.
    splitter : object
        That has `split`.
    seeds : sequence of int
        For the splitter and the models.
    plan : FoldPlan
        What is measured.
    splits : dict of Cell to str
        The digests of what has been split so far.
    leaks : list of Leak
        Of each split so far.
    said : list of str
        What is to be warned of the ratings.
    """

    models: Mapping[str, Model]
    data: Any
    splitter: Any
    seeds: Sequence[int]
    plan: FoldPlan
    splits: dict[Cell, str] = field(default_factory=dict)
    leaks: list[Leak] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    @classmethod
    def of(
        cls, data: Any, models: Mapping[str, Any], measured: Measured, splits: Any, seeds: Any
    ) -> Schedule:
        """Settle what is asked for, before anything is trained.

        Raises
        ------
        InvalidInputError
            Something of it cannot be used.
        """
        known = models_of(models)
        splitter = splitter_of(splits, data)
        plan = measured.plan(data, splitter)
        if plan.catalogue is not None:
            refuse_for_catalogue(known)
        return cls(known, data, splitter, seeds_of(seeds), plan)

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
            splits = watched_splits(splitter, self.data, None, self.leaks)
            for fold, (trainset, testset) in enumerate(splits, 1):
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
        ratings = Ratings.by_user(trainset)
        with about("") as said:
            warn_of_training(object, ratings, trainset.rating_scale)
            for kind in dict.fromkeys(type(one.given) for one in self.models.values()):
                warn_of_training(kind, ratings, None)
        self.said.extend(said)


def check(
    models: Mapping[str, Any],
    baseline: str | None,
    n_jobs: int | None,
    fingerprint: str | Mapping[str, str] | None,
) -> None:
    """Refuse what needs no look at the ratings: models, an unknown baseline, jobs, fingerprints."""
    known = {*models_of(models), CHANCE}
    if baseline is not None and (not isinstance(baseline, str) or baseline not in known):
        msg = f"baseline={shown(baseline)} is none of the models. {nearest(str(baseline), known)}"
        raise InvalidInputError(msg)
    check_jobs(n_jobs)
    if fingerprint is not None:
        _check_fingerprint(fingerprint, models)


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
