"""sacreBLEU: paired approximate randomisation and paired bootstrap, of a metric that is a mean.

A segment is a user, a hypothesis a score as text. p is (c + 1) / (draws + 1), where a draw counts
only if its difference is greater than the observed one: an equal one does not. The bootstrap draws
absolute differences, and takes their own mean from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sacrebleu.metrics.base import Score, Signature
from sacrebleu.significance import PairedTest

if TYPE_CHECKING:
    from tests.peers.paired.cases import Case

DISTRIBUTION = "sacrebleu"
DRAWS = 10_000


class Mean:
    """What a paired test asks of a metric: sums, and a score from them."""

    def get_signature(self) -> Signature:
        """Return what is written next to the scores."""
        return Signature({"num_refs": 1})

    def _extract_corpus_statistics(self, hypotheses: Sequence[str], _: object) -> list[list[float]]:
        return [[float(one), 1.0] for one in hypotheses]

    def _compute_score_from_stats(self, stats: Any) -> Score:
        return Score("mean", float(stats[0]) / float(stats[1]))

    def _aggregate_and_compute(self, stats: Any) -> Score:
        return self._compute_score_from_stats(np.sum(stats, axis=0))


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {test: {pair: {"p": p}}}; of the bootstrap, the second model's interval too.

    Its interval is of 95 %, given by the half of its length.
    """
    answers: dict[str, dict[str, Any]] = {"randomisation": {}, "bootstrap": {}}
    for pair, systems in case.pairs().items():
        for test, kind in (("randomisation", "ar"), ("bootstrap", "bs")):
            named = [(str(at), [repr(one) for one in own]) for at, own in enumerate(systems)]
            done = PairedTest(named, {"mean": Mean()}, None, kind, n_samples=DRAWS)()[1]
            result = done["mean"][1]
            answers[test][pair] = {"p": result.p_value, "draws": DRAWS}
            if kind == "bs":
                answers[test][pair] |= {"half": float(result.ci)}
    return answers
