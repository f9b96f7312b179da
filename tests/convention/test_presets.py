"""Presets by name and by metric, and by formula if no library can be run."""

from __future__ import annotations

import json
import math
import pickle
import re
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.convention import PRESETS
from recsys_ndcg.scoring import Plan
from tests.accuracy import METRICS
from tests.errors import rejects
from tests.profiles import examples, some
from tests.scale.cases import predictions

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
#: Libraries without metrics of relevance.
BEYOND = {"recmetrics", "warprec", "pyndeval", "lenskit_head"}
NAMES = {
    "trec_eval", "pytrec_eval", "ir_measures", "ranx", "ranx_burges", "sklearn", "catboost",
    "catboost_exp", "lightgbm", "xgboost", "torchmetrics", "tensorflow_ranking", "recommenders",
    "rectools", "replay", "lenskit", "implicit", "recbole", "elliot", "recpack", "cornac",
    "evidently", "surprise_faq", "spark_mllib", "mlflow", "rankereval", "jurity", "torchrec",
    "ignite", "pyg", "keras_rs", "sentence_transformers", "llama_index",
    "recommenders_map", "replay_dict", *BEYOND,
    "surprise_walkthrough", "real_life_ndcg", "evaluation_for_ir",
}  # fmt: skip
ROWS = [("ann", "a", 4.0, 3), ("ann", "b", 3.0, 5), ("bob", "a", 2.0, 0), ("bob", "b", 1.0, 4)]
GOLDEN = Path(__file__).parents[1] / "peers" / "golden"
Pairs = dict[int, list[tuple[float, float]]]


def test_the_presets_are_these() -> None:
    """Each with a sentence that names the library, its version and its metrics."""
    texts = rn.Convention.presets()
    assert set(texts) == NAMES
    for name, text in texts.items():
        assert re.match(r".+: [a-z0-9_]+(, [a-z0-9_]+)*($|;)", text), name


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_presets_signature_gives_it_back(name: str) -> None:
    """For every metric, in any spelling of it."""
    for metric in METRICS:
        for k in ("", "@1"):
            convention = rn.Convention.preset(name, metric + k)
            assert rn.Convention.from_signature(convention.signature) == convention
            assert rn.Convention.preset(name, f" {metric.upper()}{k}") == convention
    assert rn.Convention.preset(name) == rn.Convention.preset(name, "ndcg@10")


def test_a_library_may_treat_its_metrics_differently() -> None:
    """CatBoost's AP is 0 where its NDCG is 1; ir_measures breaks ties of RR@k the other way."""
    for name, field, values in (
        ("catboost", "undefined", {"ndcg@5": 1.0, "ap@5": 0.0}),
        ("ir_measures", "ties", {"rr": "text_desc", "rr@5": "text_asc"}),
        ("recommenders", "missing_user", {"ndcg@5": "zero", "recall@5": "skip"}),
    ):
        found = {metric: getattr(rn.Convention.preset(name, metric), field) for metric in values}
        assert found == values


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("treceval", "Did you mean 'trec_eval'"),
        ("TREC_EVAL", "Did you mean 'trec_eval'"),
        ("", "There are: catboost"),
        (None, "No preset is named None"),
        (
            "linear",
            r"named 'linear'. It is a choice: write convention=Convention\(gain='linear'\).",
        ),
        (
            "item_asc",
            r"named .item_asc.. It is a choice: write convention=Convention\(ties='item_asc'\).",
        ),
        (
            "zero",
            r"Convention\(unlabelled='zero'\) or .*Convention\(missing_user='zero'\) or .*cold",
        ),
        (["sklearn"], r"No preset is named \['sklearn'\]"),
    ],
)
def test_an_unknown_preset_is_rejected_with_the_nearest_name(name: Any, message: str) -> None:
    """Or with all names."""
    with rejects(message):
        rn.Convention.preset(name)


def test_a_preset_reports_what_the_data_lacks() -> None:
    """Item ids where ties go by id, a threshold, the top of the scale."""
    pairs = {"ann": [(3.0, 5), (3.0, 1)]}
    with rejects("ties='text_desc' orders by item, but the data has no item ids. Give them, or"):
        rn.evaluate(pairs, convention=rn.Convention.preset("trec_eval"))
    with rejects("gain='binary', mean_over='relevant' need to know .* pass threshold"):
        rn.evaluate(ROWS, convention=rn.Convention.preset("replay"))
    with rejects("ideal='max' needs the top grade"):
        rn.Convention.preset("rectools").replace(gain="linear")


