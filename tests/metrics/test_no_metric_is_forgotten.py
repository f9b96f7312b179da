"""A new metric cannot be left out of any list, page or test that has all metrics."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import recsys_ndcg as rn
from recsys_ndcg.convention import PRESETS
from recsys_ndcg.metrics import Metric
from tests.accuracy import METRICS
from tests.beyond import (
    test_groups,
    test_history,
    test_item_values,
    test_over_lists,
    test_pairs,
    test_topics,
)
from tests.metrics import test_against_textbook as against_textbook
from tests.strategies import Sample
from tests.test_public_api import METRIC_NAMES
from tests.textbook import Choices, Row

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
NAMES = [*METRICS]
#: Estimates in the order of the rows, the second and third equal.
TIED = [Row(4.0, 1.0, 1), Row(3.0, 5.0, 2), Row(3.0, 0.5, 3), Row(2.0, 3.5, 4), Row(1.0, None, 5)]
#: Measures beyond accuracy whose formulas stand in a table of their tests.
IN_TABLES = {
    *test_over_lists.LINEAR,
    *test_over_lists.OF_EXPOSURE,
    *(name.partition("(")[0] for name in test_item_values.VALUES),
    *test_topics.SCORES,
    *test_topics.WITH_ALPHA,
    *(name.partition("(")[0] for name, _, _ in test_history.SCORES.values()),
    *(name.partition("(")[0] for name, _, _ in test_pairs.CASES.values()),
}
#: Tests that have the formulas of the others.
TESTS = (
    test_groups.test_parity_is_the_disparity_of_expected_rates,
    test_groups.test_expected_exposure_is_compared_with_ideal_lists,
    test_groups.test_who_is_served_and_inverse_propensity,
    test_groups.test_awrf_compares_attention_with_the_catalogue,
    test_groups.test_bias_disparity_compares_lists_with_training,
    test_groups.test_item_gap_is_the_mean_difference_of_categories,
    test_history.test_a_divergence_is_that_of_the_expected_shares,
    test_pairs.test_cold_is_the_share_of_items_without_training_rows,
    test_topics.test_category_entropy_is_that_of_the_expected_shares,
)


def test_every_metric_beyond_accuracy_has_a_formula_in_the_tests() -> None:
    """A new one does not pass without."""
    in_tests = set(re.findall(r"""["'](\w+)[@("']""", "".join(map(inspect.getsource, TESTS))))
    names = {name for name, kind in rn.metrics.METRICS.items() if kind.needs}
    assert names - IN_TABLES - in_tests == set()


@pytest.mark.parametrize("name", NAMES)
def test_it_is_compared_with_the_textbook(name: str) -> None:
    """By the tests of scores, of chance, of the range of ties and of invariances."""
    data = Sample({1: TIED}, {}, [0, 1, 2, 3, 4], joined=False)
    assert name in against_textbook._names(None, data, Choices())


def test_callers_rely_on_its_name() -> None:
    """And on no other."""
    missing, gone = ({*one} for one in (NAMES, METRIC_NAMES))
    new = ", ".join(sorted(missing - gone))
    assert missing <= gone, f"add {new} to METRIC_NAMES in tests/test_public_api.py"
    assert gone <= missing


@pytest.mark.parametrize("name", NAMES)
def test_it_declares_what_it_reads(name: str) -> None:
    """In its own body: by default it would read everything."""
    kind = METRICS[name]
    assert "reads" in vars(kind) or kind.__bases__ == (rn.RMSE,)
    assert kind.reads < Metric.reads


def test_a_name_at_the_top_is_its_class() -> None:
    """From its own module, so that editors and type checkers know it."""
    classes = {kind.__name__: kind.__module__ for kind in METRICS.values()}
    tree = ast.parse(Path(rn.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    nodes = [one for one in tree.body if isinstance(one, ast.ImportFrom)]
    listed = {str(one.asname): str(node.module) for node in nodes for one in node.names}
    at_top = {name: listed[name] for name in listed if ".metrics." in listed[name]}
    others = {"Metric": "recsys_ndcg.metrics.metric", "metric": "recsys_ndcg.metrics.own"}
    assert at_top.items() <= {**classes, **others}.items()
    for name in at_top.keys() & classes.keys():
        assert getattr(rn, name) is METRICS[getattr(rn, name).name]


def _get_documentation(kind: type[Metric]) -> str:
    """Return the docstring of a metric, with that which it refers to."""
    text = str(vars(kind)["__doc__"])
    refers = "As for `RMSE`." in " ".join(text.split())
    return text + (vars(rn.RMSE)["__doc__"] if refers else "")


@pytest.mark.parametrize("name", NAMES)
def test_its_docstring_is_complete(name: str) -> None:
    """A formula, its range, where it is undefined, from whom it is, and a running example."""
    kind = METRICS[name]
    text, doc = vars(kind)["__doc__"], _get_documentation(kind)
    assert ".. math::" in text
    assert re.search(r"\bIn \[0, 1[\])]|\bAt least 0\b", doc)
    assert re.search(r"\bno unit\b|\bin units of\b", doc)
    assert re.search(r"\b(Undefined|Never undefined|undefined) (for|only|where)\b|Never und", doc)
    sections = re.findall(r"^ *(\w+)\n *-{3,}$", text, flags=re.MULTILINE)
    assert "References" in sections
    assert sections[-1] == "Examples"
    example = text.split("Examples")[-1]
    assert ">>> import recsys_ndcg as rn" in example
    assert re.search(r">>> .*(rn\.|round\()", example.split("as rn")[1])


def test_it_is_a_metric_of_some_preset_or_of_none_for_a_reason() -> None:
    """A new metric that a library has is not left without its preset; presets name no others.

    The reason stands in its docstring.
    """
    presets = {name: one for name, one in PRESETS.items() if one.metrics}
    by_preset = {name: set(one.metrics.split()) for name, one in presets.items()}
    every = set().union(*by_preset.values())
    documented = {name: _get_documentation(METRICS[name]) for name in NAMES}
    reasons = {name for name, text in documented.items() if re.search(r"\n *In no preset: ", text)}
    assert (set(NAMES) - every, every - set(NAMES)) == (reasons, set())
    for name, one in presets.items():
        known = by_preset[name] | {*one.beyond}
        assert {metric.removesuffix("@") for metric in one.by_metric} <= known
        assert by_preset[name], name
        assert set(one.not_reproduced) <= set(NAMES) - by_preset[name], name
