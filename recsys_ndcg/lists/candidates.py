"""The candidates that lists were chosen from: drawn ones, or a whole catalogue that was ranked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, TypeAlias

import numpy as np
import pandas as pd  # noqa: TC002 - loaded with all that reads tables
from numpy.typing import NDArray

from recsys_ndcg.arrays import Flags, Floats, Ids, Positions, compute_offsets, concat_ids, map_along
from recsys_ndcg.background import Background
from recsys_ndcg.convention import Convention, TieRule
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.input import EncodedIds, check_id_types, encode_ids, to_column
from recsys_ndcg.lists.grouped_lists import GroupedLists, Pool
from recsys_ndcg.lists.grouping import Pairs, group_by_user
from recsys_ndcg.lists.labels import collect_labels, format_rows
from recsys_ndcg.ratings import GroupedRows

Sizes: TypeAlias = "int | Mapping[Any, int] | pd.Series[Any]"


@dataclass(frozen=True, eq=False)
class DrawnPool(Pool):
    """All candidates of each user, without an order, of which each list shows the first few.

    The rows of the lists are the labelled candidates, recommended or not; unlabelled candidates are
    only counted. In random order they give the score of a list of the same length that is drawn
    from the candidates.
    """

    is_drawn: ClassVar[bool] = True

    def count_candidates(self, lists: GroupedLists) -> Positions:  # noqa: ARG002 - counted here
        """Return the number of items that each list is drawn from."""
        return np.asarray(self.sizes)

    def count_ranks(self, lists: GroupedLists) -> Positions:
        """Return the number of ranks of each user's list and ideal list."""
        return np.maximum(lists.n_items, np.diff(lists.offsets)) + lists.n_unlisted


