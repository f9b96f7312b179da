"""One metric under every preset, the causes of each difference, and a published number."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from tests import strategies
from tests.commands import error_of, run
from tests.errors import rejects
from tests.profiles import examples

if TYPE_CHECKING:
    from tests.strategies import Sample
    from tests.textbook import Choices

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
COLUMNS = [
    "metric",
    "preset",
    "value",
    "yours",
    "difference",
    "causes",
    "changes",
    "note",
    "signature",
]
METRICS = ["ndcg@10", "precision@10", "recall@10", "ap@10"]


def _rows(n_users: int = 40) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    lengths = draw.integers(1, 14, n_users)
    user = np.repeat(np.arange(n_users), lengths)
    true = draw.integers(1, 6, len(user)).astype(float)
    estimated = np.round(true + draw.normal(0, 2, len(user)), 1)
    item = np.concatenate([np.arange(length) for length in lengths])
    return pd.DataFrame({"user": user, "item": item, "estimated": estimated, "true": true})


def _row(table: pd.DataFrame, preset: str, metric: str | None = None) -> dict[str, Any]:
    """Return one row of a reconciliation."""
    rows = table[table["preset"] == preset]
    if metric:
        rows = rows[rows["metric"] == metric]
    return {str(name): value for name, value in rows.to_dict("records")[0].items()}


ROWS = _rows()
HEADING = ["user", "item", "estimated", "true"]


@pytest.fixture(scope="module", name="table")
def _table() -> pd.DataFrame:
    return rn.reconcile(ROWS, METRICS, threshold=4.0)


def test_there_is_a_row_per_metric_and_preset(table: pd.DataFrame) -> None:
    """In the order of both."""
    assert list(table.columns) == COLUMNS
    presets = list(rn.Convention.presets())
    assert table["preset"].tolist() == presets * len(METRICS)
    assert table["metric"].tolist() == [one for one in METRICS for _ in presets]
    assert rn.reconcile(ROWS, "ndcg@10", threshold=4).columns.tolist() == COLUMNS


def test_a_value_is_what_evaluate_gives_under_the_preset(table: pd.DataFrame) -> None:
    """The mean over users, and the difference is from one's own."""
    own = rn.evaluate(ROWS, metrics=METRICS, threshold=4).mean
    for row in table.to_dict("records"):
        convention = rn.Convention.preset(row["preset"], row["metric"])
        report = rn.evaluate(ROWS, metrics=[row["metric"]], threshold=4, convention=convention)
        assert row["value"] == pytest.approx(report.mean.iloc[0], abs=1e-14)
        assert row["signature"] == report.signature(row["metric"])
        assert row["yours"] == pytest.approx(own[row["metric"]], abs=1e-14)
        assert row["difference"] == row["value"] - row["yours"]


def test_the_causes_add_up_and_are_what_one_change_after_the_other_does(
    table: pd.DataFrame,
) -> None:
    """By hand, with `Convention.replace` in the order of the signature."""
    for row in table.to_dict("records"):
        theirs = rn.Convention.preset(row["preset"], row["metric"])
        convention = rn.Convention()
        before = row["yours"]
        moved = {}
        for one in fields(rn.Convention):
            convention = convention.replace(**{one.name: getattr(theirs, one.name)})
            report = rn.evaluate(ROWS, metrics=row["metric"], threshold=4, convention=convention)
            after = report.mean.iloc[0]
            if abs(after - before) > 1e-12:
                moved[one.name] = after - before
            before = after
        assert row["causes"] == pytest.approx(moved, abs=1e-15)
        assert sum(row["causes"].values()) == pytest.approx(row["difference"], abs=1e-10)


