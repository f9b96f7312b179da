"""What the benchmarks time computes the same as the library, and is printed in order."""

from __future__ import annotations

from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.pages import ROOT
from tests.scale.cases import predictions

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
BENCHMARKS = ROOT / "benchmarks"
METRICS = ["ndcg@10", "precision@10", "recall@10"]
INPUT_FORMS = [
    "pandas, text as objects", "pandas, text as str", "pandas, Arrow strings", "pandas, categories",
    "pyarrow, text", "pyarrow, dictionaries", "polars, text", "polars, Categorical", "polars, Enum",
    "polars, lazy, 4 of 8 columns", "Parquet, integers", "Parquet, text", "CSV, integers",
    "CSV, text", "rows as tuples", "Surprise predictions", "from_labels",
    '1 % repeated rows, "first"', '1 % repeated rows, "mean"', 'ties="item_asc"', 'ties="text_asc"',
]  # fmt: skip


@pytest.fixture(autouse=True)
def _scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Import as the scripts and the workers do."""
    for place in (BENCHMARKS, BENCHMARKS / "side_by_side"):
        monkeypatch.syspath_prepend(place)


@pytest.fixture
def frame() -> pd.DataFrame:
    """Draw lists without ties; for the first user, nothing is relevant."""
    rows = predictions(4, n_users=60, n_rows=900)
    return rows.assign(true=rows["true"].where(rows["user"] > rows["user"].min(), 0.0))


def _ours(frame: pd.DataFrame) -> dict[str, float]:
    mean = rn.evaluate(frame, metrics=METRICS, threshold=4).mean
    return {str(metric): float(value) for metric, value in mean.items()}


@pytest.mark.parametrize("name", ["ours", "polars_by_hand", "duckdb_by_hand", "duckdb_by_lists"])
def test_a_query_by_hand_gives_our_means(name: str, frame: pd.DataFrame) -> None:
    """Without ties, of short lists and of a user without a score too."""
    if name != "ours":
        pytest.importorskip(name.partition("_")[0])
    means = import_module(f"libraries.{name}").means(frame)
    assert means == pytest.approx(_ours(frame), abs=1e-12)


def test_the_steps_are_those_of_a_real_evaluation(frame: pd.DataFrame) -> None:
    """The means are the same, every function is called, and all the time is counted."""
    steps = import_module("side_by_side.steps")
    means, seconds = steps.profile(frame)
    assert means.to_dict() == _ours(frame)
    assert [*seconds] == [*steps.STEPS]
    assert min(map(min, seconds.values())) >= 0
    assert {step for step, taken in seconds.items() if not taken.all()} <= {"ties"}
    assert steps.Audit.of.__self__ is steps.Audit  # as before


def test_the_steps_of_many_users_add_up_to_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """With more than 1,000 users, warnings measure a sample of them by the same functions."""
    steps = import_module("side_by_side.steps")
    frame = import_module("evaluate").draw_ratings_with_ties(6_000, per_user=4)
    rows = [line.rsplit(maxsplit=4) for line in steps.format_profile(frame, 1).splitlines()[1:]]
    assert [row[0] for row in rows] == [*steps.STEPS, "all"]
    *parts, whole = ([float(row[column]) for column in (1, 3)] for row in rows)
    assert np.sum(parts, axis=0) == pytest.approx(whole, abs=0.6)
    ticks = count()
    monkeypatch.setattr(steps, "read_clocks", lambda: next(ticks) * np.array([1.0, 2.0]))
    _, seconds = steps.profile(frame)
    assert np.min([*seconds.values()]) > 0
    last = next(ticks) - 1
    assert sum(seconds.values()) == pytest.approx([last - 1, 2 * (last - 1)])  # since the first


@pytest.mark.parametrize(
    ("inner", "outer", "taken"),
    [
        ("read", "read", {"read": 3}),  # as if in two threads
        ("grouping", "repeats", {"grouping": 1, "repeats": 2}),
        ("scan", "warnings", {"warnings": 1}),
    ],
)
def test_a_clock_counts_all_time_once(
    inner: str, outer: str, taken: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What other steps call is a part of them, except a step that has its caller's rows."""
    steps, ticks = import_module("side_by_side.steps"), count()
    monkeypatch.setattr(steps, "read_clocks", lambda: np.full(2, next(ticks)))
    clock = steps.Clock()
    clock.wrap(clock.wrap(clock.wrap(int, inner), outer), steps.REST)()
    assert {step: [*seconds] for step, seconds in clock.taken.items()} == {
        step: [seconds] * 2 for step, seconds in {steps.REST: 2, **taken}.items()
    }


