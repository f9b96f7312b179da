"""In a notebook and by print, results show themselves as the command line does; charts offline."""

from __future__ import annotations

import builtins
import copy
import json
import pickle
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.commands import run
from tests.comparison.models import model, models, ratings
from tests.errors import assert_rejected
from tests.rendering.parsed import Parsed
from tests.scale.cases import predictions

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
ROWS = predictions(0, n_users=40, n_rows=260).round(1)
REPORT = rn.evaluate(ROWS, metrics=["ndcg@10", "recall@5"], threshold=4)
MODELS = models(60)


def _words(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.strip()]


def _find_shown(path: Path) -> Iterator[tuple[Any, list[str | Path]]]:
    """Yield results, and the commands that print the same."""
    ROWS.to_csv(path, index=False)
    yield REPORT, ["evaluate", path, "--metrics", "ndcg@10,recall@5", "--threshold", "4"]
    metrics = ["--metric", "ndcg@10", "--metric", "recall@5", "--threshold", "4"]
    reconciled = rn.reconcile(ROWS, ["ndcg@10", "recall@5"], threshold=4)
    yield reconciled, ["reconcile", path, *metrics]
    yield pickle.loads(pickle.dumps(reconciled)), ["reconcile", path, *metrics]  # noqa: S301
    by_number = rn.reconcile(ROWS, "ndcg@10", threshold=4, reported=0.6)
    yield (
        by_number,
        ["reconcile", path, "--metric", "ndcg@10", "--threshold", "4", "--reported", "0.6"],
    )
    folder = path.parent / "runs"
    rated = ROWS.drop(columns="estimated").rename(columns={"true": "rating"})
    mean = lambda train: lambda pairs: np.zeros(len(pairs)) + len(train)  # noqa: E731
    rn.experiment(rated, {"mean": mean}, metrics="ndcg@5", folder=folder, fingerprint="1")
    yield rn.load_runs(folder), ["leaderboard", folder]


def test_results_show_themselves_as_the_command_line_does(tmp_path: Path) -> None:
    """Below a line of facts; HTML has the same tables and, folded, the same short signatures."""
    print_once = cache(lambda *words: run(*words).stdout)
    for found, command in _find_shown(tmp_path / "p.csv"):
        text, printed = str(found), print_once(*command)
        assert repr(found) == text
        printed = printed.replace("--full-signature", "Convention.from_signature")
        assert _words(text)[1:] == _words(printed)
        shown: Any = found
        html = Parsed(f"<div>{shown._repr_html_()}</div>").text.split()
        assert [word for line in _words(printed)[-1:] for word in line if word not in html] == []
        assert "unlabelled:zero" not in "".join([text, *html])


def test_segments_of_a_comparison_are_tables_until_they_are_changed() -> None:
    """One for each metric of users; what is made from them is plain."""
    found: Any = rn.compare(MODELS, metrics=["ndcg@3", "rmse"], by="list_length")
    text, html = str(found.segments), found.segments._repr_html_()
    for name in found.metrics:
        assert f"difference in {name} from good" in text
        assert f"difference in {name} from good" in html
    assert "..." not in text
    changed = found.segments
    assert str(copy.deepcopy(changed)) == str(pd.DataFrame(changed))
    changed["own"] = 1
    assert str(changed) == str(pd.DataFrame(changed))
    assert changed._repr_html_() == changed.copy()._repr_html_()
    assert str(found.segments) == text
    assert type(found.segments.reset_index()) is pd.DataFrame


def test_a_name_without_cutoff_is_the_only_metric_of_that_name() -> None:
    """Wherever a comparison takes a metric; with several, the error names them."""
    found = rn.compare(
        MODELS, metrics=["rmse", "ndcg@3", "precision@2", "precision@3"], threshold=4
    )
    calls: list[Any] = [
        found.signature, found.to_markdown, found.to_latex,
        found._data.by_metric.__getitem__, found.leaderboards.__getitem__,
        lambda name: found.movers(metric=name).table.to_dict(),
        lambda name: found.not_worse("good", "poor", margin=0.1, metric=name),
    ]  # fmt: skip
    for call in calls:
        assert str(call("NDCG")) == str(call("ndcg@3"))
        assert_rejected("has 2 metrics that p could be: precision@2, precision@3", call, "p")
    reports = {name: rn.evaluate(data, metrics="ndcg@3") for name, data in MODELS.items()}
    assert rn.compare(reports, metrics="ndcg").metrics == ["ndcg@3"]
    assert_rejected("has no ndcg@4", rn.compare, reports, metrics="ndcg", k=4)


def test_vega_lite_5_draws_the_same_charts() -> None:
    """JupyterLab has 5.6, with which lines over groups went back and forth."""
    vl_convert = pytest.importorskip("vl_convert")
    pytest.importorskip("altair")
    true = ratings(200, longest=14)
    noisy = {name: model(true, noise, 0) for name, noise in (("good", 1.0), ("poor", 4.0))}
    found = rn.compare(noisy, metrics=["ndcg@3", "rmse"])
    versions = vl_convert.get_vegalite_versions()
    for kind in ("tiers", "differences", "activity", "scatter", "trade-off"):
        chart = found.plot(kind).to_dict()
        svgs = [
            vl_convert.vegalite_to_svg(chart, vl_version=one) for one in (versions[0], versions[-1])
        ]
        first, last = (re.findall(' d="([^"]*)"', svg) for svg in svgs)
        assert first == last, kind


def test_a_chart_has_a_picture_next_to_its_interactive_form(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """None that loads scripts, unless the user chose one; with the description in words."""
    alt = pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    for chart in (REPORT.plot("users", "ndcg"), REPORT.plot("k"), REPORT.plot("k", "ndcg")):
        again: Any = pickle.loads(pickle.dumps(chart)).properties(title="Mine")  # noqa: S301
        forms, details = again._repr_mimebundle_()
        assert forms["image/png"].startswith(b"\x89PNG")
        assert details["image/png"]["alt"] == forms["text/plain"] == again.description
        # the type that JupyterLab draws; files may not have one that ends in ".json"
        assert {*forms} == {"image/png", "text/plain", "application/vnd.vegalite.v5+json"}
        assert json.loads(json.dumps(forms["application/vnd.vegalite.v5+json"]))
        with alt.renderers.enable("html"):
            forms, _ = again._repr_mimebundle_()
            assert {*forms} == {"text/html", "image/png", "text/plain"}
    load = builtins.__import__

    def without_vl_convert(name: str, *args: Any, **kwds: Any) -> Any:
        if name == "vl_convert":
            raise ImportError(name)
        return load(name, *args, **kwds)

    monkeypatch.setattr(builtins, "__import__", without_vl_convert)
    assert "text/html" in again._repr_mimebundle_()
