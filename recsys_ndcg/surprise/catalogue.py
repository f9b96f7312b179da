"""Ranking the whole catalogue: the top items of every user, and how good these lists are."""

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
    Estimated,
    Placement,
    Training,
    labels_from_testset,
    placing,
    refuse_beyond,
    top,
)
from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.evaluation import measured
from recsys_ndcg.input import Rows, check_same_ids, encode, index_of, objects
from recsys_ndcg.lists import Grades
from recsys_ndcg.metrics import checked_k
from recsys_ndcg.progress import progress_bar
from recsys_ndcg.scoring import Cutoffs, Metrics, Plan
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
        How many items of each user, at most as many as there are; None for all.
    users : iterable of raw ids, optional
        For whom, all of them in the trainset; by default everybody there.
    exclude : {'train', None}
        Leave out what the user rated in the trainset, or nothing.
    clip : bool
        Cut estimates to the rating scale, as ``predict`` does; then those beyond it are tied.
    progress : bool
        Whether a bar shows how far it is, where a person watches a job that takes long.

    Returns
    -------
    pandas.DataFrame
        Columns user, item, rank (from 1) and estimated, in the order of the users and ranks.
        Estimates equal to 1e-9 stand in the order of the trainset. A user with fewer candidates
        has fewer rows.

    Raises
    ------
    InvalidInputError
        The algorithm is not fitted on the trainset, or diverged; a user is not in the trainset; k
        is more than there are items.

    Notes
    -----
    Computed over arrays for all algorithms of Surprise that are not random, with blocks of users,
    so that memory does not grow with users × items; others are asked pair by pair.

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
    checked_k(k)
    candidates = candidates_of(algo, trainset, exclude=exclude, clip=clip)
    training = candidates.training
    refuse_beyond(k, trainset.n_items)
    if clip:
        training.ratings.warn_of_scale(trainset.rating_scale)
    warn_of_truncation(type(algo), training.ratings.values)
    raw = _asked(users, training.users, "user")
    strangers = raw[training.places_of_users(raw.tolist()) < 0]
    if len(strangers):
        msg = (
            f"{len(strangers)} of {len(raw)} users are not in the trainset, the first "
            f"{quote(strangers[0])}. Give raw ids, as in the data; predict_all() has the "
            "algorithm's estimates for strangers."
        )
        raise InvalidInputError(msg)

    def first(block: Estimated) -> dict[str, Any]:
        row, item, rank = top(block.table, k or candidates.n_items, tolerance=Plan.TIE_TOLERANCE)
        return {
            "user": raw[row + block.first],
            "item": training.items[item],
            "rank": rank + 1,
            "estimated": block.table[row, item],
        }

    with progress_bar(enabled=progress) as show:
        found = candidates.by_block(raw, first, partial(show, "Ranking the catalogue"))
    return pd.DataFrame(found).infer_objects()


def evaluate_catalogue(  # noqa: PLR0913 - the contract
    algo: Any,
    trainset: Any,
    testset: Iterable[Any],
    *,
    metrics: Metrics = None,
    k: Cutoffs = 10,
    threshold: float | None = None,
    convention: Convention | str | None = None,
    exclude: str | None = "train",
    clip: bool = False,
    progress: bool = True,
) -> Report:
    """Rank all items that a user has not rated in training, and score where the test items stand.

    Parameters
    ----------
    algo : surprise.AlgoBase
        Fitted on the trainset.
    trainset : surprise.Trainset
        Its items, but for those the user rated there, are the candidates.
    testset : list of (user, item, rating)
        What the users rated besides: the labels. All other candidates are unlabelled.
    metrics, k, threshold
        As in `recsys_ndcg.evaluate`.
    convention : Convention or str, optional
        Every other choice, or a library's name; estimates are equal to at least 1e-9.
    exclude : {'train', None}
        As in `rank_catalogue`.
    clip, progress : bool
        As in `rank_catalogue`.

    Returns
    -------
    Report
        Of the users of the testset, under the protocol ``catalogue``. Its `baselines` are the
        same metrics for the most popular items and for chance, over the same users. Test items that
        are no candidates (unknown to the trainset, or rated there too) are unlisted labels: out of
        reach. It keeps the first ranks of every list for `Report.explain`, and neither the model
        nor the trainset.

    Raises
    ------
    InvalidInputError
        As for `rank_catalogue` and `recsys_ndcg.evaluate`.

    Warns
    -----
    DataWarning
        Test items were rated in training by the same user, or most are not in the trainset.

    Notes
    -----
    Nothing of users × items is held; the place of every test item among all candidates is found
    by one sort of each user's estimates, so that metrics and ties are exact at any depth.

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
    labels = labels_from_testset(testset)
    plan = Plan.of(metrics, k=k, threshold=threshold, convention=convention).tolerant()
    plan = plan.with_threshold(Grades.of(labels.true))
    candidates = candidates_of(algo, trainset, exclude=exclude, clip=clip, convention=placing(plan))
    for metric in plan.metrics:
        refuse_beyond(metric.k, trainset.n_items)
    with progress_bar(enabled=progress) as show:
        lists = Placement(candidates, labels, plan).lists(partial(show, "Ranking the catalogue"))
    _warn_of_seen_labels(candidates, labels)
    # a scale that is wrong spoils what predict() says, if not these ranks
    training = candidates.training
    training.ratings.warn_of_scale(trainset.rating_scale)
    warn_of_truncation(type(algo), training.ratings.values)
    report = measured(lists, plan)
    # a popularity is no rating, to be recommended from some rating on
    plain = plan.under(recommend_from=None)
    popular = MostPopular().fit(trainset)
    candidates = candidates_of(
        popular, trainset, exclude=exclude, clip=clip, convention=placing(plain)
    )
    with progress_bar(enabled=progress) as show:
        told = partial(show, "Ranking by popularity")
        lists = Placement(candidates, labels, plain, shown=False).lists(told)
        plain = plain.with_reasons(plain.facts_of(lists))
        scored = ~np.isnan(report.scores.per_user)
        means = plain.measure(lists).mean(scored)  # NaN where there is none
    table = pd.DataFrame([means], index=["MostPopular"], columns=report.metrics)
    return replace(report, known_baselines=table)


def predict_all(
    algo: Any,
    users: Iterable[Any] | None = None,
    items: Iterable[Any] | None = None,
    *,
    clip: bool = True,
    progress: bool = True,
) -> pd.DataFrame:
    """Return the estimates of every user for every item, each what ``algo.predict`` says.

    Parameters
    ----------
    algo : surprise.AlgoBase
        Fitted.
    users, items : iterables of raw ids, optional
        Those of the trainset by default; unknown ones get what the algorithm has for strangers.
    clip : bool
        Cut estimates to the rating scale, as ``predict`` does.
    progress : bool
        As in `rank_catalogue`.

    Returns
    -------
    pandas.DataFrame
        Indexed by user, a column per item: users × items numbers, so mind the memory.

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
    candidates = candidates_of(algo, getattr(algo, "trainset", None), exclude=None, clip=clip)
    training = candidates.training
    raw = _asked(users, training.users, "user")
    columns = _asked(items, training.items, "item")
    with progress_bar(enabled=progress) as show:
        table = candidates.of_items(raw, columns, partial(show, "Predicting"))
    return pd.DataFrame(table, index_of(raw, "user"), index_of(columns, "item"))


