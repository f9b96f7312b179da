"""The ranks of the labelled items among all candidates of a user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Flags, Floats, Ids, Positions, concat_ids, count_offsets
from recsys_ndcg.catalogue.candidates import Candidates, EstimateBlock, select_top
from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError, quote, warn
from recsys_ndcg.input import EncodedIds, Rows, check_id_types, encode_ids
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.lists import CataloguePool, GroupedLists, Pool, group_rows, join_tables
from recsys_ndcg.ratings import Interactions, read_interactions

if TYPE_CHECKING:
    from recsys_ndcg.scoring import Plan

_MANY = 0.5
_MIN_KEPT = 10  # ranks of lists that will be shown
_PLACES = ("estimated", "ahead", "tied", "within")


def read_testset(testset: Any) -> Rows:
    """Return a testset, or test ratings in any other form, as labels."""
    found = read_interactions(testset, "testset", kind="ratings")
    if found.rating is None:
        msg = "testset: the rows have no ratings. Give a list of (user, item, rating)."
        raise InvalidInputError(msg)
    return Rows({"user": found.user[:], "item": found.item[:], "true": found.rating}, "labels")


def choose_convention(plan: Plan) -> Convention:
    """Return the convention that ranks the candidates, if all metrics of a plan agree on it.

    Raises
    ------
    InvalidInputError
        Two metrics have different conventions, as in the preset of a library.
    """
    by_items = [one for one in plan.measurements if one.convention.tie_rule.gives_each_item_a_place]
    first = (by_items or plan.measurements)[0]
    for one in plan.measurements:
        placed, wanted = (first.convention, first.threshold), (one.convention, one.threshold)
        if other := CataloguePool.find_changed_choice(placed, wanted):
            name, was, now = other
            msg = (
                f"{first} and {one} rank the catalogue under different choices "
                f"({name}={was!r} and {now!r}). Evaluate one at a time."
            )
            raise InvalidInputError(msg)
    return first.convention


def build_chosen_lists(
    results: Rows, training: Interactions, labels: Rows, plan: Plan
) -> GroupedLists:
    """Return a model's own lists of the test users, from the same candidates as `Placement`.

    Items that a user rated in training, or that the trainset does not have, are left out, and the
    next ones move up.

    Parameters
    ----------
    results : Rows
        The listed items of users, with an order.
    training : Interactions
        The training ratings, whose items are the catalogue.
    labels : Rows
        The testset.
    plan : Plan
        The metrics with their cutoffs and the threshold.

    Raises
    ------
    InvalidInputError
        The ids have another type than the ids of the trainset, or a pair is there twice.

    Warns
    -----
    DataWarning
        Lists are shorter than the largest cutoff, or items of ranked lists are left out.
    """
    own = Interactions.of(results.user, results.item)
    _check_id_types(training, own.user.ids, own.item.ids, "the lists")
    is_tested = pd.Index(own.user.ids).isin(encode_ids(labels.user, "user")[0])[own.user.codes]
    is_candidate = _are_candidates(training, own)
    kept = results.select(is_tested & is_candidate)
    lists = join_tables(labels, kept, plan.duplicates, part=True)
    lists = plan.add_background(lists)
    n_left_out = int((is_tested & ~is_candidate).sum())
    distinct = EncodedIds(training.user.ids, training.user.codes[~training.is_repeated])
    n_rated = np.append(distinct.counts, 0)[training.user.find(lists.users)]
    candidates = len(training.item.ids) - n_rated
    cutoff = max((metric.k for metric in plan.metrics if metric.k is not None), default=1)
    is_short = lists.n_items < np.minimum(cutoff, candidates)
    if n_left_out and (results.order_only or is_short.any()):
        warn(
            f"Listed items are left out ({n_left_out} of {int(is_tested.sum())}), because the user "
            "rated them in training, or the trainset does not have them."
        )
    if is_short.any():
        warn(
            f"{is_short.sum()} of {len(is_short)} test users have lists of fewer than {cutoff} "
            "items, and an item that is not listed cannot score. Return more items for each user."
        )
    users = EncodedIds(lists.users, lists.user_of_label.astype(np.int32))
    items = EncodedIds(np.asarray(lists.item_ids), lists.unlisted["item"])
    reachable = _are_candidates(training, Interactions(users, items))
    return replace(
        lists,
        protocol="catalogue",
        pool=Pool(candidates, excludes_history=True),
        unlisted={**lists.unlisted, "reachable": reachable},
    )


def _are_candidates(training: Interactions, rows: Interactions) -> Flags:
    """Return which rows have an item that the trainset has, and the user has not rated in it."""
    is_known = training.item.find(rows.item.ids) >= 0
    return is_known[rows.item.codes] & ~training.contains(rows)


def _check_id_types(training: Interactions, users: Ids, items: Ids, name: str) -> None:
    """Raise if ids have another type than the ids of the trainset."""
    for column, known, ids in (("item", training.item, items), ("user", training.user, users)):
        check_id_types(known.ids, ids, column, ("the ratings of the trainset", name))


class Placement:
    """The labelled items of a testset among the candidates of its users.

    Parameters
    ----------
    candidates : Candidates
        The items to rank, with the convention that `choose_convention` returns.
    labels : Rows
        The testset.
    plan : Plan
        The metrics with their cutoffs and the threshold.
    shown : bool
        Whether lists will be shown, so that their first ranks have to be kept.

    Raises
    ------
    InvalidInputError
        The ids have another type than the ids of the trainset, or a pair is there twice.
    """

    def __init__(
        self, candidates: Candidates, labels: Rows, plan: Plan, *, shown: bool = True
    ) -> None:
        self._candidates = candidates
        convention, threshold = candidates.convention, plan.threshold
        self._threshold = threshold
        ks = [metric.k for metric in plan.metrics if metric.k is not None]
        self._kept = max([_MIN_KEPT, *ks]) if shown else 0
        # measures beyond accuracy need every item of the first ranks, tied ones too
        depths = [metric.k for metric in plan.metrics if metric.needs and metric.k is not None]
        self._n_complete = max(depths, default=0)
        # without a threshold no metric of the plan uses a limit
        given = threshold if convention.recommend_from == "threshold" else convention.recommend_from
        self._limit = None if given is None else convention.find_recommendation_limit(threshold)
        rows = Rows(labels.columns, "the testset")
        known = group_rows(rows, convention.duplicates)
        self._users, own = known.users, np.asarray(known.item_ids)
        _check_id_types(candidates.training, self._users, own, "the ratings of the testset")
        self._labels = known.pool.select_labelled(known)
        self._items, codes = encode_ids(concat_ids([own, candidates.training.item.ids]), "item")
        self._catalogue = codes[len(own) :].astype(np.int64)  # by inner item
        self._item = codes[self._labels.item_codes].astype(np.int64)
        self._check_strangers(self._users[candidates.training.user.find(self._users) < 0])

    def _check_strangers(self, strangers: Ids) -> None:
        """Raise if all users of the testset are unknown, and warn if most of them are."""
        finding = (
            f"{len(strangers)} of {len(self._users)} users of the testset are not in the trainset, "
            f"such as {quote(strangers[0]) if len(strangers) else ''}"
        )
        if len(strangers) == len(self._users):
            msg = f"{finding}. Give raw ids, as in the data, and the trainset of the same split."
            raise InvalidInputError(msg)
        if len(strangers) > _MANY * len(self._users):
            warn(f"{finding}: they are ranked as unknown users.")

    def lists(self, show: Callable[[float], None] | None = None) -> GroupedLists:
        """Return the lists of the test users; `show` is called with the share of finished users."""
        places = np.full(len(self._items), -1)
        places[self._catalogue] = np.arange(len(self._catalogue))
        places = places[self._item]
        found = self._candidates.map_blocks(self._users, partial(self._place_block, places), show)
        unknown = places < 0
        if unknown.sum() > _MANY * len(unknown):
            first = quote(self._items[self._item[int(unknown.argmax())]])
            warn(
                f"{unknown.sum()} of {len(unknown)} test ratings are of items that are not in the "
                f"trainset, such as {first}: they cannot be recommended, and count as missed. Give "
                "the trainset of the same split."
            )
        rows = {"true": self._labels.true, "item": self._item}
        rows |= {name: found.pop(name) for name in _PLACES}
        user = self._labels.user_of_row
        if self._n_complete:
            user = np.append(user, found.pop("top_user"))
            top = {name: found.pop(f"top_{name}") for name in rows}
            rows = {name: np.append(column, top[name]) for name, column in rows.items()}
        listed = rows["tied"] > 0
        unlisted_rows = np.flatnonzero(~listed)
        unlisted = np.searchsorted(unlisted_rows, self._labels.offsets)
        order = np.lexsort((rows["within"], rows["ahead"], user))
        order = order[listed[order]]
        return GroupedLists(
            users=self._users,
            offsets=count_offsets(user[listed], len(self._users)),
            columns={name: values[order] for name, values in rows.items()},
            item_ids=self._items,
            unlisted_offsets=unlisted,
            unlisted={name: rows[name][unlisted_rows] for name in ("true", "item")},
            missing=(found["lengths"] == 0) & (np.diff(unlisted) > 0),
            protocol=self._candidates.protocol,
            duplicates=self._candidates.convention.duplicates,
            repeats=self._labels.repeats,
            lengths=found.pop("lengths"),
            pool=CataloguePool(
                excludes_history=self._candidates.excludes_rated,
                convention=self._candidates.convention,
                threshold=self._threshold,
                **found,
            ),
        )

    def _find_first_ranks(
        self, values: Floats, ascending: Floats, block: EstimateBlock, labelled: Any
    ) -> dict[str, Any]:
        """Return the unlabelled items at the first ranks, with all that are tied with the last."""
        place = max(values.shape[1] - self._n_complete, 0)
        least = ascending[:, place, None]
        is_first = (values >= least) & (values > -np.inf)
        is_first[labelled] = False
        row, column = np.nonzero(is_first)
        places = self._place(values, ascending, block, row, column)
        found = {"user": row + block.first, "item": self._catalogue[column], **places}
        found["true"] = np.full(len(row), np.nan)
        return {f"top_{name}": values for name, values in found.items()}

    def _place(
        self,
        values: Floats,
        ascending: Floats,
        block: EstimateBlock,
        row: Positions,
        column: Positions,
    ) -> dict[str, Any]:
        """Return the columns `_PLACES` of some cells of a block's table."""
        below, up_to = _count_below(ascending, row, values[row, column])
        tied = up_to - below
        return {
            "estimated": block.table[row, column],
            "ahead": values.shape[1] - up_to,
            "tied": tied,
            "within": self._rank_within_ties(values, row, column, tied),
        }

    def _place_block(self, places: Positions, block: EstimateBlock) -> dict[str, Any]:
        """Return the places of a block's labelled items, and the columns of its lists.

        Parameters
        ----------
        places : int array
            The inner item of every labelled item, -1 if unknown.
        block : EstimateBlock
            The estimates of some users.

        Returns
        -------
        dict of arrays
            For each labelled item its place, with `tied` 0 if it is no candidate; and for each
            user the columns of a `CataloguePool`, with the first unlabelled items in a row.
        """
        n_users, n_items = block.table.shape
        own = slice(self._labels.offsets[block.first], self._labels.offsets[block.first + n_users])
        row, column = self._labels.user_of_row[own] - block.first, places[own]
        values = self._candidates.convention.round_estimates(block.table)
        ascending, known = np.sort(values, axis=1), column >= 0
        place = self._place(values, ascending, block, row, column)
        place["tied"][~known | np.isneginf(values[row, column])] = 0
        recommended = lengths = (values > -np.inf).sum(axis=1)
        if self._limit is not None:
            recommended = (values >= self._limit).sum(axis=1)
            # no impossible estimate reaches it
            if self._candidates.convention.impossible == "last":
                recommended = np.minimum(recommended, lengths - block.n_impossible)
        shape = n_users, min(self._kept, n_items)
        items, estimated = np.full(shape, None, dtype=object), np.full(shape, -np.inf)
        if self._kept:
            others = values.copy()
            others[row[known], column[known]] = -np.inf
            user, item, rank = select_top(others, shape[1], tie_order=self._item_order)
            items[user, rank] = self._candidates.training.item.ids[item]
            estimated[user, rank] = block.table[user, item]
        if self._n_complete:
            labelled = row[known], column[known]
            place |= self._find_first_ranks(values, ascending, block, labelled)
        return {
            **place,
            "lengths": lengths,
            "n_above": recommended,
            "n_not_made": block.n_impossible,
            "ties_from": _find_first_tie(ascending),
            "unlabelled_items": items,
            "unlabelled_estimated": estimated,
        }

    def _rank_within_ties(
        self, values: Floats, row: Positions, column: Positions, tied: Positions
    ) -> Positions:
        """Return the place of each labelled item among equal estimates, 0 if ties ignore items."""
        within = np.zeros_like(tied)
        key = self._item_order
        if key is None:
            return within
        for place in np.array_split(np.flatnonzero(tied > 1), len(row) // 512 + 1):
            same = values[row[place]] == values[row[place], column[place]][:, None]
            within[place] = (same & (key < key[column[place]][:, None])).sum(axis=1)
        return within

    @lazy_property
    def _item_order(self) -> Positions | None:
        """The order of equal estimates by inner item, None if ties ignore items."""
        rule = self._candidates.convention.tie_rule
        if rule.by == "input":
            return np.arange(self._candidates.n_items)
        if not rule.is_by_item:
            return None
        place = self._catalogue  # ascending as the ids
        if rule.by == "text":
            place = EncodedIds(self._items, place.astype(np.int32)).text_ranks
        return -place if rule.descending else place


def _count_below(ascending: Floats, row: Positions, value: Floats) -> tuple[Positions, Positions]:
    """Return how many values of each sorted row are below a value, and at most equal to it."""
    below, up_to = np.zeros((2, len(row)), dtype=np.int64)
    starts = np.searchsorted(row, np.arange(len(ascending) + 1))
    for values, first, last in zip(ascending, starts, starts[1:], strict=False):
        below[first:last] = np.searchsorted(values, value[first:last], side="left")
        up_to[first:last] = np.searchsorted(values, value[first:last], side="right")
    return below, up_to


def _find_first_tie(ascending: Floats) -> Floats:
    """Return the first rank of each list whose estimate is tied, inf if there is none."""
    ranked = ascending[:, ::-1]
    tied = (ranked[:, 1:] == ranked[:, :-1]) & (ranked[:, 1:] > -np.inf)
    ranks = np.arange(1, tied.shape[1] + 1)
    first: Floats = np.where(tied, ranks, np.inf).min(axis=1, initial=np.inf)
    return first
