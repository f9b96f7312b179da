"""One metric under every preset, the causes of each difference, and a published number."""

from __future__ import annotations

import re
from dataclasses import fields
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.convention import PRESETS as LIBRARIES
from recsys_ndcg.glossary import format_legend
from tests import strategies
from tests.commands import error_of, run
from tests.errors import rejects
from tests.profiles import examples, slow
from tests.scale.cases import predictions
from tests.strategies import Sample
from tests.textbook import Choices

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
COLUMNS = "metric preset value yours difference causes changes note signature"
METRICS = ["ndcg@10", "precision@10", "recall@10", "ap@10"]
PRESETS = [name for name, one in LIBRARIES.items() if one.metrics]


ROWS = predictions(0, n_users=40, n_rows=260).round(1)
DEFAULT = rn.Convention()


@cache
def mean_of(metric: str, convention: rn.Convention = DEFAULT) -> float:
    """Return the mean of a metric under a convention, as `evaluate` computes it."""
    return float(rn.evaluate(ROWS, metrics=metric, threshold=4, convention=convention).mean.iloc[0])


def row_of(table: pd.DataFrame, preset: str, metric: str = "ndcg@10") -> Any:
    """Return one row of a reconciliation."""
    rows: list[Any] = table.to_dict("records")
    return next(row for row in rows if (row["preset"], row["metric"]) == (preset, metric))


@pytest.fixture(scope="module", name="table")
def _table() -> pd.DataFrame:
    return rn.reconcile(ROWS, METRICS, threshold=4.0)


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    ROWS.to_csv(tmp_path / "p.csv", index=False)
    return tmp_path / "p.csv"


def test_there_is_a_row_per_metric_and_preset_in_their_order(table: pd.DataFrame) -> None:
    """With the same columns, however many metrics there are."""
    assert " ".join(table.columns) == COLUMNS
    pairs = zip(table["metric"], table["preset"], strict=True)
    assert [*pairs] == [*product(METRICS, PRESETS)]


@pytest.mark.parametrize("presets", [PRESETS[::9], *slow(PRESETS)], ids=["some", "all"])
def test_causes_are_those_of_successive_changes(table: pd.DataFrame, presets: list[str]) -> None:
    """By hand, with `Convention.replace` in the order of the signature."""
    for row in table[table["preset"].isin(presets)].to_dict("records"):
        metric = row["metric"]
        theirs = rn.Convention.preset(row["preset"], metric)
        convention, before = DEFAULT, mean_of(metric)
        assert row["yours"] == pytest.approx(before, abs=1e-14)
        causes = {}
        for one in fields(rn.Convention):
            convention = convention.replace(**{one.name: getattr(theirs, one.name)})
            after = mean_of(metric, convention)
            if abs(after - before) > 1e-12:
                causes[one.name] = after - before
            before = after
        assert row["value"] == pytest.approx(before, abs=1e-14)
        assert row["difference"] == row["value"] - row["yours"]
        assert row["causes"] == pytest.approx(causes, abs=1e-15)
        report = rn.evaluate(ROWS, metrics=metric, threshold=4, convention=theirs)
        assert row["signature"] == report.signature(metric)


@examples(0.6)
@given(data=strategies.datasets(), chosen=strategies.choices, metric=st.sampled_from(METRICS))
def test_causes_add_up_under_any_convention(data: Sample, chosen: Choices, metric: str) -> None:
    """Also if a choice is impossible without the next one; a missing value has its reason."""
    assume(strategies.is_usable(data))
    convention = strategies.to_convention(strategies.without_estimate_limit(chosen, data))
    try:
        table = rn.reconcile(data.lists, metric, threshold=chosen.threshold, convention=convention)
    except rn.InvalidInputError as error:
        assert "ap_over='hits'" in str(error)  # noqa: PT017 - the only reason to raise
        return
    for row in table.to_dict("records"):
        if not np.isnan(row["difference"]):
            assert sum(row["causes"].values()) == pytest.approx(row["difference"], abs=1e-9)
        assert row["note"] or not np.isnan(row["value"])


def test_changes_name_the_new_value_the_amount_and_its_share(table: pd.DataFrame) -> None:
    """The largest first, and nothing if the number is the same."""
    first, second = row_of(table, "evidently", "precision@10")["changes"].split(", ")
    amount = row_of(table, "evidently", "precision@10")["causes"]["short_list"]
    assert first.startswith(f"short_list=n {amount:+.4f} (")
    assert second.startswith("mean_over=relevant +")
    assert sum(map(int, re.findall(r"(\d+)%", first + second))) == pytest.approx(100, abs=1)
    assert set(table[table["difference"] == 0]["changes"]) == {""}


