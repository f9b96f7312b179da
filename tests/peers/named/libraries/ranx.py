"""ranx: each metric of the page, with `make_comparable` as users on both sides differ."""

from __future__ import annotations

from typing import Any

from ranx import Qrels, Run, evaluate

from tests.peers.cases import Case, per_user
from tests.peers.named.tables import list_their_names

DISTRIBUTION = "ranx"


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {page: {name: {"per_user": {user: value}, "refused": {}}}}."""
    run, names = Run.from_dict(case.run), list_their_names("ranx")
    evaluate(Qrels.from_dict(case.labels), run, names, make_comparable=True)
    return {"ranx": {name: per_user(run.scores[name]) for name in names}}
