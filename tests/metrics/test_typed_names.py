"""The names that people type for metrics lead to ours, wherever one is read."""

from __future__ import annotations

import numpy as np
import pytest

import recsys_ndcg as rn
from recsys_ndcg.cli.options import parse_metric_names
from recsys_ndcg.folds import parse_measures
from recsys_ndcg.metrics import METRICS, Metric, parse_metrics
from tests.errors import assert_rejected, rejects

ROWS = {"ann": [(4.5, 5), (3.0, 2), (2.0, 4)], "bob": [(2.0, 4), (3.5, 3)]}
TYPED = {
    "p@5": "precision@5", "prec@10": "precision@10", "f@10": "f1@10", "map": "ap",
    "mean_average_precision@3": "ap@3", "MRR@10": "rr@10", "recip_rank": "rr",
    "hr@10": "hit@10", "hit_rate@10": "hit@10", "success@1": "hit@1", "MSE": "mse",
    "Rprec": "rprecision", "roc_auc": "auc", "nDCG@10": "ndcg@10",
    "P_10": "precision@10", "ndcg_cut_10": "ndcg@10", "map_cut_5": "ap@5", "success_1": "hit@1",
    "recall_10": "recall@10", "ndcg_at_10": "ndcg@10", "NDCG_AT_10": "ndcg@10",
    "P.10": "precision@10", "ndcg_cut.10": "ndcg@10", "map_cut.5": "ap@5", "rbp.95": "rbp(p=0.95)",
    "set_P": "precision", "set_recall": "recall", "set_F": "f1", "SetP": "precision",
    "SetR": "recall", "SetF": "f1", "r-precision": "rprecision", "F1-Score@10": "f1@10",
}  # fmt: skip


@pytest.mark.parametrize("typed", TYPED)
def test_a_name_that_people_type_prints_as_ours(typed: str) -> None:
    """In a report, which is asked by either; in a signature and under a preset, too."""
    ours = TYPED[typed]
    assert [str(one) for one in parse_metrics(typed)] == [ours]
    report = rn.evaluate(ROWS, metrics=[typed], threshold=4, k=None)
    assert report.metrics == [ours]
    assert np.isclose(report[typed], report[ours], equal_nan=True)
    signature = report.signature(typed)
    assert rn.Signature(signature.text.replace(ours, typed, 1)) == signature
    assert rn.Signature(signature.short.replace(ours, typed, 1)).metric == ours
    for preset in ("catboost", "ir_measures"):
        theirs, same = (rn.Convention.preset(preset, name) for name in (typed, ours))
        assert theirs == same


def test_a_name_that_people_type_is_the_metric_itself() -> None:
    """Without a cutoff it takes every k; two names of one metric are measured once."""
    report = rn.evaluate(ROWS, metrics=["map", "mrr", "auroc"], threshold=4, k=[1, 2])
    assert report.metrics == ["ap@1", "ap@2", "rr", "auc"]
    assert rn.evaluate(ROWS, metrics=["p@2", "precision@2"], threshold=4).metrics == ["precision@2"]
    with rejects("auc has no cutoff; use 'auc', not 'auc@5'"):
        rn.evaluate(ROWS, metrics="auc@5", threshold=4)


@pytest.mark.parametrize("other", ["err", "bpref", "infAP", "gmap", "rmsle", "MAPE", "ndcg_cut_x"])
def test_the_name_of_another_metric_is_no_misspelling(other: str) -> None:
    """No metric that exists is proposed in its place; a misspelt name is corrected."""
    with pytest.raises(rn.UnknownMetricError, match=rf"'{other}'\. There are: alpha_dcg, "):
        parse_metrics(other)
    for misspelt, name in {
        "recal": "recall",
        "ndgc@5": "ndcg",
        "precison": "precision",
        "mapp": "map",
    }.items():
        with pytest.raises(rn.UnknownMetricError, match=f"Did you mean '{name}'"):
            parse_metrics(misspelt)


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ("accuracy", "Write 'precision@10' or 'hit@10' for lists, 'rmse' or 'mae' for ratings."),
        ("RBO@10", r"It compares the lists of two models: rn.rbo\(lists_a, lists_b\)."),
        ("jaccard@5", r"It compares .*: rn.jaccard_at_k\(lists_a, lists_b, k\)."),
        ("ndcg_burges@10", "Write 'ndcg@10' with convention='ranx_burges'."),
        ("num_rel", r"It is in report.per_user\['n_relevant'\]."),
    ],
)
def test_a_name_of_something_else_says_what_to_write(other: str, sentence: str) -> None:
    """Not a metric whose name has some of its letters."""
    with pytest.raises(rn.UnknownMetricError, match=rf"'{other}'\. {sentence}$"):
        parse_metrics(other)


