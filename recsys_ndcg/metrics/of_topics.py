"""What metrics of topics share: who has which topics, relevant topics, the ideal list."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recsys_ndcg.arrays import Flags, Floats, Positions, compute_offsets, concat_ranges, row_sums
from recsys_ndcg.background import Feature
from recsys_ndcg.convention import Convention
from recsys_ndcg.input import EncodedIds
from recsys_ndcg.metrics.features import OfColumn
from recsys_ndcg.metrics.metric import ORDER, find_relevant
from recsys_ndcg.metrics.requirements import Requirement
from recsys_ndcg.ranking import Ranking, compute_hits_so_far

#: The choices of measures of topics.
TOPICS = ORDER | {"missing_feature"}
_EQUAL = 1e-9  # gains of at most a few units that differ by less are equal but for rounding


class OfTopics(OfColumn):
    """A metric of the topics of items: a column of categories, or of sets.

    The best order of a list is not that of sorted values, so there is no best or worst order and
    no range of ties.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    column : str
        The name of the column.
    """

    needs = frozenset({"items", "features"})
    reads = TOPICS
    best_first = False
    nonnegative = True
    #: Whether it reads the topics of relevant items that are not in the list.
    reads_unlisted = True

    def list_requirements(self, convention: Convention) -> list[Requirement]:
        """Return what it needs: also entries of labels that count in the denominator."""
        is_read = self.reads_unlisted and convention.unlisted == "count"
        more = [Requirement("entries", "unlisted")] if is_read else []
        return [*super().list_requirements(convention), *more]

    def find_hits(self, ranking: Ranking, is_hit: Flags | None = None) -> TopicHits:
        """Return how many items of each tie group have each topic: all, or those with a flag."""
        groups, feature = ranking.tie_groups, self.get_feature(ranking.lists)
        rows, group = groups.rows, groups.group_of_row
        if is_hit is not None:
            rows, group = rows[is_hit[rows]], group[is_hit[rows]]
        items = np.asarray(ranking.lists.item_codes)[rows].astype(np.int64)
        place, topic = list_topics(feature, items)
        return TopicHits.of(ranking, group[place], topic, count_labels(feature))

    def find_relevant_hits(self, ranking: Ranking) -> TopicHits:
        """Return how many relevant items of each tie group have each topic, computed once."""

        def compute() -> TopicHits:
            return self.find_hits(ranking, ranking.graded.compute_relevance(ranking.threshold) > 0)

        return ranking.get_or_compute(("hits by topic", self.column), compute)

    def find_relevant_topics(self, ranking: Ranking) -> RelevantTopics:
        """Return the relevant items of each user and their topics, computed once."""
        key = "relevant topics", self.column
        feature = self.get_feature(ranking.lists)
        return ranking.get_or_compute(key, lambda: RelevantTopics.of(ranking, feature))

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the number of topics of each user's relevant items, in the list or not."""
        return self.find_relevant_topics(ranking).n_topics


