"""What a convention does to lists before they are ranked, and why it may not rank them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from recsys_ndcg.arrays import Flags
from recsys_ndcg.convention import Convention, format_choice
from recsys_ndcg.lists.facts import Facts
from recsys_ndcg.lists.grouped_lists import GroupedLists
from recsys_ndcg.lists.placed_lists import PlacedLists


def prepare_lists(
    lists: GroupedLists, convention: Convention, *, unlabelled_as: float | None = None
) -> GroupedLists:
    """Apply `impossible`, `unlabelled` and `unlisted`.

    Parameters
    ----------
    lists : GroupedLists
        Any that `recsys_ndcg.lists.preparation` has nothing against.
    convention : Convention
        How.
    unlabelled_as : float, optional
        The grade that unlabelled items are given.
    """
    if unlabelled_as is not None:
        true = np.where(np.isnan(lists.true), unlabelled_as, lists.true)
        lists = lists.with_columns(true=true)
    if lists.impossible is not None and convention.impossible == "drop":
        lists = lists.without_impossible()
    elif lists.impossible is not None and convention.impossible == "last":  # and tied
        lowest = np.where(lists.impossible, -np.inf, lists.estimated)
        lists = lists.with_columns(estimated=lowest).without_columns("impossible")
    if convention.unlisted == "ignore" and len(lists.unlisted_true):
        nothing = np.zeros_like(lists.unlisted_offsets)
        none = {name: column[:0] for name, column in lists.unlisted.items()}
        lists = replace(lists, unlisted_offsets=nothing, unlisted=none)
    if convention.unlabelled == "filter" and lists.n_unlabelled:
        lists = lists.select_labelled()
    return lists


@dataclass(frozen=True)
class Objections:
    """Why lists cannot be ranked under a convention, in sentences; "" where they can.

    Parameters
    ----------
    convention : Convention
        How.
    threshold : float, optional
        From which grade an item is relevant.
    facts : Facts
        What is known of the lists.
    lists : GroupedLists, optional
        Where the first offending rows are looked up, if they are at hand.
    """

    convention: Convention
    threshold: float | None
    facts: Facts
    lists: GroupedLists | None = None

    def find_order_objection(self) -> str:
        """Return why the lists have no order, or rows that must not be there."""
        convention, facts = self.convention, self.facts.apply_convention(self.convention)
        if convention.unlabelled == "raise" and facts.unlabelled:
            return (
                f"{facts.unlabelled} items have no true value{self._first(_unlabelled)}. "
                "Label them, or choose unlabelled='zero' or 'filter'."
            )
        if convention.missing_user == "raise" and facts.missing:
            return (
                f"{facts.missing} labelled users have no list{self._first(_missing)}. "
                "Recommend for them, or choose missing_user='zero' or 'skip'."
            )
        if not facts.has_items and convention.ties.startswith(("item", "text")):
            return (
                f"ties={convention.ties!r} orders by item, but the data has no item ids. "
                "Give them, or choose another rule, such as ties='expected'."
            )
        if facts.merged and facts.duplicates != convention.duplicates:
            return (
                f"The lists were made with duplicates={facts.duplicates!r}, which merged "
                f"{facts.merged} rows, but the convention says {convention.duplicates!r}. "
                "Give both the same rule."
            )
        step = convention.tie_tolerance
        most = float(np.finfo(np.float32).max) if isinstance(step, str) else step * 1e300
        largest = max(-facts.estimated.lowest, facts.estimated.highest)
        if step and not facts.order_only and largest > most:
            return f"tie_tolerance={step!r} is too small a step for estimates of this size."
        return self._to_places()

    def _first(self, named_by: Callable[[GroupedLists], str]) -> str:
        """Return the first offenders as a message goes on, if the lists are at hand."""
        if self.lists is None:
            return ""
        dropped = self.convention.impossible == "drop"
        return f", the first {named_by(self.lists.without_impossible() if dropped else self.lists)}"

    def _to_places(self) -> str:
        """Say which choices are others than those that places were found by."""
        placed, wanted_by = self.facts.placement_choices, (self.convention, self.threshold)
        if placed is None:
            return ""
        other = PlacedLists.find_changed_choice(placed, wanted_by)
        if other is None:
            return ""
        name, was, wanted = other
        return (
            f"These lists hold the places of their items under {name}={format_choice(was)}, not "
            f"{name}={format_choice(wanted)}. Rank the catalogue again under that choice."
        )

    def find_gain_objection(self, unlabelled_as: float | None = None) -> str:
        """Return why a grade of the lists, or this one of unlabelled items, has no usable gain."""
        convention, lists = self.convention, self.lists
        if convention.gain_needs_threshold and self.threshold is None:
            return (
                f"gain={convention.gain!r} needs to know which items are relevant: evaluate with "
                "threshold=4.0 (--threshold 4), for instance."
            )
        grades = self.facts.find_grades(convention).values
        if unlabelled_as is not None:
            grades = np.append(grades, unlabelled_as)
        fault = convention.find_faulty_grades(grades, self.threshold)
        if not fault:
            return ""
        bad, what, advice = fault
        rows = None if lists is None else np.isin(lists.true, bad)
        where = "" if lists is None or rows is None or not rows.any() else format_rows(lists, rows)
        shown = ", ".join(str(grade) for grade in bad[:3].tolist())
        return f"true: the grade {shown}{where and f' ({where})'} has {what}; {advice}."


def format_rows(lists: GroupedLists, rows: Flags) -> str:
    """Name the first rows where `rows` holds, by user and item."""
    chosen = np.flatnonzero(rows)[:3]
    users = lists.users[np.searchsorted(lists.offsets, chosen, side="right") - 1].tolist()
    if lists.item_ids is None or lists.item_codes is None:
        return ", ".join(f"user {user!r}" for user in users)
    items = lists.item_ids[lists.item_codes[chosen]].tolist()
    pairs = zip(users, items, strict=True)
    return ", ".join(f"user {user!r} item {item!r}" for user, item in pairs)


def _unlabelled(lists: GroupedLists) -> str:
    some = lists.users[lists.unlabelled_by_user > 0].tolist()
    return format_rows(lists, np.isnan(lists.true)) or f"user {some[0]!r}"


def _missing(lists: GroupedLists) -> str:
    return ", ".join(repr(user) for user in lists.users[lists.missing][:3].tolist())
