"""A signature is a value: what it holds, what agrees with it, and what moves a number at all."""

from __future__ import annotations

import json
import pickle
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.metrics import METRICS
from tests import drawn_reports, strategies
from tests.errors import rejects
from tests.profiles import examples

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.strategies import Sample
    from tests.textbook import Choices

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
ROWS = [("ann", "a", 4.0, 3), ("ann", "b", 3.0, 1), ("bob", "a", 2.0, 0), ("bob", "b", 1.0, 2)]
FIELDS = [one.name for one in fields(rn.Convention)]


def _report(rows: Any = ROWS, **choices: Any) -> rn.Report:
    how: dict[str, Any] = {"metrics": ["ndcg@2", "precision@2", "rmse"], "threshold": 2}
    return rn.evaluate(rows, convention=rn.Convention(**choices), **how)


def _signature(metric: str = "ndcg@2", **choices: Any) -> rn.Signature:
    return _report(**choices).signature(metric)


def _same_numbers(one: rn.Report, other: rn.Report) -> None:
    """Compare every score, mean and pooled to the last bit."""
    for left, right in (
        (one.per_user, other.per_user),
        (one.mean, other.mean),
        (one.pooled, other.pooled),
    ):
        metrics = [left[name] for name in one.metrics], [right[name] for name in one.metrics]
        np.testing.assert_array_equal(*metrics)


@pytest.mark.parametrize("name", METRICS)
@examples(0.12)
@given(draw=st.data())
def test_what_a_metric_does_not_read_does_not_move_it(name: str, draw: st.DataObject) -> None:
    """All such choices are changed at once, and the threshold where it is not read."""
    kind = METRICS[name]
    data: Sample = draw.draw(drawn_reports.data_of if kind.orders else drawn_reports.rated_of)
    chosen: Choices = draw.draw(drawn_reports.chosen_of)
    other: Choices = draw.draw(strategies.choices.filter(lambda one: one.gain != strategies.MAPPED))
    k = None if kind.cutoff == "none" else draw.draw(st.sampled_from([None, 1, 2, 3]))
    convention, changed = (
        strategies.to_convention(strategies.without_estimate_limit(one, data))
        for one in (chosen, other)
    )
    unread = {one: getattr(changed, one) for one in FIELDS if one not in kind.reads}
    if strategies.MAPPED in (convention.gain, unread.get("gain")):
        for one in ("ideal", "max_grade"):  # its highest gain is not that of the top grade
            unread.pop(one, None)
    how: dict[str, Any] = {"metrics": kind(k), "threshold": chosen.threshold}
    first = rn.evaluate(data.lists, convention=convention, **how)
    (text,) = first.signatures.values()
    if "threshold" not in text.reads:
        how["threshold"] = draw.draw(st.sampled_from([None, -1.0, 3.0, 9.0]))
    second = rn.evaluate(data.lists, convention=convention.replace(**unread), **how)
    (again,) = second.signatures.values()
    _same_numbers(first, second)
    assert text == again
    assert (text != again) is False
    assert hash(text) == hash(again)
    assert text.differences(again) == {}
    assert first == second
    assert hash(first) == hash(second)


@pytest.mark.parametrize(
    ("metric", "choices"),
    [
        ("dcg@2", {"ideal": "max", "max_grade": 2.0}),
        ("cg@2", {"ideal": "max", "max_grade": 2.0}),
        ("cg@2", {"discount": lambda ranks: ranks}),
    ],
)
def test_what_a_metric_does_not_read_refuses_nothing(metric: str, choices: dict[str, Any]) -> None:
    """A top grade below the grades, weights that rise: nobody looks at them."""
    usual = rn.evaluate(ROWS, metrics=metric)
    _same_numbers(usual, rn.evaluate(ROWS, metrics=metric, convention=rn.Convention(**choices)))


#: Some users with ties, gaps in the labels, predictions that could not be made, rows there twice.
def _experiment() -> list[tuple[int, int, float | None, float, dict[str, bool]]]:
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
#: What else must be chosen for a choice to matter, tried in turn.
AROUND: tuple[dict[str, Any], ...] = (
    {},
    {"undefined": 0.0},
    {"recommend_from": 2.0},
    {"short_list": "drop"},
    {"mean_over": "relevant"},
    {"ideal": "max", "max_grade": 5.0},
    {"impossible": "drop", "undefined": 0.0},
    {"impossible": "drop", "undefined": 0.0, "mean_over": "labelled"},
)
#: Read by all, as of the users and rows; but a denominator of 1 is never 0.
STILL = {name: {"undefined"} for name in ("cg", "dcg", "rbp")}