@dataclass(frozen=True, eq=False)
class TopicHits:
    """How many items of each tie group have each topic, as counts of (user, topic, group).

    Parameters
    ----------
    n_users : int
        The number of users.
    slot : int64 array, one entry per count
        The index of its user and topic in `slot_keys`.
    slot_keys, slot_user : int64 arrays, one entry per user and topic
        User times the number of topics, plus topic, ascending; and the user.
    user, n_before, size : int64 arrays, one entry per count
        The user, and the number of items before the group and in it.
    hits, hits_before : int64 arrays, one entry per count
        The items with the topic in the group, and before it.
    """

    n_users: int
    slot: Positions
    slot_keys: Positions
    slot_user: Positions
    user: Positions
    n_before: Positions
    size: Positions
    hits: Positions
    hits_before: Positions

    @classmethod
    def of(cls, ranking: Ranking, group: Positions, topic: Positions, n_topics: int) -> TopicHits:
        """Count pairs of a tie group of a ranking and a topic, a pair per item and topic."""
        groups = ranking.tie_groups
        n_groups = max(len(groups.user), 1)
        keys = (groups.user[group] * n_topics + topic) * n_groups + group
        keys, hits = np.unique(keys, return_counts=True)
        slot_keys, group = np.divmod(keys, n_groups)
        slot_keys, first, slot = np.unique(slot_keys, return_index=True, return_inverse=True)
        before = compute_offsets(hits)[:-1]
        spans = groups.user[group], groups.n_before[group], groups.size[group]
        hits_before = before - before[first][slot]
        n_users, slot_user = len(ranking.n_items), slot_keys // n_topics
        return cls(n_users, slot, slot_keys, slot_user, *spans, hits, hits_before)

    def count_places(self, ranking: Ranking, k: int | None) -> Positions:
        """Return how many places of each group are among the first k."""
        return np.asarray(np.clip(ranking.count_shown(k)[self.user] - self.n_before, 0, self.size))

    def sum_by_user(self, values: Floats) -> Floats:
        """Return the sum of values over the topics and groups of each user."""
        return add_up(self.user, values, self.n_users)

    def count_shown(self, places: Positions) -> Floats:
        """Return the expected number of different topics among the first places, by user."""
        missed = np.ones(len(self.slot_keys))
        # at most one group of a user is cut, so all other factors are 0 or 1
        np.multiply.at(missed, self.slot, compute_missed(self.size, self.hits, places))
        return add_up(self.slot_user, 1.0 - missed, self.n_users)

    def sum_precisions(self, places: Positions) -> Floats:
        """Return the expected sum over the places of each group of rel(r)·h(r)/r."""
        total = np.zeros(len(self.size))
        for place in range(int(places.max(initial=0))):
            at = np.flatnonzero(places > place)
            hits, size, before = self.hits[at], self.size[at], self.hits_before[at]
            so_far = compute_hits_so_far(hits, size, before, place)
            total[at] += so_far / (self.n_before[at] + place + 1)
        return total

    def sum_fading(self, places: Positions, weights: Floats, kept: float) -> Floats:
        r"""Return the expected sum over the places of each group, less for each repetition.

        At the j-th place of a group of t items, m of them hits, after H hits, the mean is
        (m/t)·kept^H·E[kept^X], with X the hits among j - 1 of the other t - 1 items, m - 1 of them
        hits.
        """
        share = self.hits / self.size * kept**self.hits_before
        total, at = np.zeros(len(share)), np.flatnonzero(places > 0)
        chance = np.ones((len(at), 1))  # of each number of hits so far
        for place in range(int(places.max(initial=0))):
            is_left = places[at] > place
            at, chance = at[is_left], chance[is_left]
            if place:
                n_more = self.hits[at, None] - 1 - np.arange(chance.shape[1])
                moved = chance * np.clip(n_more / (self.size[at, None] - place), 0.0, 1.0)
                chance = np.pad(chance - moved, ((0, 0), (0, int(moved[:, -1].any()))))
                chance[:, 1:] += moved[:, : chance.shape[1] - 1]
            mean = row_sums(chance * kept ** np.arange(chance.shape[1]))
            total[at] += weights[self.n_before[at] + place] * (share[at] * mean)
        return total


def add_up(index: Positions, values: Floats, n: int) -> Floats:
    """Return the sums of values with the same index, each added in their order."""
    return np.bincount(index, weights=values, minlength=n).astype(np.float64, copy=False)


def compute_missed(size: Positions, hits: Positions, places: Positions) -> Floats:
    """Return C(t - m, s) / C(t, s): the probability that s of t items have none of m hits.

    Examples
    --------
    >>> compute_missed(np.array([4, 4]), np.array([1, 3]), np.array([2, 2]))
    array([0.5, 0. ])
    """
    fewer, more = np.minimum(hits, places), np.maximum(hits, places)
    missed = np.ones(len(size))
    for step in range(int(fewer.max(initial=0))):
        share = np.maximum(size - more - step, 0) / np.maximum(size - step, 1)
        missed *= np.where(step < fewer, share, 1.0)
    return missed