def _asked(raw: Iterable[Any] | None, known: Ids, column: str) -> Ids:
    """Return the ids that are asked for as an array: all, or some of a type that is known."""
    if raw is None:
        return known
    if hasattr(raw, "columns"):
        msg = f"{column}s: found a table in place of a column; give its ids, table[{column!r}]."
        raise InvalidInputError(msg)
    ids = objects(raw, f"{column}s")
    if not len(ids):
        msg = f"{column}s is empty: give raw ids, or None for all of the trainset."
        raise InvalidInputError(msg)
    distinct, _ = encode(ids, f"{column}s")
    names = ("the ratings of the trainset", f"the ids in {column}s=")
    check_same_ids(known, distinct, column, names)
    return ids


def candidates_of(
    algo: Any,
    trainset: Any,
    *,
    exclude: str | None = "train",
    clip: bool = False,
    convention: Convention | None = None,
) -> Candidates:
    """Return all items with the algorithm's estimates for every user.

    Raises
    ------
    InvalidInputError
        The algorithm was not fitted, or on other ratings; `exclude` is unknown.
    """
    if exclude not in ("train", None):
        msg = f"exclude must be 'train' or None, not {quote(exclude)}."
        raise InvalidInputError(msg)
    _refuse_other_trainset(algo, trainset)
    training = Training(trainset)
    return Candidates(
        Estimates(algo, training),
        training,
        excludes=exclude is not None,
        scale=trainset.rating_scale if clip else None,
        convention=convention,
    )


def _refuse_other_trainset(algo: Any, trainset: Any) -> None:
    """Refuse an algorithm that was not fitted, or whose inner ids are others."""
    own = getattr(algo, "trainset", None)
    if own is None or isinstance(algo, type):
        name = algo.__name__ if isinstance(algo, type) else type(algo).__name__
        msg = f"{name} is not fitted. Give an algorithm after algo.fit(trainset)."
        raise InvalidInputError(msg)
    if not isinstance(trainset, Trainset):
        msg = (
            f"trainset must be a surprise.Trainset, not {quote(trainset)}: what "
            "data.build_full_trainset() returns, or the first of what a split gives."
        )
        raise InvalidInputError(msg)
    if own is trainset:
        return
    mine, yours = Training(own), Training(trainset)
    same = mine.users.tolist() == yours.users.tolist() and own.ur == trainset.ur
    if not same or mine.items.tolist() != yours.items.tolist():
        msg = (
            f"{type(algo).__name__} was fitted on another trainset ({own.n_ratings} ratings) than "
            f"this one ({trainset.n_ratings} ratings). Give the one it was fitted on."
        )
        raise InvalidInputError(msg)


def _warn_of_seen_labels(candidates: Candidates, labels: Rows) -> None:
    """Warn of test items that their user has rated in training."""
    users, items = (labels.columns[name].tolist() for name in ("user", "item"))
    of_some = "the model has seen them, and ranks them higher than new ones"
    of_all = "the score is that of the training set"
    if candidates.excludes:
        of_some = "they are no candidates, and count as missed"
        of_all = "no list has any of them, so that nothing is measured"
    candidates.training.leak(users, items).warn("were rated in training", of_some, of_all)