pairs = st.tuples(st.sampled_from([1.0, 2.5, 3.0, 4.0, 4.5]), st.integers(1, 5))
lists = st.dictionaries(st.integers(0, 5), st.lists(pairs, min_size=1, max_size=7), min_size=1)


def _mean(values: tuple[float, ...]) -> float:
    return sum(values) / len(values)


def _check(users: Pairs, preset: str, expected: dict[str, float], threshold: float = 4) -> None:
    """Compare the means under a preset."""
    how: dict[str, Any] = {"metrics": [*expected], "threshold": threshold, "convention": preset}
    assert dict(rn.evaluate(users, **how)) == pytest.approx(expected, abs=1e-12)


def _usable(users: Pairs) -> bool:
    trues = {true for own in users.values() for _, true in own}
    return len(trues) > 1 and max(trues) >= 4


@examples(2)
@given(users=lists, k=st.integers(1, 8), least=st.sampled_from([3.0, 4.0, 4.5]))
def test_the_example_of_surprises_faq(users: Pairs, k: int, least: float) -> None:
    """Hits over what is estimated at the threshold in the first k, 0 where that is nothing."""
    assume(_usable(users))

    def of(own: list[tuple[float, float]]) -> tuple[float, float]:
        first = sorted(own, key=lambda pair: pair[0], reverse=True)[:k]
        recommended = [pair for pair in first if pair[0] >= least]
        hits = sum(true >= least for _, true in recommended)
        relevant = sum(true >= least for _, true in own)
        precision = hits / len(recommended) if recommended else 0.0
        return precision, hits / relevant if relevant else 0.0

    precisions, recalls = zip(*map(of, users.values()), strict=True)
    expected = {f"precision@{k}": _mean(precisions), f"recall@{k}": _mean(recalls)}
    _check(users, "surprise_faq", expected, least)


@examples(2)
@given(users=lists, k=st.integers(1, 8))
def test_elliots_metrics(users: Pairs, k: int) -> None:
    """Gains from the threshold up: 2^(grade - 4 + 1) - 1, so that a 4 is worth 1 and a 5 three.

    Means are over the users with something relevant.
    """
    assume(_usable(users))

    def dcg(trues: list[float]) -> float:
        gains: dict[float, float] = {4: 1.0, 5: 3.0}
        return sum(gains.get(t, 0.0) / math.log2(at + 2) for at, t in enumerate(trues[:k]))

    values = []
    users = {
        user: [(estimated + place / 100, true) for place, (estimated, true) in enumerate(own)]
        for user, own in users.items()  # without ties
    }
    for own in users.values():
        ranked = [true for _, true in sorted(own, reverse=True)]
        hits, relevant = (sum(true >= 4 for true in some) for some in (ranked[:k], ranked))
        if relevant:
            ideal = dcg(sorted(ranked, reverse=True))
            values.append((dcg(ranked) / ideal, hits / k, hits / relevant))
    ndcg, precision, recall = map(_mean, zip(*values, strict=True))
    expected = {f"ndcg@{k}": ndcg, f"precision@{k}": precision, f"recall@{k}": recall}
    _check(users, "elliot", expected)


def test_elliot_leaves_out_users_without_a_list() -> None:
    """A user without one is left out, and so is one with nothing relevant."""
    labels = {"ann": {"a": 5, "z": 4}, "bob": {"a": 5}, "cy": {"a": 1}}
    data = rn.RankedLists.from_trec(labels, {"ann": {"a": 1, "b": 0.5}, "cy": {"a": 2}})
    report = rn.evaluate(data, metrics="recall@2", threshold=4, convention="elliot")
    assert report.per_user["recall@2"].dropna().to_dict() == {"ann": 0.5}


def test_a_preset_has_its_own_metrics_only() -> None:
    """By their whole names, whatever cutoff and option is asked for."""
    assert PRESETS["sklearn"].has("NDCG@10")
    assert not PRESETS["sklearn"].has("cg@10")
    assert not PRESETS["lightgbm"].has("precision@10")
    assert not PRESETS["recpack"].has("nd")
    assert PRESETS["implicit"].format_note("precision@3").startswith("what it calls precision is")
    assert "what it calls hit is" in rn.Convention.presets()["recpack"]
    assert rn.Convention.preset("catboost", "ap") == rn.Convention.preset("catboost", "AP(1)@3")


