"""The remarks on a comparison, drawn and checked against its tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

import recsys_ndcg as rn
from recsys_ndcg.findings.templates import read_templates
from tests.comparison.scenarios import draw_result
from tests.findings.claims import check_claims
from tests.findings.remark_claims import check_complete
from tests.registered import restore_metrics

pytestmark = pytest.mark.filterwarnings("ignore")


def _draw(seeds: Iterable[int]) -> Counter[str]:
    kinds: Counter[str] = Counter()
    for seed in seeds:
        with restore_metrics():
            compared = draw_result(seed)
            if isinstance(compared, rn.Comparison):
                kinds.update(check_claims(compared._remarks, compared))
                check_complete(compared, compared._remarks)
    return kinds


def test_remarks_are_true() -> None:
    """Their numbers and names are in the tables."""
    assert len(_draw([2, 9, 23, 32, 34, 42, 44, 53, 54, 62, 65, 67, 73, 80, 82, 85])) > 20


@pytest.mark.slow
def test_every_remark_is_drawn_and_true() -> None:
    """In a thousand scenarios."""
    kinds = _draw(range(1000))
    templates = read_templates().items()
    assert {kind for kind, template in templates if template.group == "remark"} == {*kinds}, kinds
