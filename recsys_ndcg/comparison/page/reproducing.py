"""What has to be typed for the same comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recsys_ndcg.report.page.reproducing import options
from recsys_ndcg.report.segments.built_in import BUILT_IN
from recsys_ndcg.significance.testing import Testing

if TYPE_CHECKING:
    from recsys_ndcg.comparison.models import Field

_MOST = 6  # models that are named


def comparing(field: Field) -> str:
    """Return the lines of Python that compare the same models of the same data."""
    if field.made_by is not None:
        return field.made_by
    names = [name for name in field.models if name != "chance"]
    folds = len(field.first.runs) > 1
    what = "folds" if folds else "predictions"
    given = [f"{name!r}: {what}_{place}" for place, name in enumerate(names[:_MOST], 1)]
    more = ["..."] if len(names) > _MOST else []
    tested, usual = vars(field.how), vars(Testing())
    how = [f"{name}={value!r}" for name, value in tested.items() if value != usual.get(name)]
    more_how = [*([f"baseline={field.baseline!r}"] if field.baseline != names[0] else []), *how]
    if field.margin is not None:
        more_how.append(f"margin={field.margin!r}")
    if field.groups is not None:
        more_how.append(_by(field.groups.name))
    models = "{" + ", ".join([*given, *more]) + "}"
    # folds were measured before they were compared
    measured = [f"metrics={field.metrics!r}"] if folds else options(field.first.signatures)
    calls = [f"comparison = rn.compare({', '.join([models, one, *more_how])})" for one in measured]
    return "\n".join(["import recsys_ndcg as rn", "", *calls])


def _by(name: object) -> str:
    """Return how segments were asked for: built-in ones have a name, others a table."""
    return f"by={name!r}" if name in BUILT_IN else "by=groups"
