"""Train every model in every fold of every seed, and compare the results."""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats
from recsys_ndcg.comparison import CHANCE, Comparison, ModelScores, compare
from recsys_ndcg.errors import (
    InvalidInputError,
    emit_labelled_warnings,
    label_messages,
    warn,
)
from recsys_ndcg.experiments.comparison import ExperimentComparison, find_bad_folds
from recsys_ndcg.experiments.fold_scores import FoldScores, count_ratings, tabulate_scores
from recsys_ndcg.experiments.folder import RunFolder, RunKey
from recsys_ndcg.experiments.models import (
    Model,
    describe_experiment,
    format_call,
    format_imports,
    is_algorithm,
    set_seed,
)
from recsys_ndcg.experiments.ratings import digest_split
from recsys_ndcg.experiments.workers import Task, run_tasks
from recsys_ndcg.findings import Finding, write_sentences
from recsys_ndcg.folds import (
    CheckedSplits,
    Fold,
    FoldPlan,
    FoldRun,
    average_scores,
    lower_is_better,
)
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.rendering import Document, Renderable, Section, ShownTable, pluralise, show_columns
from recsys_ndcg.report import write_inputs
from recsys_ndcg.scoring import find_metric_name, write_arguments
from recsys_ndcg.split_checks import SplitReport

_SECONDS = ["fit_seconds", "predict_seconds", "measure_seconds"]
_LONG = 9.95  # seconds, from which they are shown without decimals
_COSTS = {**dict.fromkeys(_SECONDS, "mean"), "peak_memory_mb": "max"}


