"""A metric stands everywhere where metrics stand: a new one cannot be left out of anything."""

from __future__ import annotations

import ast
import math
import re
from pathlib import Path
from typing import Any

import pytest

import recsys_ndcg as rn
from recsys_ndcg.convention.presets import PRESETS
from recsys_ndcg.metrics import METRICS, Metric
from tests import drawn_reports, textbook
from tests.metrics import test_against_textbook as against_textbook
from tests.strategies import Sample
from tests.test_public_api import METRIC_NAMES
from tests.textbook import Choices, Row

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
NAMES = [*METRICS]
METRICS_PAGE = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
#: Estimates in the order of the rows, the second and third equal.
TIED = [Row(4.0, 1.0, 1), Row(3.0, 5.0, 2), Row(3.0, 0.5, 3), Row(2.0, 3.5, 4), Row(1.0, None, 5)]
#: Those whose definition nobody has to look up.
WITHOUT_REFERENCE = {"rmse", "mse", "mae"}
#: Those that no preset names, and why.
WITHOUT_PRESET = {
    "judged": "no score of a recommender",
    "rbp": "each library has a persistence of its own",
    "auc": "of all pairs, not of each user's, where a library has it",
    "rmse": "there is nothing to choose",
    "mse": "there is nothing to choose",
    "mae": "there is nothing to choose",
}


def _cutoffs(kind: type[Metric]) -> list[int | None]:
    return [None] if kind.cutoff == "none" else [None, 2]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
