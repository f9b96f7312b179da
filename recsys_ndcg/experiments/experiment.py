"""experiment: train and evaluate models over folds and seeds, and compare them."""

from __future__ import annotations

from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from recsys_ndcg.comparison.chance import CHANCE
from recsys_ndcg.comparison.comparing import compare
from recsys_ndcg.comparison.comparison import Comparison
from recsys_ndcg.errors import InvalidInputError, nearest, shown, warn, warn_of_some
from recsys_ndcg.experiments import splits as parting
from recsys_ndcg.experiments.cells import Failure
from recsys_ndcg.experiments.folder import RunFolder
from recsys_ndcg.experiments.measured import Measured
from recsys_ndcg.experiments.measured import described as described_plan
from recsys_ndcg.experiments.models import models_of, refuse_for_catalogue
from recsys_ndcg.experiments.ratings import dataset_of
from recsys_ndcg.experiments.ratings import described as described_ratings
from recsys_ndcg.experiments.running import Schedule, outcomes
from recsys_ndcg.experiments.runs import ModelRun, cells_table
from recsys_ndcg.rendering.progress import progress_bar
from recsys_ndcg.surprise.leakage import warn_of_leaks
from recsys_ndcg.surprise.model_selection.preflight import check_jobs
from recsys_ndcg.surprise.orderless import warn_of_random_order
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from recsys_ndcg.convention.convention import Convention
    from recsys_ndcg.experiments.cells import Cell, Result
    from recsys_ndcg.scoring.plan import Cutoffs


