"""OverLists: a number of all lists together, from sums of exposure by item."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from recsys_ndcg.arrays import Flags, Floats, Positions, compute_offsets
from recsys_ndcg.convention import Convention
from recsys_ndcg.lists import GroupedLists
from recsys_ndcg.metrics.metric import ORDER, Metric
from recsys_ndcg.metrics.requirements import Requirement
from recsys_ndcg.ranking import Exposures, ItemTotals, Ranking, weigh_shares

#: The choices of measures of all lists together.
ALL_LISTS = ORDER | {"universe", "outside", "seen"}


#: Where all items are from.
SOURCE_OF = {"train": "train", "catalogue": "catalogue", "padded": "catalogue"}


class OverLists(Metric):
    r"""A number of all lists together, such as coverage: it has no score per user.

    It is a function of sums by item, of the probability p that the item stands among the first k of
    each user's list. The sums merge over batches, engines and files, so the number does too.

    Notes
    -----
    A subclass has `value`, and may have `ends`, and columns of its own in `collect`. Under tied
    estimates it is the value of the expected exposures, which the signature states. Set `is_linear`
    if that is the mean of the values over the orders of ties, as of a sum: only then is chance
    computed, from the exposures of random lists.
    """

    per_user = False
    is_linear = False
    needs = frozenset({"items"})
    reads = ALL_LISTS

    #: Whether items outside `universe` cannot be measured; else they are not counted.
    is_of_universe = True

    def list_requirements(self, convention: Convention) -> list[Requirement]:
        """Return what it needs: also all items, and whether others may be shown."""
        found = super().list_requirements(convention)
        source = SOURCE_OF.get(convention.universe)
        if source is None or not self.is_of_universe or "universe" not in self.reads:
            return found
        inside = [Requirement("inside", source)] if convention.outside == "raise" else []
        return [*found, Requirement("source", source), *inside]

    def numerator(self, ranking: Ranking) -> Floats:
        """Return NaN: there is no score per user."""
        return np.full(len(ranking.n_items), np.nan)

    denominator = numerator

    def exposure_key(self, convention: Convention) -> Hashable:
        """Return a key that metrics with the same `collect` share."""
        return "exposure", self.k

    def weigh_ranks(self, n_ranks: int, convention: Convention) -> Floats:
        """Return how much an item counts at each of the first ranks: 1."""
        return np.ones(n_ranks)

    def collect(self, ranking: Ranking) -> Exposures:
        """Return who was shown what."""
        lists = ranking.lists
        weights = self.weigh_ranks(ranking.width(self.k), ranking.convention)
        rows, user, share = ranking.exposure(weights)
        item: Positions = np.asarray(lists.item_codes)[rows].astype(np.int64)
        offsets = compute_offsets(np.bincount(user, minlength=len(lists)))
        columns = np.asarray(lists.item_ids), offsets, item, share
        return Exposures(*columns, by_item=describe_items(lists))

    def value(self, totals: ItemTotals, convention: Convention) -> float:
        """Return the number, NaN if it is undefined."""
        raise NotImplementedError

    def chance(self, totals: ItemTotals, convention: Convention) -> float:
        """Return the mean value of random lists, given their exposures; NaN if it is unknown."""
        return self.value(totals, convention) if self.is_linear else np.nan

    def ends(self, totals: ItemTotals, convention: Convention) -> tuple[float, float]:
        """Return the worst and the best value that as many lists of these lengths can have."""
        return np.nan, np.nan


def describe_items(lists: GroupedLists) -> dict[str, Floats]:
    """Return whether each item is in the catalogue, and in training, as far as that is known."""
    known = lists.background
    columns = {
        "catalogue": None if known is None else known.in_catalogue,
        "train": None if known is None or known.history is None else known.in_train,
    }
    return {name: one.astype(np.float64) for name, one in columns.items() if one is not None}


def find_universe(totals: ItemTotals, convention: Convention) -> tuple[Floats, int]:
    """Return which recommended items count, 0 or 1, and how many items there are in all."""
    inside = find_inside(totals, convention)
    counted = inside if convention.outside == "ignore" else np.ones(len(inside))
    return counted, int(inside.sum()) + (convention.universe == "padded")


def find_inside(totals: ItemTotals, convention: Convention) -> Floats:
    """Return whether each item is one of all items, 0 or 1: by default, in the catalogue."""
    source = SOURCE_OF.get(convention.universe)
    return totals.by_item[source] if source else (totals.shown > 0).astype(np.float64)


def find_list_length(totals: ItemTotals) -> float:
    """Return the number of items of each list, NaN if lists have different lengths."""
    slots, lists = totals.users["slots"], totals.users["lists"]
    if not slots:
        return np.nan
    # (sum of roots)^2 = lists * sum only for equal lengths
    is_equal = np.isclose(totals.sums["cosine"].sum() ** 2, lists * slots, rtol=1e-10)
    return slots / lists if is_equal else np.nan


def find_ends_of_squares(totals: ItemTotals) -> tuple[float, float]:
    """Return the largest and the least sum of squares of the numbers of lists that hold an item.

    The largest is reached if all lists are equal; NaN if they have different lengths. The least is
    reached if all items of the catalogue are shown as equally often as possible; NaN if it is not
    known, or other items are shown.
    """
    slots, lists, n_items = totals.users["slots"], totals.users["lists"], count_catalogue(totals)
    often = np.floor(slots / n_items)
    least = n_items * often**2 + (slots - n_items * often) * (2 * often + 1)
    return find_list_length(totals) * lists**2, least


def count_catalogue(totals: ItemTotals) -> float:
    """Return the number of items of the catalogue, NaN if it is not known or others are shown."""
    inside = totals.by_item.get("catalogue", np.zeros(1))
    is_all = inside.any() and not totals.shown[inside == 0].any()
    return float(inside.sum()) if is_all else np.nan


def find_random_draw(totals: ItemTotals) -> tuple[float, float, float]:
    """Return the numbers of lists and candidates and the length of a list, NaN if unknown.

    It is known if all lists are drawn from the same candidates and have the same length.

    Parameters
    ----------
    totals : ItemTotals
        The sums by item in random order.
    """
    slots, lists = totals.users["slots"], totals.users["lists"]
    n_candidates = float((totals.shown > 0).sum())
    # the sum of n^2 / c over lists of n items from c candidates is least if all are the same
    least = slots * slots / max(lists * n_candidates, 1.0)
    is_same = lists > 0 and np.isclose(totals.sums["squares"].sum(), least, rtol=1e-10)
    return (lists, n_candidates, slots / lists) if is_same else (np.nan, np.nan, np.nan)


def sum_random_exposures(
    metric: OverLists, convention: Convention, lists: GroupedLists, kept: Flags
) -> ItemTotals | None:
    """Return the sums by item if each list was drawn from its candidates; None if unknown.

    Parameters
    ----------
    metric : OverLists
        The metric, whose exposures have no further columns.
    convention : Convention
        All choices.
    lists : GroupedLists
        The lists, with the number of their candidates.
    kept : bool array, shape (n_users,)
        The users who count.
    """
    known = lists.background
    if known is None or known.is_candidate is None:
        return None
    longest = int(lists.n_items.max(initial=1))
    depth = min(metric.k or longest, longest)
    sums = np.append(0.0, np.cumsum(metric.weigh_ranks(depth, convention)))
    n_candidates = lists.n_items if lists.pool.sizes is None else lists.pool.sizes
    n_shown = sums[np.minimum(np.minimum(lists.n_items, n_candidates), depth)]
    kept = kept & (n_shown > 0)
    n_shown, share = n_shown[kept], n_shown[kept] / n_candidates[kept]
    columns = weigh_shares(share, n_shown)
    is_candidate = known.is_candidate.astype(np.float64)
    totals = {name: column.sum() * is_candidate for name, column in columns.items()}
    if lists.pool.excludes_history:
        owner, item = lists.history
        place = np.cumsum(kept) - 1
        item, owner = item[kept[owner]], place[owner[kept[owner]]]
        for name, column in columns.items():
            left_out = np.bincount(item, weights=column[owner], minlength=len(is_candidate))
            totals[name] -= left_out * is_candidate
    n_users = float(len(share))
    users = {"users": n_users, "lists": n_users, "slots": float(n_shown.sum())}
    return ItemTotals(np.asarray(lists.item_ids), totals, describe_items(lists), users)
