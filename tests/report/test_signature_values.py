"""Signatures: equal ones mean equal numbers, whatever the form they are written in."""

from __future__ import annotations

import json
import pickle
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg import metrics
from recsys_ndcg.scoring import sign_runs
from tests import drawn_reports, strategies
from tests.accuracy import FIELDS, METRICS
from tests.errors import assert_rejected
from tests.profiles import examples, slow
from tests.strategies import Sample
from tests.textbook import Choices

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
ROWS = [("ann", "a", 4.0, 3), ("ann", "b", 3.0, 1), ("bob", "a", 2.0, 0), ("bob", "b", 1.0, 2)]


def _report(rows: Any = ROWS, **choices: Any) -> rn.Report:
    how: dict[str, Any] = {"metrics": ["ndcg@2", "precision@2", "rmse"], "threshold": 2}
    return rn.evaluate(rows, convention=rn.Convention(**choices), **how)


def _signature(metric: str = "ndcg@2", **choices: Any) -> rn.Signature:
    return _report(**choices).signature(metric)


def _reads_threshold(signature: rn.Signature) -> bool:
    """Return whether another threshold makes another signature."""
    return rn.Signature(re.sub(r"\|threshold:[^|]*", "|threshold:98765", signature)) != signature


# What a metric reads


@pytest.mark.parametrize("name", METRICS)
@examples(0.12)
@given(draw=st.data())
def test_a_choice_that_is_not_read_changes_nothing(name: str, draw: st.DataObject) -> None:
    """All such choices are changed at once, and the threshold if it is not read."""
    kind = METRICS[name]
    of = drawn_reports.data_of if kind.depends_on_order else drawn_reports.rated_of
    data: Sample = draw.draw(of)
    chosen: Choices = draw.draw(drawn_reports.chosen_of)
    other: Choices = draw.draw(strategies.choices.filter(lambda one: one.gain != strategies.MAPPED))
    k = None if kind.cutoff == "none" else draw.draw(st.sampled_from([None, 1, 2, 3]))
    convention, changed = (
        strategies.to_convention(strategies.without_estimate_limit(one, data))
        for one in (chosen, other)
    )
    unread = {one: getattr(changed, one) for one in FIELDS if one not in kind.reads}
    if strategies.MAPPED in (convention.gain, unread.get("gain")):
        for one in ("ideal", "max_grade"):  # the top grade has not its highest gain
            unread.pop(one, None)
    how: dict[str, Any] = {"metrics": kind(k), "threshold": chosen.threshold}
    first = rn.evaluate(data.lists, convention=convention, **how)
    (signature,) = first.signatures.values()
    if not _reads_threshold(signature):
        how["threshold"] = draw.draw(st.sampled_from([None, -1.0, 3.0, 9.0]))
    second = rn.evaluate(data.lists, convention=convention.replace(**unread), **how)
    (again,) = second.signatures.values()
    np.testing.assert_array_equal(first.per_user.iloc[:, 2], second.per_user.iloc[:, 2])
    np.testing.assert_array_equal([first.mean, first.pooled], [second.mean, second.pooled])
    assert signature.differences(again) == {}
    assert (signature, first) == (again, second)
    assert (hash(signature), hash(first)) == (hash(again), hash(second))


def _experiment() -> list[tuple[int, int, float | None, float, dict[str, bool]]]:
    """Return users with ties, missing labels, impossible predictions and repeated rows."""
    draw, rows = np.random.default_rng(1), []
    grades = (None, *strategies.GRADES)
    for user in range(40):
        for item in draw.permutation(range(8, 16))[: draw.integers(1, 7)].tolist():
            for _ in range(draw.choice([1, 1, 1, 2])):
                true = grades[draw.integers(len(grades))]
                estimated = float(draw.choice(strategies.ESTIMATES))
                rows.append((user, item, true, estimated, {"was_impossible": draw.random() < 0.4}))
    return rows


