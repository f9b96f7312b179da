"""What has to be typed for the same experiment."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from recsys_ndcg.experiments.fingerprints import readable
from recsys_ndcg.experiments.models import is_algorithm, unwrapped
from recsys_ndcg.report.page import how_typed
from recsys_ndcg.surprise.model_selection.splits import UserKFold

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recsys_ndcg.comparison.comparison import Comparison
    from recsys_ndcg.experiments.running import Schedule


def typed_for(schedule: Schedule, found: Comparison) -> str:
    """Return the lines of Python that train and compare the same models."""
    models = [f"    {name!r}: {_model(one.given)}," for name, one in schedule.models.items()]
    how = how_typed(found.signatures[found.metrics[0]])
    lines = [
        "import recsys_ndcg as rn",
        "",
        "models = {",
        *models,
        "}",
        "comparison = rn.experiment(",
        "    ratings,",
        "    models,",
        f"    metrics={found.metrics!r}{how},",
        f"    splits={_splits(schedule.splitter)},",
        f"    seeds={[*schedule.seeds]!r},",
        ")",
    ]
    return "\n".join(lines)


def _model(given: Any) -> str:
    if is_algorithm(given):
        return _made(given)
    return str(getattr(unwrapped(given), "__name__", type(given).__name__))


def _splits(splitter: Any) -> str:
    usual = type(splitter) is UserKFold and splitter.random_state is None
    return repr(splitter.n_splits) if usual else _made(splitter)


def _made(given: Any) -> str:
    """Return a call of a class with what differs from its defaults, as far as it is plain."""
    kind = type(given)
    try:
        known: Mapping[str, inspect.Parameter] = inspect.signature(kind).parameters
    except (TypeError, ValueError):
        return f"{kind.__name__}(...)"
    held = {**vars(given)}
    own = {name: held[name] for name in [*known, "sim_options", "bsl_options"] if name in held}
    told = [
        f"{name}={readable(value)!r}"
        for name, value in own.items()
        if not _is_default(known.get(name), value) and value not in ({}, {"user_based": True})
    ]
    return f"{kind.__name__}({', '.join(told)})"


def _is_default(parameter: inspect.Parameter | None, value: Any) -> bool:
    if parameter is None or parameter.default is parameter.empty:
        return False
    return type(parameter.default) is type(value) and bool(parameter.default == value)
