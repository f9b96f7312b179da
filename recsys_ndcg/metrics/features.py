"""What metrics of a features table check: the column, its kind, and missing entries."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.background import Background
from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.lists import GroupedLists, format_rows
from recsys_ndcg.metrics.metric import Metric

_KINDS = {
    "number": "numbers",
    "category": "categories",
    "set": "sets",
    "vector": "vectors",
    "columns": "several columns",
}


def find_feature_objection(metric: Metric, known: Background, kinds: tuple[str, ...]) -> str:
    """Return why a metric cannot use its column of the features; "" if it can."""
    try:
        feature = known.get_feature(metric.column)
    except InvalidInputError as error:
        return f"{metric}: {error}"
    if feature.kind in kinds:
        return ""
    wanted = " or ".join(_KINDS[kind] for kind in kinds)
    name = f"the column {metric.column!r}" if metric.column else "all columns together"
    fits = [each for each, one in known.features.items() if one.kind in kinds]
    fix = f"Name such a column: '{metric.name}({fits[0]})@10'" if fits else "Add such a column"
    return f"{metric} needs {wanted}, but {name} of the features has {_KINDS[feature.kind]}. {fix}."


def find_missing_entries(metric: Metric, lists: GroupedLists, convention: Convention) -> str:
    """Return which recommended items have no entry in the features, if that is an error."""
    if convention.missing_feature != "raise":
        return ""
    known = lists.background
    assert known is not None, "checked before"  # noqa: S101
    is_missing = ~known.get_feature(metric.column).is_known[np.asarray(lists.item_codes)]
    if not is_missing.any():
        return ""
    return (
        f"{metric}: {int(is_missing.sum())} recommended items have no entry in the features, the "
        f"first {format_rows(lists, is_missing)}. Add them, or choose missing_feature='drop' or "
        "'zero'."
    )
