"""Rank the whole catalogue, and evaluate the rankings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from surprise import Trainset

from recsys_ndcg.arrays import Ids
from recsys_ndcg.catalogue import (
    Candidates,
    Placement,
    check_cutoff,
    choose_convention,
    read_testset,
    warn_of_leak,
    warn_outside_scale,
)
from recsys_ndcg.convention import Convention, ConventionLike
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.evaluation import evaluate_in_memory
from recsys_ndcg.input import Rows, check_id_types, encode_ids, make_index, to_column
from recsys_ndcg.lists import Grades
from recsys_ndcg.metrics import check_k
from recsys_ndcg.progress import progress_bar
from recsys_ndcg.ratings import Interactions
from recsys_ndcg.scoring import Cutoffs, Metrics, Plan, Totals
from recsys_ndcg.surprise.estimates import Estimates, MostPopular
from recsys_ndcg.surprise.traps import warn_of_truncation

if TYPE_CHECKING:
    from recsys_ndcg.report import Report


def rank_catalogue(  # noqa: PLR0913 - the contract
    algo: Any,
    trainset: Any,
    k: int | None = 10,
    *,
    users: Iterable[Any] | None = None,
    exclude: str | None = "train",
    clip: bool = False,
    progress: bool = True,
) -> pd.DataFrame:
    """Return the top k of all items for every user, without Surprise's anti-testset.

    Parameters
    ----------
    algo : surprise.AlgoBase
        Fitted on the trainset.
    trainset : surprise.Trainset
        Its items are the catalogue.
    k : int, optional
        Number of items per user, at most the size of the catalogue; None for all.
    users : iterable of raw ids, optional
        Users of the trainset; all of them by default.
    exclude : {'train', None}
        Leave out the items that the user rated in the trainset, or none.
    clip : bool
        Clip estimates to the rating scale, as ``predict`` does; estimates beyond it are then tied.
    progress : bool
        Whether to show a progress bar for long jobs, in a terminal or a notebook.

    Returns
    -------
    pandas.DataFrame
        Columns user, item, rank (from 1) and estimated, in the order of the users and ranks.
        Estimates that differ by less than 1e-9 are in the order of the trainset. A user with fewer
        candidates has fewer rows.

    Raises
    ------
    InvalidInputError
        The algorithm is not fitted on the trainset, or diverged; a user is not in the trainset; k
        is larger than the catalogue.

    Notes
    -----
    For all algorithms of Surprise that are not random, estimates are computed as arrays for blocks
    of users, so memory does not grow with users × items. Other algorithms predict pair by pair.

    Examples
    --------
    >>> import pandas as pd
    >>> from surprise import Dataset, Reader
    >>> rows = [("ann", "a", 2), ("bob", "a", 1), ("bob", "b", 5)]
    >>> data = Dataset.load_from_df(pd.DataFrame(rows), Reader(rating_scale=(1, 5)))
    >>> trainset = data.build_full_trainset()
    >>> rank_catalogue(MostPopular().fit(trainset), trainset, k=1)
      user item  rank  estimated
    0  ann    b     1        3.0
    """
    check_k(k)
    candidates = build_candidates(algo, trainset, exclude=exclude, clip=clip)
    training = candidates.training
    check_cutoff(k, trainset.n_items)
    if clip:
        warn_outside_scale(training.rated, trainset.rating_scale)
    warn_of_truncation(type(algo), training.rated)
    raw = _select_ids(users, training.user.ids, "user")
    strangers = raw[training.user.find(raw) < 0]
    if len(strangers):
        msg = (
            f"{len(strangers)} of {len(raw)} users are not in the trainset, the first "
            f"{quote(strangers[0])}. Give raw ids, as in the data; predict_all() has "
            "estimates for unknown users."
        )
        raise InvalidInputError(msg)
    with progress_bar(enabled=progress) as show:
        columns = candidates.rank(raw, k, partial(show, "Ranking the catalogue"))
    return pd.DataFrame(columns).infer_objects()


def evaluate_catalogue(  # noqa: PLR0913 - the contract
    algo: Any,
    trainset: Any,
    testset: Any,
    *,
    metrics: Metrics = None,
    k: Cutoffs = "default",
    threshold: float | None = None,
    convention: ConventionLike = None,
    features: Any = None,
    base: Any = None,
    groups: Any = None,
    weights: Any = None,
    exclude: str | None = "train",
    clip: bool = False,
    progress: bool = True,
) -> Report:
    """Evaluate the ranking of all items that a user has not rated in training.

    Parameters
    ----------
    algo : surprise.AlgoBase
        Fitted on the trainset.
    trainset : surprise.Trainset
        The items that a user has not rated in it are the user's candidates.
    testset : list of (user, item, rating), table or path
        The labels; all other candidates are unlabelled.
    metrics, k, threshold
        As in `recsys_ndcg.evaluate`.
    convention : Convention or str, optional
        All other choices, or a library's name. Estimates that differ by less than 1e-9 are tied.
    features, base, groups, weights
        As in `recsys_ndcg.evaluate`, for measures beyond accuracy; the trainset is `train`, and its
        items are the `catalogue`.
    exclude : {'train', None}
        As in `rank_catalogue`.
    clip, progress : bool
        As in `rank_catalogue`.

    Returns
    -------
    Report
        The scores of the testset's users, under the protocol ``catalogue``. Its `baselines` are the
        same users' scores for the most popular items and for random order. Test items that are no
        candidates, because they are unknown to the trainset or rated in it, are unlisted labels.
        The report keeps the first ranks of every list for `Report.explain`, but neither the
        algorithm nor the trainset.

    Raises
    ------
    InvalidInputError
        As for `rank_catalogue` and `recsys_ndcg.evaluate`.

    Warns
    -----
    DataWarning
        A user rated test items in training, or most test items are not in the trainset.

    Notes
    -----
    Memory does not grow with users × items. One sort of each user's estimates gives the place of
    every test item among all candidates, so metrics and ties are exact at any depth.

    Examples
    --------
    >>> import pandas as pd
    >>> from surprise import Dataset, Reader
    >>> rows = [("ann", "a", 2), ("bob", "a", 1), ("bob", "b", 5), ("cid", "b", 2), ("eve", "c", 3)]
    >>> data = Dataset.load_from_df(pd.DataFrame(rows), Reader(rating_scale=(1, 5)))
    >>> trainset = data.build_full_trainset()
    >>> test = [("ann", "c", 5), ("cid", "a", 4)]
    >>> popular = MostPopular().fit(trainset)
    >>> evaluate_catalogue(popular, trainset, test, k=1, threshold=4).per_user
          n_items  n_relevant  ndcg@1  precision@1  recall@1
    user
    ann         2           1     0.0          0.0       0.0
    cid         2           1     1.0          1.0       1.0
    """
    labels = read_testset(testset)
    plan = Plan.of(metrics, k=k, threshold=threshold, convention=convention).with_tie_tolerance()
    plan = plan.with_threshold(Grades.of(labels.true))
    known = {"features": features, "base": base, "groups": groups, "weights": weights}
    plan = plan.with_trainset(trainset, **known)
    how: dict[str, Any] = {"exclude": exclude, "clip": clip}
    candidates = build_candidates(algo, trainset, **how, convention=choose_convention(plan))
    for metric in plan.metrics:
        check_cutoff(metric.k, trainset.n_items)
    with progress_bar(enabled=progress) as show:
        lists = Placement(candidates, labels, plan).lists(partial(show, "Ranking the catalogue"))
    _warn_of_seen_labels(candidates, labels)
    # a wrong scale spoils the estimates of predict(), though not these unclipped ranks
    training = candidates.training
    warn_outside_scale(training.rated, trainset.rating_scale)
    warn_of_truncation(type(algo), training.rated)
    report = evaluate_in_memory(lists, plan)
    # popularity is no rating, so it cannot be compared with a limit on ratings
    plain = plan.with_choices(recommend_from=None)
    popular = MostPopular().fit(trainset)
    candidates = build_candidates(popular, trainset, **how, convention=choose_convention(plain))
    with progress_bar(enabled=progress) as show:
        report_progress = partial(show, "Ranking by popularity")
        lists = Placement(candidates, labels, plain, shown=False).lists(report_progress)
        lists = plain.add_background(lists)
        plain = plain.with_reasons_for_no_score(plain.facts_of(lists))
        scored = ~np.isnan(report._data.scores.per_user)
        scores = plain.measure(lists)
        totals = Totals.of(scores)
        means = np.where(totals.is_over_lists, totals.mean, scores.mean(scored))
    table = pd.DataFrame([means], index=["MostPopular"], columns=report.metrics)
    return replace(report, _data=replace(report._data, baselines=table))


def predict_all(
    algo: Any,
    users: Iterable[Any] | None = None,
    items: Iterable[Any] | None = None,
    *,
    clip: bool = True,
    progress: bool = True,
) -> pd.DataFrame:
    """Return the estimate of ``algo.predict`` for every user and every item.

    Parameters
    ----------
    algo : surprise.AlgoBase
        Fitted.
    users, items : iterables of raw ids, optional
        The trainset's ids by default; unknown ones get the algorithm's default estimates.
    clip : bool
        Clip estimates to the rating scale, as ``predict`` does.
    progress : bool
        As in `rank_catalogue`.

    Returns
    -------
    pandas.DataFrame
        Indexed by user, with a column per item; its memory grows with users × items.

    Raises
    ------
    InvalidInputError
        The algorithm is not fitted, diverged, or the ids are of another type.

    Examples
    --------
    >>> import pandas as pd
    >>> from surprise import Dataset, Reader
    >>> rows = [("ann", "a", 2), ("bob", "a", 1), ("bob", "b", 5)]
    >>> data = Dataset.load_from_df(pd.DataFrame(rows), Reader(rating_scale=(1, 5)))
    >>> model = MostPopular().fit(data.build_full_trainset())
    >>> predict_all(model, users=["ann"])
    item    a    b
    user
    ann   5.0  3.0
    """
    candidates = build_candidates(algo, getattr(algo, "trainset", None), exclude=None, clip=clip)
    training = candidates.training
    raw = _select_ids(users, training.user.ids, "user")
    columns = _select_ids(items, training.item.ids, "item")
    with progress_bar(enabled=progress) as show:
        table = candidates.estimate_items(raw, columns, partial(show, "Predicting"))
    return pd.DataFrame(table, make_index(raw, "user"), make_index(columns, "item"))


def _select_ids(raw: Iterable[Any] | None, known: Ids, column: str) -> Ids:
    """Return the requested ids, all known ones by default; they must have the same type."""
    if raw is None:
        return known
    if hasattr(raw, "columns"):
        msg = f"{column}s is a table. Give a column of ids, such as table[{column!r}]."
        raise InvalidInputError(msg)
    ids = to_column(raw, f"{column}s")
    if not len(ids):
        msg = f"{column}s is empty: give raw ids, or None for all of the trainset."
        raise InvalidInputError(msg)
    distinct, _ = encode_ids(ids, f"{column}s")
    names = ("the ratings of the trainset", f"the ids in {column}s=")
    check_id_types(known, distinct, column, names)
    return ids


def build_candidates(
    algo: Any,
    trainset: Any,
    *,
    exclude: str | None = "train",
    clip: bool = False,
    convention: Convention | None = None,
) -> Candidates:
    """Return all items as every user's candidates, with the algorithm's estimates.

    Raises
    ------
    InvalidInputError
        The algorithm is not fitted on the trainset, or `exclude` is unknown.
    """
    if exclude not in ("train", None):
        msg = f"exclude must be 'train' or None, not {quote(exclude)}."
        raise InvalidInputError(msg)
    _check_same_trainset(algo, trainset)
    training = Interactions.from_trainset(trainset)
    return Candidates(
        Estimates(algo, training),
        training,
        excludes_rated=exclude is not None,
        scale=trainset.rating_scale if clip else None,
        convention=convention or Convention(),
    )


def _check_same_trainset(algo: Any, trainset: Any) -> None:
    """Raise if an algorithm is not fitted, or has other inner ids than the trainset."""
    own = getattr(algo, "trainset", None)
    if own is None or isinstance(algo, type):
        name = algo.__name__ if isinstance(algo, type) else type(algo).__name__
        msg = f"{name} is not fitted. Give an algorithm after algo.fit(trainset)."
        raise InvalidInputError(msg)
    if not isinstance(trainset, Trainset):
        msg = (
            f"trainset must be a surprise.Trainset, not {quote(trainset)}. Use "
            "data.build_full_trainset(), or the first part of a split."
        )
        raise InvalidInputError(msg)
    if own is trainset:
        return
    mine, yours = Interactions.from_trainset(own), Interactions.from_trainset(trainset)
    same = mine.user.ids.tolist() == yours.user.ids.tolist() and own.ur == trainset.ur
    if not same or mine.item.ids.tolist() != yours.item.ids.tolist():
        msg = (
            f"{type(algo).__name__} was fitted on another trainset ({own.n_ratings} ratings) than "
            f"this one ({trainset.n_ratings} ratings). Give the one it was fitted on."
        )
        raise InvalidInputError(msg)


def _warn_of_seen_labels(candidates: Candidates, labels: Rows) -> None:
    """Warn if users rated test items in training."""
    test = Interactions.of(labels.user, labels.item)
    seen = candidates.training.contains(test)
    of_some = "the model has seen them, and ranks them higher than new ones"
    of_all = "the score is that of the training set"
    if candidates.excludes_rated:
        of_some = "they are no candidates, and count as missed"
        of_all = "no list has any of them, so nothing is measured"
    warn_of_leak(
        "were rated in training",
        int(seen.sum()),
        len(seen),
        test.name_rows(seen),
        if_some=of_some,
        if_all=of_all,
    )