@examples(0.6)
@given(
    data=strategies.datasets(),
    chosen=strategies.choices,
    metric=st.sampled_from(METRICS),
)
def test_the_causes_add_up_from_any_convention(data: Sample, chosen: Choices, metric: str) -> None:
    """Also where a choice is impossible without the next one."""
    assume(strategies.is_usable(data))
    convention = strategies.to_convention(strategies.without_estimate_limit(chosen, data))
    try:
        table = rn.reconcile(data.lists, metric, threshold=chosen.threshold, convention=convention)
    except rn.InvalidInputError as error:
        assert "ap_over='hits'" in str(error)  # noqa: PT017 - nothing else is refused
        return
    for row in table.dropna(subset=["difference"]).to_dict("records"):
        assert sum(row["causes"].values()) == pytest.approx(row["difference"], abs=1e-9)
    for row in table[table["value"].isna()].to_dict("records"):
        theirs = rn.Convention.preset(row["preset"], metric)
        try:
            report = rn.evaluate(
                data.lists, metrics=metric, threshold=chosen.threshold, convention=theirs
            )
        except rn.InvalidInputError as error:
            assert str(error) in row["note"]  # noqa: PT017 - either way is right
        else:
            assert report.mean.isna().all()


def test_the_changes_say_the_same_in_words(table: pd.DataFrame) -> None:
    """The value it changes to, the amount and its share, largest first."""
    row = _row(table, "lenskit", "precision@10")
    assert row["changes"].startswith(f"short_list=n {row['causes']['short_list']:+.4f} (")
    first, second = _row(table, "evidently", "precision@10")["changes"].split(", ")
    assert first.startswith("short_list=n +")
    assert second.startswith("mean_over=relevant +")
    shares = [int(part.rsplit("(", 1)[1].rstrip("%)")) for part in (first, second)]
    assert sum(shares) == pytest.approx(100, abs=1)
    same = table[table["difference"] == 0]
    assert len(same)
    assert (same["changes"] == "").all()


def test_a_choice_that_is_impossible_alone_waits_for_others() -> None:
    """The ideal of a top grade needs that grade, or binary gains."""
    mine = rn.Convention(gain="binary", ideal="max")
    table = rn.reconcile(ROWS, "ndcg@10", threshold=4, convention=mine)
    row = _row(table, "sklearn")
    assert list(row["causes"])[:2] == ["ideal", "gain"]
    assert sum(row["causes"].values()) == pytest.approx(row["difference"])
    assert "gain=linear " in row["changes"]


def test_ones_own_top_grade_and_duplicates_stay(table: pd.DataFrame) -> None:
    """They are facts of the data, not of a library."""
    twice = pd.concat([ROWS, ROWS.iloc[:5]])
    mine = rn.Convention(duplicates="last", max_grade=5.0)
    other = rn.reconcile(twice, METRICS, threshold=4, convention=mine)
    assert other["signature"].str.contains("duplicates:last.*max_grade:5.0").all()
    pd.testing.assert_frame_equal(other.drop(columns="signature"), table.drop(columns="signature"))


def test_what_a_library_does_not_compute_is_noted(table: pd.DataFrame) -> None:
    """And so is what it only calls so, while the others have no note."""
    note = _row(table, "sklearn", "precision@10")["note"]
    assert note.startswith("it has no such metric")
    note = _row(table, "elliot", "ap@10")["note"]
    assert note.startswith("what it calls ap is the mean of precision@1")
    assert _row(table, "sklearn", "ndcg@10")["note"] == ""


def test_a_preset_that_the_data_cannot_serve_has_a_reason_in_place_of_a_value() -> None:
    """The other rows stand."""
    pairs = {user: [(3.0, 5), (3.0, 1)] for user in range(3)}
    table = rn.reconcile(pairs, "ndcg@10")
    assert np.isnan(_row(table, "trec_eval")["value"])
    assert "no item ids" in _row(table, "trec_eval")["note"]
    assert "pass threshold=4.0" in _row(table, "replay")["note"]
    assert _row(table, "sklearn")["value"] < 1