@dataclass(frozen=True, eq=False, repr=False)
class SavedRuns(Renderable):
    """Saved runs of experiments.

    Parameters
    ----------
    folders : mapping of str to RunFolder
        By the names that tables show.

    Attributes
    ----------
    table : pandas.DataFrame
        A row per run and model.
    """

    folders: Mapping[str, RunFolder]

    @lazy_property
    def _runs(self) -> dict[tuple[str, str], list[FoldRun]]:
        return {
            (name, model): [*map(folder.load_run, folder.list_runs(model))]
            for name, folder in self.folders.items()
            for model in folder.models
        }

    @lazy_property
    def _scores(self) -> dict[tuple[str, str], ModelScores]:
        """The averaged scores of models that finished a fold."""
        return {
            (name, model): average_scores(runs, self.folders[name].models[model]["parameters"])
            for (name, model), runs in self._runs.items()
            if runs
        }

    @property
    def table(self) -> pd.DataFrame:
        """A row per run and model, the best in the first measure first.

        Columns: the means of all measures; users; the numbers of folds that are done, of all that
        the run has by now, and that failed; fit_seconds, predict_seconds and measure_seconds (means
        of the folds), peak_memory_mb; begun; ratings_digest, a short hash of the ratings;
        settings_digest, of the splits and measures. Rows with equal digests are adjacent, and can
        be compared.
        """
        return self.sort_by(None)

    def sort_by(self, measure: str | None) -> pd.DataFrame:
        """Return the table with the best in a measure first.

        Raises
        ------
        InvalidInputError
            No run has that measure.
        """
        measures = self._list_measures()
        name = measures[0]
        if measure is not None:
            text = measure.strip().lower()
            name = text if text in measures else find_metric_name(text, measures, "These runs")
        rows = [self._build_row(*key) for key in self._runs]
        table = pd.DataFrame(rows).sort_values(
            ["ratings_digest", "settings_digest", name],
            ascending=[True, True, lower_is_better(name)],
            kind="stable",
        )
        return table.set_index(["run", "model"])

    def _document(self, measure: str | None = None, *, with_verdict: bool = False) -> Document:  # noqa: ARG002 - it has none
        """Return the document: the table with the best in a measure first, and the remarks."""
        table = self.sort_by(measure).reset_index()
        folds = [f"{done}/{of}" for done, of in zip(table["done"], table["of"], strict=True)]
        table = table.assign(done=folds, begun=table["begun"].str[:10]).drop(
            columns=["of", "failed", "ratings_digest", "settings_digest"]
        )
        cells = show_columns(table, plain=self._list_measures())
        note = "seconds: the mean of a fold; MB: the most of any fold"
        shown = ShownTable("Models", cells, n_left_aligned=2, note=note)
        models, runs = pluralise(len(cells), "model"), pluralise(len(self.folders), "run")
        parts: list[ShownTable | list[str]] = [shown, self.remarks]
        return Document(
            title="Runs of experiments",
            facts=f"{models} in {runs}",
            sections=[Section("models", "Models", "The best of each run first.", parts)],
        )

    @property
    def remarks(self) -> list[str]:
        """Sentences about runs that cannot be compared, and about failed models."""
        return write_sentences(self._find_remarks())

    def _find_remarks(self) -> Iterator[Finding]:
        for what, name in (("ratings", "data"), ("splits", "splits"), ("measures", "measures")):
            first, *others = (folder.description[name] for folder in self.folders.values())
            if any(other != first for other in others):
                yield Finding("incomparable_runs", names={"what": what})
        for run, folder in self.folders.items():
            for model in folder.models:
                for path in folder.list_failures(model)[:1]:
                    names = {"run": run, "model": model, "folder": str(path.parent)}
                    yield Finding("failed_model", names=names)

    @property
    def model_scores(self) -> dict[str, ModelScores]:
        """The scores of models that finished all folds of their runs, for ``rn.compare(runs)``."""
        models = [model for _, model in self._runs]
        return {
            model if models.count(model) == 1 else f"{run}: {model}": one
            for (run, model), one in self._scores.items()
            if len(self._runs[run, model]) == self._count_folds(run)
        }

    def _build_row(self, run: str, model: str) -> dict[str, Any]:
        folder, runs = self.folders[run], self._runs[run, model]
        description = folder.description
        settings = json.dumps([description["splits"], description["measures"]], sort_keys=True)
        means, users, costs = self._summarise(run, model)
        return {
            "run": run,
            "model": model,
            **dict.fromkeys(self._list_measures(), np.nan),
            **means,
            "users": users,
            "done": len(runs),
            "of": self._count_folds(run),
            "failed": len(folder.list_failures(model)),
            **costs,
            "begun": description["begun"],
            "ratings_digest": description["data"]["digest"][:8],
            "settings_digest": blake2b(settings.encode(), digest_size=4).hexdigest(),
        }

    def _list_measures(self) -> list[str]:
        each = (folder.description["measures"] for folder in self.folders.values())
        return list(dict.fromkeys(name for measures in each for name in measures))

    def _count_folds(self, run: str) -> int:
        """Return the number of folds of all seeds that a run has."""
        folder = self.folders[run]
        return len({key[1:] for model in folder.models for key in folder.list_runs(model)})

    def _summarise(self, run: str, model: str) -> tuple[dict[Any, float], int, dict[Any, float]]:
        """Return the mean of every measure, the number of users, and costs.

        Means are over users, or over folds for measures without per-user scores; costs are the mean
        seconds of a fold and the highest peak memory.
        """
        runs = self._runs[run, model]
        if not runs:
            return {}, 0, dict.fromkeys(_COSTS, np.nan)
        by_fold = pd.DataFrame([one.scores for one in runs])
        means: dict[Any, float] = by_fold.mean().to_dict()
        averaged = self._scores[run, model]
        for name, column in zip(averaged.names, averaged.per_user.T, strict=True):
            scores = column[~np.isnan(column)]
            means[name] = scores.mean() if len(scores) else np.nan
        costs = pd.DataFrame([one.costs for one in runs]).agg(_COSTS).to_dict()
        return means, len(averaged.users), costs


def _drop_repeats(messages: Iterable[Iterable[str]]) -> list[str]:
    """Return the warnings of all folds; of those that differ only in numbers, the first."""
    first: dict[str, str] = {}
    for message in chain(*messages):
        first.setdefault(re.sub(r"\d+", "", message), message)
    return [*first.values()]


