"""RecTools: each metric of the page, of ranks and of the relevant items, as it has no others."""

from __future__ import annotations

from typing import Any

from rectools import metrics

from tests.peers.cases import Case, per_user
from tests.peers.libraries.rectools import build_tables
from tests.peers.named.tables import list_their_names

DISTRIBUTION = "rectools"


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {page: {name: {"per_user": {user: value}, "refused": {}}}}."""
    answers = {}
    for name in list_their_names("rectools"):
        metric = eval(name, vars(metrics))  # noqa: S307 - of our page
        answers[name] = per_user(metric.calc_per_user(*build_tables(case)))
    return {"rectools": answers}