def experiment(  # noqa: PLR0913 - the contract
    data: Any,
    models: Mapping[str, Any],
    *,
    metrics: Any = None,
    k: Cutoffs = 10,
    threshold: float | None = None,
    convention: Convention | str | None = None,
    protocol: str | Iterable[str] = "rated",
    splits: Any = 5,
    seeds: int | Iterable[int] = 1,
    folder: str | Path | None = None,
    n_jobs: int | None = 1,
    baseline: str | None = None,
    columns: Mapping[str, str] | None = None,
    rating_scale: tuple[float, float] | None = None,
    progress: bool | Callable[[str, float], object] = True,
    on_result: Callable[[Result], object] | None = None,
) -> Comparison:
    """Train and evaluate models over folds and seeds, and compare them.

    Parameters
    ----------
    data : surprise.Dataset, table, or path
        The ratings: a row each, with the columns user, item, rating and, for splits by time,
        timestamp; or a file of such rows.
    models : mapping of str to models
        By name. A model has ``fit(trainset)`` and ``test(testset)``, as those of Surprise; a copy
        is trained in each fold. Or it is a function: ``f(train)`` gets a table user, item, rating,
        and returns a function that estimates pairs, a table user, item; or ``f(train, pairs)``
        returns these estimates at once, where only test ratings are ranked. Estimates are a
        number per pair, or a table user, item, estimated.
    metrics : names, metrics, or measures of `recsys_ndcg.surprise`, optional
        As in `cross_validate`; the first decides. A name without ``@k`` takes every `k`; one with
        ``:catalogue`` ranks that alone, whatever `protocol` says. By default ndcg, and with a
        threshold precision and recall.
    k, threshold, convention
        As in `recsys_ndcg.evaluate`; estimates are equal to at least 1e-9.
    protocol : {'rated', 'catalogue', 'both'}
        What is ranked: the test ratings of each user, all items that the user did not rate in
        training, or once this and once that.
    splits : int or splitter
        How many folds of each user's ratings (`UserKFold`); or an object with ``split(data)``,
        Surprise's own or `LeaveLastOut`, `TimeSplit` and their like.
    seeds : int or several
        How many times all of it is done, or with which seeds: for splits and models that have a
        `random_state`. A single seed is for those that have none of their own.
    folder : path, optional
        Where every result is kept as soon as it is there: scores of users as Parquet, all else as
        JSON. The same call goes on where another was stopped, by whatever; models and seeds may
        be added. `load_runs` reads it. Several processes may work in it at once.
    n_jobs : int, optional
        How many processes train at once; -1 for as many as there are processors.
    baseline : str, optional
        As in `recsys_ndcg.compare`; a single model is compared with ``"chance"``.
    columns : mapping, optional
        What a table calls the columns: ``{"rating": "stars"}``.
    rating_scale : pair of float, optional
        Of a table or a file; by default from its lowest rating to its highest.
    progress : bool or callable
        Whether a bar is shown, on a terminal or in a notebook; or what is called in its place,
        with what is done and how much of it, from 0 to 1.
    on_result : callable, optional
        Called with each new `Result` after it is kept: for trackers, ``result.to_metrics()``.

    Returns
    -------
    Comparison
        Of all models, users averaged over folds and seeds. ``comparison.runs`` has what every fold
        took, in seconds and memory.

    Raises
    ------
    InvalidInputError
        Something cannot be used, which is said before anything is trained; the folder holds
        another experiment, or cannot be written; or all models failed.

    Warns
    -----
    DataWarning
        A model failed in some fold: it is left out of the comparison, and its traceback is in the
        folder. And as `cross_validate` does.

    Notes
    -----
    The users of a fold are not those of another, and neither are two seeds independent: scores
    are averaged within each user before anything is tested.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> from surprise import BaselineOnly
    >>> from recsys_ndcg.datasets import sample_ratings
    >>> from recsys_ndcg.surprise import MostPopular
    >>> def mean_of_item(train):
    ...     means = train.groupby("item")["rating"].mean()
    ...     return lambda pairs: pairs["item"].map(means).fillna(0.0)
    >>> models = {"biases": BaselineOnly(), "popular": MostPopular(), "mean": mean_of_item}
    >>> ratings = sample_ratings(n_users=100)
    >>> found = rn.experiment(ratings, models, metrics=["ndcg@10", "rmse"], splits=2)
    >>> found.leaderboard[["mean", "tier"]].round(3)
              mean  tier
    model
    mean     0.848     1
    biases   0.848     1
    popular  0.752     3
    """
    known = models_of(models)
    check_jobs(n_jobs)
    _check_baseline(baseline, known)
    dataset = dataset_of(data, columns, rating_scale)
    plan = Measured(metrics, k, threshold, convention, protocol).plan(dataset)
    if plan.catalogue is not None:
        refuse_for_catalogue(known)
    splitter, used = parting.splitter_of(splits, dataset), parting.seeds_of(seeds)
    schedule = Schedule(known, dataset, splitter, used, plan)
    outcome = _Outcome(schedule, None if folder is None else _opened(folder, schedule), {}, {})
    shown_by = nullcontext(progress) if callable(progress) else progress_bar(wanted=progress)
    with shown_by as show:
        outcome.gather(n_jobs, on_result, show)
    outcome.say()
    return outcome.comparison(baseline, progress=progress is True)


@dataclass(frozen=True)
class _Outcome:
    """What came of the cells so far."""

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
        with closing(outcomes(self.schedule.tasks(self._is_done), n_jobs)) as found:
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
        return Comparison(replace(found.field, runs=cells_table(models)))

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


def _opened(folder: str | Path, schedule: Schedule) -> RunFolder:
    """Return the folder, which says what is asked."""
    asked = {
        "written_by": __version__,
        "data": described_ratings(schedule.data),
        "splits": parting.described(schedule.splitter, always=schedule.several),
        "measures": described_plan(schedule.plan),
    }
    return RunFolder.opened(folder, asked, schedule.models)


def _check_baseline(baseline: str | None, models: Mapping[str, Any]) -> None:
    """Refuse, before anything is trained, a baseline that there is not."""
    if baseline is not None and baseline not in {*models, CHANCE}:
        msg = f"baseline={shown(baseline)} is none of the models. {nearest(str(baseline), models)}"
        raise InvalidInputError(msg)
