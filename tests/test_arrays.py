"""Records of arrays: taken, joined and added by the axes of their fields."""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from recsys_ndcg.lists import to_lists
from tests.package_size import FILES

#: Arrays that are the same in every part, or that the class itself takes and joins.
_WITHOUT_AXIS = {
    "Exposures": {"item_ids", "by_item", "offsets"},
    "GroupedLists": {"offsets", "item_ids", "unlisted_offsets"},
    "MetricComparison": {"runs"},
}
_ARRAY = re.compile("Floats|Flags|Ids|Positions|Codes|NDArray")
RECORDS = [
    getattr(import_module(file.module), node.name)
    for file in FILES
    if "_axes: " in file.path.read_text(encoding="utf-8")  # the others need not be parsed
    for node in file.nodes(ast.ClassDef)
    if any(isinstance(each, ast.AnnAssign) and each.target.id == "_axes" for each in node.body)  # type: ignore[union-attr]
]


@pytest.mark.parametrize("kind", RECORDS)
def test_every_array_of_a_record_has_an_axis(kind: Any) -> None:
    """A field that is forgotten would keep all users when some are taken."""
    named = set(" ".join(kind._axes.values()).split())
    assert named <= {each.name for each in fields(kind)} | {"*"}
    arrays = {each.name for each in fields(kind) if _ARRAY.search(str(each.type))}
    if "*" not in named:
        assert arrays - named == _WITHOUT_AXIS.get(kind.__name__, set())


def test_lists_are_taken_by_any_slice() -> None:
    """As a NumPy array; also with a step, and beyond the end."""
    rows = {"a": [(1, 1), (2, 2)], "b": [(1, 3)], "c": [(3, 1)], "d": [(1, 1), (2, 5)]}
    lists = to_lists(rows)
    for users in (slice(0, 4, 2), slice(None), slice(1, 9), slice(3, 1), slice(-2, None)):
        places = np.arange(4)[users]
        taken, wanted = lists.take(users), lists.take(places)
        assert taken.users.tolist() == wanted.users.tolist() == lists.users[places].tolist()
        for mine, theirs in ((taken.true, wanted.true), (taken.offsets, wanted.offsets)):
            np.testing.assert_array_equal(mine, theirs)
