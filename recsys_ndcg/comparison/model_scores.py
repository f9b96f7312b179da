"""ModelScores: one model's scores, user by user, and its parameters.

Before models are compared, their users, ratings and conventions are checked to be the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.arrays import (
    Floats,
    Positions,
    are_equal,
    concat_along,
    concat_ids,
    divide,
    take_along,
)
from recsys_ndcg.errors import InvalidInputError, escape_invisible, quote
from recsys_ndcg.input import check_id_types, encode_ids
from recsys_ndcg.ranking import Exposures
from recsys_ndcg.scoring import Audit, Scores, Signature, describe_protocol, sign_runs

if TYPE_CHECKING:
    from recsys_ndcg.lists import GroupedLists
    from recsys_ndcg.report import Report

CHANCE = "chance"
USERS_CHOICES = ("all", "common")
Parameter = str | int | float | bool | None
_OTHER_ROLES = ("chance", "best")
_LARGEST = 2**53  # JSON readers may round larger integers


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelScores(Scores):
    """One model's scores in three roles: its own, chance and best.

    If a user was measured several times, in folds or in several runs, scores are averaged within
    the user: users are independent of each other, the folds of one user are not. Runs are whole
    repetitions: the same model trained with other seeds or on other samples. The folds of one
    partition are one run. Numerator and denominator are 0 if a user has no score; counts of folds
    are added up.

    Parameters
    ----------
    signatures : mapping of str to Signature
        How each metric was computed, by the metric's name.
    label_digests : uint64 array, shape (n_users, n_metrics)
        A digest of each user's ratings, by metric.
    run_means : float64 array, shape (n_runs, n_metrics)
        The means of each fold or seed; one row if there is only one.
    report : Report, optional
        The report with the lists, if it was kept.
    parameters : mapping of str
        Parameters of the model by name: numbers, texts or None.
    run_scores : float64 array, shape (n_runs, n_users, n_metrics)
        The scores in each run, NaN if there is none; no runs if there is only one.
    search : str, optional
        The name of the search that tried this model, "" if the search has no name; None if the
        model was not tried by a search.
    """

    _axes: ClassVar = {
        "users": "users counts",
        "metrics": "measurements exposures",
        "users metrics": "numerator denominator left_out roles label_digests",
        "runs metrics": "run_means",
        "runs users metrics": "run_scores",
    }

    signatures: Mapping[str, Signature]
    label_digests: NDArray[np.uint64]
    run_means: Floats
    run_scores: Floats = field(default_factory=lambda: np.zeros((0, 0, 0)))
    report: Report | None = None
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    search: str | None = None

    @classmethod
    def from_audit(
        cls, audit: Audit, metric_names: Sequence[str] | None = None, report: Report | None = None
    ) -> ModelScores:
        """Return the scores of one evaluation, its metrics renamed to `metric_names` if given."""
        scores = _use_pseudo_values(audit)
        own, is_known = scores.per_user, ~np.isnan(scores.per_user)
        roles = {role: np.where(is_known, scores.roles[role], np.nan) for role in _OTHER_ROLES}
        digests, names = audit.label_digests.astype(np.uint64), scores.names
        filled = replace(
            scores,
            numerator=np.where(scores.is_defined, scores.numerator, 0.0),
            denominator=np.where(scores.is_defined, scores.denominator, 0.0),
            roles={"own": own, **roles},
            label_digests=np.repeat(digests[:, None], len(names), axis=1),
        )
        signatures = [audit.signatures[name] for name in names]
        return cls(
            **vars(filled),
            signatures=dict(zip(metric_names or names, signatures, strict=True)),
            run_means=audit.totals.mean[None, :],
            report=report,
        )

    @classmethod
    def join_metrics(cls, parts: Sequence[ModelScores]) -> ModelScores:
        """Join the metrics of all parts, over all their users."""
        expanded = _expand_to_all_users(parts)
        return replace(
            concat_along(expanded, "metrics"),
            signatures={name: text for part in expanded for name, text in part.signatures.items()},
            exposures=_join_exposures(expanded),
        )

    @classmethod
    def average_runs(
        cls, runs: Sequence[ModelScores], run_of: Sequence[int] | None = None
    ) -> ModelScores:
        """Average the scores of folds and runs within each user, and add up their parts.

        Folds hold different ratings of a user: their counts and digests are added up, too, and
        counts are averaged over runs. Seeds of the same split hold the same ratings: counts and
        digests are those of the first run. A user is left out if
        all runs leave it out; other flags are true if they are true in any run.

        Parameters
        ----------
        runs : sequence of ModelScores
            One per fold and run.
        run_of : sequence of int, optional
            The number of each one's run; the same for all folds of a partition. By default, each is
            a run if all have the same ratings, or else all are folds.
        """
        if len(runs) == 1:
            return runs[0]
        expanded = _expand_to_all_users(runs)
        first, columns = expanded[0], [part.columns() for part in expanded]
        have_same_ratings = all(
            len(run.users) == len(each.users)
            and np.array_equal(each.label_digests, first.label_digests)
            for run, each in zip(runs, expanded, strict=True)
        )
        if not have_same_ratings:
            columns = [{**part, "truth": _hash_digests(part["truth"])} for part in columns]
        merged = {}
        for name, values in columns[0].items():
            tables = [part[name] for part in columns]
            if name in first.roles:
                merged[name] = _average_scores(tables)
            elif values.dtype == bool:
                combine = np.logical_and if name == "left_out" else np.logical_or
                merged[name] = reduce(combine, tables)
            elif name != "user" and (name in first.tables_behind_scores or not have_same_ratings):
                merged[name] = reduce(np.add, tables)
            else:
                merged[name] = values
        if run_of is None:
            run_of = [place if have_same_ratings else 0 for place in range(len(runs))]
        elif not have_same_ratings:
            # the runs that have each user in at least one fold
            has_user = np.array([np.isin(first.users, run.users) for run in runs])
            each = [has_user[np.equal(run_of, run)].any(axis=0) for run in set(run_of)]
            n_runs = np.sum(each, axis=0, dtype=np.float64)
            for name, values in vars(first.counts).items():
                merged[name] = (merged[name] / n_runs).astype(values.dtype)
        average = _replace_columns(first, merged)
        scores = np.array([part.per_user for part in expanded])
        folds_of_runs = (scores[np.equal(run_of, run)] for run in dict.fromkeys(run_of))
        tables_of_runs = [_average_scores([*folds]) for folds in folds_of_runs]
        return replace(
            average,
            signatures=_join_signatures([run.signatures for run in runs], average.per_user),
            run_means=np.concatenate([run.run_means for run in runs]),
            run_scores=np.array(tables_of_runs if len(tables_of_runs) > 1 else np.zeros((0, 0, 0))),
            report=None,
            parameters=_common_parameters([run.parameters for run in runs]),
        )

    @property
    def names(self) -> list[str]:
        """The names of the metrics."""
        return list(self.signatures)

    def take(self, users: Positions) -> ModelScores:
        """Return the scores of users by their positions; `run_means` stays over all users."""
        scores = super().take(users)
        signatures = _join_signatures([self.signatures], scores.per_user)
        return replace(scores, signatures=signatures)

    def select_metrics(self, names: Sequence[str]) -> ModelScores:
        """Return the scores in some of the metrics."""
        if [*names] == self.names:
            return self
        columns = [self.names.index(name) for name in names]
        signatures = {name: self.signatures[name] for name in names}
        return replace(take_along(self, "metrics", columns), signatures=signatures)


def list_tables(scores: ModelScores) -> dict[str, NDArray[Any]]:
    """Return the tables of users × metrics by their names in a file.

    "truth" has the label digests, and "run 1", "run 2" ... the scores of each run.
    """
    return {
        "scores": scores.per_user,
        "numerator": scores.numerator,
        "denominator": scores.denominator,
        "chance": scores.roles["chance"],
        "best": scores.roles["best"],
        "truth": scores.label_digests,
        **{f"run {place}": table for place, table in enumerate(scores.run_scores, 1)},
    }


def require_report(scores: ModelScores, model: str) -> Report:
    """Return the report with its lists; `model` is this model's name, for the message.

    Raises
    ------
    InvalidInputError
        The model has no lists, because it was read from a file, averaged over folds, is chance,
        or its data is larger than memory.
    """
    if scores.report is None or scores.report._data.audit.lists is None:
        msg = (
            f"{model!r} has no lists: it was read from a file, is averaged, chance, or larger "
            "than memory. Compare predictions, or reports of predictions."
        )
        raise InvalidInputError(msg)
    return scores.report


def require_lists(scores: ModelScores, model: str) -> GroupedLists:
    """Return the lists of the compared users; parameter and error as in `require_report`."""
    data = require_report(scores, model)._data
    assert data.audit.lists is not None, "require_report has checked this"  # noqa: S101
    if data.audit.n_users == len(scores.users):
        return data.audit.lists
    return data.audit.lists.take(data.scores.positions_of(scores.users))


def _use_pseudo_values(audit: Audit) -> Scores:
    """Return scores in which numbers of all lists together have the jackknife's values."""
    scores = audit.scores_with_orders
    if not scores.exposures:
        return scores
    values, together = audit.pseudo_values, audit.totals.is_over_lists
    chance = np.where(np.isnan(values), np.nan, audit.totals_with_orders.mean_of("chance"))
    numerator = np.where(together, np.nan_to_num(values), scores.numerator)
    denominator = np.where(together, ~np.isnan(values), scores.denominator)
    given = {"own": (values, scores.per_user), "chance": (chance, scores.roles["chance"])}
    roles = {role: np.where(together, *tables) for role, tables in given.items()}
    roles = {**scores.roles, **roles}
    return replace(scores, numerator=numerator, denominator=denominator, roles=roles)


