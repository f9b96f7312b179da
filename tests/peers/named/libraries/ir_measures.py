"""ir_measures: each measure of the page alone, so that it gets the provider it would get alone."""

from __future__ import annotations

from typing import Any

import ir_measures

from tests.peers.cases import Case, per_user
from tests.peers.named.tables import list_their_names

DISTRIBUTION = "ir_measures"


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {page: {name: {"per_user": {user: value}, "refused": {}}}}."""
    answers = {}
    for name in list_their_names("ir_measures"):
        measure = eval(name, vars(ir_measures))  # noqa: S307 - of our page
        found = ir_measures.iter_calc([measure], case.whole_grades(), case.run)
        values = {one.query_id: float(one.value) for one in found}
        answers[name] = per_user(dict(sorted(values.items())))
    return {"ir_measures": answers}
