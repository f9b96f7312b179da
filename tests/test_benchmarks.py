"""What the benchmarks time computes the same as the library, and is printed in order."""

from __future__ import annotations

from importlib import import_module
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
    means, found = steps.profile(frame)
    assert means.to_dict() == _ours(frame)
    assert min(found.values()) >= 0
    assert {step for step, took in found.items() if not took} <= {"ties"}
    assert steps.Audit.of.__self__ is steps.Audit  # as before


def test_a_clock_counts_once_what_threads_do_at_once() -> None:
    """Spans that overlap are one."""
    clock = import_module("side_by_side.steps").Clock()
    clock.spans = {"read": [(5.0, 6.0), (1.0, 3.0), (2.0, 4.0), (1.5, 2.0)]}
    assert clock.seconds("read") == 4
    assert clock.seconds("scan") == 0


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
        assert answer["seconds"] > 0
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
    races = import_module("side_by_side.races")
    means = {"ndcg@10": 0.5}
    timed = [races.Pair(*pair) for pair in pairs]
    return races.Result(one, "1.0", timed, 3 * 2**20, means, off)


def test_results_are_sorted_by_their_ratio(frame: pd.DataFrame, tmp_path: Path) -> None:
    """The ratio is the median of the pairs' ratios; a library that did not run is last."""
    races, them = import_module("side_by_side.races"), import_module("side_by_side.contestants")
    slow, quick, absent = them.PEERS[:3]
    found = {
        slow: _result(slow, [(0.1, 2.0), (0.2, 1.0), (0.1, 1.5)], 2e-3),
        absent: "not run: tired",
        quick: _result(quick, [(5.0, 0.5)], 0.0),
        them.OURS: _result(them.OURS, [(0.1, 0.1)], 0.0),
    }
    shown = races.format_results(races.Frame(frame, tmp_path, tmp_path), found).splitlines()
    names = [f"{one.name} 1.0" for one in (quick, them.OURS, slow)]
    assert [line.split("  ")[0] for line in shown[1:-1]] == names
    assert shown[1].split()[-9:-3] == ["0.500", "5.000", "0.10", "1", "run", "3"]
    assert shown[3].split()[-8:-3] == ["1.500", "0.100", "15", "5.00-20", "3"]
    assert shown[3].endswith("2e-03")
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
    assert epoch.seconds == epoch.updates + epoch.result > 0


def test_epochs_are_compared_run_by_run() -> None:
    """The ratio is the median of the runs' ratios; without torchmetrics it has no row."""
    format_rows = import_module("updates").format_rows
    own = [[0.9, 0.1, 1024, [0.5, 0.25], 1.0], [1.8, 0.2, 1024, [0.5, 0.25], 2.0]]
    peer = [[0.1, 2.9, 2048, [0.5, 0.26], 3.0], [0.1, 9.9, 2048, [0.5, 0.26], 10.0]]
    both = zip(own, peer, strict=True)
    runs = [{"columns": one, "tables": one, "theirs": other} for one, other in both]
    first, _, last = format_rows(32, 10, "1.9.0", runs)
    assert first[:4] == ["32", "recsys_ndcg, columns", "1.500", "1.00"]
    assert last[1:5] == ["torchmetrics 1.9.0", "6.500", "4.00", "3.00-5.00"]
    assert last[5:] == ["10.00 ms", "6,400.0 ms", "2 KiB", "1e-02"]
    assert len(format_rows(32, 10, None, runs)) == 2
