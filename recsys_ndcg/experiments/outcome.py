"""An experiment: every model in every fold of every seed, trained, kept, and compared."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recsys_ndcg.arrays import Floats
from recsys_ndcg.comparison import CHANCE, Comparison, compare
from recsys_ndcg.errors import InvalidInputError, about, shown, warn, warn_of_several
from recsys_ndcg.experiments.cells import Cell, Failure, Result, Task, run_cells
from recsys_ndcg.experiments.fingerprints import fingerprint, qualified_name, readable
from recsys_ndcg.experiments.folder import RunFolder
from recsys_ndcg.experiments.models import Model, is_algorithm, seeded, signature_of, unwrapped
from recsys_ndcg.experiments.ratings import describe_ratings, digest_of_split, refuse_unkept_users
from recsys_ndcg.experiments.runs import ModelRun, cells_table
from recsys_ndcg.folds import FoldRuns, Splits
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from recsys_ndcg.folds import FoldPlan

_SEED = "random_state"
_HIGHEST = 2**32 - 1  # that NumPy takes
_OPTIONS = ("sim_options", "bsl_options")  # of algorithms that take them as others
_MOST = 1_000_000  # seeds, where their number is given


@dataclass(frozen=True)
class Outcome:
    """All cells, every model in every fold of every seed, and what came of them so far.

    Parameters
    ----------
    models : mapping of str to Model
        By name.
    ratings : Splits
        What is split, and how.
    seeds : sequence of int
        For the splitter and the models.
    plan : FoldPlan
        What is measured.
    folder : RunFolder, optional
        Where results are kept.
    results : dict of Cell to Result
        Of those that are done.
    failures : dict of Cell to str
        What is said of those that failed.
    said : list of str
        What is to be warned of the ratings.
    """

    models: Mapping[str, Model]
    ratings: Splits
    seeds: Sequence[int]
    plan: FoldPlan
    folder: RunFolder | None = None
    results: dict[Cell, Result] = field(default_factory=dict)
    failures: dict[Cell, str] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)

    def kept_in(self, folder: str | Path, fingerprint: str | Mapping[str, str] | None) -> Outcome:
        """Return the same with a folder for its results."""
        refuse_unkept_users(self.ratings.data)
        asked = {
            "written_by": __version__,
            "data": describe_ratings(self.ratings.data),
            "splits": _describe_splitter(self.ratings.splitter, always=len(self.seeds) > 1),
            "measures": _describe_measures(self.plan),
        }
        models = {name: one.describe(fingerprint) for name, one in self.models.items()}
        return replace(self, folder=RunFolder.open(folder, asked, models))

    def gather(
        self,
        n_jobs: int | None,
        on_result: Callable[[Result], object] | None,
        show: Callable[[str, float], object],
    ) -> None:
        """Do what is not done yet, and keep each result before the next is waited for."""
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
        """Give what is to be done, fold by fold, each split as long as it is needed."""
        for seed in self.seeds:
            splitter = self.ratings.splitter
            with suppress(TypeError):  # of what cannot be copied
                splitter = copy.copy(splitter)  # PredefinedKFold notes in itself what it has split
            splitter = seeded(splitter, seed, always=len(self.seeds) > 1)
            with about("") as said:
                parts = self.ratings.by(self._look_at, splitter)
            if seed == self.seeds[0]:
                self.said.extend(said)
            for fold, (trainset, testset) in enumerate(parts, 1):
                split = digest_of_split(trainset, testset)
                for name, model in self.models.items():
                    cell = Cell(name, seed, fold)
                    if not self._is_done(cell, split):
                        yield Task(cell, model, trainset, testset, split, self.plan)

    def _look_at(self, ratings: Floats) -> None:
        """Warn of what algorithms do to the ratings of the first trainset."""
        for kind in dict.fromkeys(type(one.given) for one in self.models.values()):
            if is_algorithm(kind):
                from recsys_ndcg.surprise import warn_of_truncation  # noqa: PLC0415 - an extra

                warn_of_truncation(kind, ratings)

    def _is_done(self, cell: Cell, split: str) -> bool:
        """Take a result from the folder, if it is there and of the same split."""
        if self.folder is None or not self.folder.holds(cell):
            return False
        result = self.folder.result(cell)
        if result.split != split:
            msg = (
                f"{self.folder.path}: {cell} was measured on another split than there is now. "
                "Give the splitter a random_state, or take another folder."
            )
            raise InvalidInputError(msg)
        self.results[cell] = result
        return True

    def say(self) -> None:
        """Warn of what makes the numbers deceive, and of what failed."""
        self.ratings.warn_of_leaks()
        for told in self.said:
            warn(told)
        by_model = {name: self._of(name) for name in self.models}
        said = {
            name: [told for one in some for told in one.said] for name, some in by_model.items()
        }
        warn_of_several(said)
        for name, some in by_model.items():
            FoldRuns.warn_of_random_order(name, [one.fold.orderless for one in some], "folds")

    def comparison(self, baseline: str | None, *, progress: bool) -> Comparison:
        """Compare the models that failed nowhere; one alone with random order.

        Raises
        ------
        InvalidInputError
            All failed.
        """
        failed = self._failed()
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
        runs, typed = cells_table(models), self._typed_for(found)
        return replace(found, cells=runs, made_by=typed)

    def _of(self, model: str) -> list[Result]:
        """Return the results of a model, in order."""
        return [one for cell, one in sorted(self.results.items()) if cell.model == model]

    def _failed(self) -> dict[str, str]:
        """Return what is said of each model that failed somewhere."""
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

    def _typed_for(self, found: Comparison) -> str:
        """Return the lines of Python that train and compare the same models."""
        models = [f"    {name!r}: {_typed(one.given)}," for name, one in self.models.items()]
        how, splitter = found.signatures[found.metrics[0]].typed, self.ratings.splitter
        usual = self.ratings.is_usual
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
            f"    splits={splitter.n_splits if usual else _typed(splitter)},",
            f"    seeds={[*self.seeds]!r},",
            ")",
        ]
        return "\n".join(lines)


def seeds_of(seeds: Any) -> list[int]:
    """Return the seeds: so many from 0 on, or those that are given.

    Raises
    ------
    InvalidInputError
        They are none.
    """
    is_number = isinstance(seeds, Integral)
    given = range(seeds) if is_number and seeds <= _MOST else seeds
    wrong = isinstance(seeds, bool | str) or not isinstance(given, Iterable)
    found = [] if wrong else list(given)
    if not found or not all(_is_seed(one) for one in found) or len(set(found)) < len(found):
        msg = f"seeds is how many, at least 1, or several different ones, not {shown(seeds)}."
        raise InvalidInputError(msg)
    return [int(one) for one in found]


def _is_seed(one: Any) -> bool:
    return isinstance(one, Integral) and not isinstance(one, bool) and 0 <= int(one) <= _HIGHEST


def _describe_splitter(splitter: Any, *, always: bool) -> dict[str, Any]:
    """Return what identifies a splitter, as JSON; its seed if that is not the seed of the run."""
    own = getattr(splitter, "__dict__", {})
    held = {name: readable(value) for name, value in sorted(own.items())}
    if always or held.get(_SEED) is None:
        held.pop(_SEED, None)
    return {"class": qualified_name(type(splitter)), **held}


def _describe_measures(plan: FoldPlan) -> dict[str, dict[str, str]]:
    """Return how each measure is computed: every choice, and digests of the functions it calls.

    Raises
    ------
    InvalidInputError
        A function holds something that has no content to compare.
    """
    described = {}
    for one in plan.measures:
        ranking = plan.rated if one.protocol == "rated" else plan.catalogue
        if one.metric is None or ranking is None:
            called: dict[str, Any] = {"function": (one.function, one.keywords)}
            choices = {"kind": "function", "name": qualified_name(one.function)}
        else:
            found = next(each for each in ranking.measurements if each.metric == one.metric)
            used = {"gain": found.convention.gain, "discount": found.convention.discount}
            called = {name: rule for name, rule in used.items() if callable(rule)}
            called |= {"metric": type(one.metric)} if one.metric.origin else {}
            threshold = str(found.threshold)
            choices = {"kind": "ranking", **found.convention.texts, "threshold": threshold}
        for what, function in called.items():
            with about(f"{one.name}: its {what} cannot be compared, so no folder can resume it"):
                choices[f"code of {what}"] = fingerprint(function)[0]
        described[one.name] = choices
    return described


def _typed(given: Any) -> str:
    """Return a call of a class with what differs from its defaults, or the name of a function."""
    if not is_algorithm(given) and not hasattr(given, "split"):
        return str(getattr(unwrapped(given), "__name__", type(given).__name__))
    usual = {name: repr(one.default) for name, one in signature_of(type(given)).items()}
    own = {name: one for name, one in vars(given).items() if name in {*usual, *_OPTIONS}}
    told = [
        f"{name}={readable(own[name])!r}"
        for name in [*usual, *_OPTIONS]
        if name in own and repr(own[name]) not in (usual.get(name), "{}", "{'user_based': True}")
    ]
    return f"{type(given).__name__}({', '.join(told)})"
