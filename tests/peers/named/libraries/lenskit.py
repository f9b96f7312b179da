"""LensKit: each metric of the page alone in a RunAnalysis; the test items are the relevant ones."""

from __future__ import annotations

from typing import Any

from lenskit import metrics
from lenskit.metrics import RunAnalysis, ranking

from tests.peers.cases import Case, per_user
from tests.peers.libraries.lenskit import build_collections
from tests.peers.named.tables import list_their_names

DISTRIBUTION = "lenskit"


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {page: {name: {"per_user": {user: value}, ...} or {"refused": message}}}."""
    answers: dict[str, Any] = {}
    for name in list_their_names("lenskit"):
        analysis = RunAnalysis()
        metric = eval(name, {**vars(metrics), **vars(ranking)})  # noqa: S307 - of our page
        analysis.add_metric(metric, label=name)
        try:
            values = analysis.measure(*build_collections(case)).list_metrics()[name]
        except ZeroDivisionError as error:
            answers[name] = {"refused": str(error)}
            continue
        answers[name] = per_user(values)
    return {"lenskit": answers}
