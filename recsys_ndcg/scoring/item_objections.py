"""Why measures of recommended items cannot be computed: unknown facts, seen and cold items."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.background import SOURCES
from recsys_ndcg.convention import Convention
from recsys_ndcg.lists import Facts, GroupedLists, format_rows
from recsys_ndcg.metrics import Metric


def find_facts_objection(metric: Metric, convention: Convention, facts: Facts) -> str:
    """Return what a metric needs to know and is not known; "" if nothing."""
    if facts.protocol == "rated":
        return (
            f"{metric} measures what was recommended, but these lists are the users' own test "
            "ratings (protocol 'rated'). Give recommendations: {'labels': test, 'results': "
            "lists} (None without labels), or rank the catalogue: evaluate_catalogue(), or in "
            f"cross-validation and searches '{metric}:catalogue'."
        )
    if not facts.has_items:
        return f"{metric} needs to know which items were recommended. Give the items' ids."
    if facts.is_catalogue and metric.k is None:
        return f"{metric} of a ranked catalogue needs a cutoff. Write '{metric}@10'."
    known = facts.background
    needs = metric.find_needs(convention) - {"items"}
    if "seen" in metric.reads and convention.seen == "raise":
        needs |= {"train"}
    missing = needs if known is None else needs - known.known
    if missing:
        needed = "; ".join(SOURCES[name] for name in SOURCES if name in missing)
        return f"{metric} needs {needed}."
    return "" if known is None else metric.background_objection(known, convention)


def find_rows_objection(metric: Metric, convention: Convention, lists: GroupedLists) -> str:
    """Return which listed items a convention does not allow, with the first; "" if none."""
    known = lists.background
    if known is None:
        return ""
    # the rows of a ranked catalogue are labels, too
    is_ranked = lists.placement_choices is not None
    if "seen" in metric.reads and convention.seen == "raise" and not is_ranked:
        seen = lists.is_seen
        if seen.any():
            return (
                f"{metric}: {int(seen.sum())} listed items were in the user's training rows, the "
                f"first {format_rows(lists, seen)}. Leave them out of the lists, or choose "
                "seen='count'."
            )
    if "cold_item" in metric.reads and convention.cold_item == "raise":
        is_cold = ~known.in_train[np.asarray(lists.item_codes)]
        if is_cold.any():
            return (
                f"{metric}: {int(is_cold.sum())} listed items have no training rows, the first "
                f"{format_rows(lists, is_cold)}. Leave them out, or choose another cold_item, "
                "such as 'zero'."
            )
    return metric.list_objection(lists, convention)
