"""ModelScores: one model's scores, user by user, and its parameters, as they are compared.

What must agree before models can be: their users, the ratings, and how they were measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.arrays import Floats, Positions, concat_ids, divide
from recsys_ndcg.errors import InvalidInputError, escape_invisible, quote
from recsys_ndcg.input import check_same_ids, encode
from recsys_ndcg.scoring import Audit, Scores, Signature

if TYPE_CHECKING:
    from recsys_ndcg.lists import GroupedLists
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.report import Report

CHANCE = "chance"
USERS = ("all", "common")
_PROTOCOLS = {
    "rated": "ranks each user's own test ratings",
    "supplied": "scores lists that were supplied",
    "catalogue": "ranks a whole catalogue",
}
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
    spread, own = [], np.split(codes, np.cumsum([*map(len, ids)])[:-1])
    for one, places in zip(parts, own, strict=True):
        columns = one.columns()
        for name, values in columns.items():
            fill = np.nan if name in one.roles else 0
            columns[name] = np.full((len(users), *values.shape[1:]), fill, dtype=values.dtype)
            columns[name][places] = values
        spread.append(one.with_columns({**columns, "user": users}))
    return spread


def _mean_within(tables: Sequence[Floats]) -> Floats:
    """Return the mean of what is there, NaN where nothing is."""
    there = sum((~np.isnan(one)).astype(np.int64) for one in tables)
    total = reduce(np.add, [np.nan_to_num(one, nan=0.0) for one in tables])
    return divide(total, there)


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
        told = f"{within}{escape_invisible(str(name))}"
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
    return escape_invisible(value if isinstance(value, str) else repr(value))


# What must agree


def aligned(
    found: Mapping[str, ModelScores], users: str
) -> tuple[dict[str, ModelScores], dict[str, int], list[str]]:
    """Return contenders whose rows and columns mean the same.

    Behind them how many users each has whom not all have, and the metrics that not all have.

    Parameters
    ----------
    found : mapping
        By name.
    users : {'all', 'common'}
        Whether all must have the same users, or those that all have are compared.

    Raises
    ------
    InvalidInputError
        They were measured on other ratings, other users, or in another way; or share no metric.
    """
    measured = {name: set(one.names) for name, one in found.items()}
    known = list(dict.fromkeys(name for one in found.values() for name in one.names))
    shared = [name for name in known if all(name in names for names in measured.values())]
    if not shared:
        told = "; ".join(f"{name}: {', '.join(one.names)}" for name, one in found.items())
        msg = f"The models share no metric ({told}). Measure all of them in the same."
        raise InvalidInputError(msg)
    found = {name: one.in_metrics(shared) for name, one in found.items()}
    (first, reference), *rest = found.items()
    for name, one in rest:
        _check_signatures(first, reference, name, one)
        check_same_ids(reference.users, one.users, "user", (repr(first), repr(name)))
    found, left_out = _same_users(found, users)
    _check_truth(found)
    if all(np.isnan(one.per_user).all() for one in found.values()):
        msg = (
            f"No model has a score for any user in {', '.join(shared)}: nothing is relevant, or "
            "nothing is labelled. Choose another threshold or other metrics."
        )
        raise InvalidInputError(msg)
    return found, left_out, [name for name in known if name not in shared]


def _check_signatures(first: str, reference: ModelScores, name: str, one: ModelScores) -> None:
    """Refuse numbers that were computed in different ways."""
    for metric, theirs in one.signatures.items():
        told = reference.signatures[metric].differences(theirs)
        told.pop("users", None)  # how many have a score
        if "protocol" in told:
            mine_is, theirs_is = (_PROTOCOLS.get(each, each) for each in told["protocol"])
            msg = (
                f"{first!r} {mine_is}, {name!r} {theirs_is}: their {metric} cannot be compared. "
                "Measure both under one protocol."
            )
            raise InvalidInputError(msg)
        if told:
            what = ", ".join(
                f"{field} is {quote(here)} for {first!r} and {quote(there)} for {name!r}"
                for field, (here, there) in told.items()
            )
            msg = f"{metric} was computed in different ways: {what}. Measure both in the same way."
            raise InvalidInputError(msg)


def _same_users(
    found: Mapping[str, ModelScores], users: str
) -> tuple[dict[str, ModelScores], dict[str, int]]:
    known = {name: set(one.users.tolist()) for name, one in found.items()}
    common = set.intersection(*known.values())
    left_out = {name: len(one.users) - len(common) for name, one in found.items()}
    if not any(left_out.values()):
        return dict(found), {}
    if users == "all":
        name, extra = next(
            (name, user)
            for name, one in found.items()
            for user in one.users.tolist()
            if user not in common
        )
        lacking = next(other for other, them in known.items() if extra not in them)
        sizes = ", ".join(f"{other} has {len(them)}" for other, them in known.items())
        msg = (
            f"The models have different users ({sizes}; {len(common)} in common): user "
            f"{quote(extra)} of {name!r} is not among those of {lacking!r}. Give all of them the "
            "same test data, or compare the users they have in common: users='common' "
            "(--users common)."
        )
        raise InvalidInputError(msg)
    if not common:
        msg = f"No user is in all of {', '.join(found)}: nothing can be compared."
        raise InvalidInputError(msg)
    kept = {
        name: one.take(np.flatnonzero([user in common for user in one.users.tolist()]))
        for name, one in found.items()
    }
    return kept, left_out


def _check_truth(found: Mapping[str, ModelScores]) -> None:
    """Refuse models that were measured on other ratings."""
    (first, reference), *rest = found.items()
    for name, one in rest:
        other = (one.truth != reference.truth).any(axis=1)
        if other.any():
            user = reference.users[other][0]
            msg = (
                f"{first!r} and {name!r} were measured on different ratings: the items or the "
                f"true values of {int(other.sum())} of {len(other)} users are not the same, the "
                f"first is user {quote(user)}. Let all models predict the same test ratings, in "
                "the same folds."
            )
            raise InvalidInputError(msg)


def with_chance(found: Mapping[str, ModelScores]) -> dict[str, ModelScores]:
    """Return the models with random order of the same lists as the first of them.

    Raises
    ------
    InvalidInputError
        There is no chance level, or each model's lists have their own.
    """
    (name, first), *rest = found.items()
    scores = first.roles["chance"]
    known = ~np.isnan(scores)
    if not known.any():
        msg = (
            f"{name!r} has no chance level, so that chance cannot be the baseline: its metrics do "
            "not depend on the order, or it was averaged from what has none."
        )
        raise InvalidInputError(msg)
    for other, one in rest:
        others = one.roles["chance"]
        both = known & ~np.isnan(others)
        if not np.allclose(scores[both], others[both], rtol=1e-9):
            msg = (
                f"Chance is not one baseline here: random order of the lists of {name!r} and of "
                f"{other!r} scores differently, for they hold other items. Give n_items= or items= "
                "to RankedLists.from_labels, so that chance is that of the catalogue."
            )
            raise InvalidInputError(msg)
    chance = replace(
        first,
        roles={**first.roles, "own": scores},
        numerator=np.where(known, scores * first.denominator, 0.0),
        denominator=np.where(known, first.denominator, 0.0),
        runs=np.full((1, len(first.names)), np.nan),
        report=None,
    )
    return {CHANCE: chance, **found}
