"""Text of others is shown, and neither steers a terminal nor looks like other text."""

from __future__ import annotations

import io
import sys
import warnings
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.errors import escape_for_stdout, escape_invisible, warn
from tests.profiles import examples

ACTING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
MARKS = [*range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0x200B, 0x2010), 0xFEFF, 0x61C]
HOSTILE = "\x1b[2J\x9b1m\x07\r\n\t\x7f\u202e\u200b"


@examples(0.5)
@given(st.text(max_size=9))
def test_what_acts_is_never_left(text: str) -> None:
    """But the marks that join letters and emoji, or keep them apart."""
    shown = escape_invisible(text)
    left = {one for one in shown if category(one) in ACTING}
    assert left <= {"\u200c", "\u200d"} & set(text)
    assert escape_invisible(shown) == shown


@pytest.mark.parametrize("number", [*range(32), *range(0x7F, 0xA0), *MARKS, 0xD800, 0x2028])
def test_each_of_them_is_an_escape(number: int) -> None:
    """As Python writes it."""
    assert escape_invisible(f"a{chr(number)}b") == f"a{ascii(chr(number))[1:-1]}b"


@pytest.mark.parametrize(
    "text",
    [
        *("Zoë", "Zoe\u0308", "नमस्ते", "日本", "שלום", "a b\\n"),
        *("👍🏽", "👩\u200d👩\u200d👧", "क्\u200cष", "🏳️\u200d🌈"),
    ],
)
def test_ordinary_letters_and_emoji_stay(text: str) -> None:
    """Of any script, combined too."""
    assert escape_invisible(text) == text


@pytest.mark.parametrize("text", ["\u200d", "a\u200d", "a\u200db", "👩\u200d", "\u200d👩"])
def test_a_joiner_elsewhere_is_an_escape(text: str) -> None:
    """It joins nothing there."""
    assert "\u200d" not in escape_invisible(text)


def test_errors_and_warnings_are_one_visible_line() -> None:
    """Whatever of the data or of a name they quote."""
    escaped = escape_invisible(HOSTILE)
    assert str(rn.InvalidInputError(HOSTILE)) == escaped
    assert rn.InvalidInputError(HOSTILE).args == (escaped,)
    with pytest.warns(rn.DataWarning) as caught:
        warn(HOSTILE)
    assert [str(one.message) for one in caught] == [escaped]
    rows = {HOSTILE: ["ann"], "item": ["a"], "estimated": [1.0], "true": [1.0]}
    with pytest.raises(rn.InvalidInputError) as error:
        rn.evaluate(rows, columns={"user": "user", "item": "i\x1b"})
    assert escape_invisible(str(error.value)) == str(error.value)


@pytest.mark.parametrize("encoding", ["ascii", "cp437", "latin-1", "utf-8"])
def test_any_terminal_prints_a_report(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it cannot show is written in what it can."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = rn.evaluate({"ann": [(3, 5), (3, 2)], "bob": [(3, 4), (3, 1)]}, k=[*range(1, 9)])
    screen = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", screen)
    print(report)  # noqa: T201 - as a user does
    screen.seek(0)
    text = screen.read()
    assert "[95%]" in text
    mark = "…" if encoding == "utf-8" else "..."
    assert f"defaults:{mark}: " in text
    assert (
        len({len(line) for line in text.splitlines()[1:10]}) == 1
    )  # the columns are still below their headings


def test_text_without_a_place_in_an_encoding_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    """And stays if there is a place for it."""
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert escape_for_stdout("Zoë – ±1…\x1b") == r"Zo\xeb - +-1...\x1b"
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert escape_for_stdout("Zoë – ±1…\x1b") == r"Zoë – ±1…\x1b"
    monkeypatch.setattr(sys, "stdout", None)
    assert escape_for_stdout("±") == "±"
