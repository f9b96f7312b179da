"""ModelScores: one model's scores, user by user, and its parameters, as they are compared."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.arrays import Codes, Floats, Ids, Positions, concat_ids, quotient
from recsys_ndcg.errors import InvalidInputError, visible
from recsys_ndcg.input import encode
from recsys_ndcg.scoring import Scores, Signature

if TYPE_CHECKING:
    from recsys_ndcg.lists import GroupedLists
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.report import Report
    from recsys_ndcg.scoring import Audit

Parameter = str | int | float | bool | None
_LARGEST = 2**53  # beyond, a whole number is not the same in all readers of JSON


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelScores(Scores):
    """One model's scores, in the roles that are compared: its own, chance and best.

    Where a user was measured several times, in folds or with several seeds, scores are averaged
    within the user: users are independent of each other, the folds of one user are not. Numerator
    and denominator are 0 where a user has no score of their own; counts of folds are added up.

    Parameters
    ----------
    signatures : mapping of str to Signature
        How each metric was computed, by its name as it is shown.
    truth : uint64 array, shape (n_users, n_metrics)
        The digest of what is known of each user, by metric.
    runs : float64 array, shape (n_runs, n_metrics)
        The means of each fold or seed; one row if there is but one.
    report : Report, optional
        With the lists, if they are at hand.
    parameters : mapping of str
        Numbers, texts or None by name, in which the models of a search differ.
    """

    signatures: Mapping[str, Signature]
    truth: NDArray[np.uint64]
    runs: Floats
    report: Report | None = None
    parameters: Mapping[str, Parameter] = field(default_factory=dict)

    @classmethod
    def of(
        cls, audit: Audit, names: Sequence[str] | None = None, report: Report | None = None
    ) -> ModelScores:
        """Return what one evaluation found."""
        scores = audit.full_scores
        own, known = scores.per_user, ~np.isnan(scores.per_user)
        others = {role: np.where(known, scores.roles[role], np.nan) for role in ("chance", "best")}
        signatures = [audit.signatures[name] for name in scores.names]
        return cls(
            measurements=scores.measurements,
            users=scores.users,
            numerator=np.where(scores.defined, scores.numerator, 0.0),
            denominator=np.where(scores.defined, scores.denominator, 0.0),
            left_out=scores.left_out,
            counts=scores.counts,
            roles={"own": own, **others},
            signatures=dict(zip(names or scores.names, signatures, strict=True)),
            truth=np.repeat(audit.truth.astype(np.uint64)[:, None], len(scores.names), axis=1),
            runs=audit.totals.mean[None, :],
            report=report,
        )

    @classmethod
    def beside(cls, parts: Sequence[ModelScores]) -> ModelScores:
        """Return the metrics of all parts side by side, over the users of any."""
        spread = _over_all_users(parts)
        first = spread[0]
        tables: dict[str, Any] = {
            name: np.hstack([getattr(one, name) for one in spread])
            for name in (*first.parts, "truth", "runs")
        }
        return replace(
            first,
            measurements=sum((one.measurements for one in spread), ()),
            signatures={name: told for one in spread for name, told in one.signatures.items()},
            roles={role: np.hstack([one.roles[role] for one in spread]) for role in first.roles},
            **tables,
        )

    @classmethod
    def averaged(cls, parts: Sequence[ModelScores]) -> ModelScores:
        """Return the scores of several runs, averaged within each user; sums are added up.

        Folds are parts of what is known of a user, seeds are measured on the same: their digests
        are one. A flag is that of any run, but for who is left out: that is in all of them.
        """
        if len(parts) == 1:
            return parts[0]
        spread = _over_all_users(parts)
        first, columns = spread[0], [one.columns() for one in spread]
        is_same = all(
            len(one.users) == len(each.users) and np.array_equal(each.truth, first.truth)
            for one, each in zip(parts, spread, strict=True)
        )
        if not is_same:
            columns = [{**one, "truth": _mixed(one["truth"])} for one in columns]
        merged = {}
        for name, values in columns[0].items():
            tables = [one[name] for one in columns]
            if name in first.roles:
                merged[name] = _mean_within(tables)
            elif name == "left_out":
                merged[name] = reduce(np.logical_and, tables)
            elif name != "user" and (name in first.parts or not is_same):
                merged[name] = reduce(np.add, tables)
            else:
                merged[name] = values
        found = first.with_columns(merged)
        return replace(
            found,
            signatures=over(parts[0].signatures, found.per_user),
            runs=np.concatenate([one.runs for one in parts]),
            report=None,
            parameters=_shared([one.parameters for one in parts]),
        )

    def with_columns(self, columns: Mapping[str, NDArray[Any]]) -> ModelScores:
        """Return the same with what `columns` gives of others, or of other users."""
        return replace(self, **vars(Scores.from_columns(self.measurements, columns)))

    @property
    def names(self) -> list[str]:
        """The names of the metrics, as they are shown."""
        return list(self.signatures)

    @property
    def metrics(self) -> list[Metric]:
        """The metrics."""
        return [one.metric for one in self.measurements]

    @property
    def tables(self) -> dict[str, NDArray[Any]]:
        """What is compared, and the digests: users × metrics, by their names in a file."""
        return {
            "scores": self.per_user,
            "numerator": self.numerator,
            "denominator": self.denominator,
            "chance": self.roles["chance"],
            "best": self.roles["best"],
            "truth": self.truth,
        }

    def take(self, users: Positions) -> ModelScores:
        """Return the same of some users, given by their places; the means of runs are of all."""
        found = super().take(users)
        return replace(found, signatures=over(self.signatures, found.per_user))

    def in_metrics(self, names: Sequence[str]) -> ModelScores:
        """Return the same under some of the metrics."""
        places = [self.at(name) for name in names]
        return replace(
            self.select(places),
            signatures={name: self.signatures[name] for name in names},
            truth=self.truth[:, places],
            runs=self.runs[:, places],
        )

    def report_for(self, name: str) -> Report:
        """Return the report with its lists.

        Raises
        ------
        InvalidInputError
            There are none: the model was read from a file, or averaged over folds.
        """
        if self.report is None or self.report.audited.lists is None:
            msg = (
                f"{name!r} has no lists: files hold none, and neither do folds. Compare "
                "predictions, or reports of predictions."
            )
            raise InvalidInputError(msg)
        return self.report

    def lists_for(self, name: str) -> GroupedLists:
        """Return the lists of these users."""
        report = self.report_for(name)
        lists = report.audited.lists
        assert lists is not None, "said before"  # noqa: S101
        if len(report.users) == len(self.users):
            return lists
        return lists.take(report.scores.places_of(self.users))

    def at(self, name: str) -> int:
        """Return the place of a metric."""
        return self.names.index(name)


def _shared(parameters: Sequence[Mapping[str, Parameter]]) -> dict[str, Parameter]:
    """Return the parameters that all runs have, a seed of each run is none."""
    first, *others = parameters
    return {
        name: value
        for name, value in first.items()
        if all(name in one and one[name] == value for one in others)
    }


def _over_all_users(parts: Sequence[ModelScores]) -> list[ModelScores]:
    """Return each part with the users of any, in their order, of whom it may have nothing."""
    ids = [one.users for one in parts]
    users, codes = encode(concat_ids(ids), "user")
    places = np.split(codes, np.cumsum([*map(len, ids)])[:-1])
    return [_spread(one, users, place) for one, place in zip(parts, places, strict=True)]


def _spread(one: ModelScores, users: Ids, places: Codes) -> ModelScores:
    columns = one.columns()
    for name, values in columns.items():
        fill = np.nan if name in one.roles else 0
        columns[name] = np.full((len(users), *values.shape[1:]), fill, dtype=values.dtype)
        columns[name][places] = values
    return one.with_columns({**columns, "user": users})


def _mean_within(tables: Sequence[Floats]) -> Floats:
    """Return the mean of what is there, NaN where nothing is."""
    there = sum((~np.isnan(one)).astype(np.int64) for one in tables)
    total = reduce(np.add, [np.nan_to_num(one, nan=0.0) for one in tables])
    return quotient(total, there)


def _mixed(truth: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return digests of a fold, whose sums are the same in any order of the folds.

    The same ratings in other folds are other lists.
    """
    mixed = pd.util.hash_array(truth.ravel(), categorize=False).reshape(truth.shape)
    return np.asarray(mixed * (truth != 0))


def over(signatures: Mapping[str, Signature], scores: Floats) -> dict[str, Signature]:
    """Return signatures of the same numbers over the users who have a score."""
    counted = (~np.isnan(scores)).sum(axis=0).tolist()
    return {
        name: told.over(count)
        for (name, told), count in zip(signatures.items(), counted, strict=True)
    }


def parameters_of(given: Mapping[Any, Any], within: str = "") -> dict[str, Parameter]:
    """Return parameters as numbers and texts; those of a mapping stand under both names.

    Examples
    --------
    >>> parameters_of({"n_factors": 20, "sim_options": {"name": "msd"}, "init": (0, 1)})
    {'n_factors': 20, 'sim_options.name': 'msd', 'init': '(0, 1)'}
    """
    found: dict[str, Parameter] = {}
    for name, value in given.items():
        told = f"{within}{visible(str(name))}"
        if isinstance(value, Mapping):
            found |= parameters_of(value, f"{told}.")
        else:
            found[told] = _plain(value)
    return found


def _plain(value: Any) -> Parameter:
    value = value.item() if hasattr(value, "item") and not getattr(value, "ndim", 0) else value
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, int) and abs(value) <= _LARGEST:
        return int(value)
    return visible(value if isinstance(value, str) else repr(value))
