"""Presets equal the real libraries: their answers on drawn data are kept in tests/peers/golden.

``python tests/peers/build.py`` runs the libraries anew, each in an environment of its own.
"""

from __future__ import annotations

import json
import math
import operator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import recsys_ndcg as rn
from recsys_ndcg.convention import PRESETS
from tests.commands import run_python
from tests.peers.build import same
from tests.peers.cases import cases
from tests.peers.differences import DIFFERENCES, TOLERANCES

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
GOLDEN = Path(__file__).parent / "golden"
CASES = {case.name: case for case in cases()}


#: The libraries' answers, by preset, case and metric.
ANSWERS: dict[tuple[str, str, str], dict[str, Any]] = {
    tuple(key.split()): answer
    for path in sorted(GOLDEN.glob("*.json"))
    for key, answer in json.loads(path.read_text())["answers"].items()
}


@cache
def _lists(case: str) -> rn.RankedLists:
    return rn.RankedLists.from_trec(CASES[case].labels, CASES[case].run)


def _report(preset: str, case: str, metric: str) -> rn.Report:
    convention, threshold = rn.Convention.preset(preset, metric), CASES[case].threshold
    how: dict[str, Any] = {"k": None, "threshold": threshold, "convention": convention}
    return rn.evaluate(_lists(case), metrics=[metric], **how)


def _difference(preset: str, case: str, metric: str) -> float:
    """Return the largest difference from the library, infinite where one has a score alone."""
    answer, report = ANSWERS[preset, case, metric], _report(preset, case, metric)
    for form in answer.keys() & {"mean", "pooled"}:
        return abs(float(getattr(report, form)[metric]) - float(answer[form]))
    ours, theirs = report.per_user[metric].dropna().to_dict(), answer["per_user"]
    theirs = {user: value for user, value in theirs.items() if value is not None}
    ours = {user: value for user, value in ours.items() if user not in answer.get("refused", {})}
    if ours.keys() != theirs.keys():
        return math.inf
    gaps = (abs(ours[user] - value) / max(1, abs(value)) for user, value in theirs.items())
    return max(gaps, default=0.0)


def _is_as_known(preset: str, case: str, metric: str) -> bool:
    """Return whether a score is the library's, or differs from it if that is a known difference."""
    answer, name = ANSWERS[preset, case, metric], metric.partition("@")[0]
    if isinstance(answer.get("refused"), str) or answer.get("per_user") == {}:
        return True  # the library cannot take this data, or has no stable answer for any user
    is_other = name in PRESETS[preset].not_reproduced and "pooled" not in answer
    is_equal = _difference(preset, case, metric) <= TOLERANCES.get(preset, 1e-12)
    return is_equal != ((preset, case, name) in DIFFERENCES or is_other)


@pytest.mark.parametrize("preset", sorted({preset for preset, _, _ in ANSWERS}))
def test_a_preset_equals_the_library(preset: str) -> None:
    """On every case, per user if the library has such scores; known differences do differ."""
    wrong = [one for one in ANSWERS if one[0] == preset and not _is_as_known(*one)]
    assert not wrong, _difference(*wrong[0])


def test_every_case_has_what_it_is_named_for() -> None:
    """Ties, short lists, users of all kinds, half stars: a case without them would prove little."""
    assert any(len(set(own.values())) < len(own) for own in CASES["ties"].run.values())
    assert any(len(own) < CASES["short"].k for own in CASES["short"].run.values())
    half = {grade for own in CASES["half_stars"].labels.values() for grade in own.values()}
    assert any(grade % 1 for grade in half)
    for name in ("nothing_relevant", "everything"):
        tops = {max(own.values()) for own in CASES[name].labels.values()}
        assert 0 in tops
        assert any(0 < top < 4 for top in tops)
    for name in ("missing_users", "everything"):
        assert set(CASES[name].labels) - set(CASES[name].run)
    for name in ("unlabelled_users", "everything"):
        assert set(CASES[name].run) - set(CASES[name].labels)
    for name in ("unlabelled", "everything"):
        case = CASES[name]
        both = case.labels.keys() & case.run.keys()
        assert any(case.run[user].keys() - case.labels[user].keys() for user in both)
        assert any(case.labels[user].keys() - case.run[user].keys() for user in both)
    scores = [sorted({*own.values()}) for own in CASES["close"].run.values()]
    assert any(min(map(operator.sub, own[1:], own)) < 1e-8 for own in scores)


def test_the_presets_give_different_numbers() -> None:
    """Else the agreement above would prove nothing; a limit on scores is none."""
    metric = f"precision@{CASES['everything'].k}"
    means = {
        round(_report(name, "everything", metric).mean[metric], 9)
        for name in rn.Convention.presets()
        if rn.Convention.preset(name, metric).recommend_from is None
    }
    assert len(means) > 5


@pytest.mark.parametrize("case", CASES)
def test_implicits_precision_is_the_pooled_recall(case: str) -> None:
    """As the preset's note explains."""
    metric = f"recall@{CASES[case].k}"
    theirs = ANSWERS["implicit", case, f"precision@{CASES[case].k}"]["mean"]
    pooled = _report("implicit", case, metric).pooled[metric]
    assert pooled == pytest.approx(theirs, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("library", ["scikit_learn", "pytrec_eval", "mlflow", "spark_mllib"])
def test_an_installed_library_still_gives_its_golden_answers(library: str) -> None:
    """By the script that the environments run, where the library is installed."""
    names = {"scikit_learn": "sklearn", "spark_mllib": "pyspark"}
    if find_spec(names.get(library, library)) is None:
        pytest.skip("not installed")
    # in a process of its own, as Spark would stay
    text = run_python("-m", "tests.peers.run", library, cwd=Path(__file__).parents[2]).stdout
    now, stored = json.loads(text), json.loads((GOLDEN / f"{library}.json").read_text())
    assert now["library"] == stored["library"]
    assert same(now["answers"], stored["answers"])
    wrong = json.loads(text.replace(": 0.", ": 0.1", 1))
    assert not same(wrong["answers"], stored["answers"])
