"""RePlay: each metric of the page, of data frames, by user."""

from __future__ import annotations

from typing import Any

from replay import metrics

from tests.peers.cases import Case, per_user
from tests.peers.libraries.replay import build_tables
from tests.peers.named.tables import list_their_names

DISTRIBUTION = "replay-rec"


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {page: {name: {"per_user": {user: value}, "refused": {}}}}."""
    answers = {}
    for name in list_their_names("replay"):
        metric = eval(name[:-1] + ", mode=PerUser())", vars(metrics))  # noqa: S307 - of our page
        (values,) = metric(*build_tables(case)).values()
        answers[name] = per_user(values)
    return {"replay": answers}
