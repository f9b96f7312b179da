"""OverItemGroups: a number of all lists together, by group of items, such as a category."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import ClassVar

import numpy as np

from recsys_ndcg.arrays import Floats, Ids, Positions, compute_offsets
from recsys_ndcg.background import Background
from recsys_ndcg.convention import Convention, compute_relevance
from recsys_ndcg.errors import InvalidInputError, suggest
from recsys_ndcg.lists import GroupedLists
from recsys_ndcg.metrics.features import find_feature_objection, find_missing_entries
from recsys_ndcg.metrics.over_lists import OverLists, describe_items, find_universe
from recsys_ndcg.metrics.tail import find_tail
from recsys_ndcg.ranking import Exposures, ItemTotals, Ranking

Pairs = tuple[Positions, Positions]
#: The patience of a user if the convention has none.
PATIENCE = 0.5


class OverItemGroups(OverLists):
    """A number of all lists together, from sums by group of items.

    The groups are the categories of a column of the features. Items without a category are in no
    group (`Convention.missing_feature`). Chance is not known.
    """

    has_chance: ClassVar[bool] = False
    is_linear: ClassVar[bool] = False
    #: The one group that is measured, a field in metrics that can measure one.
    group: ClassVar[str] = ""
    #: Whether items without a category matter: of the catalogue, and the user's relevant items.
    reads_catalogue: ClassVar[bool] = False
    reads_relevant: ClassVar[bool] = False

    def name_groups(self, known: Background, convention: Convention) -> tuple[Positions, Ids]:  # noqa: ARG002
        """Return the group of every item, -1 for none, and the names of the groups."""
        feature = known.get_feature(self.column)
        codes = np.where(feature.is_known, feature.values, -1).astype(np.int64)
        return codes, np.array([str(label) for label in feature.labels], dtype=object)

    def find_groups(self, known: Background, convention: Convention) -> Positions:
        """Return the group of every item, -1 for none; only of `group` if it is given."""
        codes, names = self.name_groups(known, convention)
        if not self.group:
            return codes
        return np.where((codes >= 0) & (names[codes] == self.group), 0, -1)

    def exposure_key(self) -> Hashable:
        """Return a key of its own: the columns are those of the metric."""
        return "groups", self

    def background_objection(self, known: Background, convention: Convention) -> str:
        """Return that the column is missing or has no categories, or has no such group."""
        if self.column in known.features and known.features[self.column].kind == "number":
            return (
                f"{self} needs categories, but the column {self.column!r} of the features has "
                f"numbers. Write them as text: features.astype({{{self.column!r}: str}})."
            )
        return find_feature_objection(self, known, ("category",)) or self.find_group_objection(
            known, convention, self.group
        )

    def find_group_objection(self, known: Background, convention: Convention, group: str) -> str:
        """Return that there is no group of items of this name; "" if there is, or none is named."""
        names = self.name_groups(known, convention)[1].tolist()
        if not group or group in names:
            return ""
        place = f"in the column {self.column!r}" if self.column else "of items"
        return f"{self}: there is no group {group!r} {place}. {suggest(group, names)}"

    def list_objection(self, lists: GroupedLists, convention: Convention) -> str:
        """Return that items are outside the catalogue, or have no category, if that is an error."""
        reason = super().list_objection(lists, convention)
        if reason or not self.column or convention.missing_feature != "raise":
            return reason
        return find_missing_entries(self, lists, convention) or self._find_unnamed(lists)

    def _find_unnamed(self, lists: GroupedLists) -> str:
        """Return which further items, that were not recommended, have no category."""
        known = lists.background
        assert known is not None, "checked before"  # noqa: S101
        has_none = ~known.get_feature(self.column).is_known
        counted = np.zeros(len(has_none), dtype=bool)
        if self.reads_catalogue and known.in_catalogue is not None:
            counted |= known.in_catalogue
        if self.reads_relevant:
            counted[np.asarray(lists.unlisted["item"])] = True
        unnamed = np.flatnonzero(has_none & counted)
        if not len(unnamed):
            return ""
        first = ", ".join(repr(one) for one in np.asarray(lists.item_ids)[unnamed[:3]].tolist())
        return (
            f"{self}: {len(unnamed)} items that count have no entry in the column "
            f"{self.column!r} of the features, the first {first}. Add them, or choose "
            "missing_feature='drop'."
        )

    def collect(self, ranking: Ranking) -> Exposures:
        """Return who was shown what, the group of each item, and the metric's own columns."""
        lists = ranking.lists
        known = lists.background
        assert known is not None, "checked by the plan"  # noqa: S101
        weights = self.weigh_ranks(ranking.width(self.k), ranking.convention)
        rows, user, share = ranking.exposure(weights)
        more_users, more_items = self.find_more(ranking)
        item = np.concatenate([np.asarray(lists.item_codes)[rows], more_items]).astype(np.int64)
        users = np.concatenate([user, more_users])
        shown = np.append(share, np.zeros(len(more_items)))
        order = np.argsort(users, kind="stable")
        groups = self.find_groups(known, ranking.convention)
        shown_columns = self.describe_shown(ranking, rows, share)
        more_columns = self.describe_more(ranking, more_users, more_items)
        by_row = {}
        for name in {**shown_columns, **more_columns}:
            parts = (
                shown_columns.get(name, np.zeros(len(rows))),
                more_columns.get(name, np.zeros(len(more_items))),
            )
            by_row[name] = np.concatenate(parts)[order]
        return Exposures(
            np.asarray(lists.item_ids),
            compute_offsets(np.bincount(users, minlength=len(lists))),
            item[order],
            shown[order],
            by_row=by_row,
            by_user=self.describe_users(ranking),
            by_item={
                **describe_items(lists),
                "group": (groups + 1).astype(np.float64),
                **self.describe_more_of_items(known, ranking.convention),
            },
        )

    def find_more(self, ranking: Ranking) -> Pairs:  # noqa: ARG002 - some need it
        """Return user and item of further rows, which were not shown."""
        none = np.zeros(0, dtype=np.int64)
        return none, none

    def describe_shown(
        self,
        ranking: Ranking,  # noqa: ARG002 - some need it
        rows: Positions,  # noqa: ARG002
        share: Floats,  # noqa: ARG002
    ) -> Mapping[str, Floats]:
        """Return further columns of the rows that were shown."""
        return {}

    def describe_more(
        self,
        ranking: Ranking,  # noqa: ARG002 - some need it
        user: Positions,  # noqa: ARG002
        item: Positions,  # noqa: ARG002
    ) -> Mapping[str, Floats]:
        """Return columns of the further rows."""
        return {}

    def describe_users(self, ranking: Ranking) -> Mapping[str, Floats]:  # noqa: ARG002
        """Return columns of the users."""
        return {}

    def describe_more_of_items(
        self,
        known: Background,  # noqa: ARG002 - some need it
        convention: Convention,  # noqa: ARG002
    ) -> Mapping[str, Floats]:
        """Return further columns of the items."""
        return {}


