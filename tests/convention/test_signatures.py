"""Signatures are complete and read back; explanations have the same choices in words."""

from __future__ import annotations

import re
from dataclasses import fields
from functools import partial
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from hypothesis import given

import recsys_ndcg as rn
from tests import strategies
from tests.errors import rejects
from tests.profiles import examples
from tests.textbook import Choices

ROWS = [("ann", "a", 4.0, 3), ("ann", "b", 3.0, 1), ("bob", "a", 2.0, 0), ("bob", "b", 1.0, 2)]
OTHER = {
    "tie_tolerance": (0.0, 1e-9, 0.5, 1 / 3, "float32"),
    "recommend_from": (None, 3.5, -1e-7, "threshold"),
    "max_grade": (None, 5.0, 1e16),
    "tail_at": (None, 0.5, 1e-9),
    "patience": (None, 0.85, 1 / 3),
}
VALUES: dict[str, Any] = {**rn.Convention.CHOICES, **OTHER}
#: What some values cannot be without.
NEEDED: dict[tuple[str, str], dict[str, Any]] = {
    ("ideal", "max"): {"max_grade": 5.0},
    ("tail", "count"): {"tail_at": 2.0},
}
EVERY = [(name, value) for name, values in VALUES.items() for value in values]
WITH_MAPPINGS = [*EVERY, ("gain", {0: 0, 1: 1}), ("gain", {0.1: 1 / 3, -2.5: 1e-300, 5: 1e21})]


def test_the_words_of_each_choice_are_literal_types() -> None:
    """So an editor offers them, and a type checker finds misspelt ones."""
    hints = get_type_hints(rn.Convention)
    for name, values in rn.Convention.CHOICES.items():
        parts = [hints[name], *get_args(hints[name])]
        words = [word for one in parts if get_origin(one) is Literal for word in get_args(one)]
        assert words == [one for one in values if isinstance(one, str)], name


@pytest.mark.parametrize(("name", "value"), WITH_MAPPINGS)
def test_a_signature_gives_the_convention_back(name: str, value: Any) -> None:
    """Whatever value a field has, to the last digit; also from a report's signature."""
    given = NEEDED.get((name, str(value)), {})
    convention = rn.Convention(**{name: value, **given})
    text = convention.signature
    of_report = f"ndcg@10|{text}|threshold:4.0|protocol:rated|users:943|version:{rn.__version__}"
    for copied in (text, of_report, f" {text}\n", f" {of_report}\n"):
        assert rn.Convention.from_signature(copied) == convention


@examples(2)
@given(chosen=strategies.choices)
def test_any_combination_is_read_back(chosen: Choices) -> None:
    """Functions apart, of which only the name is known."""
    convention = strategies.to_convention(chosen)
    for name, rule in (("gain", "linear"), ("discount", "ln")):
        if callable(getattr(convention, name)):
            convention = convention.replace(**{name: rule})
    assert rn.Convention.from_signature(convention.signature) == convention


def test_every_field_is_tried_and_moves_the_signature() -> None:
    """A new field cannot be forgotten here; two different conventions never look the same."""
    assert {one.name for one in fields(rn.Convention)} == set(rn.Convention.CHOICES) | set(OTHER)
    top = rn.Convention(max_grade=4.0, tail_at=0.75)
    seen = [top.replace(**{name: value}).signature for name, value in EVERY]
    different = {(name, str(value)) for name, value in EVERY if getattr(top, name) != value}
    assert len(set(seen)) == len(different) + 1


def test_different_functions_have_different_signatures() -> None:
    """Of one name, in the last digits, in an unlisted item's or the top grade, at the last rank."""
    run = {"ann": {"a": 1, "b": 0.5, "d": 0.2}}
    lists = rn.RankedLists.from_trec({"ann": {"a": 1, "c": 2}}, run)

    def signature(**rule: Any) -> str:
        report = rn.evaluate(lists, metrics="ndcg", k=None, convention=rn.Convention(**rule))
        return report.signature("ndcg").text

    gains = [
        lambda grades: grades,
        lambda grades: grades * (1 + 1e-9),
        lambda grades: np.where(grades == 2, 3.0, grades),
        lambda grades: np.where(grades == 5, 31.0, grades),
    ]
    weights = [lambda ranks: 1 / ranks, lambda ranks: np.where(ranks >= 3, 0.1, 1 / ranks)]
    top: dict[str, Any] = {"ideal": "max", "max_grade": 5}
    signatures = [signature(gain=gain, discount=weight) for gain in gains[:3] for weight in weights]
    signatures += [signature(gain=gain, **top) for gain in (gains[0], gains[3])]
    assert len(set(signatures)) == len(signatures)
    assert signature(gain=gains[0], discount=weights[0]) == signatures[0]
    for field in ("gain", "discount"):
        assert re.search(rf"\|{field}:callable\(<lambda>#[0-9a-f]{{8}}\)\|", signatures[0])


