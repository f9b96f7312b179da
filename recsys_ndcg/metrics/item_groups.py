"""OverItemGroups: a number of all lists together, by group of items, such as a category."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import ClassVar

import numpy as np

from recsys_ndcg.arrays import Floats, Ids, Positions, compute_offsets
from recsys_ndcg.background import Background
from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.metrics.features import OfColumn
from recsys_ndcg.metrics.over_lists import OverLists, describe_items
from recsys_ndcg.metrics.requirements import Requirement
from recsys_ndcg.ranking import Exposures, ItemTotals, Ranking

Pairs = tuple[Positions, Positions]
Columns = Mapping[str, Floats]


class OverItemGroups(OverLists):
    """A number of all lists together, from sums by group of items. Chance is not known."""

    nonnegative: ClassVar[bool] = True
    no_chance: ClassVar[str] = "the mean of random lists is not known for groups of items"
    #: The one group that is measured, a field in metrics that can measure one.
    group: ClassVar[str] = ""
    #: The name of an option, and its possible values.
    option: ClassVar[tuple[str, tuple[str, ...]]] = "", ()

    def __post_init__(self) -> None:
        """Check the parameters.

        Raises
        ------
        InvalidInputError
            The option is not one of its possible values.
        """
        super().__post_init__()
        name, values = self.option
        if values and getattr(self, name) not in values:
            choices = ", ".join(map(repr, values))
            msg = f"{self.name}: {name} cannot be {getattr(self, name)!r}. Choose {choices}."
            raise InvalidInputError(msg)

    def assign_groups(self, known: Background, convention: Convention) -> tuple[Positions, Ids]:
        """Return the group of every item, -1 for none, and the names of the groups."""
        raise NotImplementedError

    def exposure_key(self, convention: Convention) -> Hashable:
        """Return a key of its own: the columns belong to the metric."""
        return "groups", self

    def list_requirements(self, convention: Convention) -> list[Requirement]:
        """Return what it needs: also the group, if one is named."""
        more = [Requirement("group", self.group)] if self.group else []
        return [*super().list_requirements(convention), *more]

    def collect(self, ranking: Ranking) -> Exposures:
        """Return who was shown what, the group of each item, and the metric's own columns."""
        lists = ranking.lists
        known = lists.get_background()
        weights = self.weigh_ranks(ranking.width(self.k), ranking.convention)
        rows, user, share = ranking.exposure(weights)
        (more_users, more_items), more = self.describe_more(ranking)
        shown = {"share": share, **self.describe_shown(ranking, rows, share)}
        nothing = np.zeros(len(rows)), np.zeros(len(more_items))
        user = np.concatenate([user, more_users])
        item = np.concatenate([np.asarray(lists.item_codes)[rows], more_items]).astype(np.int64)
        order = np.argsort(user, kind="stable")
        by_row = {
            name: np.append(shown.get(name, nothing[0]), more.get(name, nothing[1]))[order]
            for name in {**shown, **more}
        }
        codes, names = self.assign_groups(known, ranking.convention)
        if self.group:
            codes = np.where((codes >= 0) & (names[codes] == self.group), 0, -1)
        group = (codes + 1).astype(np.float64)
        return Exposures(
            np.asarray(lists.item_ids),
            compute_offsets(np.bincount(user, minlength=len(lists))),
            item[order],
            by_row.pop("share"),
            by_row=by_row,
            by_user=self.describe_users(ranking),
            by_item={**describe_items(lists), "group": group, **self.describe_background(known)},
        )

    def describe_shown(self, ranking: Ranking, rows: Positions, share: Floats) -> Columns:
        """Return further columns of the rows that were shown."""
        return {}

    def describe_more(self, ranking: Ranking) -> tuple[Pairs, Columns]:
        """Return user and item of further rows, which were not shown, and columns of them."""
        none = np.zeros(0, dtype=np.int64)
        return (none, none), {}

    def describe_users(self, ranking: Ranking) -> Columns:
        """Return columns of the users."""
        return {}

    def describe_background(self, known: Background) -> Columns:
        """Return further columns of the items."""
        return {}


class ByColumn(OverItemGroups, OfColumn):
    """A number of all lists together, of the categories in a column of the features.

    Items without a category are in no group (`Convention.missing_feature`).
    """

    kinds: ClassVar[tuple[str, ...]] = ("category",)
    #: Whether items without a category matter: of the catalogue, and the user's relevant items.
    reads_catalogue: ClassVar[bool] = False
    reads_relevant: ClassVar[bool] = False

    def assign_groups(self, known: Background, convention: Convention) -> tuple[Positions, Ids]:
        """Return the category of every item, -1 for none, and the names of the categories."""
        feature = known.get_feature(self.column)
        codes = np.where(feature.is_known, feature.values, -1).astype(np.int64)
        return codes, np.array([str(label) for label in feature.labels], dtype=object)

    def list_requirements(self, convention: Convention) -> list[Requirement]:
        """Return what it needs: also categories of the items that matter besides the lists."""
        found = super().list_requirements(convention)
        if self.reads_relevant:
            return [*found, Requirement("entries", "both" if self.reads_catalogue else "relevant")]
        return [*found, Requirement("entries", "catalogue")] if self.reads_catalogue else found


def sum_by_group(totals: ItemTotals, values: Floats) -> Floats:
    """Return the sum of a number of every item over each group; 0 for one without items."""
    codes = totals.by_item["group"].astype(np.int64)
    return np.bincount(codes, weights=values, minlength=2)[1:].astype(np.float64)
