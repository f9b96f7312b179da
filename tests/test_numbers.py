"""A changed number needs another version."""

import pytest

import recsys_ndcg as rn
from tests.numbers import compute_digests, read_digests


@pytest.mark.slow
def test_a_version_has_its_numbers() -> None:
    """If numbers were meant to change: ``python -m tests.numbers``, and a line in the changelog."""
    expected = read_digests()
    assert expected["version"] == rn.__version__
    found = compute_digests()
    assert {name: found.get(name) for name in expected["digests"]} == expected["digests"]
