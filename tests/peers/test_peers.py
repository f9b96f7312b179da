"""scikit-learn and pytrec_eval as they are installed, on the same drawn data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import recsys_ndcg as rn
from tests.scale.cases import predictions

if TYPE_CHECKING:
    import pandas as pd

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")


def _ratings(seed: int, *, steps: int | None = None) -> pd.DataFrame:
    """Draw ratings of 60 users from 0 to 4; `steps` makes ties."""
    rows = predictions(seed, counts=[2 + 7 * user % 39 for user in range(60)])
    estimated = rows["estimated"] if steps is None else (rows["estimated"] * steps).round() / steps
    return rows.assign(estimated=estimated, true=rows["true"] - 1)


def _nested(frame: pd.DataFrame, column: str) -> dict[str, dict[str, Any]]:
    """Return {user: {item: number}}."""
    return {
        str(user): dict(zip(rows["item"], rows[column].tolist(), strict=True))
        for user, rows in frame.groupby("user")
    }


@pytest.mark.parametrize("steps", [None, 1])
def test_ndcg_and_dcg_equal_scikit_learn_per_user(steps: int | None) -> None:
    """Ties are averaged alike, and exponential gains are passed in."""
    metrics = pytest.importorskip("sklearn.metrics")
    frame, ks = _ratings(1, steps=steps), [1, 10, 50]
    report = rn.evaluate(frame, metrics=["ndcg", "dcg"], k=ks)
    for user, rows in frame.groupby("user"):
        gains, estimates = [2 ** rows["true"].to_numpy() - 1], [rows["estimated"].to_numpy()]
        for k in ks:
            dcg, ndcg = (
                score(gains, estimates, k=k) for score in (metrics.dcg_score, metrics.ndcg_score)
            )
            expected = [ndcg if max(gains[0]) else np.nan, dcg]
            ours = report.per_user.loc[[user], [f"ndcg@{k}", f"dcg@{k}"]].to_numpy()[0]
            assert ours == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)


PYTREC_EVAL = {
    "ndcg": "ndcg", "ndcg@5": "ndcg_cut_5", "ndcg@10": "ndcg_cut_10",
    "precision@5": "P_5", "precision@10": "P_10", "recall@10": "recall_10",
    "ap": "map", "ap@10": "map_cut_10", "rr": "recip_rank",
    "rprecision": "Rprec", "hit@5": "success_5", "hit@10": "success_10",
}  # fmt: skip


@pytest.mark.parametrize("steps", [4, 1])
def test_metrics_equal_pytrec_eval_per_user(steps: int) -> None:
    """On integer grades; its ties go by item id as text, descending, and scores are float32."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    frame = _ratings(2, steps=steps).astype({"item": str, "true": int})
    # some labelled items are not in the list, and some in the list have no label
    qrels = _nested(frame[frame["item"].str[-1] != "3"], "true")
    run = _nested(frame[frame["item"].str[-1] != "7"], "estimated")
    theirs = pytrec_eval.RelevanceEvaluator(qrels, set(PYTREC_EVAL.values()), relevance_level=3)
    results = theirs.evaluate(run)
    preset = rn.Convention.preset("pytrec_eval")
    how: dict[str, Any] = {"metrics": [*PYTREC_EVAL], "k": None, "threshold": 3}
    for lists in (
        rn.RankedLists.from_trec(qrels, run),
        rn.RankedLists.from_trec(*map(_of_numbers, (qrels, run))),
    ):
        scores = rn.evaluate(lists, convention=preset, **how).per_user.set_axis(lists.users)
        assert len(results) > 55
        for user, expected in results.items():
            key = user if user in lists.users else int(user)
            ours = scores.loc[[key], [*PYTREC_EVAL]].to_numpy()[0]
            assert ours == pytest.approx([expected[name] for name in PYTREC_EVAL.values()])


def _of_numbers(nested: dict[str, dict[str, Any]]) -> dict[int, dict[int, Any]]:
    """Return the same with numbers as ids, which must tie as their texts do."""
    return {
        int(user): {int(item): one for item, one in own.items()} for user, own in nested.items()
    }