@dataclass(frozen=True, eq=False, kw_only=True)
class CataloguePool(Pool):
    """A catalogue whose unlabelled items are counted instead of kept.

    It has thousands of items for each test rating of a user, and a metric needs only the places of
    the rated items: the columns `ahead` (items with a higher estimate), `tied` (items with the same
    estimate) and `within` (the position among these). The rows of the lists are the labelled items,
    and for measures beyond accuracy also the unlabelled items of the first ranks, sorted by user,
    `ahead` and `within`. They are valid for one tie tolerance and one rule for ties.

    Parameters
    ----------
    convention : Convention
        The choices of the ranking.
    threshold : float, optional
        The threshold of relevance, if it decides what counts as recommended.
    n_above : int64 array, shape (n_users,)
        The number of items estimated at least `recommend_from`.
    ties_from : float64 array, shape (n_users,)
        The first rank that is part of a tie; inf if there is no tie.
    n_not_made : int64 array, shape (n_users,)
        The number of predictions that the model could not make.
    unlabelled_items, unlabelled_estimated : arrays, shape (n_users, n_kept)
        The ids and estimates of the first unlabelled items in ranked order, to show a list;
        estimates are -inf past its end.
    """

    is_catalogue: ClassVar[bool] = True

    convention: Convention
    threshold: float | None
    n_above: Positions
    ties_from: Floats
    n_not_made: Positions
    unlabelled_items: Ids
    unlabelled_estimated: Floats

    @property
    def ranked_under(self) -> tuple[Convention, float | None]:
        """The choices and the threshold of the ranking."""
        return self.convention, self.threshold

    def count_unlabelled(self, lists: GroupedLists) -> Floats:
        """Return the number of items in each list without a true value."""
        return lists.n_items - lists.sum_by_user(~np.isnan(lists.true))

    def count_impossible(self, _: GroupedLists) -> Floats:
        """Return the number of each user's predictions that the model could not make."""
        return self.n_not_made.astype(np.float64)

    def count_recommended(self, *_: Any) -> Floats:
        """Return the number of items in each list whose estimate is high enough to recommend."""
        return self.n_above.astype(np.float64)

    def compute_sort_key(self, lists: GroupedLists, convention: Convention) -> Floats:  # noqa: ARG002 - the places depend on it
        """Return the key by which rows are ranked, largest first; equal keys are tied."""
        return -lists.columns["ahead"].astype(np.float64)

    def compute_tie_key(self, lists: GroupedLists, rule: TieRule) -> Floats:  # noqa: ARG002 - the places depend on it
        """Return the key that orders tied rows, largest first."""
        return -lists.columns["within"].astype(np.float64)

    def find_spans(
        self, lists: GroupedLists, rows: Positions, *_: Positions
    ) -> tuple[Positions, Positions]:
        """Return the number of items ahead of each run of equal estimates, and its size."""
        return lists.columns["ahead"][rows], lists.columns["tied"][rows]

    def find_first_tie_ranks(self, lists: GroupedLists, again: Positions) -> Floats:  # noqa: ARG002 - the places depend on it
        """Return the first rank of each user that is part of a tie; inf if there is no tie."""
        return self.ties_from

    def find_places_in_ties(self, lists: GroupedLists, rows: Positions, _: Positions) -> Positions:
        """Return the positions of rows among all items of their tie."""
        return lists.columns["within"][rows]

    def is_one_tie(self, lists: GroupedLists, step: float) -> bool:  # noqa: ARG002 - places have a tolerance
        """Return whether the estimates of each list with a row are equal."""
        lengths = np.repeat(lists.n_items, np.diff(lists.offsets))
        return bool(len(lengths) and lengths.max() > 1 and (lists.columns["tied"] == lengths).all())

    def list_items(
        self, lists: GroupedLists, rows: Positions, ranks: Positions, k: int | None
    ) -> tuple[Ids, Ids, Positions]:
        """Return user, item and rank (from 0) of the first k items of every list."""
        k = int(lists.n_items.max(initial=0)) if k is None else k
        user, rank = np.nonzero(np.arange(k) < lists.n_items[:, None])
        return lists.users[user], self._fill_ranks(lists, rows, ranks, k)[0][user, rank], rank

    def get_items_at(
        self, lists: GroupedLists, rows: Positions, ranks: Positions, k: int
    ) -> tuple[Ids, Floats, Floats]:
        """Return the items, estimates and grades at the first ranks; there is only one user."""
        items, estimated, true = self._fill_ranks(lists, rows, ranks, k)
        return items[0], estimated[0], true[0]

    def _fill_ranks(
        self, lists: GroupedLists, rows: Positions, ranks: Positions, k: int
    ) -> tuple[Ids, Floats, Floats]:
        """Return tables of the items, estimates and grades at the first ranks of every list."""
        n_kept = self.unlabelled_items.shape[1]
        if k > n_kept:
            msg = (
                f"This report keeps the first {n_kept} ranks of each list, not the catalogue. "
                f"Choose k up to {n_kept}, or evaluate with a larger k."
            )
            raise InvalidInputError(msg)
        shape = len(lists), k
        items, estimated, true = np.empty(shape, object), np.empty(shape), np.full(shape, np.nan)
        is_kept = (ranks < k) & ~np.isnan(lists.true[rows])  # others are in `unlabelled_items`
        rows, ranks = rows[is_kept], ranks[is_kept]
        place = lists.user_of_row[rows], ranks
        items[place], true[place] = np.asarray(lists.items)[rows], lists.true[rows]
        estimated[place] = lists.estimated[rows]
        is_other = np.isnan(true) & (np.arange(k) < lists.n_items[:, None])
        other = np.nonzero(is_other)
        kept = other[0], (np.cumsum(is_other, axis=1) - 1)[other]
        items[other] = self.unlabelled_items[kept]
        estimated[other] = self.unlabelled_estimated[kept]
        return items, estimated, true

    def select_labelled(self, lists: GroupedLists) -> GroupedLists:
        """Return lists without their unlabelled items, in rows of their own."""
        labelled = super().select_labelled(lists).with_columns(ahead=None, tied=None, within=None)
        return replace(labelled, lengths=None, pool=Pool())

    @staticmethod
    def find_changed_choice(
        placed: tuple[Convention, float | None], wanted: tuple[Convention, float | None]
    ) -> tuple[str, Any, Any] | None:
        """Return the name of a choice that would move items, with both its values; None if none.

        Parameters
        ----------
        placed, wanted : pairs of Convention and float
            The choices and the threshold of the lists, and of a measurement.
        """
        (old, old_threshold), (new, new_threshold) = placed, wanted
        names = ["tie_tolerance", "impossible", "recommend_from"]
        if new.tie_rule.gives_each_item_a_place:
            names.append("ties")
        choices = [(name, getattr(old, name), getattr(new, name)) for name in names]
        if new.recommend_from == "threshold":
            choices.append(("threshold", old_threshold, new_threshold))
        return next((choice for choice in choices if choice[1] != choice[2]), None)