def test_a_metric_that_fails_leaves_the_others_alone() -> None:
    """Torchmetrics' AP has no exact value under expected ties; its NDCG does."""
    tied = pd.DataFrame([("ann", i, 1.0, float(i)) for i in range(5)], columns=HEADING)
    mine = rn.Convention(ties="input")
    table = rn.reconcile(tied, ["ndcg@3", "ap@3"], threshold=3, convention=mine)
    assert table["value"].notna().all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": "ndcg@x"}, "'x' is not a number"),
        ({"metrics": "precision@10"}, "pass threshold"),
        ({"metrics": METRICS, "threshold": 4, "reported": 0.5}, "for the one metric asked for"),
        ({"metrics": "ndcg@10", "reported": "0.5"}, "reported must be a number .*'0.5'"),
        ({"metrics": "ndcg@10", "reported": float("nan")}, "reported must be a number"),
        ({"metrics": "ndcg@10", "convention": 7}, "convention must be a Convention"),
    ],
)
def test_what_cannot_be_reconciled_is_refused(options: dict[str, Any], message: str) -> None:
    """Before anything is computed."""
    with rejects(message):
        rn.reconcile(ROWS, **options)


def test_a_reported_number_is_traced_to_presets_and_changes() -> None:
    """The closest first, presets and changes of one's own choices together."""
    goal = rn.evaluate(
        ROWS, metrics="precision@10", threshold=4, convention=rn.Convention(short_list="n")
    ).mean.iloc[0]
    table = rn.reconcile(ROWS, "precision@10", threshold=4, reported=round(goal, 3))
    assert list(table.columns) == [*COLUMNS, "gap"]
    assert table["gap"].abs().is_monotonic_increasing
    assert (table["gap"] == table["value"] - round(goal, 3)).all()
    best = table[table["gap"].abs() < 5e-4]
    assert "lenskit" in best["preset"].tolist()
    alone = best[best["preset"].isna()]
    assert "short_list" in alone.iloc[0]["causes"]
    assert table["preset"].notna().sum() == len(rn.Convention.presets())


def test_a_second_change_must_come_closer() -> None:
    """By more than the fourth decimal; one that does nothing is not told."""
    goal = rn.evaluate(
        ROWS, metrics="precision@10", threshold=4, convention=rn.Convention(short_list="n")
    ).mean.iloc[0]
    table = rn.reconcile(ROWS, "precision@10", threshold=4, reported=goal)
    best = table[table["preset"].isna()].iloc[0]
    assert best["causes"].keys() == {"short_list"}
    exact = table[table["preset"].isna() & (table["gap"].abs() < 4e-4)]
    assert len(exact) == 1


def test_a_change_that_does_nothing_alone_is_tried_with_others() -> None:
    """What is undefined matters only once nothing need be recommended."""
    both = rn.Convention(recommend_from="threshold", undefined=1.0)
    goal = rn.evaluate(ROWS, metrics="precision@10", threshold=4, convention=both).mean.iloc[0]
    table = rn.reconcile(ROWS, "precision@10", threshold=4, reported=goal)
    found = table[table["preset"].isna()].iloc[0]
    assert found["gap"] == pytest.approx(0, abs=1e-12)
    assert set(found["causes"]) == {"recommend_from", "undefined"}


def test_nobody_with_a_score_is_told_once(path: Any) -> None:
    """Under one's own choices and under those of the presets."""
    said = run("reconcile", path, "--metric", "recall@10", "--threshold", "99").stdout
    assert said.count("nobody has a score") == 1
    (mine,) = [line for line in said.splitlines() if "(yours)" in line]
    assert mine.split()[:2] == ["-", "-"]


def test_ones_own_unchanged_choices_are_called_so(path: Any) -> None:
    """Where they are what comes closest."""
    own = rn.evaluate(ROWS, metrics="precision@10", threshold=4).mean.iloc[0]
    said = run(
        "reconcile", path, "--metric", "precision@10", "--threshold", "4", "--reported", str(own)
    ).stdout
    assert "(yours)" in said.splitlines()[2]


