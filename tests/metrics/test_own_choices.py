"""Choices that a metric declares itself, and conventions that hold what differs."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
import re
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.convention import convention as module
from recsys_ndcg.metrics import METRICS, parse_metrics
from tests.errors import assert_rejected

CHOICES = [
    (name, choice, value)
    for name, kind in METRICS.items()
    for choice, values in kind.find_choices().items()
    for value in values
]
DATA: dict[str, Any] = {
    "labels": pd.DataFrame({"user": [*"aabc"], "item": [*"xyyz"], "true": 1.0}),
    "results": {"a": [*"xz"], "b": [*"yxz"], "c": [*"w"]},
    "train": pd.DataFrame({"user": [*"aabbcd"], "item": [*"yzzwxx"]}),
    "catalogue": [*"wxyz"],
    "features": pd.DataFrame({"item": [*"wxyz"], "genres": [{"p"}, {"p", "q"}, {"q"}, {"r"}]}),
    "groups": {"a": "g", "b": "h", "c": "g", "d": "g", "e": "h"},
}
WITH_COLUMN = ("calibration", "diversity", "subtopic_recall", "serendipity")


def spell(name: str, *options: str) -> str:
    """Return the name of a metric with options."""
    options = ("genres",) * (name in WITH_COLUMN) + options
    return f"{name}({','.join(options)})@2" if options else f"{name}@2"


def evaluate(metric: Any, **options: Any) -> rn.Report:
    """Evaluate the data above."""
    return rn.evaluate(**DATA, metrics=metric, threshold=1, **options)


def test_thirteen_measures_and_more_declare_their_choices() -> None:
    """So that none of them is a field of a convention."""
    assert len({(name, choice) for name, choice, _ in CHOICES}) >= 14
    assert not {choice for _, choice, _ in CHOICES} & {*rn.Convention.field_names()}


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
@pytest.mark.parametrize(("name", "choice", "value"), CHOICES)
def test_a_choice_is_in_the_name_and_in_the_signature(name: str, choice: str, value: Any) -> None:
    """The default is, too, if it is asked for; its number and signature are those without it."""
    asked = spell(name, f"{choice}={value}")
    (metric,) = parse_metrics(asked)
    assert str(metric) == asked
    assert parse_metrics(str(metric)) == [metric] == [pickle.loads(pickle.dumps(metric))]  # noqa: S301
    assert metric.choices[choice] == value
    report, usual = evaluate(asked), evaluate(spell(name))
    assert [*report.mean.index] == [asked]
    is_default = value == METRICS[name].find_choices()[choice][0]
    assert report.signature(asked).metric == (spell(name) if is_default else asked)
    assert (report.signature(asked) == usual.signature(spell(name))) is is_default
    if is_default:
        np.testing.assert_array_equal(report.summary.to_numpy(), usual.summary.to_numpy())


def test_a_library_chooses_for_its_metrics_and_what_is_asked_for_counts_more() -> None:
    """Under the name that was asked for; the signature has all."""
    elliot = evaluate("gini@2", convention="elliot")
    full = "gini(over=n-1,as=equality)@2"
    assert [*elliot.mean.index] == ["gini@2"]
    assert elliot.signature("gini@2").metric == full
    convention = rn.Convention.preset("elliot", "gini@2")
    assert evaluate(full, convention=convention).mean[full] == elliot.mean["gini@2"]
    assert evaluate("gini@2", convention=convention).mean["gini@2"] == elliot.mean["gini@2"]
    assert evaluate(METRICS["coverage"](2), convention="elliot").mean["coverage@2"] == 4
    gini = rn.Convention.preset("warprec", "gini@2")
    assert_rejected("measures entropy@2 under base='e'", evaluate, "entropy@2", convention=gini)
    assert evaluate("entropy(base=e)@2", convention=gini).mean.iloc[0] > 1
    other = evaluate("gini(as=inequality)@2", convention="elliot")
    assert other.mean.iloc[0] == pytest.approx(1 - elliot.mean["gini@2"])
    assert other.signature(other.mean.index[0]).metric == "gini(over=n-1)@2"


def test_a_library_s_choices_are_found_in_a_saved_report(tmp_path: Any) -> None:
    """With the bounds of the scores: a count has none."""
    asked = ["gini@2", "coverage@2", "coverage(as=share)@1"]
    report = evaluate(asked, convention="elliot")
    report.save(tmp_path / "report.json")
    loaded = rn.Report.load(tmp_path / "report.json")
    assert loaded.metrics == report.metrics == asked
    for one in (loaded, report):
        assert one._data.audit.totals.kinds["bounded"].tolist() == [True, False, True]
    pd.testing.assert_frame_equal(loaded.summary, report.summary)
    assert loaded.take(["a", "c"]).mean.equals(report.take(["a", "c"]).mean)


def test_choices_in_brackets_are_read_back_from_a_signature() -> None:
    """Under the plain name of the metric, too, from a report and from a reconciliation."""
    mean = evaluate("gini@2", convention="elliot").mean["gini@2"]
    text = str(rn.reconcile(**DATA, metrics="gini@2", threshold=1, convention="elliot"))
    (yours,) = re.findall(r"^yours: (.*)$", text, re.MULTILINE)
    signature = evaluate("gini@2", convention="elliot").signature("gini@2")
    for convention in (rn.Convention.from_signature(yours), signature.convention):
        assert evaluate("gini@2", convention=convention).mean["gini@2"] == mean
        assert evaluate("gini@2", convention=eval(repr(convention), vars(rn))).mean.iloc[0] == mean  # noqa: S307
        assert evaluate("coverage@2", convention=convention).mean["coverage@2"] == 1


def test_other_signatures_name_the_choices_in_brackets() -> None:
    """A library's choice is not hidden behind the name that was asked for."""
    text = str(evaluate(["coverage@2", "gini@2"], convention="elliot"))
    assert "except: gini@2|gini(over=n-1,as=equality)@2" in text


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("gini(as=equalty)@2", "gini: as must be one of .*'equalty'. Did you mean 'equality'"),
        ("gini(is=equality)@2", r"of gini as 'gini\(over=n\|n-1,as=inequality\|equality\)@10'"),
        ("gini(as=equality,as=equality)@2", "write the parameters of gini"),
        ("diversity(genres,single=2)@2", "diversity: single must be one of 'undefined', 0.0, 1.0"),
        ("entropy(base=10)@2", "entropy: base must be one of 2.0, 'e', not 10.0"),
    ],
)
def test_a_choice_that_does_not_exist_is_refused(metric: str, message: str) -> None:
    """With those that there are."""
    assert_rejected(message, evaluate, metric)