EXPERIMENT = _experiment()
VALUES: dict[str, tuple[Any, ...]] = {
    **rn.Convention.CHOICES,
    "gain": (*rn.Convention.CHOICES["gain"], strategies.MAPPED, strategies.root),
    "discount": (*rn.Convention.CHOICES["discount"], strategies.stairs),
    "tie_tolerance": (0.0, 1.0, "float32"),
    "recommend_from": (None, 0.3, 2.0, "threshold"),
    "max_grade": (5.0, 6.0),
    "threshold": (0.5, 2.0, 5.0),
}
#: Further choices under which a choice may matter, tried in turn.
AROUND: tuple[dict[str, Any], ...] = (
    {}, {"undefined": 0.0}, {"recommend_from": 2.0}, {"short_list": "drop"},
    {"mean_over": "relevant"}, {"ideal": "max", "max_grade": 5.0},
    {"impossible": "drop", "undefined": 0.0},
    {"impossible": "drop", "undefined": 0.0, "mean_over": "labelled"},
)  # fmt: skip
#: Read by every metric, because it decides about users; but a denominator of 1 is never 0.
WITHOUT_EFFECT = {name: {"undefined"} for name in ("cg", "dcg", "rbp")}


def _numbers(name: str, choices: dict[str, Any]) -> Any:
    """Return the scores of a metric next to one with a cutoff; None if that is an error."""
    kind = METRICS[name]
    choices = {"duplicates": "first", "threshold": 2.0, **choices}
    metrics: list[Any] = [kind(None if kind.cutoff == "none" else 2), "judged@3"]
    how: dict[str, Any] = {"metrics": metrics, "threshold": choices.pop("threshold")}
    try:
        report = rn.evaluate(EXPERIMENT, convention=rn.Convention(**choices), **how)
    except rn.InvalidInputError:
        return None
    return [*report.per_user.iloc[:, 2].fillna(-1.0), float(report.mean.iloc[0])]


def _changes(name: str, field: str) -> bool:
    """Return whether two values of a choice give different numbers."""
    for around in AROUND:
        first = None
        for value in VALUES[field]:
            numbers = _numbers(name, {**around, field: value})
            first = numbers if first is None else first
            if numbers not in (None, first):
                return True
    return False


QUICK = {"ndcg", "cg", "rmse"}


@pytest.mark.parametrize("name", [*sorted(QUICK), *slow(*sorted(METRICS.keys() - QUICK))])
def test_every_choice_that_a_metric_reads_can_change_it(name: str) -> None:
    """On one data set."""
    kind = METRICS[name]
    read = kind.reads | ({"threshold"} if kind.needs_threshold else set())
    assert {field for field in read if not _changes(name, field)} == WITHOUT_EFFECT.get(name, set())


def test_every_choice_is_read_by_some_metric() -> None:
    """And a new one cannot be forgotten in these tests."""
    assert {*FIELDS, "threshold"} <= set(VALUES)
    kinds = [*metrics.METRICS.values()]
    assert set().union(*(kind.reads for kind in kinds)) == {*rn.Convention.field_names()}
    assert set().union(*(kind.reads for kind in kinds if not kind.needs)) == set(FIELDS)


def test_the_threshold_is_read_if_a_choice_needs_it() -> None:
    """Only then two signatures differ by it."""
    cases: list[tuple[str, dict[str, Any], bool]] = [
        ("ndcg@2", {}, False), ("ndcg@2", {"gain": "binary"}, True),
        ("ndcg@2", {"mean_over": "relevant"}, True), ("precision@2", {}, True),
        ("rmse", {"gain": "binary"}, False),
    ]  # fmt: skip
    for metric, choices, is_read in cases:
        how: dict[str, Any] = {"metrics": metric, "convention": rn.Convention(**choices)}
        low, high = (rn.evaluate(ROWS, threshold=one, **how).signature(metric) for one in (1, 2))
        assert low.differences(high) == ({"threshold": (1.0, 2.0)} if is_read else {})
        assert (low == high) is not is_read


# Text, short form and fields


