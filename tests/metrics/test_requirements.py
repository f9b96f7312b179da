"""What a metric needs, as data: a wrong requirement is an error, not ignored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import recsys_ndcg as rn
from recsys_ndcg.metrics import Metric, Requirement
from tests.errors import assert_rejected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("no tie",), "kind must be one of .*'no tie'. Did you mean 'no ties'"),
        (("source", "trian"), "of must be one of .*'trian'. Did you mean 'train'"),
        (("no ties",), "Requirement.'no ties'. needs why="),
        (("no chance", "few"), "Requirement.'no chance'. needs why="),
        (("never",), "Requirement.'never'. needs why="),
    ],
)
def test_a_wrong_requirement_is_refused(arguments: Any, message: str) -> None:
    """Where it is made, and so when the metric is measured."""
    assert_rejected(message, Requirement, *arguments)

    class Own(Metric):
        name = "own_metric_with_a_wrong_requirement"

        def list_requirements(self, convention: rn.Convention) -> list[Requirement]:  # noqa: ARG002
            return [Requirement(*arguments)]

        def denominator(self, ranking: Any) -> Any:
            return np.ones(len(ranking.n_items))

    assert_rejected(message, rn.evaluate, {"ann": [(1.0, 1)]}, metrics=Own(1))
