"""Presets equal the real libraries beyond accuracy: their answers are kept in golden/.

``python tests/peers/build.py beyond.rectools`` runs one of them anew, in its environment.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.beyond.asking import evaluate_case, find_tolerance
from tests.peers.beyond.cases import cases

GOLDEN = Path(__file__).parent / "golden"
CASES = {case.name: case for case in cases()}
#: The libraries' answers, by preset, case and measure, whose name may have a space.
ANSWERS: dict[tuple[str, str, str], dict[str, Any]] = {
    (preset, case, measure): answer
    for path in sorted(GOLDEN.glob("*.json"))
    for key, answer in json.loads(path.read_text())["answers"].items()
    for preset, case, measure in [key.split(" ", 2)]
}
#: (preset, case, measure) to the reason for a difference; each must differ.
DIFFERENCES: dict[tuple[str, str, str], str] = {}


@pytest.mark.parametrize("preset", sorted({preset for preset, _, _ in ANSWERS}))
def test_a_preset_equals_the_library(preset: str) -> None:
    """Its mean, and per user if the library has such numbers; known differences do differ."""
    for (name, case, measure), theirs in ANSWERS.items():
        if name != preset or "refused" in theirs:  # the library refuses this data
            continue
        ours = evaluate_case(CASES[case], preset, measure)
        wanted = {"value": theirs["value"], **theirs.get("per_user", {})}
        found = {"value": ours["value"], **(ours["per_user"] if "per_user" in theirs else {})}
        near = find_tolerance(preset, measure)
        is_equal = found == pytest.approx(wanted, abs=near, rel=near)
        is_known = (preset, case, measure) in DIFFERENCES
        assert is_equal != is_known, (case, measure, found, wanted)


def test_every_case_has_what_it_is_named_for() -> None:
    """Long lists, repeated rows, gaps, seen items, items from outside; and never equal scores."""
    known = {name: {item for _, item in case.train} for name, case in CASES.items()}
    shown = {name: {row[1] for row in case.shown()} for name, case in CASES.items()}
    for case in CASES.values():
        assert all(len({*own.values()}) == len(own) for own in case.run.values())
    long, short = CASES["long"], CASES["short"]
    assert min(map(len, [*long.run.values(), *long.base.values()])) > long.k
    assert max(Counter(CASES["repeated"].train).values()) == 3
    assert {len(own) for own in short.run.values()} == {1, 2, 3, 4}
    assert shown["short"] - known["short"]
    assert short.run.keys() - {user for user, _ in short.train}
    assert short.run.keys() ^ short.test.keys() == {7, 8}
    seen = {row[:2] for row in CASES["seen"].shown()} & {*CASES["seen"].train}
    assert len(seen) == 5
    assert any(not any(CASES["seen"].features[item]) for item in shown["seen"])
    assert len(shown["outside"] - {*CASES["outside"].catalogue}) == 2