def test_evaluations_are_timed_by_size() -> None:
    """Also of ten users, with CPU and wall."""
    first, *rows = import_module("evaluate").compare_sizes([(100, 10), (1_000, 5)]).splitlines()
    assert first.split()[:5] == ["rows", "users", "CPU", "wall", "ns/row"]
    assert [row.split()[:2] for row in rows] == [["100", "10"], ["1,000", "200"]]


@pytest.mark.slow
@pytest.mark.parametrize("per_user", [5, 150])
def test_the_compiled_reference_gives_our_scores(per_user: int) -> None:
    """Of users with ties and of users with fewer than ten items; not with a repeated pair."""
    pytest.importorskip("numba", reason="numba is not installed")
    frame = import_module("evaluate").draw_ratings_with_ties(15_000, per_user)
    frame["estimated"] = frame["estimated"].round(1)
    score_users = import_module("numba_kernel").score_users
    columns = [frame[name].to_numpy() for name in frame]
    ours = rn.evaluate(frame, metrics=METRICS, threshold=4).per_user[METRICS].sort_index()
    assert score_users(*columns, 4.0) == pytest.approx(ours.to_numpy(), abs=1e-12, nan_ok=True)
    with pytest.raises(ValueError):  # noqa: PT011 - numba has no message
        score_users(*(np.append(column, column[0]) for column in columns), 4.0)


def test_costs_are_relative_to_an_evaluation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a report's and of a comparison's steps."""
    monkeypatch.setattr("sys.argv", ["reports.py", "100"])
    import_module("reports").main()
    tables = [part.splitlines()[1:] for part in capsys.readouterr().out.split("\n\n")[1:]]
    assert [table[1].split("  ")[0] for table in tables] == [
        "evaluate", "evaluate", "evaluate", "five times evaluate",
    ]  # fmt: skip
    assert all(table[1].split()[-4:-1:2] == ["1.00", "1.00"] for table in tables)


def test_every_form_of_input_is_tested() -> None:
    """By their names."""
    forms = import_module("side_by_side.input_forms").INPUT_FORMS
    assert [form.name for form in forms] == INPUT_FORMS


@pytest.mark.parametrize("name", INPUT_FORMS)
def test_every_input_gives_the_same_means(name: str, frame: pd.DataFrame, tmp_path: Path) -> None:
    """With the same means, unless a convention changes them."""
    forms = import_module("side_by_side.input_forms")
    (form,) = [one for one in forms.INPUT_FORMS if one.name == name]
    if form.needs or "Parquet" in name:
        pytest.importorskip(form.needs or "pyarrow")
    found = forms.evaluate_form(form, form.make(forms.SourceData(frame, tmp_path)))
    if form.convention is None or form.convention.duplicates == "raise":
        assert found.to_dict() == pytest.approx(_ours(frame), abs=1e-15)
    else:
        assert found.to_dict() != _ours(frame)


@pytest.mark.slow
def test_a_worker_answers(frame: pd.DataFrame, tmp_path: Path) -> None:
    """With the means of the frame that it has read, and the reason where it fails."""
    processes = import_module("side_by_side.processes")
    ours = import_module("side_by_side.contestants").OURS
    with processes.Process(ours) as process:
        process.read(processes.save(frame, tmp_path / "frame"))
        answer = process.run(watch=True)
        assert answer["means"] == pytest.approx(_ours(frame), abs=0)
        assert min(answer["seconds"]) > 0
        assert answer["memory"] >= 0
        with pytest.raises(processes.FailedError, match="No such file"):
            process.read(tmp_path / "nothing")


def test_every_contestant_is_there() -> None:
    """Its module, its environment, and the preset it is held against."""
    environments = import_module("side_by_side.processes").read_environments()
    for one in import_module("side_by_side.contestants").PEERS:
        assert (BENCHMARKS / "side_by_side" / "libraries" / f"{one.module}.py").exists()
        assert one.environment in environments
        assert one.preset is None or rn.Convention.preset(one.preset, "ndcg@10")
        assert one.leaves_out


def _result(one: Any, pairs: list[tuple[float, float]], off: float) -> Any:
    """By CPU ours takes as long as by wall, and the library half as long."""
    races = import_module("side_by_side.races")
    timed = np.array([[(ours, ours), (theirs / 2, theirs)] for ours, theirs in pairs])
    return races.Result(one, "1.0", timed, 3 * 2**20, {"ndcg@10": 0.5}, off)


def test_results_are_sorted_by_their_ratio() -> None:
    """The ratio is the median of the pairs' ratios; a library that did not run is last."""
    races, them = import_module("side_by_side.races"), import_module("side_by_side.contestants")
    slow, quick, absent = them.PEERS[:3]
    found = {
        slow: _result(slow, [(0.1, 2.0), (0.2, 1.0), (0.1, 1.5)], 2e-3),
        absent: "not run: tired",
        quick: _result(quick, [(5.0, 0.5)], 0.0),
        them.OURS: _result(them.OURS, [(0.1, 0.2)], 0.0),
    }
    shown = races.format_results(found).splitlines()
    names = [f"{one.name} 1.0" for one in (quick, them.OURS, slow)]
    assert [line.split("  ")[0] for line in shown[1:-1]] == names
    cpu, wall = ["0.250", "5.000", "0.05"], ["0.500", "5.000", "0.10"]
    assert shown[1].split()[-10:] == [*cpu, "1", "run", *wall, "3", "0e+00"]
    cpu, wall = ["0.750", "0.100", "7.50"], ["1.500", "0.100", "15"]
    assert shown[3].split()[-9:] == [*cpu, "2.50-10", *wall, "3", "2e-03"]
    assert shown[4] == f"{absent.name}: not run: tired"