def _replace_columns(scores: ModelScores, columns: Mapping[str, NDArray[Any]]) -> ModelScores:
    """Return scores with all arrays replaced, even the users."""
    return replace(scores, **vars(Scores.from_columns(scores.measurements, columns)))


def _join_exposures(parts: Sequence[ModelScores]) -> tuple[Exposures | None, ...]:
    """Return the exposures of the metrics of all parts; empty if no part has any."""
    padded = [part.exposures or (None,) * len(part.measurements) for part in parts]
    joined = tuple(one for each in padded for one in each)
    return joined if any(one is not None for one in joined) else ()


def _common_parameters(parameters: Sequence[Mapping[str, Parameter]]) -> dict[str, Parameter]:
    """Return the parameters that have the same value in all runs."""
    first, *others = (run.items() for run in parameters)
    return {name: value for name, value in first if all((name, value) in run for run in others)}


def _expand_to_all_users(parts: Sequence[ModelScores]) -> list[ModelScores]:
    """Return each part with the users of all parts; NaN or 0 for users it does not have."""
    ids = [part.users for part in parts]
    users, codes = encode_ids(concat_ids(ids), "user")
    expanded, positions = [], np.split(codes, np.cumsum([*map(len, ids)])[:-1])
    for part, users_of_part in zip(parts, positions, strict=True):
        columns = part.columns()
        for name, values in columns.items():
            fill = np.nan if name in part.roles else 0
            columns[name] = np.full((len(users), *values.shape[1:]), fill, dtype=values.dtype)
            columns[name][users_of_part] = values
        expanded.append(_replace_columns(part, {**columns, "user": users}))
    return expanded


