"""Runs of experiments, read from their folders: what there is of each model, in one table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.comparison import ModelScores, parameters_of
from recsys_ndcg.errors import InvalidInputError, nearest, visible
from recsys_ndcg.folds import FoldRuns, lower_is_better
from recsys_ndcg.lazy import lazy

if TYPE_CHECKING:
    from recsys_ndcg.experiments.cells import Result
    from recsys_ndcg.experiments.folder import RunFolder

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

    @lazy
    def contender(self) -> ModelScores:
        """Its scores, averaged within each user, for `recsys_ndcg.compare`."""
        found = FoldRuns(one.fold for one in self.results).contender
        return replace(found, parameters=parameters_of(self.parameters))

    @property
    def means(self) -> dict[str, float]:
        """The mean of every measure: over users as they are compared, or over folds."""
        values = pd.DataFrame([one.scores for one in self.results]).mean().to_dict()
        found = self.contender
        for name, column in zip(found.names, found.per_user.T, strict=True):
            known = column[~np.isnan(column)]
            values[name] = known.mean() if len(known) else np.nan
        return {str(name): float(value) for name, value in values.items()}

    @property
    def costs(self) -> dict[str, float]:
        """Mean seconds of a cell, and the most memory of any."""
        found = pd.DataFrame([one.costs for one in self.results]).agg(_COSTS)
        return {str(name): float(value) for name, value in found.items()}


def cells_table(models: Mapping[str, ModelRun]) -> pd.DataFrame:
    """Return a row for each model, seed and fold: costs, users, and the value of every measure."""
    rows = [
        {**one.cell._asdict(), **one.costs, "users": one.fold.n_users, **one.scores}
        for run in models.values()
        for one in run.results
    ]
    return pd.DataFrame(rows).set_index(["model", "seed", "fold"])


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

    @lazy
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
        rows that agree in both stand together, and their numbers can be compared.
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
            msg = f"No run has measured {measure!r}. {nearest(name, measures)}"
            raise InvalidInputError(msg)
        rows = [self._row(run, model, one) for (run, model), one in self._models.items()]
        table = pd.DataFrame(rows).sort_values(
            ["data", "how", name], ascending=[True, True, lower_is_better(name)], kind="stable"
        )
        return table.set_index(["run", "model"])

    @property
    def remarks(self) -> list[str]:
        """What makes the numbers of runs something else than they seem: a sentence for each."""
        apart = {
            "ratings": [one.asked["data"] for one in self.folders.values()],
            "splits": [one.asked["splits"] for one in self.folders.values()],
            "measures": [one.asked["measures"] for one in self.folders.values()],
        }
        told = [
            f"The runs have different {what}: their numbers cannot be compared."
            for what, some in apart.items()
            if any(one != some[0] for one in some)
        ]
        return told + [
            f"{run}: {model} failed, see {visible(str(path.parent))}."
            for run, folder in self.folders.items()
            for model in folder.models
            for path in folder.failures(model)[:1]
        ]

    @property
    def contenders(self) -> dict[str, ModelScores]:
        """Every model that is done in all cells of its run, for ``rn.compare(runs)``."""
        models = [model for _, model in self._models]
        whole = {
            key: one for key, one in self._models.items() if len(one.results) == self._cells(key[0])
        }
        return {
            model if models.count(model) == 1 else f"{run}: {model}": one.contender
            for (run, model), one in whole.items()
            if one.results
        }

    def _row(self, run: str, model: str, one: ModelRun) -> dict[str, Any]:
        folder = self.folders[run]
        asked = folder.asked
        told: dict[str, Any] = {"run": run, "model": model}
        told |= dict.fromkeys(self._measures(), np.nan)
        if one.results:
            told |= one.means
        how = json.dumps([asked["splits"], asked["measures"]], sort_keys=True)
        return {
            **told,
            "users": len(one.contender.users) if one.results else 0,
            "done": len(one.results),
            "of": self._cells(run),
            "failed": len(folder.failures(model)),
            **(one.costs if one.results else dict.fromkeys(_COSTS, np.nan)),
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
