"""A preset brings its library's cutoff and level of relevance to every door, unless they are given.

That the numbers are the libraries' is checked in tests/peers/named.
"""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.convention import PRESETS
from recsys_ndcg.integrations.group_scorer import GroupScorer
from tests.commands import error_of, json_of, run
from tests.errors import rejects

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
#: More than ten items, of which the last but one is the only relevant one.
ROWS = [("ann", f"i{n:02}", 20.0 - n, float(n == 13)) for n in range(15)]
ROWS += [("bob", f"i{n:02}", 20.0 - n, 2.0 * (n == 11)) for n in range(15)]
#: 1 / 14 and 1 / 12, which a cutoff of 10 or a threshold of 2 would lose.
AP = (1 / 14 + 1 / 12) / 2
QRELS = {"ann": {"a": 1, "b": 0}, "bob": {"b": 2, "c": 0}}
RUN = {"ann": {"a": 0.4, "b": 0.5}, "bob": {"b": 0.3, "c": 0.2}}


def _accumulate(**options: Any) -> rn.Report:
    users, items, estimated, true = map(list, zip(*ROWS, strict=True))
    return rn.Accumulator("map", **options).update(users, estimated, true, items).report()


def _compare(**options: Any) -> rn.Report:
    others = [(user, item, -estimated, true) for user, item, estimated, true in ROWS]
    comparison = rn.compare({"a": ROWS, "b": others}, metrics="map", progress=False, **options)
    report = comparison._data.model_scores["a"].report
    assert report is not None
    return report


def _measure_on_disk(**options: Any) -> rn.Report:
    import duckdb  # noqa: PLC0415 - an extra

    frame = pd.DataFrame(ROWS, columns=["user", "item", "estimated", "true"])
    with duckdb.connect() as connection:
        return rn.evaluate(connection.from_df(frame), metrics="map", **options)


DOORS: dict[str, Callable[..., rn.Report]] = {
    "evaluate": lambda **options: rn.evaluate(ROWS, metrics="map", **options),
    "compare": _compare,
    "Accumulator": _accumulate,
    "DuckDB": _measure_on_disk,
}


@pytest.mark.parametrize("door", DOORS)
def test_a_name_without_cutoff_is_the_librarys_at_every_door(door: str) -> None:
    """With the signature of a caller who gives both; a given cutoff and threshold count."""
    report = DOORS[door](convention="trec_eval")
    assert report.mean.to_dict() == {"ap": pytest.approx(AP)}
    given = DOORS[door](k=None, threshold=1, convention="trec_eval")
    assert report.signature("ap") == given.signature("ap")
    cut = DOORS[door](k=10, threshold=2, convention="trec_eval")
    assert cut.mean.to_dict() == {"ap@10": 0}
    assert "|threshold:2" in str(cut.signature("ap@10"))


def test_a_convention_made_from_a_preset_brings_the_same() -> None:
    """Also with a choice changed."""
    made = rn.Convention.preset("trec_eval", "map").replace(unlabelled="filter")
    assert rn.evaluate(ROWS, metrics="map", convention=made).mean["ap"] == pytest.approx(AP)
    assert GroupScorer("map", convention=made).plan.names == ["ap"]


def test_default_metrics_have_the_librarys_cutoff_too() -> None:
    """The level of relevance comes with them, but not if the library takes relevant items."""
    assert rn.evaluate(ROWS, convention="ranx").metrics == ["ndcg", "precision", "recall"]
    assert rn.evaluate(ROWS, convention="xgboost").metrics == ["ndcg@32"]
    assert rn.evaluate(ROWS, convention="rectools", threshold=1).metrics[0] == "ndcg@10"
    names = ["map", "ap@10"]
    models = {"a": ROWS, "b": [(user, item, -n, true) for user, item, n, true in ROWS]}
    found = rn.compare(models, metrics=names, convention="trec_eval", progress=False)
    assert found.metrics == ["ap", "ap@10"]
    with rejects("know which items are relevant"):
        rn.evaluate(ROWS, metrics="map", convention="recbole")


def test_folds_measure_names_without_cutoff() -> None:
    """Of an experiment and of cross-validation, of own ratings and of the catalogue."""
    pytest.importorskip("surprise")
    from surprise import BaselineOnly, Dataset, Reader  # noqa: PLC0415 - an extra

    from recsys_ndcg import surprise as plugin  # noqa: PLC0415 - an extra
    from recsys_ndcg.datasets import sample_ratings  # noqa: PLC0415

    ratings = sample_ratings(n_users=30)[["user", "item", "rating"]]
    options: dict[str, Any] = {"convention": "ranx", "progress": False}
    found = rn.experiment(
        ratings, {"one": BaselineOnly()}, splits=2, baseline="chance", protocol="both", **options
    )
    names = ["ndcg", "precision", "recall"]
    assert found.metrics == [*names, *(f"{one}:catalogue" for one in names)]
    uncut = rn.experiment(ratings, {"one": BaselineOnly()}, metrics="ndcg", k=None, splits=2,
                          baseline="chance", progress=False)  # fmt: skip
    assert uncut.metrics == ["ndcg"]
    data = Dataset.load_from_df(ratings, Reader(rating_scale=(0.5, 5)))
    scores = plugin.cross_validate(BaselineOnly(), data, ["ndcg"], cv=2, convention="ranx")
    assert "test_ndcg" in scores
    with rejects("ndcg needs a cutoff here"):
        plugin.cross_validate(BaselineOnly(), data, ["ndcg"], cv=2, convention="rectools")


