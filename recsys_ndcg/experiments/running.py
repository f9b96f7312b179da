"""The cells of an experiment, one after the other or in workers of their own."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import FIRST_COMPLETED, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from joblib import effective_n_jobs
from joblib.externals.loky import ProcessPoolExecutor

from recsys_ndcg.comparison.chance import CHANCE
from recsys_ndcg.errors import InvalidInputError, about, nearest, shown
from recsys_ndcg.experiments.cells import Cell, Failure, Result, Task, failure_of, worked
from recsys_ndcg.experiments.models import models_of, refuse_for_catalogue
from recsys_ndcg.experiments.ratings import digest_of_split
from recsys_ndcg.experiments.splits import seeded, seeds_of, splitter_of
from recsys_ndcg.surprise.model_selection.preflight import check_jobs, watched_splits
from recsys_ndcg.surprise.trainsets import Ratings
from recsys_ndcg.surprise.traps import warn_of_training

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from recsys_ndcg.experiments.measured import Measured
    from recsys_ndcg.experiments.models import Model
    from recsys_ndcg.surprise.leakage import Leak
    from recsys_ndcg.surprise.model_selection.fold_plan import FoldPlan

_LOOKS = 1.0  # seconds between looks whether there is anybody to work for


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


def check(models: Mapping[str, Any], baseline: str | None, n_jobs: int | None) -> None:
    """Refuse what needs no look at the ratings: models, a baseline that there is not, jobs."""
    known = {*models_of(models), CHANCE}
    if baseline is not None and baseline not in known:
        msg = f"baseline={shown(baseline)} is none of the models. {nearest(str(baseline), known)}"
        raise InvalidInputError(msg)
    check_jobs(n_jobs)


def outcomes(tasks: Iterable[Task], n_jobs: int | None) -> Generator[Result | Failure, None, None]:
    """Give what comes of tasks as it comes.

    With several jobs each worker is a process, and none of them outlives this generator.

    Raises
    ------
    InvalidInputError
        A worker was killed.
    """
    workers = effective_n_jobs(n_jobs)
    if workers == 1:
        yield from map(worked, tasks)
        return
    running: dict[Future[Result | Failure], Cell] = {}
    pool = ProcessPoolExecutor(max_workers=workers, initializer=_depend, initargs=(os.getpid(),))
    try:
        for task in tasks:
            running[pool.submit(worked, task)] = task.cell
            if len(running) > workers:  # one waits, so that no worker does
                yield from _finished(running)
        while running:
            yield from _finished(running)
    finally:
        pool.shutdown(kill_workers=True)


def _depend(asking: int) -> None:
    """Leave Ctrl-C to the process that asked, and end with it, also where it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(asking,), daemon=True).start()


def _end_with(asking: int) -> None:
    while os.getppid() == asking:
        time.sleep(_LOOKS)
    os._exit(1)


def _finished(running: dict[Future[Result | Failure], Cell]) -> Iterator[Result | Failure]:
    """Wait for some of what is running, and give it."""
    finished, _ = wait(running, return_when=FIRST_COMPLETED)
    for one in finished:
        try:
            found = one.result()
        except BrokenProcessPool:
            told = "; ".join(map(str, running.values()))
            msg = (
                f"A worker was ended from outside, perhaps for lack of memory, while these were "
                f"running or waiting: {told}. Run again with fewer jobs (n_jobs=1 takes the least "
                "memory); with folder= it goes on from there."
            )
            raise InvalidInputError(msg) from None
        except Exception as error:  # noqa: BLE001 - what cannot be sent to a worker, or back
            found = failure_of(running[one], error)
        del running[one]
        yield found