def test_a_function_cannot_be_read_back() -> None:
    """Only its name is known."""
    convention = rn.Convention(gain=np.sqrt)
    report = rn.evaluate(ROWS, convention=convention)
    for text in (convention.signature, report.signature("ndcg@10")):
        with rejects("gain:callable.*names a function.*replace"):
            rn.Convention.from_signature(text)


FULL = rn.Convention().signature


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gain", "'gain' is not name:value"),
        ("gain:linear", "lacks discount, ideal"),
        (FULL.replace("|ties:expected", ""), "lacks ties"),
        (FULL + "|ties:expected", "'ties:expected' is repeated, .*[^?] Copy the whole line"),
        (FULL.replace("ties:", "tie:"), "Did you mean 'ties'"),
        (FULL.replace("expected", "expectd"), "Did you mean 'expected'"),
        (FULL.replace("tie_tolerance:0.0", "tie_tolerance:x"), "tie_tolerance .*'x'"),
        (FULL.replace("gain:exponential", "gain:map(1=)"), r"form map\(0.0=0.0"),
        (FULL.replace("gain:exponential", "gain:map(1=23"), r"form map\(0.0=0.0"),
        (FULL.replace("|", ","), "lacks discount"),
        (f"ndcg@10|{FULL}|seed:3", "'seed:3' is not name:value.*[^?] Copy the whole line"),
        (3, "A signature is text, not 3"),
    ],
)
def test_a_malformed_signature_is_refused(text: object, message: str) -> None:
    """What was found and what to do."""
    with rejects(message):
        rn.Convention.from_signature(text)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "value"), WITH_MAPPINGS)
def test_every_value_has_its_own_formula_or_sentence(name: str, value: object) -> None:
    """And LaTeX whose braces close."""
    top = rn.Convention(max_grade=4.0, tail_at=0.75)
    text = top.replace(**{name: value}).explain()
    if getattr(top, name) != value and (name, value) != ("max_grade", None) and name != "max_grade":
        assert text != top.explain()
    for line in text.splitlines():
        assert line.count("{") == line.count("}")
        assert line.startswith("    ") or "\\" not in line


def test_a_signature_does_not_depend_on_the_other_metrics() -> None:
    """Not even with a function of ranks."""
    convention = rn.Convention(discount=lambda ranks: 1 / ranks)
    alone = rn.evaluate(ROWS, metrics="ndcg@2", convention=convention)
    both = rn.evaluate(ROWS, metrics=["ndcg@2", "ndcg@5"], convention=convention)
    assert alone.signature("ndcg@2") == both.signature("ndcg@2")


def test_a_signature_names_the_cutoff_that_leaves_short_lists_out() -> None:
    """For a metric without one of its own, it is another metric's."""
    rows = [*ROWS, ("bob", "c", 0.5, 5)]
    drop = rn.Convention(short_list="drop")
    alone = rn.evaluate(rows, metrics=["rr"], threshold=2, convention=drop)
    both = rn.evaluate(rows, metrics=["rr", "ndcg@3"], threshold=2, convention=drop)
    assert alone.mean["rr"] != both.mean["rr"]
    assert "|short_below:0|" in alone.signature("rr")
    assert "|short_below:3|" in both.signature("rr")
    assert rn.Convention.from_signature(both.signature("rr")) == drop


def test_a_signature_is_read_as_it_is_copied() -> None:
    """From Markdown or LaTeX, or with line breaks."""
    convention = rn.Convention(gain={0: 0, 5: 1}, ties="input")
    text = convention.signature
    for copied in (f"`{text}`", f"% {text}", text.replace("|", " | "), text.replace("|", "|\n")):
        assert rn.Convention.from_signature(copied) == convention


def test_zeros_of_either_sign_are_the_same() -> None:
    """Equal conventions have equal signatures."""
    one, other = rn.Convention(gain={0.0: 0, 1: 1}), rn.Convention(gain={-0.0: -0.0, 1: 1})
    assert one == other
    assert one.signature == other.signature
    assert hash(one) == hash(other)


def test_numbers_are_explained_to_their_last_digit() -> None:
    """A formula is to be computed with."""
    text = rn.Convention(recommend_from=3.1234567, gain={0: 0, 5: 1234567.25}).explain()
    assert "3.1234567" in text
    assert "1234567.25" in text