@dataclass(frozen=True, eq=False)
class RelevantTopics:
    """The relevant items of each user that have topics, in the list or not.

    Parameters
    ----------
    user : int64 array, one entry per item
        Its user. Items are by user, and then by their ids as text, the last first.
    owner, slot : int64 arrays, one entry per item and topic
        The index of the item, and of its user and topic in `slot_keys`.
    slot_keys, n_items : int64 arrays, one entry per user and topic
        User times the number of topics, plus topic, ascending; and the number of items.
    n_topics : float64 array, shape (n_users,)
        The number of different topics.
    """

    user: Positions
    owner: Positions
    slot: Positions
    slot_keys: Positions
    n_items: Positions
    n_topics: Floats

    @classmethod
    def of(cls, ranking: Ranking, feature: Feature) -> RelevantTopics:
        """List the relevant items of each user that have topics."""
        user, item = find_relevant(ranking)
        different, index = np.unique(item, return_inverse=True)
        ids = np.asarray(ranking.lists.item_ids)[different]
        text = EncodedIds(ids, np.arange(len(ids), dtype=np.int32)).text_ranks[index]
        order = np.lexsort((-text, user))
        user, item = user[order], different[index[order]]
        owner, topic = list_topics(feature, item)
        has_topics, owner = np.unique(owner, return_inverse=True)
        user = user[has_topics]
        keys = user[owner] * count_labels(feature) + topic
        slot_keys, slot, n_items = np.unique(keys, return_inverse=True, return_counts=True)
        n_topics = np.bincount(slot_keys // count_labels(feature), minlength=len(ranking.n_items))
        return cls(user, owner, slot, slot_keys, n_items, n_topics.astype(np.float64))

    def sum_greedily(self, weights: Floats, kept: float) -> Floats:
        """Return the weighted sum of lists that add, rank by rank, an item of the largest gain."""
        n_users = len(self.n_topics)
        total, is_left = np.zeros(n_users), np.ones(len(self.user), dtype=bool)
        n_shown = np.zeros(len(self.slot_keys), dtype=np.int64)
        users, first = np.unique(self.user, return_index=True)
        for weight in weights if len(users) else ():
            gain = add_up(self.owner, np.power(kept, n_shown[self.slot]), len(self.user))
            gain[~is_left] = -1.0
            best = np.zeros(n_users)
            best[users] = np.maximum.reduceat(gain, first)
            index = np.flatnonzero(is_left & (gain >= best[self.user] - _EQUAL))
            chosen = index[np.diff(self.user[index], prepend=-1) > 0]
            total[self.user[chosen]] += weight * gain[chosen]
            is_left[chosen] = False
            is_chosen = np.zeros(len(self.user), dtype=bool)
            is_chosen[chosen] = True
            n_shown[self.slot[is_chosen[self.owner]]] += 1  # an item has a topic once
        return total


def list_topics(feature: Feature, items: Positions) -> tuple[Positions, Positions]:
    """Return the place in `items`, and the topic, of each topic of some items.

    Topics of an item are in ascending order.
    """
    if feature.kind == "category":
        place = np.flatnonzero(feature.is_known[items])
        return place, feature.values[items[place]].astype(np.int64)
    different, index = np.unique(items, return_inverse=True)
    rows, topic = np.nonzero(feature.values[different] * feature.is_known[different, None])
    sizes = np.bincount(rows, minlength=len(different))
    starts = compute_offsets(sizes)[:-1]
    place = np.repeat(np.arange(len(items)), sizes[index])
    return place, topic[concat_ranges(starts[index], sizes[index])]


def count_labels(feature: Feature) -> int:
    """Return the number of all topics, at least 1."""
    return max(len(feature.labels), 1)
