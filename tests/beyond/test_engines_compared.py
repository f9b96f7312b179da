"""Measures beyond accuracy in comparisons, and at the command line."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.beyond.test_engines import (
    BASE,
    FEATURES,
    ITEMS,
    KNOWN,
    NAMES,
    TRAIN,
    USERS,
    WIDER,
    draw_lists,
    evaluate,
    evaluate_case,
)
from tests.commands import csv_of, json_of, run
from tests.scale.alike import CLOSE

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
OTHER = {"labels": WIDER["labels"], "results": draw_lists(2, 6, 9)}


@pytest.fixture(scope="module", name="reports")
def _reports() -> dict[str, rn.Report]:
    return {"one": evaluate_case("as usual", is_wider=True), "other": evaluate(OTHER)}


@pytest.mark.parametrize("test", ["wilcoxon", "sign"])
@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_tests_of_medians_are_refused_for_numbers_of_all_lists(test: str) -> None:
    """Jackknife values are skewed: their median is not 0 if the models are equal."""
    lists = {name: {1: [name, "c"], 2: ["c", "a"]} for name in "ab"}
    data = {name: {"labels": {1: {"c"}, 2: {"a"}}, "results": one} for name, one in lists.items()}
    how: dict[str, Any] = {"catalogue": [*"abc"], "test": test}
    with pytest.raises(rn.InvalidInputError, match="coverage@2 is a number of all lists"):
        rn.compare(data, metrics=["ndcg@2", "coverage@2"], **how)
    assert rn.compare(data, metrics=["ndcg@2"], **how)._data.testing.test == test


@pytest.mark.parametrize("test", ["t", pytest.param("randomisation", marks=pytest.mark.slow)])
def test_all_measures_are_compared(
    test: str, reports: dict[str, rn.Report], tmp_path: Path
) -> None:
    """With the means of the reports; also of saved reports, and of a saved comparison."""
    metrics = reports["one"].metrics
    metrics = metrics[::6] if test == "t" else metrics
    how: dict[str, Any] = {"test": test, "draws": 200, "metrics": metrics}
    found = rn.compare(reports, **how)
    assert found.metrics == metrics
    for metric, table in found.leaderboards.items():
        for name, report in reports.items():
            assert table["mean"][name] == pytest.approx(report.mean[metric], rel=1e-12)
        assert table["rank_low"].notna().all()
    pairs = found.pairwise.set_index("metric")
    difference = reports["one"].mean - reports["other"].mean
    per_user = reports["one"].per_user - reports["other"].per_user
    difference.update(per_user.mean())  # of users whom both have a score of
    np.testing.assert_allclose(pairs["difference"].abs(), difference[pairs.index].abs(), atol=1e-9)
    assert all(name in found.to_markdown() for name in reports)
    for name, report in reports.items():
        report.save(tmp_path / f"{name}.json")
    again = rn.compare({name: tmp_path / f"{name}.json" for name in reports}, **how)
    found.save(tmp_path / "comparison.json")
    loaded = rn.Comparison.load(tmp_path / "comparison.json")
    for each in (again, loaded):
        pd.testing.assert_frame_equal(each.pairwise, found.pairwise, **CLOSE)
        for metric, table in found.leaderboards.items():
            pd.testing.assert_frame_equal(each.leaderboards[metric], table, **CLOSE)


@pytest.mark.slow
def test_a_page_has_all_measures(reports: dict[str, rn.Report]) -> None:
    """Of models, and of one model."""
    for each in (rn.compare(reports), reports["one"]):
        page = each.to_html()
        assert all(name in page for name in reports["one"].metrics if "'" not in name)


@pytest.mark.slow
def test_the_randomisation_test_swaps_lists() -> None:
    """Its p-value is the share of all swaps with a difference at least as large."""
    users = USERS[1:8]
    models = [
        {name: table[table["user"].isin(users)] for name, table in one.items()}
        for one in (WIDER, OTHER)
    ]
    models[0]["labels"] = models[1]["labels"]
    reports = [evaluate(one) for one in models]
    names = [str(one) for one in reports[0]._data.audit.measurements if not one.metric.per_user]
    found = rn.compare(
        dict(zip("ab", reports, strict=True)), metrics=names, test="randomisation", draws=5000
    )
    p = found.pairwise.set_index("metric")["p"]
    differences = []
    for flags in product([False, True], repeat=len(users)):
        swapped = {user for user, flag in zip(users, flags, strict=True) if flag}
        means = []
        for mine, theirs in (models, models[::-1]):
            rows, more = (
                each["results"][each["results"]["user"].isin(swapped) == flag]
                for each, flag in ((mine, False), (theirs, True))
            )
            data = {"labels": mine["labels"], "results": pd.concat([rows, more])}
            means.append(evaluate(data, metrics=names).mean)
        differences.append(means[0] - means[1])
    table = pd.DataFrame(differences)
    wanted = (table.abs() >= table.iloc[0].abs() - 1e-9).mean()
    known = table.notna().all()
    np.testing.assert_allclose(p[known.index[known]], wanted[known], atol=0.03)


@pytest.fixture(name="words")
def _words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Write all tables, and return the options that name them."""
    monkeypatch.chdir(tmp_path)
    WIDER["labels"].to_csv("labels.csv", index=False)
    WIDER["results"].to_csv("one.csv", index=False)
    OTHER["results"].to_csv("other.csv", index=False)
    TRAIN.to_csv("train.csv", index=False)
    BASE.to_csv("base.csv", index=False)
    pd.DataFrame({"item": ITEMS}).to_csv("catalogue.csv", index=False)
    genres = FEATURES["genres"].map(lambda one: "|".join(sorted(one)))
    table = FEATURES.drop(columns="vector").assign(genres=genres)
    table.to_csv("features.csv", index=False)
    words = [("labels", "labels"), ("train", "train"), ("catalogue", "catalogue")]
    words += [("features", "features"), ("base", "base")]
    return [part for name, file in words for part in (f"--{name}", f"{file}.csv")]


