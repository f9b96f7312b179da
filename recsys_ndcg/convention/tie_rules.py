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
        What happens to them, for a sentence about "items with equal estimates".
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
        """Whether it does so whatever the grades are."""
        return self.is_by_item or self.by == "input"


TIE_RULES: dict[str, TieRule] = {
    "expected": TieRule("the exact mean over all their orders"),
    "input": TieRule("in the order of the input", "input"),
    "best": TieRule("in their best order", "grade", descending=True),
    "worst": TieRule("in their worst order", "grade"),
    "item_asc": TieRule("in ascending order of item id", "item"),
    "item_desc": TieRule("in descending order of item id", "item", descending=True),
    "text_asc": TieRule("in ascending order of item id as text", "text"),
    "text_desc": TieRule("in descending order of item id as text", "text", descending=True),
}