def test_fields_are_values() -> None:
    """Numbers as numbers, none as None, a mapping as a mapping, a function as its text."""
    choices = {"gain": dict.fromkeys(range(4), 1), "discount": strategies.stairs, "undefined": 0}
    found = _signature("precision@2", **choices).fields
    assert [*found] == ["metric", *FIELDS, "threshold", "protocol", "users", "version"]
    expected = {
        "metric": "precision@2", "gain": {0.0: 1.0, 1.0: 1.0, 2.0: 1.0, 3.0: 1.0},
        "discount": "callable(stairs)", "tie_tolerance": 0.0, "undefined": 0.0,
        "recommend_from": None, "max_grade": None, "threshold": 2.0, "protocol": "rated",
        "users": 2, "version": rn.__version__,
    }  # fmt: skip
    assert {name: found[name] for name in expected} == expected
    assert [type(found[name]) for name in expected] == [*map(type, expected.values())]
    assert rn.evaluate(ROWS).signature("ndcg@10").fields["threshold"] is None
    assert _signature(tie_tolerance="float32").fields["tie_tolerance"] == "float32"


@examples(0.25)
@given(chosen=drawn_reports.chosen_of, data=drawn_reports.data_of)
def test_the_text_and_the_short_form_are_read_back(chosen: Choices, data: Sample) -> None:
    """The short form has what the metric reads; both are the same signature."""
    chosen = replace(chosen, gain="linear" if callable(chosen.gain) else chosen.gain)
    chosen = replace(chosen, discount="ln" if callable(chosen.discount) else chosen.discount)
    chosen = strategies.without_estimate_limit(chosen, data)
    report = drawn_reports.evaluated(data, chosen, (2,))
    convention = strategies.to_convention(chosen)
    for name, signature in report.signatures.items():
        assert signature.metric == name
        assert rn.Convention.from_signature(signature) == signature.convention == convention
        for again in (rn.Signature(signature.text), rn.Signature(signature.short)):
            assert again == signature
            assert (hash(again), again.short) == (hash(signature), signature.short)
            assert signature.differences(again) == {}
        assert rn.Signature(signature.text).text == signature.text
        back = rn.Convention.from_signature(signature.short)
        usual = rn.Convention()
        for one in FIELDS:
            origin = convention if one in METRICS[name.partition("@")[0]].reads else usual
            assert getattr(back, one) == getattr(origin, one), one
        if _reads_threshold(signature):
            assert rn.Signature(signature.short).fields["threshold"] == chosen.threshold


def test_the_short_form_has_what_differs_from_the_defaults_and_is_read() -> None:
    """Precision does not read the gain."""
    digest = f"defaults:{rn.Convention.digest_defaults()}|users:2|version:{rn.__version__}"
    assert rn.evaluate(ROWS).signature("ndcg@10").short == f"ndcg@10|{digest}"
    linear = {"gain": "linear", "discount": "ln", "ties": "input"}
    assert _signature(**linear).short == f"ndcg@2|gain:linear|discount:ln|ties:input|{digest}"
    with_threshold = digest.replace("|users", "|threshold:2.0|users")
    assert _signature("precision@2", **linear).short == f"precision@2|ties:input|{with_threshold}"
    assert _signature("rmse", **linear).short == f"rmse|{digest}"
    lists = rn.RankedLists.from_trec({"ann": {"a": 1}}, {"ann": {"a": 1, "b": 0.5}})
    assert "|protocol:supplied|" in rn.evaluate(lists).signature("ndcg@10").short
    drop = rn.Convention(short_list="drop")
    cut = rn.evaluate(ROWS, metrics=["rr", "ndcg@2"], threshold=2, convention=drop).signature("rr")
    assert "|short_below:2|" in cut.short
    assert rn.Signature(cut.short) == cut


def test_a_short_form_of_other_defaults_is_rejected() -> None:
    """It leaves out the defaults of that version."""
    short = _signature().short.replace(rn.Convention.digest_defaults(), "0123abcd")
    for read in (rn.Signature, rn.Convention.from_signature, _signature().differences):
        assert_rejected(r"other defaults \(0123abcd, not .*Give the full signature", read, short)
    assert _signature() != short


