"""What came of the cells of an experiment, gathered, kept, and compared."""

from __future__ import annotations

import inspect
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from recsys_ndcg.comparison import CHANCE, Comparison, compare
from recsys_ndcg.errors import InvalidInputError, warn, warn_of_some
from recsys_ndcg.experiments.cells import Failure, failure_of, run_fold
from recsys_ndcg.experiments.fingerprints import readable
from recsys_ndcg.experiments.folder import RunFolder
from recsys_ndcg.experiments.measures import describe_measures
from recsys_ndcg.experiments.models import is_algorithm, unwrapped
from recsys_ndcg.experiments.ratings import describe_ratings, users_of
from recsys_ndcg.experiments.runs import ModelRun, cells_table
from recsys_ndcg.experiments.schedule import describe_splitter
from recsys_ndcg.files import arrow_column
from recsys_ndcg.folds import UserKFold, run_each, warn_of_random_order
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from recsys_ndcg.experiments.cells import Cell, Result
    from recsys_ndcg.experiments.schedule import Schedule


@dataclass(frozen=True)
class Outcome:
    """What came of the cells so far.

    Parameters
    ----------
    schedule : Schedule
        All that there are.
    folder : RunFolder, optional
        Where results are kept.
    results : dict of Cell to Result
        Of those that are done.
    failures : dict of Cell to str
        What is said of those that failed.
    """

    schedule: Schedule
    folder: RunFolder | None
    results: dict[Cell, Result]
    failures: dict[Cell, str]

    def gather(
        self,
        n_jobs: int | None,
        on_result: Callable[[Result], object] | None,
        show: Callable[[str, float], object],
    ) -> None:
        """Do what is not done yet, and keep each result before the next is waited for."""
        total = self.schedule.total
        show("Training", 0.0 if total else -1.0)
        tasks = self.schedule.tasks(self._is_done)
        with closing(run_each(run_fold, failure_of, tasks, n_jobs)) as found:
            for one in found:
                if isinstance(one, Failure):
                    self._fail(one)
                else:
                    if self.folder is not None:
                        self.folder.keep(one)
                    self.results[one.cell] = one
                    if on_result is not None:
                        on_result(one)
                n_done = len(self.results) + len(self.failures)
                show("Training", n_done / total if total else -1.0)

    def _is_done(self, cell: Cell) -> bool:
        """Take a result from the folder, if it is there and of the same split."""
        if self.folder is None or not self.folder.holds(cell):
            return False
        result = self.folder.result(cell)
        if result.split != self.schedule.splits[cell]:
            msg = (
                f"{self.folder.path}: {cell} was measured on another split than there is now. "
                "Give the splitter a random_state, or take another folder."
            )
            raise InvalidInputError(msg)
        self.results[cell] = result
        return True

    def _fail(self, failure: Failure) -> None:
        where = f" ({self.folder.fail(failure)})" if self.folder is not None else ""
        self.failures[failure.cell] = f"{failure.error}{where}"

    def say(self) -> None:
        """Warn of what makes the numbers deceive, and of what failed."""
        self.schedule.ratings.warn_of_leaks()
        for told in self.schedule.said:
            warn(told)
        by_model = {name: self._of(name) for name in self.schedule.models}
        said = {
            name: [told for one in some for told in one.said] for name, some in by_model.items()
        }
        warn_of_some(said)
        for name, some in by_model.items():
            warn_of_random_order(name, [one.fold.orderless for one in some], "folds")

    def comparison(self, baseline: str | None, *, progress: bool) -> Comparison:
        """Compare the models that failed nowhere; one alone with random order.

        Raises
        ------
        InvalidInputError
            All failed.
        """
        failed = self._failed()
        if len(failed) == len(self.schedule.models):
            msg = f"All models failed. {' '.join(failed.values())}"
            raise InvalidInputError(msg)
        for told in failed.values():
            warn(f"{told} It is left out of the comparison.")
        models = {
            name: ModelRun(self._of(name), one.parameters)
            for name, one in self.schedule.models.items()
            if name not in failed
        }
        against = None if baseline in failed else baseline
        if against is None and len(models) == 1:
            against = CHANCE
        found = compare(models, baseline=against, progress=progress)
        runs, typed = cells_table(models), typed_for(self.schedule, found)
        return Comparison(replace(found.compared, runs=runs, made_by=typed))

    def _of(self, model: str) -> list[Result]:
        """Return the results of a model, in order."""
        return [one for cell, one in sorted(self.results.items()) if cell.model == model]

    def _failed(self) -> dict[str, str]:
        """Return what is said of each model that failed somewhere."""
        told = {}
        for name in self.schedule.models:
            bad = [cell for cell in self.failures if cell.model == name]
            if bad:
                n_cells = len(bad) + len(self._of(name))
                told[name] = (
                    f"{name} failed in {len(bad)} of {n_cells} folds, first in seed {bad[0].seed}, "
                    f"fold {bad[0].fold}: {self.failures[bad[0]]}"
                ).rstrip(".") + "."
        return told


def open_folder(
    folder: str | Path, schedule: Schedule, fingerprint: str | Mapping[str, str] | None
) -> RunFolder:
    """Return the folder of an experiment; refuse users whose ids it cannot keep."""
    arrow_column(users_of(schedule.ratings.data))
    asked = {
        "written_by": __version__,
        "data": describe_ratings(schedule.ratings.data),
        "splits": describe_splitter(schedule.splitter, always=schedule.several),
        "measures": describe_measures(schedule.plan),
    }
    models = {
        name: one.describe(always=schedule.several, given_text=fingerprint)
        for name, one in schedule.models.items()
    }
    return RunFolder.open(folder, asked, models)


def typed_for(schedule: Schedule, found: Comparison) -> str:
    """Return the lines of Python that train and compare the same models."""
    models = [f"    {name!r}: {_model(one.given)}," for name, one in schedule.models.items()]
    how = found.signatures[found.metrics[0]].typed
    lines = [
        "import recsys_ndcg as rn",
        "",
        "models = {",
        *models,
        "}",
        "comparison = rn.experiment(",
        "    ratings,",
        "    models,",
        f"    metrics={found.metrics!r}{how},",
        f"    splits={_splits(schedule.splitter)},",
        f"    seeds={[*schedule.seeds]!r},",
        ")",
    ]
    return "\n".join(lines)


def _model(given: Any) -> str:
    if is_algorithm(given):
        return _made(given)
    return str(getattr(unwrapped(given), "__name__", type(given).__name__))


def _splits(splitter: Any) -> str:
    usual = type(splitter) is UserKFold and splitter.random_state is None
    return repr(splitter.n_splits) if usual else _made(splitter)


def _made(given: Any) -> str:
    """Return a call of a class with what differs from its defaults, as far as it is plain."""
    kind = type(given)
    try:
        known: Mapping[str, inspect.Parameter] = inspect.signature(kind).parameters
    except (TypeError, ValueError):
        return f"{kind.__name__}(...)"
    held = {**vars(given)}
    own = {name: held[name] for name in [*known, "sim_options", "bsl_options"] if name in held}
    told = [
        f"{name}={readable(value)!r}"
        for name, value in own.items()
        if not _is_default(known.get(name), value) and value not in ({}, {"user_based": True})
    ]
    return f"{kind.__name__}({', '.join(told)})"


def _is_default(parameter: inspect.Parameter | None, value: Any) -> bool:
    if parameter is None or parameter.default is parameter.empty:
        return False
    return type(parameter.default) is type(value) and bool(parameter.default == value)