@dataclass(frozen=True)
class Experiment:
    """Models to train on folds of ratings, and their runs so far.

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
        The folder that runs are saved to.
    runs : dict of (model, seed, fold) to FoldRun
        Those that are finished.
    failures : dict of (model, seed, fold) to str
        The messages of those that failed.
    messages : list of str
        Warnings about the ratings.
    rating_counts : dict of (seed, fold)
        What `count_ratings` returns for each fold.
    split_reports : dict of (seed, fold) to SplitReport
        The checks of each fold.
    """

    models: Mapping[str, Model]
    ratings: CheckedSplits
    seeds: Sequence[int]
    plan: FoldPlan
    folder: RunFolder | None = None
    runs: dict[RunKey, FoldRun] = field(default_factory=dict)
    failures: dict[RunKey, str] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)
    rating_counts: dict[tuple[int, int], tuple[Any, Any]] = field(default_factory=dict)
    split_reports: dict[tuple[int, int], SplitReport] = field(default_factory=dict)

    def with_folder(self, path: str | Path, fingerprint: str | Mapping[str, str] | None) -> Self:
        """Return the same experiment with a folder for its results."""
        record = describe_experiment(self.ratings, self.plan, several_seeds=len(self.seeds) > 1)
        models = {name: one.describe(fingerprint) for name, one in self.models.items()}
        return replace(self, folder=RunFolder.open(path, record, models))

    def run_missing(
        self,
        n_jobs: int | None,
        on_result: Callable[[FoldRun], object] | None,
        show: Callable[[str, float], object],
        show_line: Callable[[str], object],
    ) -> None:
        """Run what is missing; save each run before waiting for the next.

        `show` gets the share of each step that is done, `show_line` a sentence about each fold.
        """
        total = (self.ratings.n_folds or 0) * len(self.seeds) * len(self.models)
        show("Training", 0.0 if total else -1.0)
        with closing(run_tasks(self._iterate_tasks(), n_jobs, show)) as runs:
            for run in runs:
                if run.error:
                    place = "" if self.folder is None else f" ({self.folder.save_failure(run)})"
                    self.failures[run.key] = f"{run.error}{place}"
                else:
                    if self.folder is not None:
                        self.folder.save_run(run)
                    self.runs[run.key] = run
                    if on_result is not None:
                        on_result(run)
                n_done = len(self.runs) + len(self.failures)
                show("Training", n_done / total if total else -1.0)
                count = f"{n_done} of {total}" if total else f"{n_done} done"
                show_line(self._format_line(run, count))

    def _format_line(self, run: FoldRun, count: str) -> str:
        """Return a sentence about a fold: its name, first score and seconds, or its error."""
        n_folds = self.ratings.n_folds
        name = f"{run.model} seed {run.seed} fold {run.fold}{f'/{n_folds}' if n_folds else ''}"
        if run.error:
            return f"{name}: failed: {run.error} ({count})"
        scored = [one for one in run.scores.items() if not np.isnan(one[1])]
        metric, score = (scored or [*run.scores.items()])[0]
        seconds = sum(run.costs[one] for one in _SECONDS)
        time = f"{seconds:.{0 if seconds >= _LONG else 1}f} s"
        return f"{name}: {metric} {score:.3f} ({time}; {count})"

    def _iterate_tasks(self) -> Iterator[Task]:
        """Yield each model with the folds it misses, so that one split is in memory at a time."""
        for seed in self.seeds:
            splitter = self.ratings.splitter
            with suppress(TypeError):  # the splitter cannot be copied
                splitter = copy.copy(splitter)  # PredefinedKFold stores state when it splits
            splitter = set_seed(splitter, seed, always=len(self.seeds) > 1)
            with label_messages("") as messages:
                parts = self.ratings.iterate(self._warn_about_ratings, splitter)
            if seed == self.seeds[0]:
                self.messages.extend(messages)
            for number, (trainset, testset) in enumerate(parts, 1):
                train = self.ratings.train
                split = digest_split(train, trainset.rating_scale, testset)
                fold = Fold(trainset, testset, self.plan, seed, number, split)
                self.rating_counts[seed, number] = count_ratings(train, testset)
                self.split_reports[seed, number] = report = self.ratings.reports[-1]
                if self.folder is not None:
                    self.folder.save_split_report(seed, number, report.to_dict())
                for model in self.models.values():
                    if not self._is_done((model.name, seed, number), split):
                        yield model, fold

    def _warn_about_ratings(self, ratings: Floats) -> None:
        """Warn if an algorithm truncates the ratings of the first trainset."""
        for kind in dict.fromkeys(type(one.given) for one in self.models.values()):
            if is_algorithm(kind):
                from recsys_ndcg.surprise import warn_of_truncation  # noqa: PLC0415 - an extra

                warn_of_truncation(kind, ratings)

    def _is_done(self, key: RunKey, split: str) -> bool:
        """Load a run from the folder, if it exists; raise if its split differs."""
        if self.folder is None or not self.folder.has_run(key):
            return False
        run = self.folder.load_run(key)
        if run.split != split:
            msg = (
                f"{self.folder.path}: {run} was measured on another split than the current one. "
                "Give the splitter a random_state, or use another folder."
            )
            raise InvalidInputError(msg)
        self.runs[key] = run
        return True

    def emit_warnings(self) -> None:
        """Warn about leaks, suspicious models and ratings."""
        self.ratings.warn_of_leaks()
        for message in self.messages:
            warn(message)
        by_model = {name: self._get_runs(name) for name in self.models}
        emit_labelled_warnings(
            {name: _drop_repeats(one.warnings for one in each) for name, each in by_model.items()}
        )
        for name, each in by_model.items():
            FoldRun.warn_of_random_order(name, [one.without_order for one in each], "folds")

    def compare_models(
        self, baseline: str | None, arguments: Mapping[str, Any], *, progress: bool
    ) -> ExperimentComparison:
        """Compare the models without failed folds; compare a single one with random order.

        `arguments`: what the code on a page passes to `experiment`, and the ratings.

        Raises
        ------
        InvalidInputError
            All models failed.
        """
        failed = self._describe_failures()
        if len(failed) == len(self.models):
            msg = f"All models failed. {' '.join(failed.values())}"
            raise InvalidInputError(msg)
        for message in failed.values():
            warn(f"{message} It is left out of the comparison.")
        runs = {name: self._get_runs(name) for name in self.models if name not in failed}
        models = {
            name: average_scores(each, self.models[name].parameters) for name, each in runs.items()
        }
        against = None if baseline in failed else baseline
        if against is None and len(models) == 1:
            against = CHANCE
        comparison = compare(models, baseline=against, progress=progress)
        every = [run for each in runs.values() for run in each]
        names = ["model", "seed", "fold"]
        keys = pd.MultiIndex.from_tuples([one.key for one in every], names=names)
        rows = [{**one.costs, "users": one.n_users, **one.scores} for one in every]
        checks = SplitReport.tabulate(self.split_reports, ["seed", "fold"])
        code, remarks = self._format_code(comparison, arguments), find_bad_folds(checks)
        return ExperimentComparison(
            replace(comparison._data, code=code, about_splits=tuple(remarks)),
            _runs=pd.DataFrame(rows, keys),
            _folds=self._collect_fold_scores(runs, comparison.metrics),
            split_checks=checks,
        )

    def _collect_fold_scores(
        self, models: Mapping[str, Sequence[FoldRun]], metrics: Sequence[str]
    ) -> FoldScores:
        """Return the users' scores in each fold and seed, and the times of cuts."""
        places = sorted(self.rating_counts)
        counts, n_training = zip(*map(self.rating_counts.get, places), strict=True)
        return FoldScores(
            metrics,
            {
                name: [tabulate_scores(average_scores([run]), metrics) for run in runs]
                for name, runs in models.items()
            },
            folds=[number for _, number in places],
            counts=counts,
            n_training=n_training,
            items={
                name: [run.by_items for run in runs if run.by_items is not None]
                for name, runs in models.items()
            },
            cuts=self.ratings.find_cuts(),
        )

    def _get_runs(self, model: str) -> list[FoldRun]:
        """Return the finished runs of a model, in order."""
        return [run for key, run in sorted(self.runs.items()) if key[0] == model]

    def _describe_failures(self) -> dict[str, str]:
        """Return a message for each model that failed in a fold."""
        messages = {}
        for name in self.models:
            bad = [key for key in self.failures if key[0] == name]
            if bad:
                n_folds = len(bad) + len(self._get_runs(name))
                _, seed, fold = bad[0]
                messages[name] = (
                    f"{name} failed in {len(bad)} of {n_folds} folds, first in seed {seed}, "
                    f"fold {fold}: {self.failures[bad[0]]}"
                ).rstrip(".") + "."
        return messages

    def _format_code(self, comparison: Comparison, arguments: Mapping[str, Any]) -> str:
        """Return the lines of Python that train and compare the same models."""
        models = [f"    {name!r}: {format_call(one.given)}," for name, one in self.models.items()]
        signatures = comparison.signatures
        how = write_arguments(signatures[comparison.metrics[0]])
        # the trainset of each fold gives the rest
        reads_features = any("features" in one.fields for one in signatures.values())
        splitter, is_number = self.ratings.splitter, self.ratings.is_default_kind
        made = [*(one.given for one in self.models.values()), *(() if is_number else [splitter])]
        given = {name: value for name, value in arguments.items() if value is not None}
        tables = {name: given.pop(name, None) for name in ("ratings", "features")}
        files = {
            name: repr(os.fspath(one))
            for name, one in tables.items()
            if isinstance(one, str | os.PathLike)
        }
        inputs = write_inputs(["ratings", *(["features"] if reads_features else [])], files)
        lines = [
            "import recsys_ndcg as rn",
            *format_imports(made),
            "",
            *inputs,
            "models = {",
            *models,
            "}",
            "comparison = rn.experiment(",
            "    ratings,",
            "    models,",
            f"    metrics={comparison.metrics!r}{how},",
            *(["    features=features,"] if reads_features else []),
            *(f"    {name}={value!r}," for name, value in given.items()),
            f"    splits={splitter.n_splits if is_number else format_call(splitter)},",
            f"    seeds={[*self.seeds]!r},",
            ")",
        ]
        return "\n".join(lines)
