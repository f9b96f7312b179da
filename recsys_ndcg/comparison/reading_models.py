"""compare: from models in any form to a comparison."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from recsys_ndcg.comparison.comparison import Comparison
from recsys_ndcg.comparison.model_scores import CHANCE, USERS, ModelScores, aligned, with_chance
from recsys_ndcg.convention import Convention
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
from recsys_ndcg.evaluation import measured
from recsys_ndcg.files import Archive
from recsys_ndcg.metrics import Metric
from recsys_ndcg.progress import iterate_with_progress
from recsys_ndcg.report import Report, assign_segments
from recsys_ndcg.scoring import Cutoffs, Metrics, Plan
from recsys_ndcg.significance import Testing, check_margin

Given = TypeVar("Given")
Made = TypeVar("Made")

_DISPUTED = (
    "their question is not about the mean, and on skewed differences they reject too often, the "
    "more so the more users there are (Urbano, Lima & Hanjalic, SIGIR 2019; Ihemelandu & Ekstrand, "
    "SIGIR 2023). For Wilcoxon: corrected by Benjamini-Hochberg it kept its level and had the most "
    "power on TREC data (Otero, Parapar & Barreiro, ECIR 2025). 't', 'randomisation' and "
    "'bootstrap' are about the mean."
)


def compare(  # noqa: PLR0913 - the contract
    models: Any,
    *,
    metrics: Metrics = None,
    k: Cutoffs = 10,
    threshold: float | None = None,
    convention: Convention | str | None = None,
    baseline: str | None = None,
    by: Any = None,
    margin: float | None = None,
    users: str = "all",
    test: str = "t",
    correction: str | None = None,
    alpha: float = 0.05,
    draws: int = 10_000,
    seed: int = 0,
    columns: Mapping[str, str] | None = None,
    train: Any = None,
    progress: bool = True,
) -> Comparison:
    """Compare models user by user: which is better, for whom, and how sure that is.

    Parameters
    ----------
    models : mapping of str to predictions, reports, saved reports or cross-validations
        By name, two or more; each is whatever `recsys_ndcg.evaluate` takes, a `Report`, the path of
        a saved one, what `recsys_ndcg.surprise.cross_validate` returns, a fitted search (a model
        for each combination), or a list of reports (seeds). A search may stand alone.
    metrics, k, threshold, convention, columns
        As in `recsys_ndcg.evaluate`, for predictions. Of reports, `metrics` chooses some; the
        first metric decides.
    baseline : str, optional
        Against which model users are won and lost: the first by default; ``"chance"`` is random
        order of the same lists, and joins the comparison.
    by : optional
        Segments of users: what `Report.by` takes.
    margin : float, optional
        Up to which a difference does not matter: whether models are not worse than each other by
        it, or equivalent, is tested (two one-sided t tests).
    users : {'all', 'common'}
        Whether different users are refused, or those that all models have are compared; how many
        were left out is said.
    test : {'t', 'randomisation', 'bootstrap', 'wilcoxon', 'sign'}
        Of the users' differences: Student's paired t test, random signs, resampled users.
    correction : {'max-T', 'holm', 'bonferroni', 'bh', 'none'}, optional
        For the number of pairs in a metric: max-T by default, Holm for tests that have none.
    alpha : float
        How often equal models may be called different, at least 1e-12; intervals are at
        1 - alpha.
    draws, seed : int
        Of signs, resamples, and what max-T needs.
    train : optional
        The users of the training data, or the data, for ``by="cold"`` and ``by="activity"``.
    progress : bool
        Whether a bar shows how far it is, where a person watches.

    Returns
    -------
    Comparison
        Leaderboard with tiers, pairs, segments, verdict, movers.

    Raises
    ------
    InvalidInputError
        The models were not measured on the same ratings, users and choices; or an option cannot
        be used.

    Warns
    -----
    DataWarning
        As for `recsys_ndcg.evaluate`; and of tests that are disputed.

    Notes
    -----
    The unit is the user: scores of one user in several folds or seeds are averaged first. A model's
    rank is in [1 + models significantly better, models - models significantly worse], and its tier
    is the lower end: models that the test cannot tell apart share one.

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
    testing: dict[str, Any] = {"test": test, "correction": correction, "alpha": alpha}
    how = check_options(users=users, margin=margin, draws=draws, seed=seed, **testing)
    if not how.kind.has_intervals:
        warn(f"test={test!r} is disputed. Against Wilcoxon and sign tests: {_DISPUTED}")
    # an iterator of metrics or cutoffs would be used up by the first model
    given: list[Any] = [[*one] if isinstance(one, Iterator) else one for one in (metrics, k)]
    asked = Asked(given[0], given[1], threshold, convention, columns)
    found = contenders_of(models, asked, progress=progress)
    if len(found) < 2 and not (found and baseline == CHANCE):  # which joins it
        only = f"There is only {next(iter(found))!r}. " if found else "There is none. "
        msg = f"A comparison needs at least two models. {only}rn.evaluate() is for one."
        raise InvalidInputError(msg)
    entered, left_out, other_metrics = aligned(found, users)
    if baseline == CHANCE and CHANCE not in entered:
        entered = with_chance(entered)
    check_options(entered, baseline=baseline)
    how.check_pairs(len(entered) * (len(entered) - 1) // 2)
    name, first = next(iter(entered.items()))
    groups = None
    if by is not None:
        read = models.values() if isinstance(models, Mapping) else ()
        groups = assign_segments(
            by,
            first,
            tables=(one for one in read if not (is_measured(one) or _is_saved(one))),
            train=train,
            columns=columns,
        )
    return Comparison(
        entered,
        how,
        name if baseline is None else baseline,
        margin=margin,
        groups=groups,
        left_out=left_out,
        other_metrics=tuple(other_metrics),
        progress=progress,
    )


def check_options(
    models: Collection[str] | None = None,
    *,
    users: str = "all",
    margin: float | None = None,
    baseline: str | None = None,
    **testing: Any,
) -> Testing:
    """Return how is tested; refuse what cannot be used, before anything is measured.

    Parameters
    ----------
    models : collection of str, optional
        Their names, if they are known: the baseline is one of these, or chance.
    users, margin, baseline, **testing
        As in `compare`.

    Raises
    ------
    InvalidInputError
        One cannot be used.
    """
    check_choice("users", users, USERS)
    if margin is not None:
        check_margin(margin)
    if not (models is None or baseline is None or baseline in [CHANCE, *models]):
        msg = f"baseline={quote(baseline)} is none of the models. {suggest(str(baseline), models)}"
        raise InvalidInputError(msg)
    return Testing(**testing)


class Asked(NamedTuple):
    """How predictions are measured, as `recsys_ndcg.evaluate` takes it."""

    metrics: Metrics
    k: Cutoffs
    threshold: float | None
    convention: Convention | str | None
    columns: Mapping[str, str] | None

    def refuse_for(self, name: str) -> None:
        """Refuse choices that come too late, for what is measured already.

        Raises
        ------
        InvalidInputError
            There are such.
        """
        choices = ("threshold", "convention")
        late = [f"{choice}=" for choice in choices if getattr(self, choice) is not None]
        if late:
            msg = (
                f"{name!r} is measured already, so that {' and '.join(late)} would change nothing "
                "of it. Leave it, or give the predictions."
            )
            raise InvalidInputError(msg)


def contenders_of(models: Any, asked: Asked, *, progress: bool) -> dict[str, ModelScores]:
    """Return the contenders by name.

    Raises
    ------
    InvalidInputError
        There are no names, or one of them stands for two models; or one cannot be read.
    """

    def work(name: str, data: Any) -> dict[str, ModelScores]:
        return _entered(name, data, asked)

    found: dict[str, ModelScores] = {}
    for part in of_each_model(_named(models), work, progress=progress).values():
        for name in part.keys() & found:
            msg = f"Two models are called {name!r}: give one of them another name."
            raise InvalidInputError(msg)
        found |= part
    return found


def of_each_model(
    models: Mapping[str, Given], work: Callable[[str, Given], Made], *, progress: bool
) -> dict[str, Made]:
    """Return what is made of each model; a bar counts them, and a warning says of which it is."""
    found, said = {}, {}
    with closing(
        iterate_with_progress(models, "Evaluating", len(models), enabled=progress)
    ) as names:
        for name in names:
            with label_messages(name) as said[name]:
                found[name] = work(name, models[name])
    emit_labelled_warnings(said)
    return found


def _named(models: Any) -> dict[str, Any]:
    """Return the models by their names, each of them once."""
    if _has(models, "contenders"):
        return {"": models}
    if not isinstance(models, Mapping) or isinstance(models, Report):
        msg = (
            f"Give the models by name, {{'SVD': predictions, 'KNN': others}}, not {quote(models)}."
        )
        raise InvalidInputError(msg)
    for name in models:
        if not isinstance(name, str) or not name.strip():
            msg = f"The name of a model is text, not {quote(name)}."
            raise InvalidInputError(msg)
        if not is_encodable(name):
            msg = f"The name {name!r} of a model has a lone surrogate. Give it another name."
            raise InvalidInputError(msg)
    if len({name.strip() for name in models}) < len(models):
        msg = "Two models are called alike but for blanks: give one of them another name."
        raise InvalidInputError(msg)
    known: dict[Any, str] = {}
    for name, data in models.items():
        is_path = isinstance(data, str | Path)
        other = known.setdefault(os.path.realpath(data) if is_path else id(data), name)
        if other != name:
            what = "file" if is_path else "object"
            msg = f"{other!r} and {name!r} are the same {what}: give each model its own."
            raise InvalidInputError(msg)
    return dict(models)


def _entered(name: str, data: Any, asked: Asked) -> dict[str, ModelScores]:
    """Return one contender, or those of a search, under their names."""
    if _has(data, "contenders"):
        asked.refuse_for(name or "The search")
        parts: Mapping[str, ModelScores] = data.contenders
        return {
            f"{name}: {told}" if name else told: _chosen(one, asked) for told, one in parts.items()
        }
    if isinstance(data, Sequence) and data and all(map(is_measured, data)):
        return {name: ModelScores.averaged([_one(name, run, asked) for run in data])}
    return {name: _one(name, data, asked)}


def _has(data: Any, name: str) -> bool:
    """Tell whether there is such a property, without working it out."""
    return hasattr(type(data), name)


def is_measured(data: Any) -> bool:
    """Tell a report or a cross-validation from predictions."""
    return isinstance(data, Report) or _has(data, "contender")


def _is_saved(data: Any, kind: str = "report") -> bool:
    return isinstance(data, str | Path) and Archive.is_saved(data, kind)


def _one(name: str, data: Any, asked: Asked) -> ModelScores:
    if isinstance(data, Mapping) and "fit_time" in data and not _has(data, "contender"):
        msg = (
            "This is what Surprise's own cross_validate returns, which keeps no scores of users. "
            "Take that of recsys_ndcg.surprise, with a measure such as 'ndcg@10'."
        )
        raise InvalidInputError(msg)
    if _is_saved(data, "comparison"):
        msg = f"{data} is a saved comparison, not a model: rn.Comparison.load() reads it."
        raise InvalidInputError(msg)
    if _is_saved(data):
        data = Report.load(data)
    if is_measured(data):
        asked.refuse_for(name)
    else:
        how: dict[str, Any] = {"threshold": asked.threshold, "convention": asked.convention}
        data = measured(data, Plan.of(asked.metrics, k=asked.k, **how), asked.columns)
    if _has(data, "contender"):
        return _chosen(data.contender, asked)
    return _chosen(ModelScores.of(data.audited, report=data), asked)


def _chosen(found: ModelScores, asked: Asked) -> ModelScores:
    """Return the metrics that are asked for, all of them if none is."""
    if asked.metrics is None:
        return found
    names = []
    for one in [asked.metrics] if isinstance(asked.metrics, str | Metric) else asked.metrics:
        if isinstance(one, Metric) or one in found.names:
            names.append(str(one))
        else:  # as somebody types it; a protocol behind a colon stays
            name, *protocol = str(one).split(":", 1)
            names += [":".join([str(each), *protocol]) for each in Plan.of(name, k=asked.k).names]
    missing = [name for name in names if name not in found.names]
    if missing:
        msg = f"It was not measured in {', '.join(missing)}; it has {', '.join(found.names)}."
        raise InvalidInputError(msg)
    return found.in_metrics(list(dict.fromkeys(names)))
