"""The sections of a comparison that are charts."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from recsys_ndcg.comparison.plotting import plotted, traded_off
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.rendering.page.charts import for_a_page
from recsys_ndcg.rendering.page.names import told
from recsys_ndcg.rendering.page.parts import Section
from recsys_ndcg.report.page.parts import by_cutoff

if TYPE_CHECKING:
    from recsys_ndcg.comparison.models import Field
    from recsys_ndcg.rendering.page.parts import Part

_DIFFERENCES = (
    "Each user's score under one model less that under the other. What a mean hides is seen here: "
    "a few who gain much, or many who gain a little."
)
_BY_ACTIVITY = "The mean scores of users with few ratings, and of those with many, by model."
_TRADE_OFF = "Each model by two metrics: who is ahead in one may be behind in the other."


def drawn(
    field: Field, kind: str, before: str, after: str, metric: str | None = None
) -> list[Part]:
    """Return a plot for a page, of the first metric unless one is named; nothing of nothing."""
    with suppress(InvalidInputError):
        return [for_a_page(plotted(field, kind, metric or field.metrics[0], before, after))]
    return []


def differences(field: Field, before: str, after: str) -> list[Section]:
    """Return the section of the users' differences between two models."""
    found = drawn(field, "differences", before, after)
    found += drawn(field, "scatter", before, after)
    title = f"{told(after)} against {told(before)}, user by user"
    return [Section("differences", title, _DIFFERENCES, found)] if found else []


def by_best(field: Field, best: str) -> list[Section]:
    """Return the section of the best model's scores by cutoff, if its report is at hand."""
    report = field.contenders[best].report
    return [] if report is None else [*by_cutoff(report, f"This is {told(best)}.")]


def by_activity(field: Field, before: str, after: str) -> list[Section]:
    """Return the section of users with few and with many ratings."""
    found = drawn(field, "activity", before, after)
    return [Section("activity", "Few and many ratings", _BY_ACTIVITY, found)] if found else []


def trade_off(field: Field) -> list[Section]:
    """Return the section of two metrics against each other, where there are so many."""
    first, *others = field.metrics
    if not others or len(field.models) < 3:
        return []
    # another family says more than another cutoff
    other = next((one for one in others if _family(one) != _family(first)), others[0])
    with suppress(InvalidInputError):
        chart = for_a_page(traded_off(field, first, other, None))
        return [Section("trade-off", "Trade-off", _TRADE_OFF, [chart])]
    return []


def _family(metric: str) -> str:
    return metric.partition("@")[0]