#: The command line has no groups of users, and no vectors in CSV.
AT_THE_LINE = [name for name in NAMES if "user_group" not in name and "vector" not in name]


def test_the_command_line_has_the_same_numbers(words: list[str]) -> None:
    """evaluate, of all measures; from several files, too."""
    given = [part for name in AT_THE_LINE for part in ("--metrics", name)]
    given += ["--threshold", "4", "-q"]
    expected = evaluate(WIDER, metrics=AT_THE_LINE, groups=None).summary
    for more in ([], ["--memory-limit", "1GB"]):
        one = ["--results", "one.csv", *more]
        table = csv_of("evaluate", *one, *words, *given, index_col="metric")
        for column in ("mean", "chance"):
            wanted = expected[column][table.index]
            np.testing.assert_allclose(table[column], wanted, rtol=1e-12, atol=1e-12)


def test_commands_compare_and_reconcile_with_what_is_known(words: list[str]) -> None:
    """Two models; and one as libraries measure it."""
    names = ["coverage@3", "novelty@3", "diversity(genres)@3", "unexpected@3", "rsp(maker)@3"]
    given = [part for name in names for part in ("--metrics", name)]
    result = json_of("compare", "one.csv", "other.csv", *words, *given)
    for place, data in (("one", WIDER), ("other", OTHER)):
        means = evaluate(data, metrics=names, groups=None, threshold=None).mean
        for name in names:
            row = next(one for one in result["leaderboards"][name] if one["model"] == place)
            assert row["mean"] == pytest.approx(means[name], rel=1e-9)
    table = csv_of("reconcile", "--results", "one.csv", *words, "--metric", "coverage@3")
    known = {name: KNOWN[name] for name in ("train", "catalogue", "features", "base")}
    expected = rn.reconcile(WIDER, "coverage@3", **known)
    assert table["preset"].tolist() == expected["preset"].tolist()
    np.testing.assert_allclose(table["value"], expected["value"], rtol=1e-12)
    result = run("evaluate", "--results", "one.csv", *words[:2], "--metrics", "coverage@3")
    assert result.exit_code == 2
    assert "--catalogue items, all" in result.stderr


@pytest.mark.parametrize(("test", "how"), [("t", "is the jackknife's"), ("randomisation", "swaps")])
def test_the_verdict_says_how_a_number_of_all_lists_was_tested(test: str, how: str) -> None:
    """By swapped lists only under randomisation."""
    users = range(20)
    lists = {"same": {user: [0] for user in users}, "different": {user: [user] for user in users}}
    data = {name: {"labels": None, "results": one} for name, one in lists.items()}
    found = rn.compare(data, metrics="coverage@1", catalogue=users, test=test, draws=199)
    assert f"number of all lists together; the test {how}" in found.verdict
