"""ranx: its paired t test, and Fisher's randomisation test from random signs.

p is c / draws, without the 1 for the data themselves, and a draw counts where its
difference is at least the observed one. Its code is compiled anew for one thread: the generators
of its threads have no seed, and another p comes of each run.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from ranx.statistical_tests import fisher_randomization_test, paired_student_t_test

if TYPE_CHECKING:
    from tests.peers.paired.cases import Case

DISTRIBUTION = "ranx"
DRAWS = 10_000
FISHER = numba.njit(fisher_randomization_test.py_func)


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {test: {pair: {"p": p}}}."""
    answers: dict[str, dict[str, Any]] = {"t": {}, "fisher": {}}
    for pair, (one, other) in case.pairs().items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # models equal for every user
            p, _ = paired_student_t_test(np.array(one), np.array(other))
        answers["t"][pair] = {"p": float(p) if math.isfinite(p) else None}
        p, _ = FISHER(np.array(one), np.array(other), n_permutations=DRAWS)
        answers["fisher"][pair] = {"p": float(p), "draws": DRAWS}
    return answers