def test_a_table_for_a_reported_number_has_gaps_and_ten_rows(path: Any) -> None:
    """The closest, with their signs; what rounds to zero has none."""
    said = run(
        "reconcile", path, "--metric", "ndcg@10", "--threshold", "4", "--reported", "0.9"
    ).stdout
    heading, *lines = said.splitlines()[1:]
    lines = [line for line in lines if not line.startswith(("- ", "yours"))]
    assert heading.split()[:3] == ["value", "difference", "gap"]
    assert 5 < len(lines) <= 10
    gaps = [float(line.split()[2]) for line in lines]
    assert [abs(gap) for gap in gaps] == sorted(abs(gap) for gap in gaps)
    assert all(line.split()[2][0] in "+-" for line in lines)
    assert "-0.0000" not in said


def test_five_changes_of_ones_own_are_told_and_single_precision_is_tried() -> None:
    """Estimates that only double precision tells apart are ties in trec_eval."""
    rows = [("ann", "a", 1.0, 0.0), ("ann", "b", 1.0 + 1e-10, 1.0), ("bob", "a", 2.0, 1.0)]
    table = rn.reconcile(rows, "ndcg@10", reported=0.8)
    alone = table[table["preset"].isna()]
    assert len(alone) == 5
    assert any("tie_tolerance" in causes for causes in alone["causes"])


def test_what_has_no_value_says_why_at_the_command(path: Any) -> None:
    """Below the table, once for all of the same reason."""
    said = run("reconcile", path, "--metric", "ndcg@10").stdout
    lines = [line for line in said.splitlines() if "pass threshold=4.0" in line]
    assert lines[0].startswith("- recommenders, recommenders_map, rectools, replay, ")
    assert len(lines) < 4
    said = run("reconcile", path, "--metric", "ap@10", "--threshold", "4").stdout
    assert "- elliot: what it calls ap is the mean of" in said


def test_a_reported_number_may_need_two_changes() -> None:
    """Of one's own choices; a second change that does nothing is not told."""
    both = rn.Convention(short_list="n", undefined=0.0, mean_over="relevant")
    goal = rn.evaluate(ROWS, metrics="precision@10", threshold=4, convention=both).mean.iloc[0]
    table = rn.reconcile(ROWS, "precision@10", threshold=4, reported=goal)
    found = table[table["preset"].isna()].iloc[0]
    assert found["gap"] == pytest.approx(0, abs=1e-12)
    assert set(found["causes"]) == {"short_list", "mean_over"}


@pytest.fixture(name="path")
def _path(tmp_path: Any) -> Any:
    path = tmp_path / "p.csv"
    ROWS.to_csv(path, index=False)
    return path


def test_the_command_prints_a_table_for_reading(path: Any) -> None:
    """Presets with the same number stand together, one's own among them, the highest first."""
    words = ("reconcile", path, "--metric", "precision@10", "--threshold", "4")
    result = run(*words, "--full-signature")
    assert result.exit_code == 0
    assert not result.stderr
    short = run(*words).stdout.splitlines()
    assert short[:-1] == result.stdout.splitlines()[:-1]
    assert short[-1] == f"yours: defaults:{rn.Convention.default_digest()}"
    title, heading, *lines = result.stdout.splitlines()
    own = rn.evaluate(ROWS, metrics="precision@10", threshold=4).mean.iloc[0]
    assert title.strip() == f"precision@10: yours {own:.4f}"
    assert heading.split()[:2] == ["value", "difference"]
    assert lines[-1] == f"yours: {rn.Convention().signature}"
    table = [line.split() for line in lines[:-1] if not line.startswith("- ")]
    values = [float(cells[0]) for cells in table]
    assert values == sorted(values, reverse=True)
    (mine,) = [line for line in lines if "(yours)" in line]
    assert "ranx" in mine
    for name in rn.Convention.presets():
        assert re.search(rf"\b{name}\b", result.stdout)
    assert "[sklearn], [lightgbm]" in result.stdout
    assert "in brackets: libraries without precision@10" in result.stdout