def draw_from_candidates(
    lists: GroupedLists, marked: Iterable[GroupedRows | None] = ()
) -> GroupedLists:
    """Return lists drawn from the candidates of lists, or the lists if these are unknown.

    Parameters
    ----------
    lists : GroupedLists
        The lists.
    marked : iterable of GroupedRows
        Items of each user that get a row too, such as training items.
    """
    sizes, known = lists.pool.sizes, lists.background
    if known is not None and lists.pool.is_catalogue:
        sizes = lists.n_items  # every candidate is ranked
    if sizes is None:
        return lists
    labels = collect_labels(lists)
    is_candidate = _find_reachable_labels(lists, labels)
    own, others = (labels.take(np.flatnonzero(one)) for one in (is_candidate, ~is_candidate))
    if known is not None and known.is_candidate is not None and labels.item is not None:
        own = _add_marked(lists, own, marked)
    else:
        own = Pairs({name: one for name, one in own.columns.items() if name != "item"})
    own, offsets = group_by_user(own, len(lists))
    others, unlisted_offsets = group_by_user(others, len(lists))
    return replace(
        lists,
        offsets=offsets,
        columns={"estimated": np.zeros(len(own.user)), **own.without_user},
        item_ids=None if own.item is None else lists.item_ids,
        unlisted_offsets=unlisted_offsets,
        unlisted={name: one for name, one in others.without_user.items() if name in own.columns},
        lengths=np.minimum(lists.n_items, sizes),
        pool=DrawnPool(sizes, lists.pool.excludes_history),
    )


def _find_reachable_labels(lists: GroupedLists, labels: Pairs) -> Flags:
    """Return which labels are of candidates."""
    n_unlisted, known = len(lists.unlisted["true"]), lists.background
    n_listed, is_candidate = len(labels.user) - n_unlisted, np.ones(len(labels.user), dtype=bool)
    is_ranked = lists.pool.is_catalogue
    is_candidate[n_listed:] = False if is_ranked else lists.unlisted.get("reachable", True)
    if known is not None and known.is_candidate is not None and labels.item is not None:
        is_candidate[:n_listed] = known.is_candidate[labels.item[:n_listed]]
    return is_candidate