def _list_metrics(*words: Any) -> list[str]:
    return [row["metric"] for row in json_of("evaluate", *words)["summary"]]


def test_none_is_a_cutoff_of_the_command_line(tmp_path: Path) -> None:
    """Alone and beside others; a preset brings it to reports, comparisons and gates."""
    path, other = tmp_path / "a.csv", tmp_path / "b.csv"
    frame = pd.DataFrame(ROWS, columns=["user", "item", "estimated", "true"])
    frame.to_csv(path, index=False)
    frame.assign(estimated=-frame["estimated"]).to_csv(other, index=False)
    words = ["--metrics", "map", "--preset", "trec_eval"]
    assert _list_metrics(path, *words) == ["ap"]
    assert _list_metrics(path, *words, "--fail-under", f"map={AP - 0.001}") == ["ap"]
    assert [*json_of("compare", path, other, *words)["signatures"]] == ["ap"]
    assert _list_metrics(path, *words, "-k", "none,10") == ["ap", "ap@10"]
    both = ["--metrics", "map,ap@10", "--preset", "trec_eval"]
    assert [*json_of("compare", path, other, *both)["signatures"]] == ["ap", "ap@10"]
    assert run("leaderboard", path, *words).stdout.startswith("ap by score")
    own = run(
        "reconcile", path, "--metric", "map", "--threshold", "1", "--reported", "0.077"
    ).stdout
    assert "k=none +0.0774 (100%)" in own
    assert "whole numbers or none" in error_of("evaluate", path, "-k", "no")


def test_reconcile_gives_each_preset_its_own_cutoff() -> None:
    """Unless the name or the caller has one; a reported number is tried without, too."""
    table = rn.reconcile(ROWS, "map", threshold=1, reported=round(AP, 4))
    rows = table[table["preset"].isin(["trec_eval", "recommenders_map"])].set_index("preset")
    assert rows["value"].to_dict() == {"trec_eval": pytest.approx(AP), "recommenders_map": 0}
    assert rows["causes"].tolist() == [{"k": pytest.approx(AP)}, {}]
    assert str(rows.loc["trec_eval", "changes"]).startswith("k=none")
    assert str(rows.loc["trec_eval", "signature"]).startswith("ap|")
    changed = table[table["preset"].isna()].iloc[0]
    assert changed["gap"] == pytest.approx(0, abs=1e-4)
    assert changed["causes"].keys() == {"k"}
    table = rn.reconcile(ROWS, iter(["map"]), threshold=1, convention="xgboost").set_index("preset")
    assert table.loc["xgboost", "causes"] == {}
    assert table.loc["rectools", "causes"] == {"k": pytest.approx(-AP)}
    for options in ({"metrics": "ap@10"}, {"metrics": "ap", "k": 10}):
        table = rn.reconcile(ROWS, threshold=1, **options).set_index("preset")
        assert table.loc["trec_eval", "value"] == 0


def test_a_topic_without_judgements_does_not_stop_a_comparison() -> None:
    """A user without a score in any metric is not compared, and the others are counted."""
    other = {user: {item: -score for item, score in own.items()} for user, own in RUN.items()}
    models = {"a": {"qrels": QRELS, "run": {**RUN, "zoe": {"a": 0.1}}},
              "b": {"qrels": QRELS, "run": other}}  # fmt: skip
    comparison = rn.compare(models, metrics=["map", "ndcg"], convention="trec_eval", progress=False)
    assert comparison.users.tolist() == ["ann", "bob"]
    assert "Users that some models do not have are left out: 1 of a." in comparison.remarks
    scored = {**QRELS, "zoe": {"a": 1}}
    models["a"] = {"qrels": scored, "run": {**RUN, "zoe": {"a": 0.1}}}
    with rejects("different users"), warnings.catch_warnings():
        rn.compare(models, metrics="map", convention="trec_eval", progress=False)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_says_what_it_brings(name: str) -> None:
    """In its sentence, which the command `presets` prints."""
    text = rn.Convention.presets()[name]
    assert ("names without @k have" in text) is (PRESETS[name].k != 10)
    assert ("relevant from grade 1 on" in text) is (PRESETS[name].threshold == 1)
