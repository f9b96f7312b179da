"""What a notebook shows of lists, conventions and signatures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from recsys_ndcg.convention import Convention, describe_choice, format_choice, is_shown
from recsys_ndcg.lists import GroupedLists
from recsys_ndcg.rendering import Document, Section, ShownTable, pluralise, shorten
from recsys_ndcg.scoring import OTHER_DEFAULTS, Signature

_N_USERS, _N_ITEMS = 3, 4  # that are shown of lists


def view_convention(convention: Convention) -> Document:
    """Return the document of a convention: its choices, those that are no defaults in bold."""
    texts, defaults = convention.texts, convention.format_defaults()
    n_changed = sum(text != defaults[name] for name, text in texts.items())
    made_from = ""
    if convention.source[0]:
        library, metric, _ = convention.source
        made_from = f"made from the preset {library} for {metric or 'each metric'}, "
    facts = f"Convention: {made_from}{pluralise(n_changed, 'choice')} changed from the defaults"
    shown = {name: text for name, text in texts.items() if is_shown(name, text)}
    rest = {name: text for name, text in texts.items() if name not in shown}
    title = "Choices of measures beyond accuracy, at their defaults"
    others = Section.folded(title, [_tabulate(rest, defaults)])
    table = _tabulate(shown, defaults)
    return Document(facts, [Section("choices", "Choices", "", [table, others])])


def view_signature(signature: Signature) -> Document:
    """Return the document of a signature: its short form, and all choices."""
    texts = {name: format_choice(one) for name, one in signature.fields.items() if name != "metric"}
    table = _tabulate(texts, Convention.format_defaults() | OTHER_DEFAULTS)
    parts = [Section.folded("All choices", [table])]
    return Document(signature.short, [Section("choices", "Choices", "", parts)])


def _tabulate(texts: Mapping[str, str], defaults: Mapping[str, str]) -> ShownTable:
    """Return a table of choices; one without a default is never in bold."""
    changed = [name for name, text in texts.items() if text != defaults.get(name, text)]
    cells = {
        "choice": [*texts],
        "value": [*map(shorten, texts.values())],
        "default, if changed": [defaults[name] if name in changed else "" for name in texts],
        "meaning": [describe_choice(name, text) for name, text in texts.items()],
    }
    bold = [place for place, name in enumerate(texts) if name in changed]
    return ShownTable("Choices", pd.DataFrame(cells), bold=bold)


def view_lists(lists: GroupedLists) -> Document:
    """Return the document of lists: their numbers, and the first lists."""
    parts = [ShownTable("The lists", pd.DataFrame([_count(lists)]), n_left_aligned=0)]
    if first := [*_show_first(lists)]:
        order = "best rank" if lists.order_only else "highest estimate"
        rows = "labelled items" if lists.pool.is_catalogue else "items"
        note = f"The first lists, at most {_N_ITEMS} {rows} each, the {order} first"
        parts.append(ShownTable("The first lists", pd.DataFrame(first), 2, note=note))
    return Document(repr(lists), [Section("lists", "Lists", "", parts)])


def _count(lists: GroupedLists) -> dict[str, str]:
    """Return the numbers of users, items and labels as text."""
    sizes, n_rows = lists.n_items, int(lists.n_items.sum())
    lengths = [sizes.min(), np.median(sizes), sizes.max()] if len(lists) else []
    n_unlabelled = int(lists.pool.count_unlabelled(lists).sum())
    return {
        "users": f"{len(lists):,}",
        "different items": "-" if lists.item_ids is None else f"{len(lists.item_ids):,}",
        "listed items": f"{n_rows:,}",
        "shortest, median and longest list": ", ".join(f"{one:g}" for one in lengths) or "-",
        "with a true value": f"{1 - n_unlabelled / n_rows:.1%}" if n_rows else "-",
        "labels in no list": f"{int(lists.n_unlisted.sum()):,}",
        "users without a list": f"{int(lists.missing.sum()):,}",
    }


def _show_first(lists: GroupedLists) -> Iterator[dict[str, str]]:
    """Yield the first items of the first lists as rows of text."""
    key, items = lists.pool.compute_sort_key(lists, Convention()), lists.items
    for user in np.flatnonzero(np.diff(lists.offsets))[:_N_USERS].tolist():
        first, last = lists.offsets[user], lists.offsets[user + 1]
        order = np.argsort(-key[first:last], kind="stable")[:_N_ITEMS]
        for row in (first + order).tolist():
            shown = {"user": shorten(lists.users[user])}
            if items is not None:
                shown["item"] = shorten(items[row])
            if "estimated" in lists.columns and not lists.order_only:
                shown["estimated"] = f"{lists.estimated[row]:.6g}"
            is_labelled = not np.isnan(lists.true[row])
            yield {**shown, "true": f"{lists.true[row]:.6g}" if is_labelled else "-"}
