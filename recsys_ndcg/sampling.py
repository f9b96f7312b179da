"""What an evaluation with sampled items would say, computed without sampling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Flags
from recsys_ndcg.convention import ConventionLike, compute_relevance
from recsys_ndcg.errors import InvalidInputError, check_integer, quote
from recsys_ndcg.evaluation import read_lists
from recsys_ndcg.input import to_floats
from recsys_ndcg.lists import CataloguePool, GroupedLists, RankedLists
from recsys_ndcg.report import Report
from recsys_ndcg.scoring import Audit, Cutoffs, Metrics, Plan

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Positions

_DEFAULT_METRICS = ("hit", "ndcg", "rr")
#: Metrics whose mean over samples follows from where each relevant item stands.
_SUPPORTED = {
    *("hit", "ndcg", "dcg", "cg", "rr", "ap", "precision", "recall", "f1", "rprecision", "rbp"),
    "auc",
}


def what_sampling_would_say(  # noqa: PLR0913 - with the parameters of evaluate
    scores: Any,
    negatives: int = 99,
    *,
    metrics: Metrics = None,
    k: Cutoffs = "default",
    threshold: float | None = None,
    convention: ConventionLike = None,
    columns: Mapping[str, str] | None = None,
    replacement: bool = False,
) -> pd.DataFrame:
    r"""Return the scores that an evaluation with sampled items would have, on average.

    Many papers rank a user's relevant item among a few random ones instead of all N items. If b
    items are ranked ahead of it, the number of them in a sample of m has a known distribution, so
    that no sample is needed:

    .. math:: E[f] = \sum_{j=0}^m \binom{b}{j} \binom{N-1-b}{m-j} \binom{N-1}{m}^{-1} f(j + 1)

    with f(r) the score of rank r. It is exact, also for several relevant items and for ties.

    Parameters
    ----------
    scores : predictions, lists, Report, or a table of ranks
        The ranking of all candidates of each user. Anything that `evaluate` reads; a report of
        `recsys_ndcg.surprise.evaluate_catalogue`, or another one that still has its lists; or a
        pandas table or dict with a row per relevant item: ``rank`` (1 is best, without ties),
        ``candidates`` (the number of items that the user's were ranked among), and ``user`` if a
        user has several rows.
    negatives : int
        The number of items in each sample, at least 1. All relevant items of the user are ranked
        together with them.
    metrics : names or metric objects, optional
        By default hit, ndcg and rr. Items are relevant or not: NDCG has binary gains.
    k, threshold, convention, columns
        As in `evaluate`; a report has its own threshold and convention.
    replacement : bool
        Whether an item can be sampled more than once, as some programs do.

    Returns
    -------
    pandas.DataFrame
        A row per metric: ``full``, the mean over users if all candidates are ranked; ``sampled``,
        its expected value if sampled items are; and the mean of each in random order,
        ``full_chance`` and ``sampled_chance``. Users without a relevant item have no score.

    Raises
    ------
    InvalidInputError
        The lists do not hold all candidates, a user has fewer than `negatives` other items, or the
        metric is not one of those above.

    References
    ----------
    Krichene & Rendle (2020), doi:10.1145/3394486.3403226

    Examples
    --------
    Random order puts the item among the first 10 of 100 in 10 % of the samples. A model whose item
    is the 100th of 3,706 looks much better in a sample.

    >>> import recsys_ndcg as rn
    >>> ranks = {"rank": [1, 100, 1000], "candidates": [3706, 3706, 3706]}
    >>> rn.what_sampling_would_say(ranks, negatives=99, metrics="hit@10").round(4)
             full  full_chance  sampled  sampled_chance
    metric
    hit@10  0.3333       0.0027   0.6666             0.1
    """
    check_integer("negatives", negatives, 1)
    if isinstance(scores, Report):
        first = scores._data.audit.measurements[0]
        threshold = first.threshold if threshold is None else threshold
        convention = convention or first.convention
    plan = Plan.of(metrics or _DEFAULT_METRICS, k=k, threshold=threshold, convention=convention)
    plan = plan.with_choices(gain="binary")
    check_metrics(plan)
    lists = _read(scores, plan, columns)
    plan = plan.resolve(plan.facts_of(lists), lists)
    is_relevant = compute_relevance(lists.true, plan.threshold)
    _check_lists(lists, plan, is_relevant == 1, 1 if replacement else negatives)
    lists = lists.with_columns(true=np.where(np.isnan(lists.true), np.nan, is_relevant))
    plan = plan.map_measurements(lambda one: replace(one, threshold=1.0))
    plan = plan.with_choices(unlisted="ignore")
    audit = Audit.of(lists, plan)
    sampled, chance = plan.measure_sampled(lists, negatives, replacement=replacement)
    table = {
        "full": audit.totals.mean,
        "full_chance": audit.totals_with_orders.mean_of("chance"),
        "sampled": sampled.mean(),
        "sampled_chance": chance.mean(),
    }
    return pd.DataFrame(table, index=pd.Index(plan.names, name="metric"))


def _read(scores: Any, plan: Plan, columns: Mapping[str, str] | None) -> GroupedLists:
    """Return the lists of all candidates."""
    if isinstance(scores, Report):
        if scores._data.audit.lists is None:
            msg = (
                "This report has no lists, because it was loaded, or computed in parts. Pass the "
                "predictions of all candidates, or a table of the columns rank and candidates."
            )
            raise InvalidInputError(msg)
        return scores._data.audit.lists
    if isinstance(scores, Mapping | pd.DataFrame) and {"rank", "candidates"} <= {*scores}:
        try:
            table = pd.DataFrame(scores)
        except ValueError as error:  # of pandas
            msg = f"The table of ranks cannot be read: {error}."
            raise InvalidInputError(msg) from None
        return read_ranks(table, plan)
    if isinstance(scores, Mapping) and {*scores} in ({"rank"}, {"rank", "user"}):
        msg = "A table of ranks needs the column 'candidates': how many items were ranked."
        raise InvalidInputError(msg)
    return read_lists(scores, plan, columns)


def read_ranks(table: pd.DataFrame, plan: Plan) -> GroupedLists:
    """Return lists of catalogues from the ranks of the relevant items.

    Parameters
    ----------
    table : pandas.DataFrame
        As `what_sampling_would_say` takes it.
    plan : Plan
        Its convention and threshold.

    Raises
    ------
    InvalidInputError
        A rank or a number of candidates is impossible.
    """
    rank, candidates = (to_floats(table[name], name) for name in ("rank", "candidates"))
    is_bad = ~((rank >= 1) & (rank <= candidates) & (rank % 1 == 0) & (candidates % 1 == 0))
    _refuse_row(is_bad, "a rank must be a whole number from 1 to the number of candidates", table)
    user = table["user"] if "user" in table else pd.Series(range(len(table)))
    # as estimates and grades, so that lists are read as they are everywhere
    lists = RankedLists.from_arrays(user, None, -rank, candidates)._data
    best_first = np.lexsort((-lists.estimated, lists.user_of_row))
    ranks, sizes = (each[best_first].astype(np.int64) for each in (-lists.estimated, lists.true))
    is_same_user = np.append(lists.user_of_row[1:] == lists.user_of_row[:-1], [False])
    is_bad = is_same_user & (np.append(ranks[1:], 0) == ranks)
    is_bad |= is_same_user & (np.append(sizes[1:], 0) != sizes)
    why = "a user's relevant items have different ranks, among the same number of candidates"
    shown = {"user": lists.users[lists.user_of_row], "rank": ranks, "candidates": sizes}
    _refuse_row(is_bad, why, pd.DataFrame(shown))
    n_users, lengths = len(lists), sizes[lists.offsets[:-1]]
    places = {"ahead": ranks - 1, "tied": np.ones_like(ranks), "within": np.zeros_like(ranks)}
    rows = {"estimated": -ranks.astype(np.float64), "true": np.ones(len(ranks)), **places}
    return replace(
        lists.with_columns(**rows),
        protocol="catalogue",
        lengths=lengths,
        pool=CataloguePool(
            convention=plan.measurements[0].convention,
            threshold=plan.threshold,
            n_above=lengths,
            ties_from=np.full(n_users, np.inf),
            n_not_made=np.zeros(n_users, dtype=np.int64),
            unlabelled_items=np.zeros((n_users, 0), dtype=object),
            unlabelled_estimated=np.zeros((n_users, 0)),
        ),
    )


def _refuse_row(is_bad: Flags, why: str, table: pd.DataFrame) -> None:
    """Raise if a row is bad, and show the first one."""
    if is_bad.any():
        first = table.iloc[int(is_bad.argmax())].to_dict()
        msg = f"{int(is_bad.sum())} rows of ranks cannot be used, the first {first}: {why}."
        raise InvalidInputError(msg)


def check_metrics(plan: Plan) -> None:
    """Raise if a metric of a plan has no known mean over random lists, and so no chance level.

    Raises
    ------
    InvalidInputError
        The message names the metrics that have one.
    """
    for one in plan.measurements:
        rule = one.convention
        if one.metric.name not in _SUPPORTED or one.metric.find_tie_objection(rule):
            names = ", ".join(sorted(_SUPPORTED))
            msg = f"{one} has no known mean over random lists. Metrics that have one: {names}."
            raise InvalidInputError(msg)
        if rule.recommend_from is not None or rule.mean_over == "train":
            msg = (
                "recommend_from= and mean_over='train' have no meaning for sampled items. Leave "
                "them out."
            )
            raise InvalidInputError(msg)


def _check_lists(lists: GroupedLists, plan: Plan, is_relevant: Flags, needed: int) -> None:
    """Raise if lists lack candidates, or relevant items, or a user has too few other items."""
    if lists.weights is not None:
        msg = "Labels with weights have no known mean over samples. Leave the weights out."
        raise InvalidInputError(msg)
    unlisted = compute_relevance(lists.unlisted["true"], plan.threshold) == 1
    is_counted = any(one.convention.unlisted == "count" for one in plan.measurements)
    if unlisted.any() and is_counted:
        first = quote(lists.users[lists.user_of_label[int(unlisted.argmax())]])
        msg = (
            f"{int(unlisted.sum())} relevant items are in no list, the first of user {first}: "
            "their ranks are unknown. Give lists of all candidates, or leave these items out with "
            "convention=Convention(unlisted='ignore')."
        )
        raise InvalidInputError(msg)
    sizes = lists.pool.sizes
    if sizes is not None and (sizes > lists.n_items).any():
        msg = (
            f"The lists hold {int(lists.n_items.sum())} of {int(sizes.sum())} "
            "candidates. Give the estimates of all of them."
        )
        raise InvalidInputError(msg)
    n_relevant = lists.sum_by_user(is_relevant)
    n_others: Positions = (lists.n_items - n_relevant).astype(np.int64)
    is_short = (n_relevant > 0) & (n_others < needed)
    if is_short.any():
        place = int(is_short.argmax())
        msg = (
            f"negatives={needed}, but {int(is_short.sum())} users have fewer other items: user "
            f"{quote(lists.users[place])} has {n_others[place]}. Give all candidates of each user, "
            "or fewer negatives."
        )
        raise InvalidInputError(msg)