def _average_scores(tables: Sequence[Floats]) -> Floats:
    """Return the mean over the runs that have a score, NaN if no run has."""
    n_scores = sum((~np.isnan(table)).astype(np.int64) for table in tables)
    total = reduce(np.add, [np.nan_to_num(table, nan=0.0) for table in tables])
    return divide(total, n_scores)


def _hash_digests(digests: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash a fold's digests before they are added up.

    Plain sums would be equal for any split of the same ratings into folds. But other folds are
    other lists, so their sums must differ.
    """
    mixed = pd.util.hash_array(digests.ravel(), categorize=False).reshape(digests.shape)
    return np.asarray(mixed * (digests != 0))


def _join_signatures(
    runs: Sequence[Mapping[str, Signature]], scores: Floats
) -> dict[str, Signature]:
    """Return the signatures of the mean of runs, with the number of users who have a score."""
    counts = zip(runs[0], (~np.isnan(scores)).sum(axis=0).tolist(), strict=True)
    return {name: sign_runs([run[name] for run in runs], count) for name, count in counts}


def flatten_parameters(parameters: Mapping[Any, Any], prefix: str = "") -> dict[str, Parameter]:
    """Return parameters as numbers and texts; keys of nested mappings are joined by a dot.

    Examples
    --------
    >>> flatten_parameters({"n_factors": 20, "sim_options": {"name": "msd"}, "init": (0, 1)})
    {'n_factors': 20, 'sim_options.name': 'msd', 'init': '(0, 1)'}
    """
    flat: dict[str, Parameter] = {}
    for name, value in parameters.items():
        full_name = f"{prefix}{escape_invisible(str(name))}"
        if isinstance(value, Mapping):
            flat |= flatten_parameters(value, f"{full_name}.")
        else:
            flat[full_name] = _to_parameter(value)
    return flat


def _to_parameter(value: Any) -> Parameter:
    value = value.item() if hasattr(value, "item") and not getattr(value, "ndim", 0) else value
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, int) and abs(value) <= _LARGEST:
        return int(value)
    return escape_invisible(value if isinstance(value, str) else repr(value))


# Checks before a comparison


def align_models(
    models: Mapping[str, ModelScores], users: str
) -> tuple[dict[str, ModelScores], dict[str, int], list[str]]:
    """Return the models with the same users and metrics in the same order.

    Also return each model's number of users that other models do not have, and the metrics that
    not all models have.

    Parameters
    ----------
    models : mapping
        The models' scores, by name.
    users : {'all', 'common'}
        Whether all models must have the same users, or only common users are compared. A user
        without a score in any metric may be missing from a model.

    Raises
    ------
    InvalidInputError
        The models were measured on different ratings or users, in different ways, or share no
        metric.
    """
    metrics = list(dict.fromkeys(metric for model in models.values() for metric in model.names))
    shared = [name for name in metrics if all(name in model.names for model in models.values())]
    if not shared:
        names = "; ".join(f"{name}: {', '.join(model.names)}" for name, model in models.items())
        msg = f"The models share no metric ({names}). Evaluate all with the same metrics."
        raise InvalidInputError(msg)
    models = {name: model.select_metrics(shared) for name, model in models.items()}
    (reference_name, reference), *others = models.items()
    for name, model in others:
        _check_signatures(reference_name, reference, name, model)
        check_id_types(reference.users, model.users, "user", (repr(reference_name), repr(name)))
    models, n_dropped_users = _keep_common_users(models, users)
    _check_label_digests(models)
    if all(np.isnan(model.per_user).all() for model in models.values()):
        msg = (
            f"No model has a score for any user in {', '.join(shared)}: no item is relevant, or "
            "none is labelled. Choose another threshold or other metrics."
        )
        raise InvalidInputError(msg)
    return models, n_dropped_users, [metric for metric in metrics if metric not in shared]


def _check_signatures(
    reference_name: str, reference: ModelScores, name: str, model: ModelScores
) -> None:
    """Raise if two models were measured under different conventions."""
    for metric, signature in model.signatures.items():
        differences = reference.signatures[metric].differences(signature)
        differences.pop("users", None)  # the number of users who have a score
        if "protocol" in differences:
            first, second = map(describe_protocol, (reference.signatures[metric], signature))
            msg = (
                f"{metric} ({first}) of {reference_name!r} cannot be compared with {metric} "
                f"({second}) of {name!r}. Use one protocol for both."
            )
            raise InvalidInputError(msg)
        reject_differences(metric, (reference_name, name), differences)


def reject_differences(
    metric: str, names: tuple[str, str], differences: Mapping[str, Sequence[Any]]
) -> None:
    """Raise if there are choices in which two signatures of a metric differ.

    Parameters
    ----------
    metric : str
        The metric.
    names : tuple of str
        The models, or the data sets.
    differences : mapping of str
        The value of each choice for both.

    Raises
    ------
    InvalidInputError
        There is a difference.
    """
    if differences:
        what = ", ".join(
            f"{choice} is {quote(first)} for {names[0]!r} and {quote(second)} for {names[1]!r}"
            for choice, (first, second) in differences.items()
        )
        msg = f"{metric} was computed in different ways: {what}. Evaluate both in the same way."
        raise InvalidInputError(msg)


def _keep_common_users(
    models: Mapping[str, ModelScores], users: str
) -> tuple[dict[str, ModelScores], dict[str, int]]:
    first, *others = models.values()
    if all(are_equal(first.users, other.users) for other in others):
        return dict(models), {}
    users_of = {name: set(model.users.tolist()) for name, model in models.items()}
    common = set.intersection(*users_of.values())
    n_dropped_users = {name: len(model.users) - len(common) for name, model in models.items()}
    if not any(n_dropped_users.values()):
        return dict(models), {}
    scored = [
        (name, user)
        for name, model in models.items()
        for user in model.users[~np.isnan(model.per_user).all(axis=1)].tolist()
        if user not in common
    ]
    if users == "all" and scored:
        name, extra = scored[0]
        lacking = next(other for other, ids in users_of.items() if extra not in ids)
        sizes = ", ".join(f"{other} has {len(ids)}" for other, ids in users_of.items())
        msg = (
            f"The models have different users ({sizes}; {len(common)} in common): user "
            f"{quote(extra)} of {name!r} is missing in {lacking!r}. Use the same test data for "
            "all, or compare only common users: `users='common'`."
        )
        raise InvalidInputError(msg)
    if not common:
        msg = f"No user is in all of {', '.join(models)}, so nothing can be compared."
        raise InvalidInputError(msg)
    kept = {name: model.take(model.positions_of(common)) for name, model in models.items()}
    return kept, n_dropped_users


def _check_label_digests(models: Mapping[str, ModelScores]) -> None:
    """Raise if two models were measured on different ratings."""
    (reference_name, reference), *others = models.items()
    for name, model in others:
        differs = (model.label_digests != reference.label_digests).any(axis=1)
        if differs.any():
            user = reference.users[differs][0]
            msg = (
                f"{reference_name!r} and {name!r} were measured on different ratings: items or "
                f"true values differ for {int(differs.sum())} of {len(differs)} users, the first "
                f"is user {quote(user)}. Let all models predict the same test ratings, in the same "
                "folds."
            )
            raise InvalidInputError(msg)


def add_chance(models: Mapping[str, ModelScores]) -> dict[str, ModelScores]:
    """Put chance before the other models, if it is not there: random order of the same lists.

    Raises
    ------
    InvalidInputError
        There is no chance level, or it differs between the models' lists.
    """
    if CHANCE in models:
        return {**models}
    (name, first), *others = models.items()
    scores = first.roles["chance"]
    is_known = ~np.isnan(scores)
    if not is_known.any():
        names = ", ".join(first.names)
        reason = f"{name!r} has no chance level in {names}"
        if not any(one.metric.depends_on_order for one in first.measurements):
            reason = f"no metric of {name!r} depends on the order ({names})"
        msg = (
            f"Chance cannot be the baseline: {reason}. Choose another metric, such as ndcg@10, or "
            "a model as the baseline."
        )
        raise InvalidInputError(msg)
    for other, model in others:
        other_scores = model.roles["chance"]
        both = is_known & ~np.isnan(other_scores)
        if not np.allclose(scores[both], other_scores[both], rtol=1e-9):
            msg = (
                f"Chance cannot be the baseline: {name!r} and {other!r} list different items, so "
                "their random orders score differently. Pass `catalogue=`, the items or "
                "their number, for the chance level of the catalogue."
            )
            raise InvalidInputError(msg)
    chance = replace(
        first,
        roles={**first.roles, "own": scores},
        numerator=np.where(is_known, scores * first.denominator, 0.0),
        denominator=np.where(is_known, first.denominator, 0.0),
        run_means=np.full((1, len(first.names)), np.nan),
        # chance is the same in every run
        run_scores=np.broadcast_to(scores, (len(first.run_scores), *scores.shape)),
        report=None,
        search=None,
    )
    return {CHANCE: chance, **models}
