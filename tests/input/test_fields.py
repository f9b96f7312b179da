"""Rows of Python objects are read as if value by value, wherever the types change."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.input import EncodedIds, encode_ids
from recsys_ndcg.input.python_objects import read_objects
from tests.errors import assert_rejected
from tests.input.tables import ids_of_rows
from tests.profiles import examples


class Named(enum.StrEnum):
    """Text, and more than that."""

    ANN = "ann"


INTEGERS = st.sampled_from([0, 1, -1, 7, 2**31 - 1, -(2**31), 2**31, 2**63, 10**30])
LENGTHS = [("1234567890" * 2)[:length] for length in (1, 8, 9, 16, 17)]
RARE = ["", "a", "b", "a\nb", "a\0", "\0", "\n", "é" * 8, "é" * 9, "\ud800", "🦜🦜", "ann"]
TEXTS = st.sampled_from(LENGTHS) | st.sampled_from(RARE) | st.text(max_size=18)
OTHERS: list[Any] = [True, 1.0, 1.5, None, (1, 2), Named.ANN, np.int64(7), np.str_("a"), [1]]
IDS = INTEGERS | TEXTS | st.sampled_from(OTHERS)


def mostly(kinds: list[st.SearchStrategy[Any]], any_: st.SearchStrategy[Any]) -> Any:
    """Draw values of one kind, and perhaps some others among them."""
    alike = st.one_of([st.lists(kind, min_size=1, max_size=9) for kind in kinds])
    return st.tuples(alike, st.lists(any_, max_size=2), st.integers(0, 9)).map(
        lambda parts: [*parts[0][: parts[2]], *parts[1], *parts[0][parts[2] :]]
    )


def outcome(work: Callable[[], Any]) -> Any:
    """Return the ids with their types and the codes, or the error's message."""
    try:
        ids, codes = work()
    except rn.InvalidInputError as error:
        return str(error)
    return [(type(one), one) for one in ids.tolist()], codes.tolist()


@examples(4, suppress_health_check=[HealthCheck.too_slow])
@given(mostly([INTEGERS, TEXTS, st.integers(-5, 5)], IDS))
def test_ids_are_those_that_a_dict_distinguishes(values: list[Any]) -> None:
    """Also if whole numbers or short texts are followed by other types."""

    def read() -> Any:
        return encode_ids(read_objects([(one, 1, 1.0, 1.0) for one in values]).user, "user")

    def expected() -> Any:
        places: dict[Any, int] = {}
        try:
            codes = [places.setdefault(one, len(places)) for one in values]
        except TypeError as error:
            msg = f"user: an id is not hashable ({error}); use numbers or text."
            raise rn.InvalidInputError(msg) from None
        ids = np.fromiter(places, dtype=object, count=len(places))
        return encode_ids(EncodedIds(ids, np.array(codes, dtype=np.int32)), "user")

    assert outcome(read) == outcome(expected)


EIGHT_BYTES: list[Any] = [(1, 3, "abcd", 4.0), (1, 3, 3.0, "abcd"), ("a", "c", "abcd", 4.0)]


@pytest.mark.parametrize("row", EIGHT_BYTES)
def test_text_of_eight_bytes_is_not_a_number(row: Any) -> None:
    """Though a float has as many bytes."""
    rows = [(row[0], row[0], 3.0, 4.0), row]
    assert_rejected("text such as 'abcd' in row 1", read_objects, rows, whole=False)


@pytest.mark.parametrize("ids", [[1, ""], [(1, "")[at > 2] for at in range(9)]])
def test_an_empty_text_is_not_a_whole_number(ids: list[Any]) -> None:
    """Though it takes as many bytes."""
    found: Any = read_objects([(one, at, 1.0, 2.0) for at, one in enumerate(ids)]).user
    assert ids_of_rows(found) == ids


PREDICTION: tuple[Any, ...] = ("ann", "x", 4.0, 3.5, {})
USUAL: tuple[Any, ...] = (1, 2, 3.0, 4.0)
FORM = r"Row 5 .*counted from 0.*each must be \(u.*, .*, .*, "


ODD: list[tuple[Any, Any, str]] = [
    *((PREDICTION, (*PREDICTION[:4], wrong), "Row 5 .*its details must be a dict")
      for wrong in (7, "impossible", ["was_impossible"], True)),
    (PREDICTION, ("ann", "y", 4.0, "3.5", {}), r"estimated \(est\): text .* row 5 .*convert"),
    (PREDICTION, ("ann", "y", [4.0], 3.5, {}), r"true \(r_ui\): \[4.0\], .* in row 5"),
    *((USUAL, odd, FORM) for odd in ({1, "a", 2.0, 3.0}, {1: 0, "a": 0, 2.0: 0, 3.0: 0})),
    *((("u", "i", 3.0, 4.0), odd, FORM) for odd in ("abcd", (1, "a", 2, 3, 4))),
    *((PREDICTION, odd, FORM) for odd in (PREDICTION[:4], (), {1, 2, 3, 4, 5})),
    *((PREDICTION, odd, FORM) for odd in ((*PREDICTION[:4], 9.0, {}), dict.fromkeys("abcde"))),
]  # fmt: skip


@pytest.mark.parametrize(("row", "odd", "match"), ODD)
def test_a_later_row_of_another_form_is_rejected(row: Any, odd: Any, match: str) -> None:
    """Even if it has as many entries, or as many as the others on average."""
    assert_rejected(match, rn.evaluate, [*[row] * 5, odd, row])
