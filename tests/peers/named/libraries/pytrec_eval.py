"""pytrec_eval: each measure of the page, with the options of its evaluator."""

from __future__ import annotations

from typing import Any

import pytrec_eval

from tests.peers.cases import Case, per_user
from tests.peers.named.tables import list_their_names

DISTRIBUTION = "pytrec_eval-terrier"


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {page: {name: {"per_user": {user: value}, "refused": {}}}}."""
    answers = {}
    for name in list_their_names("pytrec_eval"):
        measure, _, options = name.partition(" with ")
        how = eval(f"dict({options})")  # noqa: S307 - of our page
        evaluator = pytrec_eval.RelevanceEvaluator(case.whole_grades(), {measure}, **how)
        results = sorted(evaluator.evaluate(case.run).items())
        key = measure.replace(".", "_")
        answers[name] = per_user({user: values[key] for user, values in results})
    return {"pytrec_eval": answers}
