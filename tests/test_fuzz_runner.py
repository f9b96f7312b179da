"""The fuzzer reports every way in which a case can fail, and can make the same case again."""

from __future__ import annotations

import importlib
import random
import sys
import warnings
from contextlib import suppress
from pathlib import Path

import pytest

import recsys_ndcg as rn
from tests import misbehaving_target
from tests.fuzz.__main__ import main
from tests.fuzz.running import Limits, fuzz, targets

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it asks /proc for the memory")
UNRULY = "tests.misbehaving_target"


def _seed_of(way: bytes) -> int:
    chances = (random.Random(f"{UNRULY} {seed}") for seed in range(100))  # noqa: S311
    return next(seed for seed, one in enumerate(chances) if misbehaving_target.case(one) == way)


@pytest.mark.slow
def test_a_failing_case_is_reported_and_the_next_one_runs(tmp_path: Path) -> None:
    """Another error, no end, too much memory and death are failures; an error of ours is not."""
    seeds = [_seed_of(way) for way in misbehaving_target.WAYS]
    outcome = fuzz(UNRULY, iter(seeds), kept=tmp_path, limits=Limits(seconds=0.5))
    assert outcome.cases == len(misbehaving_target.WAYS)
    assert [seed for seed, _ in outcome.failures] == seeds[2:]
    reasons = ["KeyError", "more than 0.5 s", "MemoryError", "killed by SIGKILL"]
    for (_, failure), reason in zip(outcome.failures, reasons, strict=True):
        assert reason in failure
    kept = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert kept == {
        f"{UNRULY}-{seed}.case": way
        for seed, way in zip(seeds[2:], misbehaving_target.WAYS[2:], strict=True)
    }


@pytest.mark.slow
def test_a_failure_can_be_repeated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And exits with 1."""
    seed = _seed_of(b"escapes")
    asked = [UNRULY, "--cases", "1", "--kept", str(tmp_path)]
    assert main([*asked, "--seed", str(seed)]) == 1
    printed = capsys.readouterr().out
    assert f"python -m tests.fuzz {UNRULY} --seed {seed} --cases 1\n" in printed
    assert f"{UNRULY}: 1 cases from seed {seed} on, 1 failures" in printed
    assert main([*asked, "--seed", str(_seed_of(b"refuses"))]) == 0


@pytest.mark.parametrize("target", targets())
def test_the_first_cases_of_every_target_pass(target: str, tmp_path: Path) -> None:
    """In this process, without limits; `python -m tests.fuzz` runs the rest."""
    if target == "pickles":  # of Surprise
        pytest.importorskip("surprise")
    module = importlib.import_module(f"tests.fuzz.{target}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(1, 6):
            with suppress(rn.RecsysNdcgError):
                module.run(module.case(random.Random(f"{target} {seed}")), tmp_path)  # noqa: S311