def _numbers(name: str, choices: dict[str, Any]) -> Any:
    """Return the scores of a metric beside one with a cutoff; nothing where they are refused."""
    kind = METRICS[name]
    others = {one: value for one, value in choices.items() if one != "threshold"}
    try:
        report = rn.evaluate(
            EXPERIMENT,
            metrics=[kind(None if kind.cutoff == "none" else 2), "judged@3"],
            threshold=choices.get("threshold", 2.0),
            convention=rn.Convention(**({"duplicates": "first"} | others)),
        )
    except rn.InvalidInputError:
        return None
    return [*report.per_user.iloc[:, 2].fillna(-1.0), float(report.mean.iloc[0])]


def _moves(name: str, field: str) -> bool:
    """Tell whether some value of a choice gives another number than another value does."""
    for around in AROUND:
        given = ({**around, field: value} for value in VALUES[field])
        answers = [one for choices in given if (one := _numbers(name, choices)) is not None]
        if any(one != answers[0] for one in answers):
            return True
    return False


@pytest.mark.parametrize("name", METRICS)
def test_what_a_metric_reads_moves_it(name: str) -> None:
    """On one experiment, but for what cannot: a metric does not claim to read more than it does."""
    kind = METRICS[name]
    assert kind.reads <= set(FIELDS)
    read = kind.reads | ({"threshold"} if kind.needs_threshold else set())
    assert {field for field in read if not _moves(name, field)} == STILL.get(name, set())


def test_every_choice_is_tried_and_some_metric_reads_it() -> None:
    """A new field cannot be forgotten here, and no field is without a use."""
    assert set(VALUES) == {*FIELDS, "threshold"}
    assert set.union(*(set(kind.reads) for kind in METRICS.values())) == set(FIELDS)


@pytest.mark.parametrize(
    ("metric", "choices", "read"),
    [
        ("ndcg@2", {}, False),
        ("ndcg@2", {"gain": "binary"}, True),
        ("ndcg@2", {"gain": "exponential_above"}, True),
        ("ndcg@2", {"mean_over": "relevant"}, True),
        ("precision@2", {}, True),
        ("rmse", {"gain": "binary"}, False),
        ("rmse", {"mean_over": "relevant"}, True),
    ],
)
def test_the_threshold_is_read_where_a_choice_asks_for_it(
    metric: str,
    choices: dict[str, Any],
    read: bool,  # noqa: FBT001
) -> None:
    """Two signatures differ by it there alone."""
    how: dict[str, Any] = {"metrics": metric, "convention": rn.Convention(**choices)}
    low, high = (rn.evaluate(ROWS, threshold=one, **how).signature(metric) for one in (1, 2))
    assert ("threshold" in low.reads) is read
    assert low.differences(high) == ({"threshold": (1.0, 2.0)} if read else {})
    assert (low == high) is not read


def test_fields_are_values() -> None:
    """Numbers as numbers, none as None, a mapping as a mapping, a function as its text."""
    text = _signature(
        "precision@2", gain=dict.fromkeys(range(4), 1), discount=strategies.stairs, undefined=0
    )
    found = text.fields
    assert [*found] == ["metric", *FIELDS, "threshold", "protocol", "users", "version"]
    expected = {
        "metric": "precision@2", "gain": {0.0: 1.0, 1.0: 1.0, 2.0: 1.0, 3.0: 1.0},
        "discount": "callable(stairs)",
        "tie_tolerance": 0.0, "undefined": 0.0, "recommend_from": None, "max_grade": None,
        "threshold": 2.0, "protocol": "rated", "users": 2, "version": rn.__version__,
    }  # fmt: skip
    for name, value in expected.items():
        assert found[name] == value
        assert type(found[name]) is type(value)
    assert rn.evaluate(ROWS).signature("ndcg@10").fields["threshold"] is None
    assert _signature(tie_tolerance="float32").fields["tie_tolerance"] == "float32"