def _add_marked(lists: GroupedLists, labels: Pairs, marked: Iterable[GroupedRows | None]) -> Pairs:
    """Return labelled candidates and some further ones."""
    known = lists.get_background()
    n_items, n_labels = len(known.items), len(labels.user)
    more = [each.of_users(np.asarray(lists.background_users)) for each in marked if each]
    keys = [labels.make_keys(n_items), *(owner * n_items + one for owner, one in more)]
    key = np.concatenate(keys)
    order = np.argsort(key, kind="stable")  # labelled candidates come first
    kept = np.sort(order[np.diff(key[order], prepend=-1) > 0])
    is_candidate = np.asarray(known.is_candidate)[key % n_items]
    if lists.pool.excludes_history:
        owner, item = lists.history
        is_candidate &= ~np.isin(key, owner * n_items + item)
    kept = kept[(kept < n_labels) | is_candidate[kept]]
    nothing = np.full(len(key) - n_labels, np.nan)
    columns = {name: np.append(one, nothing)[kept] for name, one in labels.without_user.items()}
    return Pairs({**columns, "user": key[kept] // n_items, "item": key[kept] % n_items})


def add_background(
    lists: GroupedLists, background: Background | None, *, with_train_users: bool = False
) -> GroupedLists:
    """Add what is known besides the lists; a catalogue gives supplied lists their candidates.

    Parameters
    ----------
    lists : GroupedLists
        The lists.
    background : Background, optional
        What is known.
    with_train_users : bool
        Whether users of training who have neither a list nor labels are added.

    Raises
    ------
    InvalidInputError
        Ids have different types, or `n_items` differs from the size of the catalogue.
    """
    if background is None or background is lists.background:
        return lists
    if with_train_users and background.history is not None:
        lists = _add_users(lists, background.users[background.history.sizes > 0])
    users = background.find_users(lists.users)
    if lists.item_ids is None:
        if background.weights is not None:
            msg = "`weights=` are weights by item, but the lists have no item ids. Give the ids."
            raise InvalidInputError(msg)
        return replace(lists, background=background, background_users=users)
    known, codes = background.align(lists.item_ids)
    lists = lists.with_columns(item=codes[lists.item_codes])
    unlisted = {**lists.unlisted, "item": codes[lists.unlisted["item"]]}
    lists = replace(
        lists, item_ids=known.items, unlisted=unlisted, background=known, background_users=users
    )
    if known.weights is not None:
        _check_weights(lists)
    return lists if known.in_catalogue is None else _add_catalogue(lists, known)


def _add_users(lists: GroupedLists, users: Ids) -> GroupedLists:
    """Return the lists with more users, who have no list and no labels; known ones stay."""
    ids, codes = encode_ids(concat_ids([lists.users, users]), "user")
    place = codes[: len(lists)]

    def spread(values: NDArray[Any], _: int = 0) -> NDArray[Any]:
        spread_out = np.zeros(len(ids), dtype=values.dtype)
        spread_out[place] = values
        return spread_out

    return replace(
        map_along(lists, "users", spread),
        users=ids,
        offsets=compute_offsets(spread(np.diff(lists.offsets))),
        unlisted_offsets=compute_offsets(spread(lists.n_unlisted)),
    )


def _check_weights(lists: GroupedLists) -> None:
    """Raise if labels have two weights or none."""
    if "weight" in lists.columns:
        msg = "Give `weights=` or a column 'weight' of the labels, not both."
        raise InvalidInputError(msg)
    is_lacking = np.isnan(np.asarray(lists.weights))
    n_unlisted = int(np.isnan(np.asarray(lists.unlisted_weights)).sum())
    if is_lacking.any() or n_unlisted:
        first = f", the first {format_rows(lists, is_lacking)}" if is_lacking.any() else ""
        msg = (
            f"`weights=` has no weight for the items of {int(is_lacking.sum()) + n_unlisted} "
            f"labels{first}. Give every item one."
        )
        raise InvalidInputError(msg)


def _add_catalogue(lists: GroupedLists, known: Background) -> GroupedLists:
    """Make the catalogue the candidates of supplied lists.

    Listed items outside it are no candidates, as chance must not depend on other users' lists.
    """
    if lists.pool.is_catalogue:
        return replace(lists, background=replace(known, is_candidate=known.in_catalogue))
    if lists.protocol in ("rated", "sampled"):
        return lists
    is_candidate = np.asarray(known.in_catalogue)
    n_items = int(is_candidate.sum())
    if lists.pool.sizes is not None and (lists.pool.sizes != n_items).any():
        msg = (
            f"The lists were made with `n_items=` or items= of {lists.pool.sizes[0]} candidates, "
            f"but `catalogue=` has {n_items}. Give the same catalogue, or leave one of them out."
        )
        raise InvalidInputError(msg)
    lists = replace(lists, background=replace(known, is_candidate=is_candidate))
    return _set_candidates(lists, is_candidate, n_items)


def _set_candidates(lists: GroupedLists, is_candidate: Flags, n_items: int) -> GroupedLists:
    """Return lists drawn from candidates, given their number and which of `item_ids` they are."""
    reachable = is_candidate[lists.unlisted["item"]]
    return replace(
        lists,
        protocol="catalogue",
        pool=Pool(np.full(len(lists), n_items)),
        unlisted={**lists.unlisted, **({} if reachable.all() else {"reachable": reachable})},
    )


def add_candidates(
    lists: GroupedLists, n_items: Sizes | None = None, items: Iterable[Any] | None = None
) -> GroupedLists:
    """Add the number of candidates to recommended lists.

    Parameters
    ----------
    lists : GroupedLists
        Labels and results, joined.
    n_items : int, {user: int} or Series by user, optional
        The number of candidates.
    items : iterable of ids, optional
        The candidates themselves, instead of `n_items`.

    Raises
    ------
    InvalidInputError
        There are fewer candidates than different items in the lists, or both options are given.
    """
    if items is not None:
        if n_items is not None:
            msg = "`n_items=` and items= exclude each other. Give one of them."
            raise InvalidInputError(msg)
        return _add_items(lists, items)
    if n_items is None:
        return lists
    return replace(lists, protocol="catalogue", pool=Pool(_count_candidates(lists, n_items)))


def _add_items(lists: GroupedLists, items: Any) -> GroupedLists:
    catalogue, _ = encode_ids(to_column(items, "items"), "items")
    known, codes = np.asarray(lists.item_ids), np.asarray(lists.item_codes)
    if not len(catalogue):
        msg = "items is empty: give the ids of the catalogue."
        raise InvalidInputError(msg)
    check_id_types(catalogue, known, "item", ("the items of items=", "the labels and results"))
    is_candidate = EncodedIds(catalogue, np.zeros(0, np.int32)).find(known) >= 0
    is_unknown = ~is_candidate[codes]
    if is_unknown.any():
        msg = (
            f"items= lacks the items of {int(is_unknown.sum())} results, the first "
            f"{format_rows(lists, is_unknown)}. Give all items that could be recommended."
        )
        raise InvalidInputError(msg)
    return _set_candidates(lists, is_candidate, len(catalogue))


def _count_candidates(lists: GroupedLists, n_items: Any) -> Positions:
    """Return the number of candidates of each user."""
    users, is_by_user = lists.users.tolist(), hasattr(n_items, "items")
    size_by_user = dict(n_items.items()) if is_by_user else dict.fromkeys(users, n_items)
    missing = [user for user in users if user not in size_by_user]
    if missing:
        msg = f"{len(missing)} users have no number of items, the first {quote(missing[0])}."
        raise InvalidInputError(msg)
    sizes = [size_by_user[user] for user in users]
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, Integral) or size < 1:
            hint = " Pass a list of items as `catalogue=`." if isinstance(n_items, Iterable) else ""
            msg = f"The number of items must be whole and at least 1, not {quote(size)}.{hint}"
            raise InvalidInputError(msg)
    counts = np.array(sizes, dtype=np.int64)
    n_different = len(np.asarray(lists.item_ids))
    fewest = lists.pool.count_ranks(lists) if is_by_user else np.full(len(lists), n_different)
    if (counts < fewest).any():
        first = int((counts < fewest).argmax())
        whose = f"of user {quote(users[first])} " if is_by_user else ""
        msg = (
            f"The number of items, {counts[first]}, is less than the {fewest[first]} different "
            f"ones {whose}in labels and results. Give the size of the whole catalogue; in Python "
            "also {user: number}, if users have different candidates."
        )
        raise InvalidInputError(msg)
    return counts
