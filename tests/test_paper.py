"""The paper has the form that its journal asks for, and no number that a script does not print."""

from __future__ import annotations

import re
import runpy

import pytest

from tests.pages import ROOT

FOLDER = ROOT / "docs" / "paper"
#: As https://joss.readthedocs.io/en/latest/paper.html requires since 2026.
SECTIONS = [
    "Summary", "Statement of need", "State of the field", "Software design",
    "Research impact statement", "AI usage disclosure", "Acknowledgements", "References",
]  # fmt: skip
WORDS = range(750, 1751)
_KEY = re.compile(r"(?<![\w`])@(\w+)")
#: Digits that are part of a name: of a metric with its cutoff, of a data set, of a link.
_NAMES = re.compile(r"\w+@\d+|MovieTweetings-100K|\]\([^)]*\)")


def _split() -> tuple[str, str]:
    """Return the metadata and the text of the paper."""
    start, metadata, body = (FOLDER / "paper.md").read_text(encoding="utf-8").split("---\n", 2)
    assert not start
    return metadata, body


def _entries() -> dict[str, dict[str, str]]:
    """Return the fields of each entry of the bibliography, by its key."""
    text = (FOLDER / "paper.bib").read_text(encoding="utf-8")
    entries = {}
    for key, fields in re.findall(r"^@\w+\{(\w+),\n(.*?)\n\}$", text, re.DOTALL | re.MULTILINE):
        entries[key] = dict(re.findall(r"^  (\w+) *= \{(.*)\},?$", fields, re.MULTILINE))
    assert len(entries) == text.count("\n@") + 1  # no entry is passed over
    return entries


def _print_numbers(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """Return what the script prints: phrases by their names."""
    runpy.run_path(str(FOLDER / "print_numbers.py"))["main"]()
    lines = capsys.readouterr().out.splitlines()
    return {name: phrase for name, _, phrase in (line.partition(": ") for line in lines)}


def test_every_number_is_printed_by_the_script(capsys: pytest.CaptureFixture[str]) -> None:
    """In the words around it: each phrase is in the paper, and no number is outside of one."""
    text = " ".join(_split()[1].split())
    phrases = _print_numbers(capsys)
    assert {name: phrase for name, phrase in phrases.items() if phrase not in text} == {}
    for phrase in sorted(phrases.values(), key=len, reverse=True):
        text = text.replace(phrase, "")
    assert re.findall(r"\S*\d\S*", _NAMES.sub("", _KEY.sub("", text))) == []


def test_sections_and_length_are_those_of_the_journal() -> None:
    """The metadata are not counted; only the list of references is empty, as pandoc writes it."""
    body = _split()[1]
    parts = re.split(r"^# (.+)$", body, flags=re.MULTILINE)
    assert parts[1::2] == SECTIONS
    texts = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert [title for title, text in texts.items() if not text.strip()] == ["References"]
    assert len(body.split()) in WORDS


def test_every_citation_has_an_entry_and_every_entry_is_cited() -> None:
    """With a DOI or an address, a title and authors, and venues in full words."""
    entries = _entries()
    assert {*_KEY.findall(_split()[1])} == {*entries}
    for key, fields in entries.items():
        assert {"author", "title"} <= {*fields}, key
        assert "doi" in fields or fields.get("url", "").startswith("https://"), key
        assert re.fullmatch(r"10\.\d{4,5}/\S+", fields.get("doi", "10.1234/x")), key
        assert "journal" in fields or "booktitle" in fields or key == "rectools", key
    dois = [fields["doi"] for fields in entries.values() if "doi" in fields]
    assert len({*dois}) == len(dois)


def test_the_metadata_are_complete() -> None:
    """Plain lines of YAML: a key and its value, or a list."""
    metadata = _split()[0]
    top = re.findall(r"^(\w+):(?: (.+))?$", metadata, re.MULTILINE)
    assert [key for key, _ in top] == [
        "title", "tags", "authors", "affiliations", "date", "bibliography",
    ]  # fmt: skip
    values = dict(top)
    assert re.fullmatch(r"'recsys_ndcg: [^'`]+'", values["title"])
    assert re.fullmatch(r"\d{1,2} [A-Z][a-z]+ 20\d\d", values["date"])
    assert (FOLDER / values["bibliography"]).exists()
    for line in metadata.splitlines():
        assert re.fullmatch(r"\w+:( .+)?|  - .+|    \w+: .+", line), line
    lists = dict(re.findall(r"^(\w+):\n((?:  .+\n)+)", metadata, re.MULTILINE))
    assert lists["tags"].count("  - ") >= 3
    assert "  - name: The recsys_ndcg contributors\n" in lists["authors"]
    cited = re.findall(r"affiliation: (\d+)", lists["authors"])
    assert cited == re.findall(r"index: (\d+)", lists["affiliations"])