def test_a_choice_that_is_impossible_by_itself_waits_for_others() -> None:
    """The ideal of a top grade needs that grade, or binary gains."""
    mine = rn.Convention(gain="binary", ideal="max")
    row = row_of(rn.reconcile(ROWS, "ndcg@10", threshold=4, convention=mine), "sklearn")
    assert list(row["causes"])[:2] == ["ideal", "gain"]
    assert "gain=linear " in row["changes"]


def test_presets_keep_your_top_grade_and_duplicates(table: pd.DataFrame) -> None:
    """They are facts of the data, not of a library."""
    twice = pd.concat([ROWS, ROWS.iloc[:5]])
    mine = rn.Convention(duplicates="last", max_grade=5.0)
    other = rn.reconcile(twice, "ndcg@10", threshold=4, convention=mine)
    assert other["signature"].str.contains("duplicates:last.*max_grade:5.0").all()
    same = table[table["metric"] == "ndcg@10"]
    pd.testing.assert_frame_equal(other.drop(columns="signature"), same.drop(columns="signature"))


FACTS_OF_ITEMS: dict[str, tuple[str, Any]] = {  # an option, and a metric that needs it
    "train": ("popularity@3", [(user, item) for user in range(9) for item in range(user)]),
    "catalogue": ("coverage@3", range(500)),
    "features": ("diversity(topic)@3", {"item": [*range(99)], "topic": [*"abcdefghijk"] * 9}),
    "base": (
        "overlap@3",
        ROWS[["user", "item"]].assign(estimated=ROWS["true"] + ROWS["item"] / 99),
    ),
    "weights": ("recall@3", {item: 1 + item % 3 for item in range(99)}),
}


@pytest.mark.parametrize("option", FACTS_OF_ITEMS)
def test_what_is_known_of_items_counts_as_in_evaluate(option: str) -> None:
    """For your number, and for a library's where it has the metric."""
    metric, given = FACTS_OF_ITEMS[option]
    how: Any = {"threshold": 4, option: given}
    lists = {"labels": ROWS.drop(columns="estimated"), "results": ROWS.drop(columns="true")}
    table = rn.reconcile(lists, metric, **how)
    assert {*table["yours"]} == {rn.evaluate(lists, metrics=metric, **how).mean.iloc[0]}
    theirs = rn.evaluate(lists, metrics=metric, convention=table["preset"].iloc[-1], **how)
    assert table["value"].iloc[-1] == pytest.approx(theirs.mean.iloc[0])


def test_a_note_tells_that_a_library_has_no_such_metric(table: pd.DataFrame) -> None:
    """The others have no note."""
    assert row_of(table, "sklearn", "precision@10")["note"].startswith("it has no such metric")
    assert row_of(table, "sklearn")["note"] == ""


def test_a_preset_that_the_data_cannot_serve_has_a_reason_in_place_of_a_value() -> None:
    """The other rows, and other metrics of the same preset, have their values."""
    pairs = {user: [(3.0, 5), (3.0, 1)] for user in range(3)}
    table = rn.reconcile(pairs, "ndcg@10")
    assert np.isnan(row_of(table, "trec_eval")["value"])
    assert "no item ids" in row_of(table, "trec_eval")["note"]
    assert "pass threshold=4" in row_of(table, "replay")["note"]
    assert row_of(table, "sklearn")["value"] < 1
    tied = [("ann", item, 1.0, float(item)) for item in range(5)]
    mine = rn.Convention(ties="input")  # under expected ties, torchmetrics' AP has no exact value
    table = rn.reconcile(tied, ["ndcg@3", "ap@3"], threshold=3, convention=mine)
    assert table["value"].notna().all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": "precision@10"}, "pass threshold"),
        ({"metrics": METRICS, "threshold": 4, "reported": 0.5}, "reported must be for a single"),
        ({"metrics": "ndcg@10", "reported": "0.5"}, "reported must be a number, .*'0.5'"),
    ],
)  # fmt: skip
def test_unusable_options_are_rejected_first(options: dict[str, Any], message: str) -> None:
    """Missing thresholds, several metrics for one number, and what is no number."""
    with rejects(message):
        rn.reconcile(ROWS, **options)


@pytest.mark.parametrize(
    "changes",
    [
        {"short_list": "n"},  # a second change that does nothing is not shown
        {"recommend_from": "threshold", "undefined": 1.0},  # of which the second needs the first
        {"short_list": "n", "mean_over": "relevant"},
    ],
)
def test_a_reported_number_is_traced_to_presets_and_own_changes(changes: dict[str, Any]) -> None:
    """The closest first; a second change is only shown if it comes closer."""
    reported = mean_of("precision@10", rn.Convention(**changes))
    table = rn.reconcile(ROWS, "precision@10", threshold=4, reported=reported)
    assert " ".join(table.columns) == f"{COLUMNS} gap"
    assert table["gap"].abs().is_monotonic_increasing
    assert [*table.index] == [*range(len(table))]
    assert f", reported {reported}" in str(table)
    assert set(table["preset"].dropna()) == {*PRESETS}
    own = table[table["preset"].isna()]
    assert own.iloc[0]["causes"].keys() == changes.keys()
    assert own.iloc[0]["value"] - reported == own.iloc[0]["gap"] == pytest.approx(0, abs=1e-12)
    assert (own["gap"].abs() < 4e-4).sum() == 1