def test_a_preset_names_the_version_that_was_compared() -> None:
    """As its golden file does."""
    for path in GOLDEN.glob("*.json"):
        stored = json.loads(path.read_text())
        for preset in {key.split()[0] for key in stored["answers"]}:
            assert PRESETS[preset].library.endswith(f" {stored['version']}"), preset


@cache
def _sparse() -> pd.DataFrame:
    """Draw users of whom some have nothing relevant: there a library's metrics differ."""
    rows = predictions(5, n_users=60, n_rows=240).round()
    return rows.assign(true=rows["true"] - 1)


@pytest.mark.parametrize("name", some(sorted(NAMES - BEYOND), 4))
def test_a_librarys_name_measures_each_metric_as_that_library_does(name: str) -> None:
    """Each metric has the numbers and the signature that it has alone."""
    metrics = [f"{one}@5" for one in PRESETS[name].metrics.split() if one != "rprecision"]
    how: dict[str, Any] = {"metrics": metrics, "threshold": 3}
    report = rn.evaluate(_sparse(), convention=name, **how)
    for metric in metrics:
        own = rn.Convention.preset(name, metric)
        alone = rn.evaluate(_sparse(), metrics=metric, threshold=3, convention=own)
        pd.testing.assert_series_equal(report.per_user[metric], alone.per_user[metric])
        assert report.signature(metric) == alone.signature(metric)
        pd.testing.assert_frame_equal(report.summary.loc[[metric]], alone.summary, check_exact=True)


def test_a_preset_made_for_one_metric_is_not_used_for_another() -> None:
    """CatBoost's NDCG is 1 where nothing is relevant, and its AP 0."""
    ndcg = rn.Convention.preset("catboost")
    how: dict[str, Any] = {"metrics": ["ndcg@5", "ap@5"], "threshold": 3}
    message = "has the choices for ndcg, but catboost measures ap@5 under undefined=0.0. Write "
    advice = r"convention='catboost', .*or Convention.preset\('catboost', 'ap@5'\)"
    with rejects(message + advice):
        rn.evaluate(_sparse(), convention=ndcg, **how)
    with rejects("but catboost measures ndcg@5 under undefined=1.0"):
        rn.evaluate(_sparse(), convention=rn.Convention.preset("catboost", "ap"), **how)
    with rejects("but catboost measures ap@5"):
        rn.evaluate(_sparse(), convention=ndcg.replace(short_list="k"), **how)
    rn.evaluate(_sparse(), convention=ndcg.replace(undefined=0.0), **how)
    # equal choices stay equal, however they were made; and a metric that both treat alike is fine
    assert ndcg == rn.Convention.from_signature(ndcg.signature)
    assert pickle.loads(pickle.dumps(ndcg)).source[:2] == ("catboost", "ndcg")  # noqa: S301
    rn.evaluate(_sparse(), metrics=["ndcg@5", "precision@5"], threshold=3, convention=ndcg)
    with rejects("No preset is named 'catbost'. Did you mean 'catboost'?"):
        rn.evaluate(_sparse(), convention="catbost", **how)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_made_for_a_metric_measures_another_only_where_it_is_the_same(name: str) -> None:
    """Or has none like it; else the choices are named that would make it so."""
    metrics = [METRICS[one](None if METRICS[one].cutoff == "none" else 2) for one in METRICS]
    texts = [str(one) for one in metrics if PRESETS[name].has(str(one))]
    for missing in {str(one) for one in metrics} - {*texts}:
        Plan.of(missing, threshold=3, convention=rn.Convention.preset(name))
    for made_for, measured in permutations(texts, 2):
        own, other = (rn.Convention.preset(name, one) for one in (made_for, measured))
        values = {name: getattr(other, name) for name in rn.Convention.field_names()}
        changes = {name: one for name, one in values.items() if getattr(own, name) != one}
        for field, value in changes.items():
            with rejects(f"{made_for}, but {name} measures {measured} under .*{field}={value!r}"):
                Plan.of(measured, threshold=3, convention=own)
        mended = own.replace(**changes)
        assert Plan.of(measured, threshold=3, convention=mended).measurements[0].convention == other
