"""Templates: how values are put into them, and that each reads well."""

from __future__ import annotations

import re

import numpy as np
import pytest

from recsys_ndcg.findings import Finding, tabulate_findings, write_sentences
from recsys_ndcg.findings.templates import Template, read_templates
from tests.findings.claims import read_kinds

#: Words that STYLE.md and DESIGN.md rule out.
_WORDS = re.compile(
    r"\b(those of|that of|beside|told(?! apart)|said|heed|somebody|where it|none of it)\b"
)
_CLAUSES = re.compile(r"[;:]|, (?:so|but|and|because|which|if)\b|\b(?:because|although|if)\b")


def _fill(text: str, **values: object) -> str:
    return Template("kind", "remark", text, "fact", each="{n:d} of {names}").fill(text, values)


def test_optional_pieces() -> None:
    """A piece is left out if one of its values is missing; the first whole alternative counts."""
    text = "A[ ({low:size}[ to {high:size}])| from {names}]."
    assert _fill(text, low=0.5, high=1.0) == "A (0.5000 to 1.0000)."
    assert _fill(text, low=0.5, high=np.nan) == "A (0.5000)."
    assert _fill(text, low=None, names="b") == "A from b."
    assert _fill("A[ {low:size}| of {names}].", names=()) == "A."
    assert _fill("It [{sure:?}is|may be].", sure=False) == "It may be."
    assert _fill("{low:number} {low:size}", low=np.nan) == "- -"
    assert _fill("{low:number} {low:size}", low=-0.0) == "0.0000 0.0000"
    assert _fill("{low:.0%} in {names}, {'a': 1}", low=0.5, names="5%") == "50 % in 5%, {'a': 1}"
    with pytest.raises(KeyError):
        _fill("{low:number}")


def test_numbers_of_things() -> None:
    """A noun and a verb follow the number."""
    text = "{n:# user} {n:has/have} {names:and} {names:is/are}"
    assert _fill(text, n=1, names=["a"]) == "1 user has a is"
    assert _fill(text, n=1234, names=["a", "b"]) == "1,234 users have a and b are"
    assert _fill("{n:span} {n:user/users}", n=[1, 1]) == "1 user"
    assert _fill("{n:span} {n:user/users}", n=[1, 3]) == "1 to 3 users"


def test_each_place_of_sequences() -> None:
    """Of many, three are named, and the number of the others."""
    assert _fill("{each}", n=[1, 2], names=["a", "b"]) == "1 of a, 2 of b"
    assert _fill("{each}", n=range(9), names=[*"abcdefghi"]).endswith("2 of c, 6 more")


def test_names_in_braces_and_brackets_stay() -> None:
    """Only templates have syntax, names of models do not."""
    names = {"model": "{x}[y|z]", "other": "{other}"}
    finding = Finding("equal_pair", names=names)
    assert finding.sentence.startswith("{x}[y|z] and {other} have")
    assert tabulate_findings([finding])["models"].tolist() == [("{x}[y|z]", "{other}")]


def test_of_many_findings_the_first_are_said() -> None:
    """And the number of the others."""
    pairs = [Finding("equal_pair", names={"model": "a", "other": name}) for name in "bcdef"]
    assert write_sentences(pairs)[3:] == ["… and the same for 2 more pairs."]
    assert len(write_sentences(pairs[:4])) == 4
    counted = [kind for kind, template in read_templates().items() if template.more]
    assert {"equal_pair", "different_order", "missing_lists"} < {*counted}


def _list_sentences(template: Template) -> list[str]:
    """Return a template's sentences, without optional pieces, fields as a word."""
    texts = []
    for given in (template.text, template.evidence, template.each, template.more):
        text = given
        while "[" in text:
            text = re.sub(r"\[[^\[\]]*\]", "", text)
        texts += re.split(r"(?<=[.?!]) ", re.sub(r"\{[^{}]*\}", "x", text))
    return [text for text in texts if text]


@pytest.mark.parametrize("kind", [*read_templates()])
def test_words_of_a_template(kind: str) -> None:
    """Read once: at most two clauses to a sentence and forty words, no word that is ruled out."""
    template = read_templates()[kind]
    assert template.severity in {"error", "warning", "fact"}
    assert template.text.endswith((".", "?", "}", "]"))
    for text in _list_sentences(template):
        assert not _WORDS.search(text), text
        assert len(text.split()) <= 40, text
        assert len(_CLAUSES.findall(text)) <= 2, text


def test_a_kind_has_one_name() -> None:
    """Over all groups, so that a finding has one template."""
    assert sorted(read_templates()) == sorted(
        kind for kinds in read_kinds().values() for kind in kinds
    )