def test_single_precision_is_among_the_five_changes_that_are_shown() -> None:
    """Estimates that only double precision distinguishes are ties in trec_eval."""
    rows = [("ann", "a", 1.0, 0.0), ("ann", "b", 1.0 + 1e-10, 1.0), ("bob", "a", 2.0, 1.0)]
    table = rn.reconcile(rows, "ndcg@10", reported=0.8)
    own = table[table["preset"].isna()]["causes"].tolist()
    assert len(own) == 5
    assert any("tie_tolerance" in causes for causes in own)


def _printed(path: Path, metric: str, *words: str) -> list[str]:
    result = run("reconcile", path, "--metric", metric, *words)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout.splitlines()


def test_the_command_prints_one_row_per_number_with_yours_among_them(path: Path) -> None:
    """The highest first; presets with the same number share a row."""
    title, heading, *lines = _printed(path, "precision@10", "--threshold", "4", "--full-signature")
    short = _printed(path, "precision@10", "--threshold", "4")
    digest = f"yours: defaults:{rn.Convention.digest_defaults()}"
    legend = format_legend(["defaults:…"])[0].replace(
        "Convention.from_signature", "--full-signature"
    )
    assert short == [title, heading, *lines[:-1], legend, digest]
    assert lines[-1] == f"yours: {DEFAULT.signature}"
    assert title.strip() == f"precision@10: yours {mean_of('precision@10'):.4f}"
    values = [float(line.split()[0]) for line in lines if re.match(r" *\d", line)]
    assert values == sorted(values, reverse=True)
    assert ["ranx" in line for line in lines if "(yours)" in line] == [True]
    text = "\n".join(lines)
    assert all(re.search(rf"\b{name}\b", text) for name in PRESETS)
    assert "[sklearn], [lightgbm]" in text
    assert "in brackets: libraries without precision@10" in text
    both = _printed(path, "precision@10,ndcg@5", "--threshold", "4")
    titles = [line.split(":")[0].strip() for line in both if ": yours" in line]
    assert titles == ["precision@10", "ndcg@5"]
    both = _printed(path, "ndcg,ap", "--preset", "catboost", "--threshold", "4")
    yours = [line for line in both if line.startswith("yours: ")]
    assert [line.partition("undefined:")[2][:3] for line in yours] == ["1.0", "0.0"]


def test_the_command_prints_the_ten_rows_closest_to_a_reported_number(path: Path) -> None:
    """With signed gaps; what rounds to zero has no minus."""
    own = str(mean_of("precision@10"))
    title, heading, *lines = _printed(path, "precision@10", "--threshold", "4", "--reported", own)
    assert f"reported {own}" in title
    assert heading.split()[:5] == ["value", "minus", "yours", "minus", "reported"]
    lines = [line for line in lines if re.match(r" *\d", line)]
    assert "(yours)" in lines[0]
    assert 5 < len(lines) <= 10
    gaps = [line.split()[2] for line in lines]
    assert gaps == sorted(gaps, key=lambda gap: abs(float(gap)))
    assert all(re.match(r"[+-]\d", gap) and gap != "-0.0000" for gap in gaps)
    assert any("(yours, changed)" in line for line in lines)


def test_the_command_prints_each_reason_for_a_missing_value_once(path: Path) -> None:
    """Below the table, with all presets that it is the reason for."""
    lines = [line for line in _printed(path, "ndcg@10") if "pass threshold=" in line]
    assert lines[0].startswith("- recommenders, recommenders_map, rectools, replay, ")
    assert len(lines) < 4
    text = "\n".join(_printed(path, "ap@10", "--threshold", "4"))
    assert "- elliot: what it calls ap is the mean of" in text
    lines = _printed(path, "recall@10", "--threshold", "99")
    assert "\n".join(lines).count("no user has a score") == 1
    assert [line.split()[:2] for line in lines if "(yours)" in line] == [["-", "-"]]


def test_a_printed_signature_can_be_passed_to_the_next_run(path: Path) -> None:
    """With its threshold, and without a preset, which would have no effect."""
    asked = ("evaluate", path, "--metrics", "recall@3", "--preset", "sklearn")
    printed = run(*asked, "--threshold", "4").stdout
    line = printed.splitlines()[-1]
    assert run(*asked[:4], "--convention", line).stdout == printed
    assert "Pass only one of them" in error_of(*asked, "--convention", line)