def test_a_convention_holds_what_differs_from_the_defaults() -> None:
    """So that equal ones are equal, whatever was written."""
    assert vars(rn.Convention(gain="exponential", ties="expected")) == {}
    assert vars(rn.Convention(gain="linear")) == {"gain": "linear"}
    assert vars(rn.Convention(gain="linear").replace(gain="exponential")) == {}
    assert {one.name for one in fields(rn.Convention)} == {*rn.Convention.field_names()}
    again = rn.Convention(**rn.Convention(undefined=0.0).choices)
    assert again == rn.Convention(undefined=0)
    assert pickle.loads(pickle.dumps(again)) == again  # noqa: S301
    assert repr(again) == "Convention(undefined=0.0)"
    assert "gain" in inspect.signature(rn.Convention).parameters


@pytest.mark.parametrize("name", rn.Convention.presets())
def test_conventions_are_equal_if_they_measure_every_metric_alike(name: str) -> None:
    """A library's metrics have their own choices; what is printed makes the same convention."""
    top: Any = {"max_grade": 5.0} if rn.Convention.preset(name).ideal == "max" else {}
    library = rn.Convention(name, **top)
    made = [library, library.replace(ties="worst"), rn.Convention.preset(name, "gini@3")]
    made.append(made[-1].replace(seen="raise"))
    for convention in made:
        again = eval(repr(convention), vars(rn))  # noqa: S307
        assert again == convention
        assert hash(again) == hash(convention)
        assert pickle.loads(pickle.dumps(convention)) == convention  # noqa: S301
    assert library != rn.Convention(**library.choices) == dataclasses.replace(library)
    assert made[1].resolve("ap@3") == rn.Convention.preset(name, "ap@3").replace(
        ties="worst", **top
    )
    assert rn.Convention.validate({"library": name, **top}) == library


def test_replacing_a_choice_checks_that_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the others."""
    checked: list[str] = []
    normalise = module._normalise
    convention = rn.Convention(gain="linear", ideal="local")

    def spy(name: str, value: Any) -> Any:
        checked.append(name)
        return normalise(name, value)

    monkeypatch.setattr(module, "_normalise", spy)
    assert convention.replace(ties="input").gain == "linear"
    assert checked == ["ties"]


def test_a_library_with_a_change_measures_each_metric_as_the_library_does() -> None:
    """But for the change."""
    rows = {"u": [(3.0, 0), (1.0, 3), (0.5, 1)], "v": [(1.0, 0)]}
    how: dict[str, Any] = {"metrics": ["ndcg@2", "ap@2"], "threshold": 1}
    changed = rn.evaluate(rows, convention=rn.Convention("catboost", gain="exponential"), **how)
    assert changed.signature("ndcg@2").fields["gain"] == "exponential"
    undefined = [changed.signature(name).fields["undefined"] for name in changed.mean.index]
    assert undefined == [1.0, 0.0]
    assert rn.Convention("catboost").undefined == 1.0
    library = rn.evaluate(rows, convention=rn.Convention("catboost"), **how)
    pd.testing.assert_frame_equal(
        library.summary, rn.evaluate(rows, convention="catboost", **how).summary
    )
    mapped = rn.evaluate(rows, convention={"gain": "linear"}, **how)
    linear = rn.evaluate(rows, convention=rn.Convention(gain="linear"), **how)
    pd.testing.assert_frame_equal(mapped.summary, linear.summary)


@pytest.mark.parametrize(
    ("convention", "message"),
    [
        (lambda: rn.Convention("catbost"), "No preset is named 'catbost'. Did you mean 'catboost'"),
        (lambda: rn.Convention("catboost", gian="linear"), "no option 'gian'. Did you mean 'gain'"),  # type: ignore[call-arg]
        (lambda: rn.Convention("rectools", gain="linear"), "ideal='max' needs the top grade"),
        (lambda: {"gian": "linear"}, "no option 'gian'. Did you mean 'gain'"),
        (lambda: {7: "linear"}, "Convention has no option '7'"),
        (lambda: rn.Convention({"gain": "linear"}), "give choices by name"),  # type: ignore[arg-type]
    ],
)
def test_a_library_or_choice_that_does_not_exist_is_refused(convention: Any, message: str) -> None:
    """Where it is written."""
    assert_rejected(message, lambda: rn.evaluate({"u": [(1, 1)]}, convention=convention()))
