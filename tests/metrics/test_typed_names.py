"""The names that people type for metrics lead to ours, wherever one is read."""

from __future__ import annotations

import numpy as np
import pytest

import recsys_ndcg as rn
from recsys_ndcg.metrics import METRICS, parse
from recsys_ndcg.metrics.metric import Metric
from tests.commands import run
from tests.errors import rejects

ROWS = {"ann": [(4.5, 5), (3.0, 2), (2.0, 4)], "bob": [(2.0, 4), (3.5, 3)]}
TYPED = {
    "p@5": "precision@5",
    "P@5": "precision@5",
    "prec@10": "precision@10",
    "r@10": "recall@10",
    "f@10": "f1@10",
    "f1_score@10": "f1@10",
    "map": "ap",
    "MAP@10": "ap@10",
    "mean_average_precision@3": "ap@3",
    "mrr": "rr",
    "MRR@10": "rr@10",
    "recip_rank": "rr",
    "hr@10": "hit@10",
    "hitrate@10": "hit@10",
    "hit_rate@10": "hit@10",
    "success@1": "hit@1",
    "Rprec": "rprecision",
    "roc_auc": "auc",
    "nDCG@10": "ndcg@10",
    "MSE": "mse",
}


@pytest.mark.parametrize("typed", TYPED)
def test_a_name_that_people_type_prints_as_ours(typed: str) -> None:
    """In a report, which is asked by either; in a signature and under a preset, too."""
    ours = TYPED[typed]
    assert [str(one) for one in parse(typed)] == [ours]
    report = rn.evaluate(ROWS, metrics=[typed], threshold=4, k=None)
    assert report.metrics == [ours]
    assert np.isclose(report[typed], report[ours], equal_nan=True)
    signature = report.signature(typed)
    assert rn.Signature(signature.text.replace(ours, typed, 1)) == signature
    assert rn.Signature(signature.short.replace(ours, typed, 1)).metric == ours
    for preset in ("catboost", "ir_measures"):
        theirs, same = (rn.Convention.preset(preset, name) for name in (typed, ours))
        assert theirs == same


def test_a_name_without_a_cutoff_takes_every_k() -> None:
    """As ours does."""
    report = rn.evaluate(ROWS, metrics=["map", "mrr"], threshold=4, k=[1, 2])
    assert report.metrics == ["ap@1", "ap@2", "rr"]


def test_the_same_metric_by_two_names_is_one() -> None:
    """It is measured once."""
    assert rn.evaluate(ROWS, metrics=["p@2", "precision@2"], threshold=4).metrics == ["precision@2"]


def test_a_metric_of_ones_own_is_not_hidden() -> None:
    """What it is called leads to it alone: a name of ours, whoever else uses it, is refused."""
    own = type("Own", (Metric,), {"name": "top", "also_called": ("first",), "__module__": __name__})
    rn.metric(own)
    assert type(parse("First@3")[0]) is own
    for also in ("p", "hitrate", "ndcg"):
        kind = type("Other", (Metric,), {"name": "other", "also_called": (also,)})
        with rejects(f"The name '{also}' is taken by", whole=False):
            rn.metric(kind)
    assert "other" not in METRICS


def test_no_name_leads_to_two() -> None:
    """Nor to one that has another name."""
    names = [name for kind in METRICS.values() for name in (kind.name, *kind.also_called)]
    assert len(names) == len(set(names))
    assert all(name == name.lower() and "_" not in name for name in names)


def test_the_mean_squared_error_is_that_of_all_ratings() -> None:
    """Pooled; per user it is the square of the rmse."""
    report = rn.evaluate(ROWS, metrics=["mse", "rmse"])
    assert report.pooled["mse"] == pytest.approx((0.25 + 1 + 4 + 4 + 0.25) / 5)
    assert report.per_user["mse"].tolist() == pytest.approx((report.per_user["rmse"] ** 2).tolist())


def test_surprise_keeps_its_own_measures() -> None:
    """Whose names are ours, too; the others lead to ours there as well."""
    pytest.importorskip("surprise")
    from recsys_ndcg.folds import measures  # noqa: PLC0415

    names = ["rmse", "mae", "mse", "fcp"]
    assert measures.parse_measures(names) == [measures.ACCURACY[name] for name in names]
    assert [one.name for one in measures.parse_measures(["mrr@10", "P@5:catalogue"])] == [
        "rr@10", "precision@5:catalogue",
    ]  # fmt: skip


def test_the_command_line_takes_them(tmp_path: object) -> None:
    """And prints ours."""
    path = f"{tmp_path}/p.csv"
    rows = [(user, n, *pair) for user, pairs in ROWS.items() for n, pair in enumerate(pairs)]
    with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write("user,item,estimated,true\n")
        file.writelines(",".join(map(str, row)) + "\n" for row in rows)
    said = run("evaluate", path, "--threshold", "4", "--metrics", "p@5,mrr,MAP@2,hr@1")
    names = [line.split()[0] for line in said.stdout.splitlines()[1:5]]
    assert names == ["precision@5", "rr", "ap@2", "hit@1"]
    assert (
        "precision@5: yours" in run("reconcile", path, "--metric", "p@5", "--threshold", "4").stdout
    )
