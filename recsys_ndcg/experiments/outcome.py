"""What came of the cells of an experiment, gathered, kept, and compared."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from recsys_ndcg.comparison.common_users import CHANCE
from recsys_ndcg.comparison.comparison import Comparison
from recsys_ndcg.comparison.reading_models import compare
from recsys_ndcg.errors import InvalidInputError, warn, warn_of_some
from recsys_ndcg.experiments.cells import Failure
from recsys_ndcg.experiments.folder import RunFolder
from recsys_ndcg.experiments.measured import describe_measures
from recsys_ndcg.experiments.ratings import describe_ratings, users_of
from recsys_ndcg.experiments.reproducing import typed_for
from recsys_ndcg.experiments.runs import ModelRun, cells_table
from recsys_ndcg.experiments.splits import describe_splitter
from recsys_ndcg.experiments.workers import run_tasks
from recsys_ndcg.files.archive import arrow_column
from recsys_ndcg.surprise.leakage import warn_of_leaks
from recsys_ndcg.surprise.orderless import warn_of_random_order
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from recsys_ndcg.experiments.cells import Cell, Result
    from recsys_ndcg.experiments.running import Schedule


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
        with closing(run_tasks(self.schedule.tasks(self._is_done), n_jobs)) as found:
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
        warn_of_leaks(self.schedule.leaks)
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
    arrow_column(users_of(schedule.data))
    asked = {
        "written_by": __version__,
        "data": describe_ratings(schedule.data),
        "splits": describe_splitter(schedule.splitter, always=schedule.several),
        "measures": describe_measures(schedule.plan),
    }
    models = {
        name: one.describe(always=schedule.several, given_text=fingerprint)
        for name, one in schedule.models.items()
    }
    return RunFolder.open(folder, asked, models)
