"""compare: read models in any form and return a comparison."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, Unpack

from recsys_ndcg.background import SOURCES, BackgroundOptions
from recsys_ndcg.calls import take_options
from recsys_ndcg.comparison.compared_models import ComparedModels
from recsys_ndcg.comparison.comparison import Comparison
from recsys_ndcg.comparison.model_scores import (
    CHANCE,
    USERS_CHOICES,
    ModelScores,
    add_chance,
    align_models,
)
from recsys_ndcg.convention import ConventionLike
from recsys_ndcg.errors import (
    InvalidInputError,
    check_choice,
    emit_labelled_warnings,
    is_encodable,
    label_messages,
    quote,
    suggest,
    warn,
)
from recsys_ndcg.evaluation import evaluate_in_memory, pair_tables
from recsys_ndcg.files import Archive
from recsys_ndcg.findings import Finding
from recsys_ndcg.input import read_rows
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.lists import RankedLists
from recsys_ndcg.metrics import Metric
from recsys_ndcg.progress import iterate_with_progress
from recsys_ndcg.ratings import split_catalogue
from recsys_ndcg.report import Report, assign_segments
from recsys_ndcg.scoring import Audit, Cutoffs, Metrics, Plan, find_metric_name
from recsys_ndcg.significance import SignificanceOptions, Testing, check_margin

Input = TypeVar("Input")
Output = TypeVar("Output")


class ComparisonOptions(SignificanceOptions, BackgroundOptions, total=False):
    """How pairs of models are tested, and what is known besides the lists."""


def _advise(models: Any = None, /, *_: Any, **__: Any) -> str:
    """Return what to write instead of models without names."""
    has_names = isinstance(models, Mapping) and not isinstance(models, Report)
    return "" if has_names else "Pass models by name: compare({'A': a, 'B': b})."


@take_options(SignificanceOptions, BackgroundOptions, defaults=Testing, advise=_advise)
def compare(  # noqa: PLR0913 - the contract
    models: Any,
    *,
    labels: Any = None,
    list_separator: str | None = None,
    metrics: Metrics = None,
    k: Cutoffs = "default",
    threshold: float | None = None,
    convention: ConventionLike = None,
    baseline: str | None = None,
    by: Any = None,
    margin: float | None = None,
    users: str = "all",
    columns: Mapping[str, Any] | None = None,
    progress: bool = True,
    **options: Unpack[ComparisonOptions],
) -> Comparison:
    """Compare models user by user: which is better, for whom, and how certain that is.

    Parameters
    ----------
    models : mapping of str to predictions, reports, saved reports or cross-validations
        Two or more, by name. Each is any input of `recsys_ndcg.evaluate`, a `Report`, the path of
        a saved report, the result of `recsys_ndcg.surprise.cross_validate`, a fitted search (one
        model per combination), an experiment (one per algorithm), or a list of reports (seeds).
        A search can also be passed alone, instead of a mapping.
    labels : table, lists per user or array, optional
        The relevant items, if the models are recommended lists, as `results` of
        `recsys_ndcg.evaluate`.
    list_separator : str, optional
        As in `recsys_ndcg.evaluate`.
    metrics, k, threshold, convention, columns
        As in `recsys_ndcg.evaluate`, for predictions; so is what is known besides the lists
        (`train`, `catalogue` …). For reports, `metrics` chooses some of theirs. The first metric
        orders the models and gives the verdict.
    baseline : str, optional
        The name of the model that others are compared with, in the columns won, tied and lost,
        and in segments; by default the first. ``"chance"`` is random order of the same lists, and
        becomes one of the models.
    by : optional
        Segments of users, as in `Report.by`. ``"activity"``, ``"training_ratings"`` and ``"cold"``
        need `train`; for ``"cold"`` the ids of its users are enough.
    margin : float, optional
        The largest difference that does not matter. If given, non-inferiority and equivalence
        are tested (two one-sided t tests).
    users : {'all', 'common'}
        ``"all"`` raises an error if models have different users, apart from users without a score
        in any metric; ``"common"`` compares the users that all models have. A remark counts the
        others.
    progress : bool
        Whether to show a progress bar on a terminal.
    **options
        As in `SignificanceOptions` and `BackgroundOptions`.

    Returns
    -------
    Comparison
        Leaderboard with tiers, pairs, segments, verdict, movers.

    Raises
    ------
    InvalidInputError
        The models were not measured on the same ratings and users in the same way, or an option
        is invalid.

    Warns
    -----
    DataWarning
        As in `recsys_ndcg.evaluate`, and for the tests ``"wilcoxon"`` and ``"sign"``.

    Notes
    -----
    The unit is the user: scores of one user in several folds or seeds are averaged first. A model's
    rank is at least 1 + the number of significantly better models, and at most the number of
    models that are not significantly worse. Its tier is the first of these ranks.

    References
    ----------
    Westfall & Young (1993), Resampling-based multiple testing; Mogstad, Romano, Shaikh & Wilhelm
    (2024), Inference for ranks, doi:10.1093/restud/rdad006; Piepho (2004),
    doi:10.1198/1061860043515

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> good = {user: [(4, 5), (3, 2), (2, 4)] for user in range(30)}
    >>> bad = {user: [(user % 3, 5), (1.5, 2), (1.2, 4)] for user in range(30)}
    >>> comparison = rn.compare({"good": good, "bad": bad}, metrics=["ndcg@3"])
    >>> comparison.leaderboard[["mean", "rank_low", "rank_high", "tier"]].round(3)
            mean  rank_low  rank_high  tier
    model
    good   0.963         1          1     1
    bad    0.765         2          2     2
    """
    known: dict[str, Any] = {name: options.pop(name, None) for name in SOURCES}  # type: ignore[misc]
    testing = check_test_options(users=users, margin=margin, **options)
    if not testing.test_kind.is_test_of_mean:
        disputed = Finding("disputed_test").sentence
        warn(
            f"`test={testing.test!r}`: {disputed} Choose 't', 'randomisation' or 'bootstrap' for "
            "the mean."
        )
    known["catalogue"], n_items = split_catalogue(known["catalogue"])
    # the first model would exhaust an iterator
    metrics = [*metrics] if isinstance(metrics, Iterator) else metrics
    k = [*k] if isinstance(k, Iterator) else k
    evaluation = EvaluationOptions(
        metrics, k, threshold, convention, columns, known, labels, list_separator, n_items
    )
    named = read_models(models, evaluation, progress=progress)
    if len(named) < 2 and not (named and baseline == CHANCE):
        only = f"There is only {next(iter(named))!r}. " if named else "There is none. "
        msg = f"A comparison needs at least two models. {only}Use 'evaluate' for one model."
        raise InvalidInputError(msg)
    aligned, n_dropped_users, other_metrics = align_models(named, users)
    aligned = add_chance(aligned) if baseline == CHANCE else aligned
    _check_baseline(baseline, aligned)
    name, first = next(iter(aligned.items()))
    segment_of_user = None
    train = known["train"]
    if by is not None:
        inputs = models.values() if isinstance(models, Mapping) else ()
        tables = (one for one in inputs if not (is_evaluated(one) or _is_saved(one)))
        segment_of_user = assign_segments(by, first, tables=tables, train=train, columns=columns)
    compared = ComparedModels(
        aligned,
        testing,
        name if baseline is None else baseline,
        margin=margin,
        segment_of_user=segment_of_user,
        n_dropped_users=n_dropped_users,
        other_metrics=tuple(other_metrics),
        inputs=_name_files(train=train, by=by),
        progress=progress,
    )
    return Comparison(compared)


def _name_files(**given: Any) -> dict[str, str]:
    """Return Python for the arguments that are paths, or names."""
    paths = {name: one for name, one in given.items() if isinstance(one, str | os.PathLike)}
    return {name: repr(os.fspath(path)) for name, path in paths.items()}


def check_test_options(
    *,
    users: str = "all",
    margin: float | None = None,
    baseline: str | None = None,
    models: Collection[str] = (),
    **options: Any,
) -> Testing:
    """Check all options of the tests, and return them; the others are only checked.

    Parameters
    ----------
    users, margin, baseline, models, **options
        As in `compare`; `models` are the names.

    Raises
    ------
    InvalidInputError
        An option is invalid.
    """
    check_choice("users", users, USERS_CHOICES)
    if margin is not None:
        check_margin(margin)
    _check_baseline(baseline, models)
    return Testing(**options)


def _check_baseline(baseline: str | None, models: Collection[str]) -> None:
    """Raise if the baseline is not the name of a model or chance.

    Raises
    ------
    InvalidInputError
        The baseline is unknown.
    """
    if not (baseline is None or baseline in [CHANCE, *models]):
        msg = f"`baseline={quote(baseline)}` is not a model. {suggest(str(baseline), models)}"
        raise InvalidInputError(msg)


@dataclass(frozen=True)
class EvaluationOptions:
    """The options of `recsys_ndcg.evaluate`, for models that are predictions."""

    metrics: Metrics
    k: Cutoffs
    threshold: float | None
    convention: ConventionLike
    columns: Mapping[str, Any] | None
    known: Mapping[str, Any]
    labels: Any = None
    list_separator: str | None = None
    n_items: Any = None
    #: The audit of an earlier model: later ones reuse its chance if their lists are the same.
    audits: list[Audit] = field(default_factory=list)

    @lazy_property
    def plan(self) -> Plan:
        """The plan for predictions; what is known besides them is read once for all models."""
        choices: dict[str, Any] = {"threshold": self.threshold, "convention": self.convention}
        return Plan.of(self.metrics, k=self.k, **choices).with_known(**self.known)

    def add_labels(self, name: str, data: Any) -> Any:
        """Return predictions, or the labels and these results, if labels are given.

        Raises
        ------
        InvalidInputError
            The labels are given, and the model is made of lists that have labels.
        """
        if self.labels is None:
            return data
        if isinstance(data, RankedLists):
            msg = f"{name!r} has labels of its own. Leave out `labels=`, or pass the results alone."
            raise InvalidInputError(msg)
        return pair_tables(None, self._labels, data, self.list_separator)

    @lazy_property
    def _labels(self) -> Any:
        """The labels, read once for all models; an array is read together with each model."""
        is_array = getattr(self.labels, "ndim", 0) == 2 and not hasattr(self.labels, "columns")
        return self.labels if is_array else read_rows(self.labels, self.columns, table="labels")

    def reject_options_without_effect(self, name: str) -> None:
        """Raise if options are given that cannot change the existing report of a model.

        Raises
        ------
        InvalidInputError
            A threshold, a convention, or what is known besides the lists is given.
        """
        choices = {"threshold": self.threshold, "convention": self.convention, **self.known}
        choices |= {"labels": self.labels}
        given = [  # train gives segments, too
            f"{name}=" for name, one in choices.items() if not (one is None or name == "train")
        ]
        if given:
            msg = (
                f"{name!r} is evaluated already, so {' and '.join(given)} would have no effect. "
                "Omit it, or pass predictions instead of the report."
            )
            raise InvalidInputError(msg)


def read_models(
    models: Any, options: EvaluationOptions, *, progress: bool
) -> dict[str, ModelScores]:
    """Read all models; a search has several.

    Raises
    ------
    InvalidInputError
        The models have no names, two have the same, or one cannot be read.
    """
    read = partial(_read_model, options=options)
    scores: dict[str, ModelScores] = {}
    for part in map_models(_check_models(models), read, progress=progress).values():
        for name in part.keys() & scores:
            msg = f"Two models are named {name!r}. Rename one of them."
            raise InvalidInputError(msg)
        scores |= part
    return scores


def map_models(
    models: Mapping[str, Input], work: Callable[[str, Input], Output], *, progress: bool
) -> dict[str, Output]:
    """Apply a function to each model, with a progress bar; warnings name the model."""
    results, warnings = {}, {}
    with closing(
        iterate_with_progress(models, "Evaluating", len(models), enabled=progress)
    ) as names:
        for name in names:
            with label_messages(name) as warnings[name]:
                results[name] = work(name, models[name])
    emit_labelled_warnings(warnings)
    return results


def _check_models(models: Any) -> dict[str, Any]:
    """Return the models by name; raise if a name is invalid, or a name or model is repeated."""
    if _is_search(models):
        return {"": models}  # it names its models itself
    if not isinstance(models, Mapping) or isinstance(models, Report):
        msg = f"Pass models by name, {{'SVD': predictions, 'KNN': others}}, not {quote(models)}."
        raise InvalidInputError(msg)
    for name in models:
        if not (isinstance(name, str) and name.strip() and is_encodable(name)):
            msg = f"The name of a model must be text that UTF-8 can encode, not {quote(name)}."
            raise InvalidInputError(msg)
    if len({name.strip() for name in models}) < len(models):
        msg = "Two model names differ only in blanks. Rename one of the models."
        raise InvalidInputError(msg)
    name_of: dict[Any, str] = {}
    for name, data in models.items():
        is_path = isinstance(data, str | Path)
        other = name_of.setdefault(os.path.realpath(data) if is_path else id(data), name)
        if other != name:
            what = "file" if is_path else "object"
            msg = (
                f"{other!r} and {name!r} are the same {what}. Pass a different one for each model."
            )
            raise InvalidInputError(msg)
    return dict(models)


def _read_model(name: str, data: Any, options: EvaluationOptions) -> dict[str, ModelScores]:
    """Return the scores of one model, or of each model of a search, by name."""
    if _is_search(data):
        options.reject_options_without_effect(name or "The search")
        parts: Mapping[str, ModelScores] = data.model_scores
        return {
            f"{name}: {part}" if name else part: replace(
                _select_metrics(one, options), search=None if one.search is None else name
            )
            for part, one in parts.items()
        }
    if isinstance(data, Sequence) and data and all(map(is_evaluated, data)):
        return {
            name: ModelScores.average_runs([_evaluate_model(name, run, options) for run in data])
        }
    return {name: _evaluate_model(name, data, options)}


def _is_search(data: Any) -> bool:
    """Return whether this is a fitted search or an experiment, which has several models."""
    return hasattr(type(data), "model_scores")  # of the class: the property is not computed


def _is_cross_validation(data: Any) -> bool:
    return isinstance(data, ModelScores) or hasattr(type(data), "averaged_scores")


def is_evaluated(data: Any) -> bool:
    """Return whether this is a report or a cross-validation, not predictions."""
    return isinstance(data, Report) or _is_cross_validation(data)


def _is_saved(data: Any, kind: str = "report") -> bool:
    return isinstance(data, str | Path) and Archive.is_saved(data, kind)


def _evaluate_model(name: str, data: Any, options: EvaluationOptions) -> ModelScores:
    if isinstance(data, Mapping) and "fit_time" in data and not _is_cross_validation(data):
        msg = (
            "This is a result of Surprise's own cross_validate, which keeps no scores of users. "
            "Use recsys_ndcg.surprise.cross_validate with a measure such as 'ndcg@10'."
        )
        raise InvalidInputError(msg)
    if _is_saved(data, "comparison"):
        msg = f"{data} is a saved comparison, not a model. Read it with rn.Comparison.load()."
        raise InvalidInputError(msg)
    if _is_saved(data):
        data = Report.load(data)
    if is_evaluated(data):
        options.reject_options_without_effect(name)
    else:
        data = options.add_labels(name, data)
        data = evaluate_in_memory(data, options.plan, options.columns, n_items=options.n_items)
    if _is_cross_validation(data):
        return _select_metrics(getattr(data, "averaged_scores", data), options)
    audit = data._data.audit
    if audit.source and not any(map(audit.take_orders_from, options.audits)):
        options.audits[:] = [audit]
    return _select_metrics(ModelScores.from_audit(audit, report=data), options)


def _select_metrics(scores: ModelScores, options: EvaluationOptions) -> ModelScores:
    """Return the requested metrics, or all if none is requested."""
    if options.metrics is None:
        return scores
    names = []
    for one in [options.metrics] if isinstance(options.metrics, str | Metric) else options.metrics:
        if isinstance(one, Metric) or one in scores.names:
            names.append(str(one))
        else:  # an alias, such as p@5; a protocol after a colon stays
            name, *protocol = str(one).split(":", 1)
            how: dict[str, Any] = {"k": options.k, "convention": options.convention}
            names += [":".join([each, *protocol]) for each in Plan.of(name, **how).names]
            if names[-1] not in scores.names and isinstance(options.k, str):
                names[-1] = find_metric_name(one, scores.names, "This report")
    missing = [name for name in names if name not in scores.names]
    if missing:
        msg = f"This report has no {', '.join(missing)}; it has {', '.join(scores.names)}."
        raise InvalidInputError(msg)
    return scores.select_metrics(list(dict.fromkeys(names)))