class ByPopularity(OverItemGroups):
    """A number of all lists together, of the head and the tail of popularity, as in `Tail`."""

    def name_groups(self, known: Background, convention: Convention) -> tuple[Positions, Ids]:
        """Return whether every item is in the head, 0, or the tail, 1; else -1."""
        codes = np.where(known.in_train, 0, -1)
        codes[find_tail(known, convention)] = 1
        return codes, np.array(["head", "tail"], dtype=object)

    def background_objection(self, known: Background, convention: Convention) -> str:
        """Return that there is no such group."""
        return self.find_group_objection(known, convention, self.group)


def sum_by_group(totals: ItemTotals, values: Floats) -> Floats:
    """Return the sum of a number of every item over each group."""
    codes = totals.by_item["group"].astype(np.int64)
    return np.bincount(codes, weights=values)[1:].astype(np.float64)


def find_universe_flags(totals: ItemTotals, convention: Convention) -> Floats:
    """Return whether each item is one of all items, 0 or 1."""
    source = {"train": "train", "recommended": ""}.get(convention.universe, "catalogue")
    return totals.by_item[source] if source else find_universe(totals, convention)[0]


def find_relevant(ranking: Ranking) -> Pairs:
    """Return user and item of all relevant items, in the list or not."""
    lists = ranking.lists
    listed = ranking.graded.compute_relevance(ranking.threshold) > 0
    unlisted = compute_relevance(lists.unlisted_true, ranking.threshold) > 0
    user = np.concatenate([lists.user_of_row[listed], lists.user_of_label[unlisted]])
    item = [np.asarray(lists.item_codes)[listed], np.asarray(lists.unlisted["item"])[unlisted]]
    return user, np.concatenate(item).astype(np.int64)


def find_disparity(rates: Floats) -> float:
    """Return the standard deviation of rates over their mean, without NaN.

    NaN for fewer than two rates, or if all are 0.

    Examples
    --------
    >>> find_disparity(np.array([0.25, 0.75, np.nan]))
    0.5
    """
    known = rates[~np.isnan(rates)]
    mean = known.mean() if len(known) > 1 else 0.0
    return float(known.std() / mean) if mean else np.nan


def find_mean_difference(values: Floats) -> float:
    """Return the mean absolute difference of all pairs of values, without NaN.

    NaN for fewer than two values.

    Examples
    --------
    >>> find_mean_difference(np.array([0.0, 1.0, np.nan]))
    1.0
    """
    known = np.sort(values[~np.isnan(values)])
    n = len(known)
    if n < 2:
        return np.nan
    return float((known * (2 * np.arange(n) - n + 1)).sum() / (n * (n - 1) / 2))


def weigh_by_patience(n_ranks: int, convention: Convention) -> Floats:
    """Return patience^(r-1) for each of the first ranks, with the patience 0.5 by default.

    Examples
    --------
    >>> weigh_by_patience(3, Convention())
    array([1.  , 0.5 , 0.25])
    """
    patience = PATIENCE if convention.patience is None else convention.patience
    return np.asarray(patience ** np.arange(n_ranks, dtype=np.float64))


def check_option(metric: OverLists, name: str, choices: tuple[str, ...]) -> None:
    """Raise if an option of a metric is not one of its choices.

    Raises
    ------
    InvalidInputError
        It is not.
    """
    value = getattr(metric, name)
    if value not in choices:
        msg = f"{metric.name}: {name} cannot be {value!r}. Choose {', '.join(map(repr, choices))}."
        raise InvalidInputError(msg)
