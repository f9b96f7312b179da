"""Which of the metrics that were measured somebody asks for."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError
from recsys_ndcg.metrics import Metric, parse

if TYPE_CHECKING:
    from collections.abc import Sequence


def metric_among(metric: str | Metric, names: Sequence[str], whose: str) -> str:
    """Return the name under which a metric was measured, as it stands or as it is typed.

    Raises
    ------
    InvalidInputError
        It was not.

    Examples
    --------
    >>> metric_among("NDCG@10", ["rr", "ndcg@10"], "This report")
    'ndcg@10'
    """
    name = str(metric)
    if name not in names:
        with suppress(RecsysNdcgError):
            name = str(parse(name)[0])
    if name in names:
        return name
    asked = name if isinstance(metric, Metric) else repr(metric)
    msg = f"{whose} has no metric {asked}; it has {', '.join(names)}."
    raise InvalidInputError(msg)
