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

from recsys_ndcg.arrays import Codes, Floats, Ids, Positions, quotient
from recsys_ndcg.errors import InvalidInputError, visible
from recsys_ndcg.files import json_value
from recsys_ndcg.input import encode
from recsys_ndcg.scoring import ListCounts, Measurement, Scores, Signature

if TYPE_CHECKING:
    from recsys_ndcg.lists import GroupedLists
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.report import Report
    from recsys_ndcg.scoring import Audit

Parameter = str | int | float | bool | None
_LARGEST = 2**53  # beyond, a whole number is not the same in all readers of JSON

#: The tables of a model that are compared, users × metrics.
TABLES = ("scores", "numerator", "denominator", "chance", "best")


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelScores(Scores):
    """One model's scores, in the roles that are compared: its own, chance and best.

    Where a user was measured several times, in folds or with several seeds, scores are averaged
    within the user: users are independent of each other, the folds of one user are not. Numerator
    and denominator are 0 where a user has no score of their own; counts of folds are added up.

    Parameters
    ----------
    called : tuple of str
        The metrics, as they are shown.
    signatures : tuple of Signature
        How each was computed.
    truth : uint64 array, shape (n_users, n_metrics)
        The digest of what is known of each user, by metric.
    runs : float64 array, shape (n_runs, n_metrics)
        The means of each fold or seed; one row if there is but one.
    report : Report, optional
        With the lists, if they are at hand.
    parameters : mapping of str
        Numbers, texts or None by name, in which the models of a search differ.
    """

    called: tuple[str, ...]
    signatures: tuple[Signature, ...]
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
        return cls(
            measurements=scores.measurements,
            users=scores.users,
            numerator=np.where(scores.defined, scores.numerator, 0.0),
            denominator=np.where(scores.defined, scores.denominator, 0.0),
            left_out=scores.left_out,
            counts=scores.counts,
            roles={"own": own, **others},
            called=tuple(scores.names if names is None else names),
            signatures=tuple(audit.signatures[name] for name in scores.names),
            truth=np.repeat(audit.truth.astype(np.uint64)[:, None], len(scores.names), axis=1),
            runs=audit.totals.mean[None, :],
            report=report,
        )

    @classmethod
    def from_saved(
        cls,
        name: str,
        head: Mapping[str, Any],
        columns: Mapping[str, NDArray[Any]],
        metrics: Mapping[str, Metric],
    ) -> ModelScores:
        """Return the scores of the model of that name in a file."""
        tables = {table: columns[f"{table}.{name}"] for table in (*TABLES, "truth")}
        return cls(
            measurements=tuple(map(Measurement, metrics.values())),
            users=columns["user"],
            numerator=tables["numerator"],
            denominator=tables["denominator"],
            left_out=np.zeros(tables["scores"].shape, dtype=bool),
            counts=ListCounts.among(columns),
            roles={"own": tables["scores"], "chance": tables["chance"], "best": tables["best"]},
            called=tuple(metrics),
            signatures=tuple(map(Signature, head["signatures"])),
            truth=tables["truth"],
            runs=np.array(head["runs"], dtype=np.float64).reshape(-1, len(metrics)),
            parameters=head.get("parameters", {}),
        )

    def saved_columns(self, name: str) -> dict[str, NDArray[Any]]:
        """Return the tables of a file."""
        return {f"{table}.{name}": getattr(self, table) for table in (*TABLES, "truth")}

    def saved_head(self) -> dict[str, Any]:
        """Return what a file has beside the tables."""
        return {
            "signatures": [signature.text for signature in self.signatures],
            "runs": json_value(self.runs.tolist()),
            "parameters": dict(self.parameters),
        }

    @classmethod
    def beside(cls, parts: Sequence[ModelScores]) -> ModelScores:
        """Return the metrics of all parts side by side, over the users of any."""
        spread = _over_all_users(parts)
        tables: dict[str, Any] = {
            name: np.hstack([getattr(one, name) for one in spread])
            for name in (*spread[0].parts, "truth", "runs")
        }
        return replace(
            spread[0],
            measurements=sum((one.measurements for one in spread), ()),
            called=sum((one.called for one in spread), ()),
            signatures=sum((one.signatures for one in spread), ()),
            roles={
                role: np.hstack([one.roles[role] for one in spread]) for role in spread[0].roles
            },
            **tables,
        )

    @classmethod
    def averaged(cls, parts: Sequence[ModelScores]) -> ModelScores:
        """Return the scores of several runs, averaged within each user; sums are added up.

        Folds are parts of what is known of a user, seeds are measured on the same: their digests
        are one.
        """
        if len(parts) == 1:
            return parts[0]
        spread = _over_all_users(parts)
        same = all(
            len(one.users) == len(each.users) and np.array_equal(each.truth, spread[0].truth)
            for one, each in zip(parts, spread, strict=True)
        )
        counts = [one.counts for one in spread]
        roles = {
            role: _mean_within([one.roles[role] for one in spread]) for role in spread[0].roles
        }
        return replace(
            spread[0],
            numerator=reduce(np.add, [one.numerator for one in spread]),
            denominator=reduce(np.add, [one.denominator for one in spread]),
            left_out=reduce(np.logical_and, [one.left_out for one in spread]),
            roles=roles,
            truth=spread[0].truth if same else _together([one.truth for one in spread]),
            counts=counts[0] if same else _counts_of_all(counts),
            signatures=over(parts[0].signatures, roles["own"]),
            runs=np.concatenate([one.runs for one in parts]),
            report=None,
            parameters=_shared([one.parameters for one in parts]),
        )

    @property
    def names(self) -> list[str]:
        """The names of the metrics, as they are shown."""
        return list(self.called)

    @property
    def metrics(self) -> list[Metric]:
        """The metrics."""
        return [one.metric for one in self.measurements]

    @property
    def scores(self) -> Floats:
        """The model's own scores, NaN where a user has none."""
        return self.roles["own"]

    @property
    def chance(self) -> Floats:
        """What random order of the same lists scores."""
        return self.roles["chance"]

    @property
    def best(self) -> Floats:
        """What the best order of the same lists scores."""
        return self.roles["best"]

    def take(self, users: Positions) -> ModelScores:
        """Return the same of some users, given by their places; the means of runs are of all."""
        found = super().take(users)
        return replace(found, signatures=over(self.signatures, found.scores))

    def in_metrics(self, names: Sequence[str]) -> ModelScores:
        """Return the same under some of the metrics."""
        places = [self.called.index(name) for name in names]
        return replace(
            self.select(places),
            called=tuple(names),
            signatures=tuple(self.signatures[place] for place in places),
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
    """Return each part with the users of any, in their order."""
    ids = [one.users for one in parts]
    users, codes = encode(np.concatenate(ids), "user")
    places = np.split(codes, np.cumsum([*map(len, ids)])[:-1])
    return [_spread(one, users, place) for one, place in zip(parts, places, strict=True)]


def _spread(one: ModelScores, users: Ids, places: Codes) -> ModelScores:
    """Return tables with rows for other users, who have nothing."""
    if len(places) == len(users):
        return replace(one, users=users)

    def rows(table: NDArray[Any], fill: float) -> NDArray[Any]:
        wide = np.full((len(users), *table.shape[1:]), fill, dtype=table.dtype)
        wide[places] = table
        return wide

    tables: dict[str, Any] = {
        name: rows(table, 0) for name, table in {**one.parts, "truth": one.truth}.items()
    }
    counts = {name: rows(values, 0) for name, values in vars(one.counts).items()}
    roles = {role: rows(table, np.nan) for role, table in one.roles.items()}
    return replace(one, users=users, **tables, counts=ListCounts(**counts), roles=roles)


def _mean_within(tables: Sequence[Floats]) -> Floats:
    """Return the mean of what is there, NaN where nothing is."""
    there = sum((~np.isnan(one)).astype(np.int64) for one in tables)
    total = reduce(np.add, [np.nan_to_num(one, nan=0.0) for one in tables])
    return quotient(total, there)


def _together(truths: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """Return a digest of what is known of a user fold by fold, in any order of the folds.

    Folds are mixed before they are added up: the same ratings in other folds are other lists.
    """
    mixed = [
        pd.util.hash_array(one.ravel(), categorize=False).reshape(one.shape) * (one != 0)
        for one in truths
    ]
    total: NDArray[np.uint64] = reduce(np.add, mixed)
    return total


def _counts_of_all(counts: Sequence[ListCounts]) -> ListCounts:
    """Return what there is to count in all folds: flags of any, numbers added up."""
    return ListCounts(
        **{
            name: reduce(np.logical_or if values.dtype == bool else np.add, columns)
            for name, values in vars(counts[0]).items()
            for columns in [[getattr(one, name) for one in counts]]
        }
    )


def over(signatures: Sequence[Signature], scores: Floats) -> tuple[Signature, ...]:
    """Return signatures of the same numbers over the users who have a score."""
    counted = (~np.isnan(scores)).sum(axis=0).tolist()
    return tuple(one.over(count) for one, count in zip(signatures, counted, strict=True))


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
