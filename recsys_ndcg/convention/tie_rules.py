"""The rules for items with equal estimates, a row each."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

TieRuleName: TypeAlias = Literal[
    "expected", "input", "best", "worst", "item_asc", "item_desc", "text_asc", "text_desc"
]


class TieRule(NamedTuple):
    """What orders items with equal estimates.

    Parameters
    ----------
    text : str
        The end of the sentence "Items with equal estimates ...".
    by : {'', 'grade', 'input', 'item', 'text'}
        What orders them: nothing, their worth to the metric, their rows, their ids, or their ids
        as text.
    descending : bool
        Whether the largest is first.
    """

    text: str
    by: Literal["", "grade", "input", "item", "text"] = ""
    descending: bool = False

    @property
    def is_by_item(self) -> bool:
        """Whether it needs the ids of the items."""
        return self.by in ("item", "text")

    @property
    def gives_each_item_a_place(self) -> bool:
        """Whether the order of tied items is known without looking at their grades."""
        return self.is_by_item or self.by == "input"


TIE_RULES: dict[str, TieRule] = {
    "expected": TieRule(": the exact mean over all their orders"),
    "input": TieRule(" keep the order of the input", "input"),
    "best": TieRule(" are in their best order", "grade", descending=True),
    "worst": TieRule(" are in their worst order", "grade"),
    "item_asc": TieRule(" are in ascending order of item id", "item"),
    "item_desc": TieRule(" are in descending order of item id", "item", descending=True),
    "text_asc": TieRule(" are in ascending order of item id as text", "text"),
    "text_desc": TieRule(" are in descending order of item id as text", "text", descending=True),
}
