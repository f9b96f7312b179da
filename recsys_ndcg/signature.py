"""Signatures: how a number was computed, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from recsys_ndcg.scoring import Scores
    from recsys_ndcg.source import Source


def signatures(source: Source, scores: Scores) -> dict[str, str]:
    """Return the signature of every metric: its name, all choices, and over how many users."""
    users = (~np.isnan(scores.per_user)).sum(axis=0).tolist()
    choices = source.convention.signature
    threshold = "none" if source.threshold is None else source.threshold
    return {
        str(metric): f"{metric}|{choices}|threshold:{threshold}|"
        f"protocol:{source.lists.protocol}|users:{number}|version:{__version__}"
        for metric, number in zip(source.metrics, users, strict=True)
    }
