"""Ctrl-C ends long work soon, and leaves neither a process nor a file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import recsys_ndcg as rn
from recsys_ndcg.errors import require_libraries

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc of Linux")

Begin = Callable[..., subprocess.Popen[str]]
LONG = 15  # seconds; alone on a machine it is less than one
DATA = """
from surprise import SVD, Dataset, KNNBasic, Reader
from recsys_ndcg.datasets import sample_ratings
import recsys_ndcg.surprise as ours
rows = sample_ratings(400, 300)[["user", "item", "rating"]]
data = Dataset.load_from_df(rows, Reader(rating_scale=(0.5, 5)))
"""
SEARCH = """
grid = {{"n_epochs": [100_000], "n_factors": [1, 2, 3]}}
search = ours.GridSearchCV(SVD, grid, ["ndcg@5"], cv=2, n_jobs={n_jobs})
print("begun", flush=True)
search.fit(data)
"""
CATALOGUE = """
import numpy as np
trainset = data.build_full_trainset()
algo = KNNBasic(verbose=False).fit(trainset)
users = np.tile([*map(trainset.to_raw_uid, trainset.all_users())], 500)
print("begun", flush=True)
ours.rank_catalogue(algo, trainset, users=users)
"""
COMPARE = """
import io, sys
from contextlib import redirect_stdout, suppress
from recsys_ndcg.cli import main
words = ["recsys-ndcg", "compare", *sys.argv[1:], "--test", "bootstrap", "-q", "--draws"]
sys.argv = [*words, "100"]  # imports everything: an import may lose an interrupt
with redirect_stdout(io.StringIO()), suppress(SystemExit):
    main()
print("begun", flush=True)
sys.argv = [*words, "10000000"]
main()
"""
# interrupted at any time, while threads take items
ITEMS = """
import contextlib, random, signal, time
from recsys_ndcg import parallel
parallel._count_cores = lambda: 2
signal.signal(signal.SIGALRM, signal.default_int_handler)
print("begun", flush=True)
for seed in range(1000):
    with contextlib.suppress(KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, random.Random(seed).uniform(0.0001, 0.003))
        parallel.map_in_threads(abs, range(1000))
        time.sleep(1)
"""


def members(group: int) -> list[int]:
    """Return the living processes of a group."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, own = path.read_text().rpartition(")")[2].split()[:3]
            found += [int(path.parent.name)] * (int(own) == group and state != "Z")
    return found


def within(seconds: float, fulfilled: Callable[[], bool]) -> bool:
    """Wait until it is fulfilled; return whether it was in time."""
    until = time.monotonic() + seconds
    while not fulfilled():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture(name="begin")
def _begin(tmp_path: Path) -> Iterator[Begin]:
    """Start jobs with a folder for temporary files of their own, and end what is left of them."""
    started = []

    def begin(script: str, *words: str) -> subprocess.Popen[str]:
        places = tmp_path / "places"
        places.mkdir()
        job = subprocess.Popen(  # noqa: S603 - our own
            [sys.executable, "-c", script, *words],
            env=os.environ | {"TMPDIR": str(places), "JOBLIB_TEMP_FOLDER": str(places)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
            # a shell in the background has its children ignore it
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
        )  # fmt: skip
        started.append(job)
        assert job.stdout is not None
        assert job.stdout.readline() == "begun\n"
        return job

    yield begin
    for job in started:
        with suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)
        job.communicate()


def interrupted(
    job: subprocess.Popen[str], folder: Path, *, alone: bool = False
) -> tuple[int, str, str]:
    """Interrupt a job, and return how it ended, when nothing is left of it.

    As a terminal does, with all its workers; or alone, as a notebook does.
    """
    (os.kill if alone else os.killpg)(job.pid, signal.SIGINT)
    out, err = job.communicate(timeout=LONG)
    assert within(LONG, lambda: not members(job.pid)), "it left processes"
    assert within(LONG, lambda: not any((folder / "places").iterdir())), "it left files"
    return job.returncode, out, err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "processes", "alone"),
    [
        (SEARCH.format(n_jobs=1), 1, False),
        *((SEARCH.format(n_jobs=2), 3, False), (SEARCH.format(n_jobs=2), 3, True)),
        (CATALOGUE, 1, False),
    ],
    ids=["search", "search with workers", "search with workers alone", "catalogue"],
)
def test_a_search_or_a_catalogue(
    tmp_path: Path, begin: Begin, script: str, processes: int, *, alone: bool
) -> None:
    """However long a fold would take, and in whichever thread users are ranked."""
    pytest.importorskip("surprise")
    job = begin(DATA + script)
    assert within(60, lambda: len(members(job.pid)) >= processes)
    time.sleep(0.5)
    code, out, err = interrupted(job, tmp_path, alone=alone)
    assert (code, out) == (-signal.SIGINT, "")
    assert err.endswith("KeyboardInterrupt\n")


@pytest.mark.slow
def test_a_comparison_with_many_draws(tmp_path: Path, begin: Begin) -> None:
    """On the command line: with the exit code of shells, and no output."""
    pytest.importorskip("cyclopts")
    paths = []
    for model in (0, 1):
        paths.append(str(tmp_path / f"{model}.json"))
        rows = {user: [(user % 7 * model + 0.5, 2), (3, 5), (2, 4)] for user in range(2000)}
        rn.evaluate(rows, metrics=["ndcg@3"]).save(paths[-1])
    job = begin(COMPARE, *paths)
    time.sleep(1)
    assert interrupted(job, tmp_path) == (130, "", "")


def test_short_items(begin: Begin) -> None:
    """No thread waits for a lock that the interrupted one has taken."""
    assert begin(ITEMS).communicate(timeout=60) == ("", "")


def test_an_interrupt_is_no_missing_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is imported while Ctrl-C is pressed may call it an ImportError."""
    source = "raise ImportError('initialization failed') from KeyboardInterrupt()"
    (tmp_path / "interrupted.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    needed = require_libraries("interrupted", job="It", extra="scale")
    with pytest.raises(KeyboardInterrupt), needed:
        pass