def test_the_textbook_answers_for_it_where_estimates_are_tied(name: str, ties: str) -> None:
    """With its numerator, its denominator and the order of ties, by trying all orders."""
    chosen = Choices(ties=ties, threshold=3.0)
    data = {1: [(row.estimated, row.true) for row in TIED]}
    for k in _cutoffs(METRICS[name]):
        how: dict[str, Any] = {"metrics": METRICS[name](k), "threshold": 3.0}
        report = rn.evaluate(data, convention=rn.Convention(ties=ties), **how)
        numerator, denominator = textbook.parts(name, k, TIED, [], chosen)
        assert report.scores.numerator[0, 0] == pytest.approx(numerator, abs=1e-12)
        assert report.scores.denominator[0, 0] == pytest.approx(denominator, abs=1e-12)
        expected = textbook.value(name, numerator, denominator, chosen)
        assert math.isfinite(expected)
        assert report.mean.iloc[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", [name for name in NAMES if METRICS[name].orders])
def test_a_tie_can_move_it(name: str) -> None:
    """Between its worst and its best order, with the mean of all between them."""
    rows = [(2.0, 5.0), (2.0, 0.5 if name != "judged" else None), (1.0, 1.0)]
    metric = METRICS[name](None if METRICS[name].cutoff == "none" else 1)
    worst, expected, best = (
        rn.evaluate(
            {1: rows}, metrics=metric, threshold=3.0, convention=rn.Convention(ties=ties)
        ).mean.iloc[0]
        for ties in ("worst", "expected", "best")
    )
    assert worst < expected < best


@pytest.mark.parametrize("name", NAMES)
def test_it_is_drawn_where_metrics_are_held_against_the_textbook(name: str) -> None:
    """By the tests of scores, of chance, of the range of ties and of invariances."""
    data = Sample({1: TIED}, {}, [0, 1, 2, 3, 4], joined=False)
    assert name in against_textbook._names(None, data, Choices())  # noqa: SLF001 - of our own
    assert METRICS[name].orders == (name in drawn_reports.RANKING)
    assert METRICS[name].bounded == (name in drawn_reports.BOUNDED) or not METRICS[name].orders


def _rows_of_the_table() -> str:
    section = METRICS_PAGE.split("\n## The metrics\n")[1].split("\n## ")[0]
    return "\n".join(line.split("|")[1] for line in section.splitlines() if line.startswith("| `"))


def test_it_stands_on_the_page_of_metrics() -> None:
    """In the table of metrics, which names no other."""
    written = re.findall(r"`([a-z0-9_]+)(?:\([^`]*\))?(?:@k)?`", _rows_of_the_table())
    assert set(written) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_it_says_itself_what_it_reads(name: str) -> None:
    """In its own body: by default it would read everything."""
    kind = METRICS[name]
    assert "reads" in vars(kind) or kind.__bases__ == (rn.RMSE,)
    assert kind.reads < Metric.reads


def _static_names() -> dict[str, str]:
    """Return the names that the package's stub lists, and from where they are."""
    tree = ast.parse(Path(rn.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    return {
        str(one.asname): str(node.module)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for one in node.names
    }


def test_it_is_a_static_name() -> None:
    """From its own module, so that editors and type checkers know it; and no other is."""
    classes = {kind.__name__: kind.__module__ for kind in METRICS.values()}
    listed = _static_names()
    assert {name: listed[name] for name in listed if ".metrics." in listed[name]} == {
        **classes,
        "Metric": "recsys_ndcg.metrics.metric",
        "metric": "recsys_ndcg.metrics.own",
    }
    for name in classes:
        assert getattr(rn, name) is METRICS[getattr(rn, name).name]


def test_it_is_a_name_that_callers_rely_on() -> None:
    """Once each."""
    assert sorted(METRIC_NAMES) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_its_docstring_says_what_it_is(name: str) -> None:
    """A formula, its range, where it is undefined, from whom it is, and a running example."""
    kind = METRICS[name]
    text = vars(kind)["__doc__"]
    assert ".. math::" in text
    said = text + (vars(rn.RMSE)["__doc__"] if "As for `RMSE`." in text else "")
    assert re.search(r"\bIn \[0, 1[\])]|\bAt least 0\b", said)
    assert re.search(r"\bno unit\b|\bin units of\b", said)
    assert re.search(r"\b(Undefined|Never undefined|undefined) (for|only|where)\b|Never und", said)
    sections = re.findall(r"^ *(\w+)\n *-{3,}$", text, flags=re.MULTILINE)
    assert ("References" in sections) is (name not in WITHOUT_REFERENCE)
    assert sections[-1] == "Examples"
    example = text.split("Examples")[-1]
    assert ">>> import recsys_ndcg as rn" in example
    assert re.search(r">>> .*(rn\.|round\()", example.split("as rn")[1])


def _of_presets() -> set[str]:
    return {name for one in PRESETS.values() for name in one.metrics.split()}


def test_every_preset_names_metrics_that_exist() -> None:
    """Those it has, those with choices of their own, and those that have the name alone."""
    for name, one in PRESETS.items():
        special = {metric.removesuffix("@") for metric in one.by_metric}
        assert one.metrics.split(), name
        assert {*one.metrics.split(), *special, *one.not_reproduced} <= set(NAMES), name
        assert special <= set(one.metrics.split()), name
        assert not set(one.not_reproduced) & set(one.metrics.split()), name


def test_it_is_a_metric_of_some_preset_or_of_none_for_a_reason() -> None:
    """A new metric that a library has is not left without its preset."""
    assert set(NAMES) == _of_presets() | set(WITHOUT_PRESET)
    assert not _of_presets() & set(WITHOUT_PRESET)
    assert all(WITHOUT_PRESET.values())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_measures_the_metrics_that_it_names(preset: str, name: str) -> None:
    """Under a convention of its own that the metric can be computed under."""
    if not PRESETS[preset].has(name):
        return
    k = None if METRICS[name].cutoff == "none" else 2
    rows = [(1, row.item, row.estimated - row.item / 8, row.true) for row in TIED]
    how: dict[str, Any] = {"metrics": METRICS[name](k), "threshold": 3.0}
    convention = rn.Convention.preset(preset, str(METRICS[name](k)))
    if convention.ideal == "max" and convention.gain != "binary":
        convention = convention.replace(max_grade=5.0)
    report = rn.evaluate(rows, convention=convention, **how)
    assert math.isfinite(report.mean.iloc[0])
