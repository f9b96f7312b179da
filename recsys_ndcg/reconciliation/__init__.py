"""One metric under every preset, and which choices make the difference."""

from __future__ import annotations

from recsys_ndcg.reconciliation.reconciliation import reconcile, reconciled

__all__ = ["reconcile", "reconciled"]