#: The other values are in the texts of `test_explained`.
EXPLANATIONS = [
    ("gain", "linear", r"g(t) = t"),
    ("discount", "ln", r"D(r) = \frac{1}{\ln(r + 1)}"),
    ("discount", "reciprocal", r"D(r) = \frac{1}{r}"),
    ("short_list", "n", r"\mathrm{F_1@}k = \frac{2h}{\min(k, n) + R}"),
    ("ties", "best", "in their best order."),
    ("ties", "worst", "in their worst order."),
    ("ties", "item_asc", "in ascending order of item id."),
    ("ties", "text_asc", "in ascending order of item id as text."),
    ("ties", "text_desc", "in descending order of item id as text."),
    ("ties", "input", "keep the order of the input."),
    ("unlabelled", "filter", "Items without a grade are removed before ranking."),
    ("unlisted", "ignore", "A labelled item outside the list is ignored."),
    ("gain", "exponential_above", r"[t \geq \theta] \left(2^{t - \theta + 1} - 1\right)"),
    ("discount", "log2_max", r"D(r) = \frac{1}{\max(\log_2 r, 1)}"),
    ("ap_over", "capped", r"\mathrm{AP@}k = \frac{1}{\min(k, R)} \sum"),
    ("ap_over", "k", r"\mathrm{AP@}k = \frac{1}{k} \sum"),
    ("undefined", 1.0, "denominator is 0 scores 1."),
    ("missing_user", "skip", "A labelled user without a list is left out."),
    ("mean_over", "labelled", "Mean: over the users with a labelled item who have a score."),
    ("duplicates", "last", "Rows with the same user and item are replaced by the last."),
]


@pytest.mark.parametrize(("name", "value", "text"), EXPLANATIONS)
def test_a_choice_has_its_own_explanation(name: str, value: Any, text: str) -> None:
    """Which no other value of it has."""
    top = rn.Convention(max_grade=4.0)
    explained = {choice: top.replace(**{name: choice}).explain() for choice in VALUES[name]}
    assert [choice for choice in explained if text in explained[choice]] == [value]


@pytest.mark.filterwarnings("ignore:threshold=0 is at or below every true value")
def test_a_signature_has_threshold_and_protocol() -> None:
    """A threshold of 0 is one, and a catalogue is not a list of rated items."""
    rated = rn.evaluate(ROWS, metrics="precision@1", threshold=0)
    assert "|threshold:0.0|protocol:rated|" in rated.signature("precision@1")
    assert "|threshold:none|" in rn.evaluate(ROWS).signature("ndcg@10")
    lists = rn.RankedLists.from_trec({"ann": {"a": 1}}, {"ann": {"a": 1, "b": 0.5}})
    assert "|protocol:supplied|" in rn.evaluate(lists).signature("ndcg@10")


@pytest.mark.parametrize("number", [1, 1.0, np.int64(1), np.float32(1)])
def test_a_number_is_signed_as_the_same_number(number: Any) -> None:
    """However it was given."""
    names = ("undefined", "tie_tolerance", "recommend_from", "max_grade")
    options: list[dict[str, Any]] = [dict.fromkeys(names, given) for given in (number, 1.0)]
    one, other = (rn.Convention(**each) for each in options)
    assert (one, hash(one), one.signature) == (other, hash(other), other.signature)


def test_a_function_without_a_name_is_signed_by_its_class() -> None:
    """And one whose name would break a signature apart is renamed."""
    nameless = rn.Convention(gain=partial(np.power, 2.0))
    assert nameless.texts["gain"] == "callable(partial)"

    def odd(grades: Any) -> Any:
        return grades

    odd.__name__ = "one|other"
    assert rn.Convention(gain=odd).texts["gain"] == "callable(one_other)"


def test_a_notebook_shows_each_choice_with_its_meaning() -> None:
    """What was changed is bold, with its default; a signature shows the same table, folded."""
    convention = rn.Convention(gain="linear")
    report = rn.evaluate(
        [("a", 1, 2.0, 3), ("a", 2, 1.0, 0)], metrics="ndcg@2", convention=convention
    )
    cells = ["gain", "linear", "exponential", "the grade itself"]
    for shown in (convention._repr_html_(), report.signature("ndcg@2")._repr_html_()):
        text = " ".join(re.sub("<[^>]+>", " ", shown).split())
        assert "choice value default, if changed meaning gain linear exponential the grade" in text
        assert "discount log2 1 over the binary logarithm of the rank plus 1 ideal global" in text
        row = shown[shown.index("<strong>gain") :].partition("</tr>")[0]
        found = [re.sub("<[^>]+>", "", one).strip() for one in row.split("</td>")]
        assert found[:4] == cells
        assert "<strong>discount" not in shown
    assert "Choices of measures beyond accuracy" in convention._repr_html_()


@pytest.mark.parametrize("patience", [0.0, -0.5, 1.5])
def test_patience_is_above_0_and_at_most_1(patience: float) -> None:
    """1 itself is allowed."""
    assert rn.Convention(patience=1.0).patience == 1
    with rejects("^patience must be above 0 and at most 1, not "):
        rn.Convention(patience=patience)
