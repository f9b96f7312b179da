"""Every finding of reports and segments, drawn and checked against their tables."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from typing import Any

import pytest

from recsys_ndcg.report.remarks import find_misleading_scores
from tests.findings import segment_claims  # noqa: F401 - registers them
from tests.findings.claims import check_claims, read_kinds
from tests.findings.drawn_reports import draw_report, draw_segments
from tests.findings.report_claims import list_kinds_due

GROUPS = {"report_verdict", "report_remark", "segment"}


def _check_report(seed: int) -> list[str]:
    """Check the findings of a drawn report, and return their kinds."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        report = draw_report(seed)
    kinds = check_claims([*report._data.verdict, *report._data.remarks], report)
    table = report.to_dict()["findings"]
    assert json.loads(json.dumps(table, allow_nan=False)) == table
    assert [finding["kind"] for finding in table] == kinds
    assert list_kinds_due(report) <= {*kinds}
    audit: Any = report._data.audit
    warned = [*find_misleading_scores(audit, audit.source.facts)]
    assert {finding.sentence for finding in warned} <= {str(each.message) for each in caught}
    return kinds + check_claims(warned, report)


def _check_segments(seed: int) -> list[str]:
    """Check the findings of drawn segments, and return their kinds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        segments = draw_segments(seed)
    return check_claims(segments._findings, segments)


def test_findings_are_true() -> None:
    """Of reports and segments that are drawn fast."""
    drawn = [*map(_check_report, range(15)), *map(_check_segments, range(3))]
    assert len({kind for kinds in drawn for kind in kinds}) > 20


@pytest.mark.slow
def test_every_finding_is_drawn_and_true() -> None:
    """In several hundred reports and segments."""
    drawn = [*map(_check_report, range(300)), *map(_check_segments, range(30))]
    counts = Counter(kind for kinds in drawn for kind in kinds)
    due = {kind for group in GROUPS for kind in read_kinds()[group]}
    assert due <= {*counts}, due - {*counts}