def test_the_command_traces_a_reported_number(path: Any) -> None:
    """Metrics may be several without one."""
    result = run(
        "reconcile", path, "--metric", "precision@10", "--threshold", "4", "--reported", "0.5"
    )
    assert result.exit_code == 0
    assert "reported 0.5" in result.stdout.splitlines()[0]
    assert "(yours, changed)" in result.stdout
    both = run("reconcile", path, "--metric", "precision@10,ndcg@5", "--threshold", "4")
    assert [
        line.split(":")[0].strip() for line in both.stdout.splitlines() if ": yours" in line
    ] == [
        "precision@10",
        "ndcg@5",
    ]


def test_the_command_refuses_in_a_line(path: Any) -> None:
    """As the others do."""
    assert "Did you mean 'ndcg'" in error_of("reconcile", path, "--metric", "ndgc")
    assert "pass threshold" in error_of("reconcile", path, "--metric", "precision@5")
    assert "No preset" in error_of("evaluate", path, "--preset", "x")


def test_evaluate_takes_a_preset_and_a_signature(path: Any) -> None:
    """What one run printed can be given to the next."""
    said = run("evaluate", path, "--preset", "sklearn").stdout.splitlines()
    assert "|gain:linear|" in said[-1]
    again = run("evaluate", path, "--convention", said[-1]).stdout.splitlines()
    assert again == said
    other = run("evaluate", path, "--preset", "sklearn", "--convention", "undefined=skip").stdout
    assert "|gain:linear|" in other
    assert "|undefined:" not in other  # the default


def test_a_preset_that_treats_metrics_differently_measures_each_in_its_way(path: Any) -> None:
    """Also the default metrics, and several that a comma joins; the line below tells them apart."""
    for name, metrics in (("catboost", "ndcg,ap"), ("evidently", "ndcg,precision,recall")):
        said = run(
            "evaluate", path, "--preset", name, "--metrics", metrics, "--threshold", "4"
        ).stdout
        for metric in metrics.split(","):
            alone = rn.evaluate(
                ROWS,
                metrics=f"{metric}@10",
                threshold=4,
                convention=rn.Convention.preset(name, metric),
            )
            row = next(line for line in said.splitlines() if line.startswith(f"{metric}@10 "))
            assert row.split()[1] == f"{alone.mean.iloc[0]:.4f}"
    catboost = run(
        "evaluate", path, "--preset", "catboost", "--metrics", "ndcg,ap", "--threshold=4"
    )
    assert "|undefined:1.0|" in catboost.stdout
    assert "the same for ap@10|ap_over:capped|undefined:0.0|threshold:4.0|" in catboost.stdout
    both = run("reconcile", path, "--metric", "ndcg,ap", "--preset", "catboost", "--threshold", "4")
    yours = [line for line in both.stdout.splitlines() if line.startswith("yours: ")]
    assert [line.partition("undefined:")[2][:3] for line in yours] == ["1.0", "0.0"]


def test_a_signature_brings_its_threshold_to_the_command(path: Any) -> None:
    """And stands alone: a preset beside it would be lost."""
    printed = run("evaluate", path, "--metrics", "recall@3", "--threshold", "4").stdout
    line = printed.splitlines()[-1]
    assert run("evaluate", path, "--metrics", "recall@3", "--convention", line).stdout == printed
    both = ("--preset", "sklearn", "--convention", line)
    assert "give one of them" in error_of("evaluate", path, *both)
    mapped = run("evaluate", path, "--convention", "gain=map(1=0,2=1,3=2,4=3,5=4)")
    assert "gain:map(1.0=0.0,2.0=1.0" in mapped.stdout
