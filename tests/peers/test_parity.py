"""Presets equal the real libraries: what these said on drawn data, kept in tests/peers/golden.

``python tests/peers/build.py`` runs the libraries anew, each in an environment of its own.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import recsys_ndcg as rn
from recsys_ndcg.convention import PRESETS
from tests.peers.build import same
from tests.peers.cases import Case, cases
from tests.peers.differences import DIFFERENCES, TOLERANCES

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
GOLDEN = Path(__file__).parent / "golden"
CASES = {case.name: case for case in cases()}


def _answers() -> dict[tuple[str, str, str], dict[str, Any]]:
    """Return what the libraries said, by preset, case and metric."""
    return {
        tuple(key.split()): answer
        for path in sorted(GOLDEN.glob("*.json"))
        for key, answer in json.loads(path.read_text())["answers"].items()
    }


ANSWERS = _answers()


@cache
def _lists(case: str) -> rn.RankedLists:
    return rn.RankedLists.from_trec(CASES[case].labels, CASES[case].run)


def _difference(preset: str, case: str, metric: str) -> float:
    """Return the largest difference from the library, infinite where one has a score alone."""
    answer = ANSWERS[preset, case, metric]
    report = rn.evaluate(
        _lists(case),
        metrics=[metric],
        k=None,
        threshold=CASES[case].threshold,
        convention=rn.Convention.preset(preset, metric),
    )
    if "mean" in answer:
        return abs(float(report.mean[metric]) - float(answer["mean"]))
    ours, theirs = report.per_user[metric].dropna().to_dict(), answer["per_user"]
    theirs = {user: value for user, value in theirs.items() if value is not None}
    ours = {user: value for user, value in ours.items() if user not in answer.get("refused", {})}
    if ours.keys() != theirs.keys():
        return math.inf
    gaps = (abs(ours[user] - value) / max(1, abs(value)) for user, value in theirs.items())
    return max(gaps, default=0.0)


@pytest.mark.parametrize(("preset", "case", "metric"), ANSWERS)
def test_a_preset_equals_the_library(preset: str, case: str, metric: str) -> None:
    """On every case, per user where the library tells; what differs is listed, and does differ."""
    if isinstance(ANSWERS[preset, case, metric].get("refused"), str):
        pytest.skip("the library cannot take this data")
    if (
        "per_user" in ANSWERS[preset, case, metric]
        and not ANSWERS[preset, case, metric]["per_user"]
    ):
        pytest.skip("the library has no stable answer for anybody")
    tolerance = TOLERANCES.get(preset, 1e-12)
    difference = _difference(preset, case, metric)
    name = metric.partition("@")[0]
    if (preset, case, name) in DIFFERENCES or name in PRESETS[preset].not_reproduced:
        assert difference > tolerance
    else:
        assert difference <= tolerance


def test_every_case_has_what_it_is_named_for() -> None:
    """Ties, short lists, users of all kinds, half stars: a case without them would prove little."""
    assert any(len(set(own.values())) < len(own) for own in CASES["ties"].run.values())
    assert any(len(own) < CASES["short"].k for own in CASES["short"].run.values())
    half = {grade for own in CASES["half_stars"].labels.values() for grade in own.values()}
    assert any(grade % 1 for grade in half)
    for name in ("nothing_relevant", "everything"):
        assert any(max(own.values()) < 4 for own in CASES[name].labels.values())
        assert any(max(own.values()) == 0 for own in CASES[name].labels.values())
    for name in ("missing_users", "everything"):
        assert set(CASES[name].labels) - set(CASES[name].run)
    for name in ("unlabelled_users", "everything"):
        assert set(CASES[name].run) - set(CASES[name].labels)
    for name in ("unlabelled", "everything"):
        case = CASES[name]
        both = case.labels.keys() & case.run.keys()
        assert any(case.run[user].keys() - case.labels[user].keys() for user in both)
        assert any(case.labels[user].keys() - case.run[user].keys() for user in both)
    close = CASES["close"]
    gaps = [
        second - first
        for own in close.run.values()
        for first, second in zip(sorted(own.values()), sorted(own.values())[1:], strict=False)
    ]
    assert any(0 < gap < 1e-8 for gap in gaps)


def _by_preset(case: Case) -> dict[str, float]:
    metric = f"precision@{case.k}"
    return {
        name: rn.evaluate(
            _lists(case.name),
            metrics=[metric],
            threshold=case.threshold,
            convention=rn.Convention.preset(name, metric),
        ).mean[metric]
        for name in rn.Convention.presets()
        if rn.Convention.preset(name, metric).recommend_from is None
    }


def test_the_presets_give_different_numbers() -> None:
    """Else the agreement above would prove nothing; a limit on scores is none."""
    assert len({round(value, 9) for value in _by_preset(CASES["everything"]).values()}) > 5


@pytest.mark.parametrize("case", CASES)
def test_implicits_precision_is_the_pooled_recall(case: str) -> None:
    """What the preset says of it."""
    metric = f"recall@{CASES[case].k}"
    report = rn.evaluate(
        _lists(case),
        metrics=[metric],
        threshold=CASES[case].threshold,
        convention=rn.Convention.preset("implicit"),
    )
    theirs = ANSWERS["implicit", case, f"precision@{CASES[case].k}"]["mean"]
    assert report.pooled[metric] == pytest.approx(theirs, abs=1e-12)


def test_a_library_that_is_here_says_what_its_golden_file_holds() -> None:
    """The script that the environments run, where scikit-learn is installed."""
    pytest.importorskip("sklearn")
    done = subprocess.run(
        [sys.executable, "-m", "tests.peers.run", "scikit_learn"],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    now, stored = json.loads(done.stdout), json.loads((GOLDEN / "scikit_learn.json").read_text())
    assert now["library"] == stored["library"]
    assert same(now["answers"], stored["answers"])
    wrong = json.loads(done.stdout.replace("0.6014", "0.7014"))
    assert not same(wrong["answers"], stored["answers"])
