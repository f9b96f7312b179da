"""The leaderboard that fills while an experiment runs."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from recsys_ndcg.cli.training import LiveLeaderboard
from recsys_ndcg.surprise import MostPopular
from tests.experiments.made import models, run

if TYPE_CHECKING:
    from recsys_ndcg.experiments.cells import Result


@pytest.fixture(name="terminal")
def _terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Return what is written to a terminal of 60 columns."""
    written = io.StringIO()
    console = Console(file=written, force_terminal=True, width=60, highlight=False, markup=False)
    monkeypatch.setattr("recsys_ndcg.cli.training.err", console)
    return written


def _results(**options: Any) -> list[Result]:
    found: list[Result] = []
    run(on_result=found.append, **options)
    return found


def test_it_has_the_means_so_far() -> None:
    """Of each model over its folds, the best first; of those without any, none."""
    results = _results(metrics=["ndcg@5", "rmse"])
    shown = LiveLeaderboard([*models()])
    assert shown.table()["folds"].tolist() == [0, 0, 0]
    for one in results[:4]:
        shown.add(one)
    table = shown.table()
    assert table["folds"].to_dict() == {"SVD": 2, "biases": 1, "top": 1}
    first, second = (one.scores["ndcg@5"] for one in results if one.model == "SVD")
    assert table["ndcg@5"]["SVD"] == pytest.approx((first + second) / 2)
    assert table["ndcg@5"].is_monotonic_decreasing


def test_the_least_error_stands_first() -> None:
    """Where it is asked for first."""
    shown = LiveLeaderboard([*models()])
    for one in _results(metrics=["rmse", "ndcg@5"]):
        shown.add(one)
    assert shown.table()["rmse"].is_monotonic_increasing


def test_a_terminal_shows_it_and_is_clean_in_the_end(terminal: io.StringIO) -> None:
    """Names act on nothing, the bar says how far it is, and nothing stays."""
    name = "[red]\x1b[31m" + "m" * 80
    shown = LiveLeaderboard([name.replace("\x1b", "?"), "top"])
    (result, *_) = _results(given={"top": MostPopular(), "other": MostPopular()})
    with shown.shown():
        shown.progress("Training", 0.25)
        shown.add(result)
    text = terminal.getvalue()
    assert "Training" in text
    assert "25%" in text
    assert "[red]" in text
    assert "ndcg@5" in text
    assert text.endswith("\x1b[2K")  # the last line of it is wiped out
