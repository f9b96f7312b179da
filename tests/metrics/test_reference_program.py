"""The printed output of trec_eval, for its own test files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import recsys_ndcg as rn

FOLDER = os.environ.get("RECSYS_NDCG_DATA")
needs_data = pytest.mark.skipif(FOLDER is None, reason="RECSYS_NDCG_DATA is not set")
CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
CUT = {"P": "precision", "recall": "recall", "ndcg_cut": "ndcg", "map_cut": "ap"}
NAMES = {"ndcg": "ndcg", "map": "ap", "recip_rank": "rr", "Rprec": "rprecision"}
NAMES |= {f"{theirs}_{k}": f"{ours}@{k}" for theirs, ours in CUT.items() for k in CUTOFFS}
NAMES |= {f"success_{k}": f"hit@{k}" for k in (1, 5, 10)}


@needs_data
@pytest.mark.parametrize(
    ("qrels", "printed", "level"),
    [("qrels.test", "out.test.aq", 1), ("qrels.rel_level", "out.test.aql", 2)],
)
@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_every_printed_number_is_ours(qrels: str, printed: str, level: int) -> None:
    """Per topic and averaged, to the four decimals that it prints."""
    folder = Path(str(FOLDER)) / "trec_eval"
    lists = rn.RankedLists.from_trec(folder / qrels, folder / "results.test")
    how: dict[str, Any] = {"threshold": level, "convention": rn.Convention.preset("trec_eval")}
    report = rn.evaluate(lists, metrics=list(NAMES.values()), k=None, **how)
    compared = 0
    for line in (folder / printed).read_text().splitlines():
        name, topic, value = line.split()
        if name not in NAMES:
            continue
        ours = NAMES[name]
        scores = {**report.per_user[ours].to_dict(), "all": float(report.mean[ours])}
        assert f"{scores[topic]:.4f}" == value, f"{name} of topic {topic}"
        compared += 1
    assert compared == len(NAMES) * (len(report.per_user) + 1)