def test_differences_have_both_values() -> None:
    """The signature's own value first; choices that the metric does not read are left out."""
    usual, other = _signature(), _signature(gain="linear", tie_tolerance=0.5, ap_over="k")
    expected = {"gain": ("exponential", "linear"), "tie_tolerance": (0.0, 0.5)}
    for form in (other, other.text, other.short):
        assert usual.differences(form) == expected
    assert other.differences(usual) == {name: pair[::-1] for name, pair in expected.items()}
    assert usual.differences(_signature("precision@2"))["metric"] == ("ndcg@2", "precision@2")
    assert usual.differences(_report(ROWS[:2]).signature("ndcg@2")) == {"users": (2, 1)}
    assert usual.differences(sign_runs([usual], 7)) == {"users": (2, 7)}


def test_a_signature_is_a_string_equal_to_each_of_its_forms() -> None:
    """And to no other text; equal ones are one key."""
    signature = _signature(recommend_from=3.5, gain={0: 0, 1: 0, 2: 0.5, 3: 1})
    text = signature.text
    assert str(signature) == f"{signature}" == text
    assert json.loads(json.dumps({"how": signature, signature: 1})) == {"how": text, text: 1}
    assert signature.startswith("ndcg@2|gain:map(")
    numbers = text.replace("recommend_from:3.5", "recommend_from:3.50").replace("(0.0=0.0", "(0=0")
    assert numbers != text
    for same in (text, signature.short, f"`{text}`", text.replace("|", " |\n"), numbers):
        assert signature == same
        assert same == signature
        assert hash(rn.Signature(same)) == hash(signature)
        assert signature.differences(same) == {}
    for other in ("", "ndcg@2", text[:-1], text.replace("ndcg@2", "ndcg@3"), 3, None):
        assert signature != other
        assert other != signature
    usual, linear = (_report(gain=one) for one in ("exponential", "linear"))
    names = ["ndcg@2", "precision@2", "rmse"]
    assert len({report.signature(name) for report in (usual, linear) for name in names}) == 4


FULL = _signature("precision@2").text


BAD: list[tuple[Any, str]] = [
    (3, "A signature is text, not 3"), (rn.Convention(), "A signature is text"),
    ("hello world", "is not name:value"), ("ndcg@10|gain:linear", "lacks discount, ideal"),
    (rn.Convention().signature, "does not begin with a metric"),
    (FULL + "|users:2", "'users:2' is repeated"),
    (FULL.replace("ties:", "tie:"), "Did you mean 'ties'"),
    (FULL.replace("users:2", "users:x"), "users"),
    (FULL.replace("threshold:2.0", "threshold:high"), "threshold"),
    (FULL.replace("gain:exponential", "gain:map(1)"), "map"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BAD)
def test_text_that_is_no_signature_is_rejected(text: Any, message: str) -> None:
    """When it is read, not when its fields are needed."""
    assert_rejected(message, rn.Signature, text)


def test_the_signature_of_an_unknown_metric_is_read() -> None:
    """Such as one of a class that only its author has: all choices of metrics of relevance."""
    usual = _signature("precision@2")
    own = rn.Signature(usual.text.replace("precision@2", "ours@2|own:a.B#12", 1))
    assert own.metric == "ours@2"
    assert own.differences(usual)["metric"] == ("ours@2", "precision@2")
    assert "popularity_as" not in own.text


@pytest.mark.parametrize("protocol", [0, 2, pickle.HIGHEST_PROTOCOL])
def test_a_signature_is_pickled(protocol: int) -> None:
    """The full and the short form."""
    full = _signature(gain="linear")
    for signature in (full, rn.Signature(full.short)):
        again = pickle.loads(pickle.dumps(signature, protocol))  # noqa: S301 - our own
        assert type(again) is rn.Signature
        assert again == signature
        assert (again.text, again.fields) == (signature.text, signature.fields)
