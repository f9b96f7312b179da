"""The real libraries, on the same drawn data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")


def _ratings(seed: int, *, steps: int | None = None) -> pd.DataFrame:
    """Draw ratings of 200 users with lists of 2 to 40 items; `steps` makes ties."""
    draw = np.random.default_rng(seed)
    lengths = draw.integers(2, 41, 200)
    n_rows = int(lengths.sum())
    true = draw.integers(0, 5, n_rows).astype(float)
    estimated = true + draw.normal(0, 1.5, n_rows)
    if steps is not None:
        estimated = np.round(estimated * steps) / steps
    user = np.repeat(np.arange(200), lengths)
    item = np.concatenate([draw.permutation(500)[:length] for length in lengths])
    frame = pd.DataFrame({"user": user, "item": item, "estimated": estimated, "true": true})
    return frame.sample(frac=1, random_state=seed)


@pytest.mark.parametrize("steps", [None, 4, 1])
@pytest.mark.parametrize("k", [1, 5, 10, 50])
def test_ndcg_and_dcg_equal_scikit_learn_per_user(steps: int | None, k: int) -> None:
    """Ties are averaged alike, and exponential gains are passed in."""
    metrics = pytest.importorskip("sklearn.metrics")
    frame = _ratings(1, steps=steps)
    report = rn.evaluate(frame, metrics=["ndcg", "dcg"], k=k)
    for user, rows in frame.groupby("user"):
        gains = [2 ** rows["true"].to_numpy() - 1]
        estimates = [rows["estimated"].to_numpy()]
        ours = report.per_user.loc[user]
        assert ours[f"dcg@{k}"] == pytest.approx(
            metrics.dcg_score(gains, estimates, k=k), rel=1e-12
        )
        if max(gains[0]) == 0:
            assert np.isnan(ours[f"ndcg@{k}"])
            continue
        theirs = metrics.ndcg_score(gains, estimates, k=k)
        assert ours[f"ndcg@{k}"] == pytest.approx(theirs, rel=1e-12, abs=1e-12)


PYTREC_EVAL = {
    "ndcg": "ndcg",
    "ndcg@5": "ndcg_cut_5",
    "ndcg@10": "ndcg_cut_10",
    "precision@5": "P_5",
    "precision@10": "P_10",
    "recall@10": "recall_10",
    "ap": "map",
    "ap@10": "map_cut_10",
    "rr": "recip_rank",
    "rprecision": "Rprec",
    "hit@5": "success_5",
    "hit@10": "success_10",
}


@pytest.mark.parametrize("steps", [4, 1])
def test_metrics_equal_pytrec_eval_per_user(steps: int) -> None:
    """On integer grades; its ties go by item id, descending, and it holds float32 scores."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    frame = _ratings(2, steps=steps).astype({"user": str, "item": str})
    listed = frame[frame["item"].str[-1] != "7"]  # some labelled items are not in the list
    labelled = frame[frame["item"].str[-1] != "3"]  # and some in the list have no label
    qrels = {
        user: dict(zip(rows["item"], rows["true"].astype(int), strict=True))
        for user, rows in labelled.groupby("user")
    }
    run = {
        user: dict(zip(rows["item"], rows["estimated"], strict=True))
        for user, rows in listed.groupby("user")
    }
    theirs = pytrec_eval.RelevanceEvaluator(qrels, set(PYTREC_EVAL.values()), relevance_level=3)
    results = theirs.evaluate(run)
    report = rn.evaluate(
        rn.RankedLists.from_trec(qrels, run),
        metrics=list(PYTREC_EVAL),
        k=None,
        threshold=3,
        convention=rn.Convention.preset("pytrec_eval"),
    )
    assert len(results) > 190
    for user, scores in results.items():
        for ours, name in PYTREC_EVAL.items():
            value = report.per_user.loc[user, ours]
            assert value == pytest.approx(scores[name], abs=1e-12), (user, ours)


@pytest.mark.parametrize("steps", [None, 4, 1])
def test_ndcg_equals_catboost(steps: int | None) -> None:
    """The mean over groups, exponential gains, ties in their worst order."""
    catboost = pytest.importorskip("catboost.utils")
    frame = _ratings(3, steps=steps).sort_values("user", kind="stable")
    convention = rn.Convention.preset("catboost_exp")
    for k in (1, 5, 10):
        theirs = catboost.eval_metric(
            frame["true"].to_numpy(),
            frame["estimated"].to_numpy(),
            f"NDCG:top={k};type=Exp",
            group_id=frame["user"].to_numpy(),
        )
        ours = rn.evaluate(frame, metrics=["ndcg"], k=k, convention=convention).mean[f"ndcg@{k}"]
        assert ours == pytest.approx(theirs[0], rel=1e-9)


def test_whole_numbers_as_items_tie_like_pytrec_eval() -> None:
    """It knows text alone, in which 10 comes before 9."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    frame = _ratings(4, steps=1)
    text = frame.astype({"user": str, "item": str})
    qrels, run = (
        {
            user: dict(zip(rows["item"], rows[column], strict=True))
            for user, rows in text.groupby("user")
        }
        for column in ("true", "estimated")
    )
    whole = {user: {item: int(true) for item, true in own.items()} for user, own in qrels.items()}
    results = pytrec_eval.RelevanceEvaluator(whole, {"ndcg_cut_5"}).evaluate(run)
    preset = rn.Convention.preset("pytrec_eval")
    report = rn.evaluate(frame, metrics=["ndcg@5"], convention=preset)
    for user, scores in results.items():
        ours = report.per_user.loc[int(user), "ndcg@5"]
        assert ours == pytest.approx(scores["ndcg_cut_5"], abs=1e-12)
    numeric = rn.evaluate(frame, metrics=["ndcg@5"], convention=preset.replace(ties="item_desc"))
    assert numeric.mean["ndcg@5"] != report.mean["ndcg@5"]
