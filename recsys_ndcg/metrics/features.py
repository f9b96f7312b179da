"""OfColumn: a metric that reads a column of the features, and what it checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recsys_ndcg.arrays import Positions
from recsys_ndcg.background import Background, Feature
from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.lists import GroupedLists
from recsys_ndcg.metrics.metric import Metric, get_background

_KINDS = {
    "number": "numbers", "category": "categories", "set": "sets", "vector": "vectors",
    "columns": "several columns",
}  # fmt: skip
RECOMMENDED = "recommended items have no entry"
_N_SHOWN = 3  # rows in a message


@dataclass(frozen=True)
class OfColumn(Metric):
    """A metric that reads a column of the features: by default categories or sets.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    column : str
        The name of the column.
    """

    #: The kinds of columns that it can read.
    kinds: ClassVar[tuple[str, ...]] = ("category", "set")

    column: str = ""  # type: ignore[misc] # a field here, a class attribute in Metric

    def get_feature(self, lists: GroupedLists) -> Feature:
        """Return the column."""
        return get_background(lists).get_feature(self.column)

    def background_objection(self, known: Background, convention: Convention) -> str:
        """Return an objection if the column does not exist, or is of another kind."""
        try:
            feature = known.get_feature(self.column)
        except InvalidInputError as error:
            return f"{self}: {error}"
        if feature.kind in self.kinds:
            return ""
        wanted = " or ".join(_KINDS[kind] for kind in self.kinds)
        what = f"the column {self.column!r} has" if self.column else "the features have"
        fits = [each for each, one in known.features.items() if one.kind in self.kinds]
        fix = f"Name such a column: '{self.name}({fits[0]})@10'" if fits else "Add such a column"
        if feature.kind == "number":
            fix = f"Write them as text: {feature.code_for_categories}"
        found = _KINDS[feature.kind]
        return f"{self} needs {wanted}, but {what} {found}. {fix}."

    def list_objection(self, lists: GroupedLists, convention: Convention) -> str:
        """Return an objection if recommended items have no entry and that is an error."""
        item = np.asarray(lists.item_codes)
        return self.find_missing(lists, convention, RECOMMENDED, item, lists.user_of_row)

    def find_missing(
        self,
        lists: GroupedLists,
        convention: Convention,
        what: str,
        item: Positions,
        user: Positions | None = None,
    ) -> str:
        """Return which items have no entry in the column, if that is an error.

        Parameters
        ----------
        lists : GroupedLists
            The lists.
        convention : Convention
            Its `missing_feature` is read.
        what : str
            What they are, and that they have no entry, such as `RECOMMENDED`.
        item, user : int64 arrays
            The items, and the user of each, if they have one.
        """
        if convention.missing_feature != "raise":
            return ""
        missing = np.flatnonzero(~self.get_feature(lists).is_known[item])
        if not len(missing):
            return ""
        first = missing[:_N_SHOWN]
        names = [quote(one) for one in np.asarray(lists.item_ids)[item[first]].tolist()]
        if user is not None:
            pairs = zip(lists.users[user[first]].tolist(), names, strict=True)
            names = [f"user {quote(one)} item {name}" for one, name in pairs]
        column = f"the column {self.column!r} of the features" if self.column else "the features"
        return (
            f"{self}: {len(missing)} {what} in {column}, the first {', '.join(names)}. Add them, "
            "or choose missing_feature='drop' or 'zero'."
        )