def test_columns_are_as_wide_as_they_must_be() -> None:
    """The first at the left, the others at the right."""
    table = import_module("side_by_side.tables").format_table
    rows = [["a", "1", "22"], ["bbb", "", ""]]
    assert table(["", "x", "long"], rows) == "     x  long\na    1    22\nbbb"


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("way", ["run_ours", "run_theirs"])
def test_an_epoch_gives_the_means_of_all_rows(way: str, flat: bool) -> None:  # noqa: FBT001
    """Whatever the batches; torchmetrics too, if it is installed, in single precision."""
    loops = import_module("side_by_side.loops")
    if way == "run_theirs":
        pytest.importorskip("torchmetrics", reason="torchmetrics is not installed")
        flat = True
    tables = loops.draw_tables(50, 20)
    user, estimated, true = (one.ravel() for one in tables)
    item = np.tile(np.arange(20), 50)
    rows = {"user": user, "item": item, "estimated": estimated, "true": true}
    expected = rn.evaluate(rows, metrics=METRICS, threshold=1, convention="torchmetrics").mean
    epoch = getattr(loops, way)(loops.cut_batches(tables, 15, flat=flat))
    near = 1e-6 if way == "run_theirs" else 1e-12
    assert epoch.means == pytest.approx(expected.tolist(), abs=near)
    assert epoch.held > 0
    assert min(*epoch.updates, *epoch.result) > 0  # CPU and wall


def test_epochs_are_compared_run_by_run() -> None:
    """The ratio is the median of the runs' ratios; without torchmetrics it has no row."""
    format_rows = import_module("updates").format_rows
    own = [[(0.9, 1.9), (0.1, 0.1), 1024, [0.5, 0.25]], [(1.8, 3.8), (0.2, 0.2), 1024, [0.5, 0.25]]]
    peer = [
        [(0.1, 0.1), (2.9, 3.9), 2048, [0.5, 0.26]],
        [(0.1, 0.1), (9.9, 7.9), 2048, [0.5, 0.26]],
    ]
    both = zip(own, peer, strict=True)
    runs = [{"columns": one, "tables": one, "theirs": other} for one, other in both]
    first, _, last = format_rows(32, 10, "1.9.0", runs)
    assert first[:6] == ["32", "recsys_ndcg, columns", "1.500", "1.00", "3.000", "1.00"]
    assert last[1:7] == ["torchmetrics 1.9.0", "6.500", "4.00", "6.000", "2.00", "3.00-5.00"]
    assert last[7:] == ["10.00", "6,400.0", "2", "1e-02"]
    assert len(format_rows(32, 10, None, runs)) == 2