@examples(0.25)
@given(chosen=drawn_reports.chosen_of, data=drawn_reports.data_of)
def test_text_and_short_are_read_back(chosen: Choices, data: Sample) -> None:
    """The text whole; of the short form, what the metric reads; both are the same signature."""
    chosen = replace(chosen, gain="linear" if callable(chosen.gain) else chosen.gain)
    chosen = replace(chosen, discount="ln" if callable(chosen.discount) else chosen.discount)
    chosen = strategies.without_estimate_limit(chosen, data)
    report = drawn_reports.evaluated(data, chosen, (2,))
    convention = strategies.to_convention(chosen)
    for name, text in report.signatures.items():
        assert text.metric == name
        assert rn.Convention.from_signature(text) == convention
        assert text.convention == convention
        assert type(text.text) is type(text.short) is str
        for again in (rn.Signature(text.text), rn.Signature(text.short), rn.Signature(text)):
            assert again == text
            assert hash(again) == hash(text)
            assert again.short == text.short
            assert text.differences(again) == {}
        assert rn.Signature(text.text).text == text.text
        back = rn.Convention.from_signature(text.short)
        usual = rn.Convention()
        for one in FIELDS:
            origin = convention if one in text.reads else usual
            assert getattr(back, one) == getattr(origin, one), one
        if "threshold" in text.reads:
            assert rn.Signature(text.short).fields["threshold"] == chosen.threshold


def test_short_tells_what_differs_and_can_move_the_number() -> None:
    """Of the defaults there is nothing to tell; nor of a gain that precision does not read."""
    digest = f"defaults:{rn.Convention.default_digest()}|users:2|version:{rn.__version__}"
    assert rn.evaluate(ROWS).signature("ndcg@10").short == f"ndcg@10|{digest}"
    linear = {"gain": "linear", "discount": "ln", "ties": "input"}
    assert _signature(**linear).short == f"ndcg@2|gain:linear|discount:ln|ties:input|{digest}"
    told = digest.replace("|users", "|threshold:2.0|users")
    assert _signature("precision@2", **linear).short == f"precision@2|ties:input|{told}"
    assert _signature("rmse", **linear).short == f"rmse|{digest}"


def test_short_keeps_the_protocol_and_the_cutoff_that_leaves_lists_out() -> None:
    """What stands beside the choices and moves the number."""
    lists = rn.RankedLists.from_trec({"ann": {"a": 1}}, {"ann": {"a": 1, "b": 0.5}})
    text = rn.evaluate(lists).signature("ndcg@10")
    assert "|protocol:supplied|" in text.short
    assert rn.Signature(text.short) == text
    drop = rn.Convention(short_list="drop")
    cut = rn.evaluate(ROWS, metrics=["rr", "ndcg@2"], threshold=2, convention=drop).signature("rr")
    assert "|short_below:2|" in cut.short
    assert cut.fields["short_below"] == 2
    assert rn.Signature(cut.short) == cut


def test_a_short_form_of_other_defaults_is_refused() -> None:
    """It says less than it seems to: in full it could be read."""
    short = _signature().short.replace(rn.Convention.default_digest(), "0123abcd")
    for read in (rn.Signature, rn.Convention.from_signature, _signature().differences):
        with rejects(r"other defaults \(0123abcd; here they are .*Give it in full"):
            read(short)
    assert _signature() != short


def test_differences_are_named_with_both_values() -> None:
    """Mine first; whatever agrees or cannot matter is left out."""
    usual, other = _signature(), _signature(gain="linear", tie_tolerance=0.5, ap_over="k")
    told = {"gain": ("exponential", "linear"), "tie_tolerance": (0.0, 0.5)}
    assert usual.differences(other) == told
    assert usual.differences(other.text) == usual.differences(other.short) == told
    assert other.differences(usual) == {name: pair[::-1] for name, pair in told.items()}
    precision = _signature("precision@2")
    assert usual.differences(precision)["metric"] == ("ndcg@2", "precision@2")
    assert usual.differences(_report(ROWS[:2]).signature("ndcg@2")) == {"users": (2, 1)}
    assert usual.differences(usual.over(7)) == {"users": (2, 7)}


def test_a_signature_equals_its_text() -> None:
    """From either side, complete or short; nothing else."""
    text = _signature()
    for same in (text.text, text.short, f"`{text.text}`", text.text.replace("|", " |\n")):
        assert text == same
        assert same == text
        assert (text != same) is False
    for other in ("", "ndcg@2", text.text[:-1], text.text.replace("ndcg@2", "ndcg@3"), 3, None):
        assert text != other
        assert other != text