@pytest.mark.parametrize(
    ("theirs", "ours"), [("AP(rel=2)", "AP"), ("P(rel=2)@10", "P@10"), ("nDCG(gains=2)", "nDCG")]
)
def test_options_of_other_libraries_are_choices_here(theirs: str, ours: str) -> None:
    """The message keeps the name and its cutoff, and says where a level or gains belong."""
    with rejects(rf"no option in brackets; use '{ours}' with threshold= or convention=\.$"):
        parse_metrics(theirs)
    with rejects(r"'10-l2' is not a number; write .* 'ndcg@10', .* relevance level as threshold="):
        parse_metrics("precision@10-l2")


def test_a_name_of_a_whole_list_has_no_cutoff() -> None:
    """Of trec_eval and ir_measures, whatever k is."""
    assert [str(one) for one in parse_metrics("set_P", [5, 10])] == ["precision"]
    for name in ("set_P@10", "set_P.10", "SetP@10"):
        with rejects(r"has no cutoff; use 'precision@10'\."):
            parse_metrics(name)
    for name in ("set_P@abc", "coveredusers@x"):
        with rejects("is not a number"):
            parse_metrics(name)


@pytest.mark.parametrize("name", ["set_map", "SetAP", "SetRelP", "num_rel_ret"])
def test_a_metric_that_does_not_exist_is_not_taken_for_a_similar_name(name: str) -> None:
    """Of another metric: set_map is no precision."""
    with pytest.raises(rn.UnknownMetricError, match="There are: "):
        parse_metrics(name)
    with pytest.raises(rn.UnknownMetricError, match="convention='ranx_burges'"):
        parse_metrics("dcg-burges")


def test_the_start_of_one_name_is_that_name() -> None:
    """Rather than another one with more of its letters."""
    with rejects("No preset is named 'trec'. Did you mean 'trec_eval'?"):
        rn.Convention.preset("trec")
    with rejects("Did you mean 'surprise_faq'"):  # the nearest of two that begin with it
        rn.Convention.preset("surprise")


def test_a_choice_in_place_of_a_preset_gets_the_line_to_write() -> None:
    """With its value, if that is a word for this choice."""
    with rejects(r"'gain=linear'\. It is a choice: write convention=Convention\(gain='linear'\)"):
        rn.evaluate(ROWS, convention="gain=linear")
    with rejects(r"It is a choice: write convention=Convention\(undefined=\.\.\.\)"):
        rn.evaluate(ROWS, convention="undefined=0")


def test_several_metrics_may_be_one_text() -> None:
    """With commas, as at the command line; a comma in brackets separates parameters."""
    text = "ndcg@2, precision@1,rbp(p=0.5)@2"
    report = rn.evaluate(ROWS, metrics=text, threshold=4)
    found = ["ndcg@2", "precision@1", "rbp(p=0.5)@2"]
    assert report.metrics == found == parse_metric_names([text])
    assert rn.evaluate(ROWS, metrics=[text, "rr"], threshold=4).metrics == [*found, "rr"]
    assert [one.name for one in parse_measures([text, "rmse"])] == [*found, "rmse"]
    assert rn.compare({"a": ROWS, "b": dict(ROWS)}, metrics=text, threshold=4).metrics == found
    assert (
        rn.compare({"a": report, "b": report.take(["ann", "bob"])}, metrics=text).metrics == found
    )
    with pytest.raises(rn.InvalidInputError, match=r"No metric is given\. Name .* 'ndcg@10'"):
        rn.evaluate(ROWS, metrics=" , ")
    with pytest.raises(rn.InvalidInputError, match=r"No k is given\. Name .* 'ndcg@10'"):
        rn.evaluate(ROWS, metrics="ndcg", k=[])


def test_a_metric_of_ones_own_is_not_hidden() -> None:
    """What it is called leads to it alone: a name of ours, whoever else uses it, is refused."""
    own = type("Own", (Metric,), {"name": "top", "also_called": ("first",), "__module__": __name__})
    rn.metric(own)
    assert type(parse_metrics("First@3")[0]) is own
    for also in ("p", "hitrate", "ndcg"):
        kind = type("Other", (Metric,), {"name": "other", "also_called": (also,)})
        assert_rejected(f"The name '{also}' is taken by", rn.metric, kind, whole=False)
    assert "other" not in METRICS


def test_no_name_leads_to_two() -> None:
    """Nor to one that has another name."""
    names = [name for kind in METRICS.values() for name in (kind.name, *kind.also_called)]
    assert len(names) == len(set(names))
    assert all(name == name.lower() for name in names)
    assert not any("_" in name for kind in METRICS.values() for name in kind.also_called)


def test_surprise_keeps_its_own_measures() -> None:
    """Whose names are ours, too; the others lead to ours there as well."""
    pytest.importorskip("surprise")
    from recsys_ndcg.folds import measures  # noqa: PLC0415

    names = ["rmse", "mae", "mse", "fcp"]
    assert measures.parse_measures(names) == [measures.ACCURACY[name] for name in names]
    assert [one.name for one in measures.parse_measures(["mrr@10", "P@5:catalogue"])] == [
        "rr@10", "precision@5:catalogue",
    ]  # fmt: skip
