"""Apply a convention to lists before they are ranked, and check that it can rank them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from recsys_ndcg.arrays import Flags
from recsys_ndcg.convention import Convention, format_choice
from recsys_ndcg.lists.catalogue import Catalogue
from recsys_ndcg.lists.facts import Facts
from recsys_ndcg.lists.grouped_lists import GroupedLists
from recsys_ndcg.lists.labels import remove_impossible


def prepare_lists(
    lists: GroupedLists, convention: Convention, *, unlabelled_as: float | None = None
) -> GroupedLists:
    """Apply the choices `impossible`, `unlabelled` and `unlisted` to lists.

    Parameters
    ----------
    lists : GroupedLists
        Lists without `Objections`.
    convention : Convention
        The choices.
    unlabelled_as : float, optional
        A grade for unlabelled items.
    """
    if unlabelled_as is not None:
        lists = lists.with_columns(true=np.where(np.isnan(lists.true), unlabelled_as, lists.true))
    if convention.impossible == "drop":
        lists = remove_impossible(lists)
    elif lists.impossible is not None and convention.impossible == "last":  # and tied
        estimated = np.where(lists.impossible, -np.inf, lists.estimated)
        lists = lists.with_columns(estimated=estimated, impossible=None)
    if convention.unlisted == "ignore" and len(lists.unlisted["true"]):
        offsets = np.zeros_like(lists.unlisted_offsets)
        empty = {name: column[:0] for name, column in lists.unlisted.items()}
        lists = replace(lists, unlisted_offsets=offsets, unlisted=empty)
    if convention.unlabelled == "filter" and lists.pool.count_unlabelled(lists).any():
        lists = lists.pool.select_labelled(lists)
    return lists


@dataclass(frozen=True)
class Objections:
    """The reasons why a convention cannot rank lists.

    Parameters
    ----------
    convention : Convention
        The choices.
    threshold : float, optional
        The threshold of relevance.
    facts : Facts
        The facts of the lists.
    lists : GroupedLists, optional
        The lists, if they are in memory, to name the first offending rows.
    """

    convention: Convention
    threshold: float | None
    facts: Facts
    lists: GroupedLists | None = None

    def find_order_objection(self) -> str:
        """Return why the lists cannot be ordered; "" if they can."""
        convention, facts = self.convention, self.facts.apply_convention(self.convention)
        if convention.unlabelled == "raise" and facts.unlabelled:
            return (
                f"{facts.unlabelled} items have no true value{self._name_first(_name_unlabelled)}. "
                "Label them, or choose unlabelled='zero' or 'filter'."
            )
        if convention.missing_user == "raise" and facts.missing:
            return (
                f"{facts.missing} labelled users have no list{self._name_first(_name_missing)}. "
                "Recommend for them, or choose missing_user='zero' or 'skip'."
            )
        if not facts.has_items and convention.tie_rule.is_by_item:
            return (
                f"ties={convention.ties!r} orders by item, but the data has no item ids. "
                "Give them, or choose another rule, such as ties='expected'."
            )
        if facts.merged and facts.duplicates != convention.duplicates:
            return (
                f"The lists were made with duplicates={facts.duplicates!r}, which merged "
                f"{facts.merged} rows, but the convention has {convention.duplicates!r}. "
                "Use the same rule for both."
            )
        step = convention.tie_tolerance
        limit = float(np.finfo(np.float32).max) if isinstance(step, str) else step * 1e300
        largest = max(-facts.estimated.lowest, facts.estimated.highest)
        if step and not facts.order_only and largest > limit:
            return f"tie_tolerance={step!r} is too small a step for estimates of this size."
        return self._find_placement_objection()

    def _name_first(self, format_users: Callable[[GroupedLists], str]) -> str:
        """Return the end of a message that names the first offenders, if there are lists."""
        if self.lists is None:
            return ""
        is_dropped = self.convention.impossible == "drop"
        kept = remove_impossible(self.lists) if is_dropped else self.lists
        return f", the first {format_users(kept)}"

    def _find_placement_objection(self) -> str:
        """Return which choice differs from the choices of a `Catalogue`; "" if none does."""
        placed = self.facts.placement
        if placed is None:
            return ""
        change = Catalogue.find_changed_choice(placed, (self.convention, self.threshold))
        if change is None:
            return ""
        name, old, new = change
        return (
            f"These lists were ranked with {name}={format_choice(old)}. To evaluate with "
            f"{name}={format_choice(new)}, rank the catalogue again with it."
        )

    def find_gain_objection(self, unlabelled_as: float | None = None) -> str:
        """Return why a grade in the lists, or for unlabelled items, has no usable gain; or ""."""
        convention, lists = self.convention, self.lists
        if convention.gain_needs_threshold and self.threshold is None:
            return (
                f"gain={convention.gain!r} needs to know which items are relevant: pass "
                f"threshold={self.facts.all_grades.suggest_threshold():g}, for instance."
            )
        grades = self.facts.find_grades(convention).values
        if unlabelled_as is not None:
            grades = np.append(grades, unlabelled_as)
        fault = convention.find_faulty_grades(grades, self.threshold)
        if not fault:
            return ""
        bad, problem, advice = fault
        rows = "" if lists is None else format_rows(lists, np.isin(lists.true, bad))
        listed = ", ".join(str(grade) for grade in bad[:3].tolist())
        return f"true: the grade {listed}{rows and f' ({rows})'} has {problem}; {advice}."


def format_rows(lists: GroupedLists, rows: Flags) -> str:
    """Return the users and items of the first three rows in a mask."""
    chosen = np.flatnonzero(rows)[:3]
    users = lists.users[np.searchsorted(lists.offsets, chosen, side="right") - 1].tolist()
    if lists.item_ids is None or lists.item_codes is None:
        return ", ".join(f"user {user!r}" for user in users)
    items = lists.item_ids[lists.item_codes[chosen]].tolist()
    pairs = zip(users, items, strict=True)
    return ", ".join(f"user {user!r} item {item!r}" for user, item in pairs)


def _name_unlabelled(lists: GroupedLists) -> str:
    users = lists.users[lists.pool.count_unlabelled(lists) > 0].tolist()
    return format_rows(lists, np.isnan(lists.true)) or f"user {users[0]!r}"


def _name_missing(lists: GroupedLists) -> str:
    return ", ".join(repr(user) for user in lists.users[lists.missing][:3].tolist())