@pytest.mark.parametrize(
    ("field", "written", "again"),
    [
        ("threshold", "2.0", "2"),
        ("tie_tolerance", "0.0", "0"),
        ("recommend_from", "3.5", "3.50"),
        ("gain", "map(0.0=0.0,5.0=1.0)", "map(0=0,5=1)"),
    ],
)
def test_equal_signatures_are_those_without_differences(
    field: str, written: str, again: str
) -> None:
    """However somebody writes a number."""
    gain: Any = {0: 0, 5: 1} if field == "gain" else "linear"
    rows = [("ann", "a", 4.0, 5), ("ann", "b", 3.0, 0)]
    how: dict[str, Any] = {"metrics": ["precision@2", "dcg@2"], "threshold": 2}
    report = rn.evaluate(rows, convention=rn.Convention(gain=gain, recommend_from=3.5), **how)
    text = report.signature("dcg@2" if field == "gain" else "precision@2")
    assert f"|{field}:{written}|" in text
    other = rn.Signature(text.text.replace(f"{field}:{written}", f"{field}:{again}"))
    assert text.differences(other) == {}
    assert text == other
    assert hash(text) == hash(other)


FULL = _signature("precision@2").text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (3, "A signature is text, not 3"),
        (None, "A signature is text, not None"),
        (b"ndcg@2", "A signature is text"),
        (rn.Convention(), "A signature is text"),
        ("", "is not name:value"),
        ("ndcg@10", "is not name:value"),
        ("hello world", "is not name:value"),
        (rn.Convention().signature, "does not begin with a metric"),
        ("|".join(FULL.split("|")[1:]), "does not begin with a metric"),
        ("ndcg@10|gain:linear", "lacks discount, ideal"),
        (FULL.replace("|ties:expected", ""), "lacks ties"),
        (FULL + "|users:2", "'users:2' stands there twice"),
        (FULL.replace("ties:", "tie:"), "Did you mean 'ties'"),
        (FULL + "|seed:3", "'seed:3' is not name:value"),
        (FULL.replace("users:2", "users:x"), "users"),
        (FULL.replace("threshold:2.0", "threshold:high"), "threshold"),
        (FULL.replace("gain:exponential", "gain:exponentiall"), "gain"),
        (FULL.replace("gain:exponential", "gain:map(1)"), "map"),
    ],
)
def test_what_is_no_signature_is_refused(text: Any, message: str) -> None:
    """When it is read, and not when somebody asks for its fields."""
    with rejects(message):
        rn.Signature(text)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_signature_is_pickled(protocol: int) -> None:
    """Looked at before or not, full or of the short form."""
    for text in (_signature(gain="linear"), rn.Signature(_signature(gain="linear").short)):
        for _ in range(2):
            again = pickle.loads(pickle.dumps(text, protocol))  # noqa: S301 - our own
            assert type(again) is rn.Signature
            assert again == text
            assert again.text == text.text
            assert again.fields == text.fields
            assert hash(again) == hash(text)


def test_a_signature_is_text() -> None:
    """Printed, written as JSON, cut and joined."""
    text = _signature()
    assert isinstance(text, str)
    assert str(text) == f"{text}" == text.text
    assert json.loads(json.dumps({"how": text, text: 1})) == {"how": text.text, text.text: 1}
    assert text.startswith("ndcg@2|gain:exponential|")
    assert "precision" not in text


def test_a_signature_is_a_key() -> None:
    """Two that can only give the same number are one key."""
    usual, linear = (_report(gain=one) for one in ("exponential", "linear"))
    names = ["ndcg@2", "precision@2", "rmse"]
    keys = {report.signature(name) for report in (usual, linear) for name in names}
    assert len(keys) == 4
    found = {usual.signature("precision@2"): "here"}
    assert found[linear.signature("precision@2")] == "here"
    assert linear.signature("ndcg@2") not in {usual.signature("ndcg@2"): 1}


DISCOUNTS: list[Callable[[Any], Any]] = [
    lambda ranks: 1 / ranks,
    lambda ranks: np.where(ranks >= 3, 0.1, 1 / ranks),
]


def test_weights_of_ranks_that_only_the_ideal_has_tell_functions_apart() -> None:
    """A list of one item, and three labels outside it: the ideal has four ranks."""
    grades = {"a": 1, "b": 2, "c": 1, "d": 3}
    lists = rn.RankedLists.from_trec({"ann": grades}, {"ann": {"a": 1.0}})
    one, other = (
        rn.evaluate(lists, metrics="ndcg", k=None, convention=rn.Convention(discount=weight))
        for weight in DISCOUNTS
    )
    assert one["ndcg"] != other["ndcg"]
    assert one.signature("ndcg") != other.signature("ndcg")
