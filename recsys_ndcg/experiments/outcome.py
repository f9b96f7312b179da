"""Training every model in every fold of every seed, and comparing the results."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats
from recsys_ndcg.comparison import CHANCE, Comparison, ModelScores, compare, flatten_parameters
from recsys_ndcg.errors import (
    InvalidInputError,
    emit_labelled_warnings,
    escape_invisible,
    label_messages,
    suggest,
    warn,
)
from recsys_ndcg.experiments.cells import Cell, Failure, Result, Task, run_cells
from recsys_ndcg.experiments.folder import RunFolder
from recsys_ndcg.experiments.models import (
    Model,
    describe_experiment,
    format_call,
    is_algorithm,
    seeded,
)
from recsys_ndcg.experiments.ratings import check_savable_users, digest_of_split
from recsys_ndcg.folds import CheckedSplits, FoldPlan, FoldRuns, lower_is_better
from recsys_ndcg.lazy import lazy_property

_COSTS = {"fit_time": "mean", "test_time": "mean", "peak_memory_mb": "max"}


@dataclass(frozen=True, eq=False)
class ModelRun:
    """What came of a model in all folds and seeds.

    Parameters
    ----------
    results : sequence of Result
        One per cell.
    parameters : mapping
        What the model was given.
    """

    results: Sequence[Result]
    parameters: Mapping[str, Any]

    @lazy_property
    def averaged_scores(self) -> ModelScores:
        """Its scores, averaged within each user, for `recsys_ndcg.compare`."""
        found = FoldRuns(one.fold for one in self.results).averaged_scores
        return replace(found, parameters=flatten_parameters(self.parameters))

    @property
    def summary(self) -> tuple[dict[Any, float], int, dict[Any, float]]:
        """The mean of every measure, the number of users, and costs.

        Means are over users as they are compared, or over folds; costs are the mean seconds of a
        cell, and the most memory of any.
        """
        if not self.results:
            return {}, 0, dict.fromkeys(_COSTS, np.nan)
        means: dict[Any, float] = (
            pd.DataFrame([one.scores for one in self.results]).mean().to_dict()
        )
        found = self.averaged_scores
        for name, column in zip(found.names, found.per_user.T, strict=True):
            known = column[~np.isnan(column)]
            means[name] = known.mean() if len(known) else np.nan
        costs = pd.DataFrame([one.costs for one in self.results]).agg(_COSTS).to_dict()
        return means, len(found.users), costs


@dataclass(frozen=True, eq=False)
class SavedRuns:
    """Runs of experiments, of different days.

    Parameters
    ----------
    folders : mapping of str to RunFolder
        By the names under which they are shown.

    Attributes
    ----------
    table : pandas.DataFrame
        A row per run and model.
    """

    folders: Mapping[str, RunFolder]

    @lazy_property
    def _models(self) -> dict[tuple[str, str], ModelRun]:
        found = {}
        for run, folder in self.folders.items():
            for model, told in folder.models.items():
                results = [folder.result(cell) for cell in folder.cells(model)]
                found[run, model] = ModelRun(results, told["parameters"])
        return found

    @property
    def table(self) -> pd.DataFrame:
        """A row per run and model, the best in the first measure first.

        Columns: the means of all measures; users; done, how many folds of all seeds, of so many
        that the run has by now, and failed; fit_time and test_time (mean seconds of a fold),
        peak_memory_mb; begun; data and how, digests of the ratings and of splits and measures:
        rows with equal digests are adjacent, and their numbers can be compared.
        """
        return self.sorted_by(None)

    def sorted_by(self, measure: str | None) -> pd.DataFrame:
        """Return the table with the best in a measure first.

        Raises
        ------
        InvalidInputError
            No run has that measure.
        """
        measures = self._measures()
        name = measures[0] if measure is None else measure.strip().lower()
        if name not in measures:
            msg = f"No run has measured {measure!r}. {suggest(name, measures)}"
            raise InvalidInputError(msg)
        rows = [self._row(run, model, one) for (run, model), one in self._models.items()]
        table = pd.DataFrame(rows).sort_values(
            ["data", "how", name], ascending=[True, True, lower_is_better(name)], kind="stable"
        )
        return table.set_index(["run", "model"])

    @property
    def remarks(self) -> list[str]:
        """What makes the numbers of runs something else than they seem: a sentence for each."""
        told = []
        for what, name in (("ratings", "data"), ("splits", "splits"), ("measures", "measures")):
            asked = [one.asked[name] for one in self.folders.values()]
            if any(one != asked[0] for one in asked):
                told.append(f"The runs have different {what}: their numbers cannot be compared.")
        return told + [
            f"{run}: {model} failed, see {escape_invisible(str(path.parent))}."
            for run, folder in self.folders.items()
            for model in folder.models
            for path in folder.failures(model)[:1]
        ]

    @property
    def model_scores(self) -> dict[str, ModelScores]:
        """Every model that is done in all cells of its run, for ``rn.compare(runs)``."""
        models = [model for _, model in self._models]
        return {
            model if models.count(model) == 1 else f"{run}: {model}": one.averaged_scores
            for (run, model), one in self._models.items()
            if one.results and len(one.results) == self._cells(run)
        }

    def _row(self, run: str, model: str, one: ModelRun) -> dict[str, Any]:
        folder = self.folders[run]
        asked = folder.asked
        how = json.dumps([asked["splits"], asked["measures"]], sort_keys=True)
        means, users, costs = one.summary
        return {
            "run": run,
            "model": model,
            **dict.fromkeys(self._measures(), np.nan),
            **means,
            "users": users,
            "done": len(one.results),
            "of": self._cells(run),
            "failed": len(folder.failures(model)),
            **costs,
            "begun": asked["begun"],
            "data": asked["data"]["digest"][:8],
            "how": blake2b(how.encode(), digest_size=4).hexdigest(),
        }

    def _measures(self) -> list[str]:
        asked = (folder.asked["measures"] for folder in self.folders.values())
        return list(dict.fromkeys(name for one in asked for name in one))

    def _cells(self, run: str) -> int:
        """Return how many different cells any model of a run has."""
        folder = self.folders[run]
        return len({cell[1:] for model in folder.models for cell in folder.cells(model)})


@dataclass(frozen=True)
class Outcome:
    """All fold runs of an experiment, and their results so far.

    Parameters
    ----------
    models : mapping of str to Model
        By name.
    ratings : CheckedSplits
        The ratings and their splitter.
    seeds : sequence of int
        The seeds of the splitter and the models.
    plan : FoldPlan
        The measures.
    folder : RunFolder, optional
        The folder that results are saved to.
    results : dict of Cell to Result
        The results of finished fold runs.
    failures : dict of Cell to str
        The messages of failed fold runs.
    said : list of str
        Warnings about the ratings.
    """

    models: Mapping[str, Model]
    ratings: CheckedSplits
    seeds: Sequence[int]
    plan: FoldPlan
    folder: RunFolder | None = None
    results: dict[Cell, Result] = field(default_factory=dict)
    failures: dict[Cell, str] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)

    def with_folder(
        self, folder: str | Path, fingerprint: str | Mapping[str, str] | None
    ) -> Outcome:
        """Return the same experiment with a folder for its results."""
        check_savable_users(self.ratings.data)
        asked = describe_experiment(self.ratings, self.plan, several_seeds=len(self.seeds) > 1)
        models = {name: one.describe(fingerprint) for name, one in self.models.items()}
        return replace(self, folder=RunFolder.open(folder, asked, models))

    def gather(
        self,
        n_jobs: int | None,
        on_result: Callable[[Result], object] | None,
        show: Callable[[str, float], object],
    ) -> None:
        """Run the missing fold runs; save each result before waiting for the next."""
        total = (self.ratings.n_folds or 0) * len(self.seeds) * len(self.models)
        show("Training", 0.0 if total else -1.0)
        with closing(run_cells(self._tasks(), n_jobs)) as found:
            for one in found:
                if isinstance(one, Failure):
                    where = "" if self.folder is None else f" ({self.folder.fail(one)})"
                    self.failures[one.cell] = f"{one.error}{where}"
                else:
                    if self.folder is not None:
                        self.folder.keep(one)
                    self.results[one.cell] = one
                    if on_result is not None:
                        on_result(one)
                n_done = len(self.results) + len(self.failures)
                show("Training", n_done / total if total else -1.0)

    def _tasks(self) -> Iterator[Task]:
        """Yield the missing fold runs, fold by fold, so that one split is in memory at a time."""
        for seed in self.seeds:
            splitter = self.ratings.splitter
            with suppress(TypeError):  # the splitter cannot be copied
                splitter = copy.copy(splitter)  # PredefinedKFold stores state when it splits
            splitter = seeded(splitter, seed, always=len(self.seeds) > 1)
            with label_messages("") as said:
                parts = self.ratings.iterate(self._warn_about_ratings, splitter)
            if seed == self.seeds[0]:
                self.said.extend(said)
            for fold, (trainset, testset) in enumerate(parts, 1):
                split = digest_of_split(trainset, testset)
                for name, model in self.models.items():
                    cell = Cell(name, seed, fold)
                    if not self._is_done(cell, split):
                        yield Task(cell, model, trainset, testset, split, self.plan)

    def _warn_about_ratings(self, ratings: Floats) -> None:
        """Warn if an algorithm truncates the ratings of the first trainset."""
        for kind in dict.fromkeys(type(one.given) for one in self.models.values()):
            if is_algorithm(kind):
                from recsys_ndcg.surprise import warn_of_truncation  # noqa: PLC0415 - an extra

                warn_of_truncation(kind, ratings)

    def _is_done(self, cell: Cell, split: str) -> bool:
        """Load a result from the folder, if it exists; raise if its split differs."""
        if self.folder is None or not self.folder.holds(cell):
            return False
        result = self.folder.result(cell)
        if result.split != split:
            msg = (
                f"{self.folder.path}: {cell} was measured on another split than the current one. "
                "Give the splitter a random_state, or use another folder."
            )
            raise InvalidInputError(msg)
        self.results[cell] = result
        return True

    def emit_warnings(self) -> None:
        """Warn about leaks, suspicious models and ratings."""
        self.ratings.warn_of_leaks()
        for told in self.said:
            warn(told)
        by_model = {name: self._of(name) for name in self.models}
        said = {
            name: [told for one in some for told in one.said] for name, some in by_model.items()
        }
        emit_labelled_warnings(said)
        for name, some in by_model.items():
            FoldRuns.warn_of_random_order(
                name, [one.fold.names_without_order for one in some], "folds"
            )

    def comparison(self, baseline: str | None, *, progress: bool) -> Comparison:
        """Compare the models without failed folds; compare a single one with random order.

        Raises
        ------
        InvalidInputError
            All models failed.
        """
        failed = self._describe_failures()
        if len(failed) == len(self.models):
            msg = f"All models failed. {' '.join(failed.values())}"
            raise InvalidInputError(msg)
        for told in failed.values():
            warn(f"{told} It is left out of the comparison.")
        models = {
            name: ModelRun(self._of(name), one.parameters)
            for name, one in self.models.items()
            if name not in failed
        }
        against = None if baseline in failed else baseline
        if against is None and len(models) == 1:
            against = CHANCE
        found = compare(models, baseline=against, progress=progress)
        rows = [
            {**one.cell._asdict(), **one.costs, "users": one.fold.n_users, **one.scores}
            for run in models.values()
            for one in run.results
        ]
        cells = pd.DataFrame(rows).set_index(["model", "seed", "fold"])
        return replace(found, cells=cells, made_by=self._format_code(found))

    def _of(self, model: str) -> list[Result]:
        """Return the results of a model, in order."""
        return [one for cell, one in sorted(self.results.items()) if cell.model == model]

    def _describe_failures(self) -> dict[str, str]:
        """Return a message for each model that failed in a fold."""
        told = {}
        for name in self.models:
            bad = [cell for cell in self.failures if cell.model == name]
            if bad:
                n_cells = len(bad) + len(self._of(name))
                told[name] = (
                    f"{name} failed in {len(bad)} of {n_cells} folds, first in seed {bad[0].seed}, "
                    f"fold {bad[0].fold}: {self.failures[bad[0]]}"
                ).rstrip(".") + "."
        return told

    def _format_code(self, found: Comparison) -> str:
        """Return the lines of Python that train and compare the same models."""
        models = [f"    {name!r}: {format_call(one.given)}," for name, one in self.models.items()]
        how, splitter = found.signatures[found.metrics[0]].as_python, self.ratings.splitter
        usual = self.ratings.is_default_kind
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
            f"    splits={splitter.n_splits if usual else format_call(splitter)},",
            f"    seeds={[*self.seeds]!r},",
            ")",
        ]
        return "\n".join(lines)
