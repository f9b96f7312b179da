"""Every choice that can move a number, and what it computes."""

from __future__ import annotations

from recsys_ndcg.convention.convention import CHOICES, WORDS, Convention
from recsys_ndcg.convention.presets import PRESETS

__all__ = ["CHOICES", "PRESETS", "WORDS", "Convention"]
